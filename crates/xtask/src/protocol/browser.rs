//! Asks a browser for its description of CDP: start it headless, read `/json/protocol`, end it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::schema::Protocol;

const START: Duration = Duration::from_secs(30);
const ANSWER: Duration = Duration::from_secs(30);

pub fn describe() -> Result<Protocol> {
    let profile = tempfile::Builder::new().prefix("surehand-xtask-").tempdir()?;
    let mut browser = Browser::start(profile.path())?;
    let port = browser.port(profile.path())?;
    let version: Version = serde_json::from_slice(&get(port, "/json/version")?)?;
    let mut protocol: Protocol = serde_json::from_slice(&get(port, "/json/protocol")?)?;
    protocol.browser = version.browser;
    Ok(protocol)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Version {
    browser: String,
}

/// Ends its process when dropped; declared after the profile, so the profile is removed last.
struct Browser(Child);

impl Browser {
    fn start(profile: &Path) -> Result<Self> {
        let path = std::env::var_os("SUREHAND_BROWSER").map_or_else(|| "chromium".into(), PathBuf::from);
        let mut command = Command::new(&path);
        command.args([
            "--headless",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--remote-debugging-port=0",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        if is_root(profile)? {
            // Chromium refuses to start as root with its sandbox on.
            command.arg("--no-sandbox");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {} (set SUREHAND_BROWSER to another)", path.display()))?;
        Ok(Self(child))
    }

    /// The browser writes the port that it chose into its profile.
    fn port(&mut self, profile: &Path) -> Result<u16> {
        let file = profile.join("DevToolsActivePort");
        let started = Instant::now();
        while started.elapsed() < START {
            if let Some(status) = self.0.try_wait()? {
                bail!("the browser ended before it opened its port: {status}");
            }
            let text = fs_err::read_to_string(&file).unwrap_or_default();
            // Only a line with its end is whole.
            if let Some((port, _)) = text.split_once('\n') {
                return port.parse().with_context(|| format!("port `{port}` in {}", file.display()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("the browser did not open its port within {START:?}")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Nothing is left to do when it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whoever made the profile directory owns it, which saves asking the system for the user id.
#[cfg(unix)]
fn is_root(profile: &Path) -> Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(fs_err::metadata(profile)?.uid() == 0)
}

#[cfg(not(unix))]
fn is_root(_profile: &Path) -> Result<bool> {
    Ok(false)
}

/// One GET over loopback. The DevTools server always sends a length.
fn get(port: u16, path: &str) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(ANSWER))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    ensure!(line.split(' ').nth(1) == Some("200"), "{path}: {}", line.trim());
    let mut length = None;
    loop {
        line.clear();
        let read = reader.read_line(&mut line)?;
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = Some(value.trim().parse().context("content-length")?);
            }
            Some(_) => {}
            None if read == 0 => bail!("{path}: the answer ended in its headers"),
            None => break,
        }
    }
    let mut body = vec![0; length.with_context(|| format!("{path}: no content-length"))?];
    reader.read_exact(&mut body).with_context(|| format!("{path}: body"))?;
    Ok(body)
}
