//! Running a helper program to its end within a time limit, with its output kept. Not for browsers that live on.

use std::{
    io::Read,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::Error;

/// What a helper said and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program to its end, or kills it when `limit` is over.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Ran, Error> {
    let name = display(command);
    let fail = |why: String| Error::Helper { command: name.clone(), why };
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| fail(error.to_string()))?;
    // The pipes are drained beside the waiting, or a talkative helper would block on a full pipe for ever.
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let Some(status) = wait(&mut child, limit).map_err(|error| fail(error.to_string()))? else {
        return Err(fail(format!("it did not end within {} s", limit.as_secs())));
    };
    Ok(Ran { status, stdout: collect(stdout), stderr: collect(stderr) })
}

/// Waits for an end; `None` when the limit passed and the child had to be killed.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

type Drain = std::sync::mpsc::Receiver<Vec<u8>>;

fn drain(mut pipe: impl Read + Send + 'static) -> Drain {
    let (send, receive) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.read_to_end(&mut text);
        let _ = send.send(text);
    });
    receive
}

/// A grandchild that keeps the pipe open must not keep us: the helper itself has ended already.
fn collect(drain: Option<Drain>) -> String {
    let text = drain.and_then(|drain| drain.recv_timeout(Duration::from_secs(1)).ok());
    String::from_utf8_lossy(&text.unwrap_or_default()).into_owned()
}

fn display(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn output_and_status_are_kept() {
        let ran =
            run(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), Duration::from_secs(10))
                .unwrap();
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str(), ran.status.code()),
            ("out\n", "err\n", Some(3))
        );
    }

    #[test]
    fn a_helper_that_never_ends_is_killed_and_named() {
        let started = Instant::now();
        let error = run(Command::new("sleep").arg("60"), Duration::from_millis(100)).unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(10));
        assert!(error.to_string().starts_with("`sleep 60` failed: it did not end"), "{error}");
    }

    #[test]
    fn much_output_does_not_block() {
        let ran =
            run(Command::new("head").args(["-c", "3000000", "/dev/zero"]), Duration::from_secs(20)).unwrap();
        assert_eq!(ran.stdout.len(), 3_000_000);
    }
}
