//! Where the daemon keeps its things.

use std::path::{Path, PathBuf};

use surehand_browser::Machine;
use surehand_browser::profile::{self, TempProfile};
use surehand_session::{Fault, Kind, Places};

use crate::ipc;

/// One daemon per home.
#[derive(Debug, Clone)]
pub struct Home {
    /// Logs, profiles, the lock.
    pub root: PathBuf,
    /// Where the daemon listens.
    pub socket: PathBuf,
}

/// A Unix socket's path must fit into 108 bytes, on some systems 104.
const LONGEST_SOCKET_PATH: usize = 100;

impl Home {
    /// `SUREHAND_HOME`, else the user's own directories. Reads the environment: only fronts call it.
    pub fn from_env() -> Result<Self, Fault> {
        if let Some(root) = std::env::var_os("SUREHAND_HOME").filter(|root| !root.is_empty()) {
            let root = std::path::absolute(root).map_err(|error| no_home(&error.to_string()))?;
            return Ok(Self::at(root));
        }
        let root = state_directory()?;
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| Path::new(dir).is_dir());
        let socket = match runtime {
            Some(dir) => Path::new(&dir).join("surehand/daemon.sock"),
            None => root.join("daemon.sock"),
        };
        Ok(Self { socket: shortened(socket), root })
    }

    fn at(root: PathBuf) -> Self {
        Self { socket: shortened(root.join("daemon.sock")), root }
    }

    /// Temporary browser profiles.
    pub fn scratch(&self) -> PathBuf {
        self.root.join("profiles")
    }

    /// Where sessions of one process keep their things. What they download is in a folder of that process.
    pub(crate) fn places(&self, downloads: PathBuf) -> Places {
        Places { scratch: self.scratch(), downloads, journals: self.journals(), machine: Machine::from_env() }
    }

    /// A folder for the downloads of this process. It goes with its owner; what dead ones left goes now.
    pub(crate) fn own_downloads(&self) -> Result<TempProfile, Fault> {
        let swept = profile::sweep(&self.downloads());
        tracing::debug!("swept {swept:?}");
        Ok(TempProfile::create(&self.downloads())?)
    }

    /// Downloads that are under way, in a folder for each process.
    fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    /// Journals of sessions.
    pub fn journals(&self) -> PathBuf {
        self.root.join("journals")
    }

    /// Keys that sign tokens.
    pub fn keys(&self) -> PathBuf {
        self.root.join("keys")
    }

    /// Files that packs leave.
    pub fn artifacts(&self) -> PathBuf {
        self.root.join("artifacts")
    }

    /// The daemon's process number.
    pub fn pid_file(&self) -> PathBuf {
        self.root.join("daemon.pid")
    }

    /// What the daemon has to say that nobody asked for.
    pub fn log_file(&self) -> PathBuf {
        self.root.join("daemon.log")
    }

    /// Held by whoever starts a daemon, so that thirty commands at once start one.
    pub(crate) fn start_lock(&self) -> PathBuf {
        self.root.join("start.lock")
    }

    /// Held by the daemon for its life.
    pub(crate) fn daemon_lock(&self) -> PathBuf {
        self.root.join("daemon.lock")
    }

    /// Makes the directories, for this user alone.
    pub(crate) fn create(&self) -> Result<(), Fault> {
        for directory in [Some(self.root.as_path()), self.socket.parent()].into_iter().flatten() {
            ipc::create_private(directory).map_err(|error| {
                Fault::new(Kind::UnwritablePath, error.to_string())
                    .hint("set SUREHAND_HOME to a directory that you may write to")
            })?;
        }
        Ok(())
    }
}

fn state_directory() -> Result<PathBuf, Fault> {
    use etcetera::BaseStrategy;
    let strategy = etcetera::choose_base_strategy().map_err(|error| no_home(&error.to_string()))?;
    let base = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Ok(base.join("surehand"))
}

fn no_home(why: &str) -> Fault {
    Fault::new(Kind::DaemonUnreachable, format!("there is no home directory: {why}"))
        .hint("set SUREHAND_HOME to a directory that you may write to")
}

fn shortened(socket: PathBuf) -> PathBuf {
    if socket.as_os_str().len() <= LONGEST_SOCKET_PATH {
        return socket;
    }
    ipc::short_directory().join(format!("{:016x}.sock", fnv1a(socket.as_os_str().as_encoded_bytes())))
}

/// Any good hash does: it only has to be the same in the next process.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_home_still_has_a_socket() {
        let home = Home::at(PathBuf::from(format!("/tmp/{}", "x".repeat(200))));
        assert!(home.socket.as_os_str().len() <= LONGEST_SOCKET_PATH, "{}", home.socket.display());
        assert_eq!(home.socket, Home::at(home.root.clone()).socket);
    }
}
