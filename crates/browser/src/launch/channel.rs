//! Starting the process with a way to talk to it: inherited pipes on Unix, a port that the browser picks elsewhere.

use std::{path::Path, process::Stdio};

use tokio::process::Command;

use super::{BrowserProcess, Channel, LaunchOptions, Launched};
use crate::{Error, profile::TempProfile};

/// Where a browser with a port writes which one.
const PORT_FILE: &str = "DevToolsActivePort";

fn command(options: &LaunchOptions, args: Vec<String>) -> Command {
    let mut command = Command::new(&options.executable);
    command
        .args(args)
        .envs(options.extra_env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

fn spawn(
    mut command: Command,
    options: &LaunchOptions,
    dir: &Path,
    profile: Option<TempProfile>,
) -> Result<BrowserProcess, Error> {
    let child =
        command.spawn().map_err(|source| Error::Spawn { path: options.executable.clone(), source })?;
    BrowserProcess::new(options.executable.clone(), child, dir.join(PORT_FILE), profile)
}

#[cfg(unix)]
pub(super) async fn start(
    options: &LaunchOptions,
    mut args: Vec<String>,
    dir: &Path,
    profile: Option<TempProfile>,
) -> Result<Launched, Error> {
    use command_fds::{CommandFdExt, FdMapping};
    use tokio::net::unix::pipe;

    let fail = Error::io;
    let (browser_reads, we_write) = std::io::pipe().map_err(fail("cannot make a pipe"))?;
    let (we_read, browser_writes) = std::io::pipe().map_err(fail("cannot make a pipe"))?;
    args.push("--remote-debugging-pipe".into());
    let mut command = command(options, args);
    command.process_group(0);
    let mappings = vec![
        FdMapping { parent_fd: browser_reads.into(), child_fd: 3 },
        FdMapping { parent_fd: browser_writes.into(), child_fd: 4 },
    ];
    command.as_std_mut().fd_mappings(mappings).map_err(|error| Error::Spawn {
        path: options.executable.clone(),
        source: std::io::Error::other(error.to_string()),
    })?;
    // The command owns the browser's ends of the pipes and goes with this call, so that only the browser has them.
    let process = spawn(command, options, dir, profile)?;
    let sender = pipe::Sender::from_owned_fd(we_write.into()).map_err(fail("cannot use the pipe"))?;
    let receiver = pipe::Receiver::from_owned_fd(we_read.into()).map_err(fail("cannot use the pipe"))?;
    Ok(Launched { channel: Channel::Pipe(sender, receiver), process, product: None })
}

#[cfg(not(unix))]
pub(super) async fn start(
    options: &LaunchOptions,
    mut args: Vec<String>,
    dir: &Path,
    profile: Option<TempProfile>,
) -> Result<Launched, Error> {
    use std::time::Duration;

    let port_file = dir.join(PORT_FILE);
    // One of an earlier browser would lead to a port that nobody listens on.
    let _ = fs_err::remove_file(&port_file);
    args.push("--remote-debugging-port=0".into());
    let mut process = spawn(command(options, args), options, dir, profile)?;
    let opened = async {
        loop {
            if let Some(url) = active_port(&port_file) {
                break url;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        biased;
        status = process.wait() => Err(process.exited(status)),
        url = opened => Ok(Launched { channel: Channel::WebSocket(url), process, product: None }),
        () = tokio::time::sleep(options.timeout) => Err(process.silent(options.timeout)),
    }
}

/// The file has two lines, the port and the path; it may be seen half-written.
pub(super) fn active_port(file: &Path) -> Option<String> {
    let text = fs_err::read_to_string(file).ok()?;
    let (port, path) = text.trim_end().split_once('\n')?;
    let port: u16 = port.trim().parse().ok()?;
    let path = path.trim();
    path.starts_with("/devtools/browser/").then(|| format!("ws://127.0.0.1:{port}{path}"))
}
