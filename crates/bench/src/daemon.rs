//! The product's daemon, asked over its socket: what a command costs without the process that usually asks.
//!
//! The lines are written here by hand, as any client could: one JSON line per request; notes, then one result back.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

/// A daemon that works on a command says so every two seconds.
const SILENCE: Duration = Duration::from_secs(10);

/// One answer of the daemon.
#[derive(Debug)]
pub struct Asked {
    /// From the request's first byte to the result's last.
    pub elapsed: Duration,
    /// When the result was there.
    pub answered: SystemTime,
    /// What the command returned.
    pub data: Value,
}

/// Asks the daemon that listens at `socket`, and is of that `version`, to run a command in a session.
pub fn ask(socket: &Path, version: &str, session: &str, command: &Value) -> Result<Asked> {
    let settings = json!({"session": session, "json": true});
    let task = json!({"run": {"command": command, "settings": settings}});
    let mut line = serde_json::to_vec(&json!({"version": version, "task": task}))?;
    line.push(b'\n');
    let mut stream = UnixStream::connect(socket).context("the daemon does not listen")?;
    stream.set_read_timeout(Some(SILENCE))?;
    let mut reader = BufReader::with_capacity(64 * 1024, stream.try_clone()?);

    let started = Instant::now();
    stream.write_all(&line)?;
    let (elapsed, answered, last) = loop {
        let mut line = String::new();
        ensure!(reader.read_line(&mut line)? > 0, "the daemon hung up");
        if line.starts_with(r#"{"success":"#) {
            break (started.elapsed(), SystemTime::now(), line);
        }
    };
    let mut envelope: Value = serde_json::from_str(&last)?;
    if envelope["success"] != true {
        bail!("{}: {}", shown(command), envelope["error"]["message"]);
    }
    Ok(Asked { elapsed, answered, data: envelope["data"].take() })
}

/// The beginning of a command: a batch may be long.
fn shown(command: &Value) -> String {
    command.to_string().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn answer_with(lines: &'static str) -> Result<Asked> {
        let directory = surehand_testkit::TempHome::new().unwrap();
        let socket = directory.root().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let daemon = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            BufReader::new(stream.try_clone().unwrap()).read_line(&mut request).unwrap();
            stream.write_all(lines.as_bytes()).unwrap();
            request
        });
        let asked = ask(&socket, "1", "s", &json!({"back": {}}));
        let request: Value = serde_json::from_str(&daemon.join().unwrap()).unwrap();
        assert_eq!(request["task"]["run"]["settings"]["session"], "s");
        asked
    }

    #[test]
    fn notes_are_skipped_and_failures_told() {
        let asked = answer_with("\"alive\"\n{\"success\":true,\"data\":{\"a\":1},\"error\":null}\n").unwrap();
        assert_eq!(asked.data["a"], 1);
        let failed = answer_with("{\"success\":false,\"data\":null,\"error\":{\"message\":\"no\"}}\n");
        assert_eq!(failed.unwrap_err().to_string(), r#"{"back":{}}: "no""#);
        assert!(answer_with("\"alive\"\n").is_err());
    }
}
