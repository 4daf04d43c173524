//! Named pipes: the same functions as over Unix sockets.
//!
//! Compiled with `cargo check --target x86_64-pc-windows-gnu`, but never run: no Windows machine was at hand.
//!
//! A pipe's default access list lets only its user, administrators and the system write to it; others may open it for
//! reading, and hear nothing. What is weaker than on Unix: a client does not check whose pipe it opens, directories get
//! the rights of the one above them, and the daemon keeps the console of the command that started it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use surehand_session::{Fault, Kind};
use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use tokio::sync::Mutex;

/// The client's end.
pub(crate) type ClientStream = File;
/// The daemon's end of one connection.
pub(crate) type ServerStream = NamedPipeServer;

/// Every instance of the pipe has a client; the daemon makes the next one at once.
const ERROR_PIPE_BUSY: i32 = 231;

/// Busy for longer than this means that the daemon hangs.
const BUSY: Duration = Duration::from_secs(5);

/// Whoever listens may learn who connects, but not act in their name.
const SECURITY_IDENTIFICATION: u32 = 0x0001_0000;

/// Where the daemon listens.
#[derive(Debug)]
pub(crate) struct Server {
    name: String,
    /// The instance that the next client gets. There is always one, else clients would find no daemon.
    next: Mutex<NamedPipeServer>,
}

impl Server {
    /// Listens. A dead daemon leaves nothing; a name that is taken is somebody else's.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let name = pipe_name(path);
        let next =
            ServerOptions::new().first_pipe_instance(true).reject_remote_clients(true).create(&name)?;
        Ok(Self { name, next: Mutex::new(next) })
    }

    /// The next client.
    pub async fn accept(&self) -> io::Result<ServerStream> {
        let mut next = self.next.lock().await;
        next.connect().await?;
        let fresh = ServerOptions::new().reject_remote_clients(true).create(&self.name)?;
        Ok(std::mem::replace(&mut *next, fresh))
    }
}

/// Connects. `None` when nobody listens.
pub(crate) fn connect(path: &Path) -> Result<Option<ClientStream>, Fault> {
    let name = pipe_name(path);
    let since = Instant::now();
    loop {
        let opened =
            OpenOptions::new().read(true).write(true).security_qos_flags(SECURITY_IDENTIFICATION).open(&name);
        match opened {
            Ok(stream) => return Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(ERROR_PIPE_BUSY) && since.elapsed() < BUSY => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(Fault::new(
                    Kind::ForeignSocket,
                    format!("the pipe {name} belongs to another user"),
                )
                .hint("set SUREHAND_HOME to a directory of your own"));
            }
            Err(error) => {
                return Err(Fault::new(
                    Kind::DaemonUnreachable,
                    format!("cannot connect to {name}: {error}"),
                )
                .hint("`surehand doctor` looks at the daemon; SUREHAND_HOME chooses another place for it"));
            }
        }
    }
}

/// Pipes have a name space of their own: the path that a socket would have makes the name, so that one home has one.
fn pipe_name(path: &Path) -> String {
    let fine = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    // Paths are the same in upper and lower case, and so are names of pipes.
    let name: String = path.to_string_lossy().to_lowercase().chars().map(fine).collect();
    format!(r"\\.\pipe\surehand-{name}")
}

/// Files in a user's own folders are theirs alone by default.
pub(crate) fn is_private(_: &Path) -> io::Result<bool> {
    Ok(true)
}

/// A directory in the user's own places is private by what it inherits.
pub(crate) fn create_private(directory: &Path) -> io::Result<()> {
    fs_err::create_dir_all(directory)
}

/// Where sockets go whose own path would be too long: for a pipe it is only a name, but that has its limit too.
pub(crate) fn short_directory() -> PathBuf {
    std::env::temp_dir().join("surehand")
}

/// Leaves the directory that the daemon was started from, which could not be removed otherwise.
pub(crate) fn detach() -> io::Result<()> {
    std::env::set_current_dir(r"\")
}

/// Whoever started the daemon reads one line and closes its end; nothing is printed after it.
pub(crate) fn silence_stdout() -> io::Result<()> {
    Ok(())
}

/// Here it is the same wish for all.
pub(crate) use asked_to_end as daemon_asked_to_end;

/// Waits for the system's or the user's wish that the daemon ends. Ctrl-C is heard and ignored: it goes to every
/// process of a console, and is meant for the command in front.
pub(crate) async fn asked_to_end() -> io::Result<()> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
    let (mut interrupt, mut stop, mut close) = (ctrl_c()?, ctrl_break()?, ctrl_close()?);
    let (mut logoff, mut shutdown) = (ctrl_logoff()?, ctrl_shutdown()?);
    loop {
        tokio::select! {
            _ = interrupt.recv() => continue,
            _ = stop.recv() => {}
            _ = close.recv() => {}
            _ = logoff.recv() => {}
            _ = shutdown.recv() => {}
        }
        return Ok(());
    }
}

/// The same stream for code that must not block.
pub(crate) fn without_blocking(stream: ClientStream) -> io::Result<tokio::fs::File> {
    Ok(tokio::fs::File::from_std(stream))
}

/// A pipe that is opened as a file has no read timeout; a daemon that hangs is ended by hand here.
pub(crate) fn limit_silence(_: &ClientStream, _: Duration) -> io::Result<()> {
    Ok(())
}

/// Windows has no such limit.
pub(crate) fn raise_descriptor_limit() {}
