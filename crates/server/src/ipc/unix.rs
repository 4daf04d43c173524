//! Unix sockets: private by file mode, and both ends check who the other is.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use surehand_session::{Fault, Kind};
use tokio::signal::unix::{SignalKind, signal};

/// The client's end.
pub(crate) type ClientStream = UnixStream;
/// The daemon's end of one connection.
pub(crate) type ServerStream = tokio::net::UnixStream;

/// Where the daemon listens.
#[derive(Debug)]
pub(crate) struct Server(tokio::net::UnixListener);

impl Server {
    /// Listens, replacing what a dead daemon left. The caller holds the daemon's lock, so no living one is there.
    pub fn bind(path: &Path) -> io::Result<Self> {
        match fs_err::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = tokio::net::UnixListener::bind(path)?;
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self(listener))
    }

    /// The next client of this user; others are sent away.
    pub async fn accept(&self) -> io::Result<ServerStream> {
        loop {
            let (stream, _) = self.0.accept().await?;
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == own_uid() => return Ok(stream),
                Ok(peer) => tracing::warn!("uid {} tried to connect", peer.uid()),
                Err(error) => tracing::warn!("who connects is unknown: {error}"),
            }
        }
    }
}

/// Connects, unless the socket belongs to somebody else. `None` when nobody listens.
pub(crate) fn connect(path: &Path) -> Result<Option<ClientStream>, Fault> {
    match fs_err::symlink_metadata(path) {
        Ok(found) if found.uid() != own_uid() => {
            return Err(Fault::new(
                Kind::ForeignSocket,
                format!("the socket {} belongs to another user (uid {})", path.display(), found.uid()),
            )
            .hint("set SUREHAND_HOME to a directory of your own"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreachable_socket(path, &error)),
    }
    match UnixStream::connect(path) {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
            Ok(None)
        }
        Err(error) => Err(unreachable_socket(path, &error)),
    }
}

/// The same stream for code that must not block.
pub(crate) fn without_blocking(stream: ClientStream) -> io::Result<tokio::net::UnixStream> {
    stream.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(stream)
}

/// Reading fails when the other end is silent for longer than this, and writing when it does not listen.
pub(crate) fn limit_silence(stream: &ClientStream, limit: Duration) -> io::Result<()> {
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))
}

fn unreachable_socket(path: &Path, error: &io::Error) -> Fault {
    Fault::new(Kind::DaemonUnreachable, format!("cannot connect to {}: {error}", path.display()))
        .hint("`surehand doctor` looks at the daemon; SUREHAND_HOME chooses another place for it")
}

/// A directory for this user alone.
pub(crate) fn create_private(directory: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot create {}: {error}", directory.display()))
    })?;
    let found = fs_err::metadata(directory)?;
    if found.uid() != own_uid() {
        let owner = found.uid();
        return Err(io::Error::other(format!(
            "{} belongs to another user (uid {owner})",
            directory.display()
        )));
    }
    if found.mode() & 0o077 != 0 {
        fs_err::set_permissions(directory, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Is the file its owner's alone?
pub(crate) fn is_private(file: &Path) -> io::Result<bool> {
    Ok(fs_err::metadata(file)?.mode() & 0o077 == 0)
}

/// Where sockets go whose own path would be too long.
pub(crate) fn short_directory() -> PathBuf {
    PathBuf::from(format!("/tmp/surehand-{}", own_uid()))
}

/// Leaves the terminal and the directory that the daemon was started from.
pub(crate) fn detach() -> io::Result<()> {
    // Fails only for a process that leads a group already, which is as good.
    let _ = rustix::process::setsid();
    std::env::set_current_dir("/")
}

/// Nothing of the daemon goes to whoever started it, from now on.
pub(crate) fn silence_stdout() -> io::Result<()> {
    let null = fs_err::OpenOptions::new().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(null.file())?)
}

/// Waits for the system's or the user's wish that the daemon ends. It has left its terminal and does not go with it.
pub(crate) async fn daemon_asked_to_end() -> io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// The same for whatever has a terminal: closing that is such a wish, too.
pub(crate) async fn asked_to_end() -> io::Result<()> {
    // Before anything listens: listening changes what is found.
    let may_hang_up = may_hang_up();
    let (mut quit, mut hang_up) = (signal(SignalKind::quit())?, None);
    if may_hang_up {
        hang_up = Some(signal(SignalKind::hangup())?);
    }
    let hung_up = async {
        match &mut hang_up {
            Some(hang_up) => _ = hang_up.recv().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = daemon_asked_to_end() => ended,
        _ = quit.recv() => Ok(()),
        () = hung_up => Ok(()),
    }
}

/// Does the process go with its terminal? One that was started with `nohup` was told not to.
fn may_hang_up() -> bool {
    static MAY: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *MAY.get_or_init(|| match fs_err::read_to_string("/proc/self/status") {
        Ok(status) => !ignores_hangup(&status),
        // Elsewhere it shows in this: `nohup` writes to a file.
        Err(_) => io::IsTerminal::is_terminal(&io::stderr()),
    })
}

/// Whether the first signal is among those that a process ignores, as Linux tells it: in bits, the first signal last.
fn ignores_hangup(status: &str) -> bool {
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.is_some_and(|bits| bits & 1 == 1)
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Sessions, tunnels and callers need a descriptor each: as many as the system grants, which is more than it gives unasked.
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum.map_or(Some(PLENTY), |most| Some(most.min(PLENTY))).max(limit.current);
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!("the limit of descriptors stays: {error}");
    }
}

/// More descriptors than anybody needs here.
const PLENTY: u64 = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_nohup_is_known() {
        assert!(ignores_hangup("Name:\tx\nSigIgn:\t0000000000001001\n"));
        assert!(!ignores_hangup("Name:\tx\nSigIgn:\t0000000000001000\n"));
        assert!(!ignores_hangup(""));
    }
}
