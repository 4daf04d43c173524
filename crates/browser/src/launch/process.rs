//! A browser process that is ours: it ends with its owner, and its fresh profile goes with it.

use std::{
    path::PathBuf,
    process::ExitStatus,
    thread,
    time::{Duration, Instant},
};

use tokio::{process::Child, time::timeout};

use super::{diagnose, group, tail::Tail};
use crate::{Error, profile::TempProfile};

/// How long a killed process may take to be gone, before we stop waiting for it.
const DYING: Duration = Duration::from_secs(5);

/// A running browser. Dropping it kills the browser's whole process group and removes its fresh profile.
#[derive(Debug)]
pub struct BrowserProcess {
    /// The browser's process number.
    pub pid: u32,
    executable: PathBuf,
    /// Where it writes its port, if it has one.
    port_file: PathBuf,
    child: Child,
    ended: Option<ExitStatus>,
    stderr: Tail,
    profile: Option<TempProfile>,
}

impl BrowserProcess {
    pub(super) fn new(
        executable: PathBuf,
        mut child: Child,
        port_file: PathBuf,
        profile: Option<TempProfile>,
    ) -> Result<Self, Error> {
        let vanished = |what: &str| Error::Spawn {
            path: executable.clone(),
            source: std::io::Error::other(what.to_owned()),
        };
        let pid = child.id().ok_or_else(|| vanished("it has no process number"))?;
        let stderr = child.stderr.take().ok_or_else(|| vanished("its standard error is missing"))?;
        Ok(BrowserProcess {
            pid,
            executable,
            port_file,
            child,
            ended: None,
            stderr: Tail::of(stderr),
            profile,
        })
    }

    /// Its own address, if it was started with a port. An old file of a kept profile tells of a port of long ago, so
    /// whoever uses the address must see whether somebody answers.
    pub fn devtools_url(&self) -> Option<String> {
        super::channel::active_port(&self.port_file)
    }

    /// Waits for the browser's end, and for its last words. Can be called again, and cancelled.
    pub async fn wait(&mut self) -> ExitStatus {
        let status = match self.ended {
            Some(status) => status,
            None => self.reap().await,
        };
        self.ended = Some(status);
        // Also when an earlier call was cancelled right here: the words explain the status.
        self.stderr.finish().await;
        status
    }

    async fn reap(&mut self) -> ExitStatus {
        // An error means that somebody else waited for our child; it is gone in any case.
        let status = self.child.wait().await.unwrap_or_else(|error| {
            tracing::warn!(target: "browser", pid = self.pid, %error, "cannot wait for the browser");
            ExitStatus::default()
        });
        group::kill_rest(self.pid);
        status
    }

    /// The end of what the browser said on its standard error.
    pub fn stderr_tail(&self) -> String {
        self.stderr.text()
    }

    /// Why the browser ended, as an error to show; for the status that [`wait`](Self::wait) gave.
    pub fn exited(&self, status: ExitStatus) -> Error {
        let stderr = self.stderr_tail();
        Error::Exited {
            path: self.executable.clone(),
            why: diagnose::exit(status, &stderr),
            status: status.to_string(),
            stderr,
        }
    }

    pub(super) fn silent(&self, waited: Duration) -> Error {
        Error::Silent { path: self.executable.clone(), waited, stderr: self.stderr_tail() }
    }

    /// Waits up to `grace` for the end that closing the browser or its pipe brings, then kills the whole process
    /// group; then removes the fresh profile.
    pub async fn end(mut self, grace: Duration) {
        if timeout(grace, self.wait()).await.is_err() {
            group::kill(self.pid);
            if timeout(DYING, self.wait()).await.is_err() {
                tracing::warn!(target: "browser", pid = self.pid, "the browser does not die");
            }
        }
        if let Some(profile) = self.profile.take() {
            let removed = tokio::task::spawn_blocking(move || profile.remove()).await;
            if let Ok(Err(error)) = removed {
                tracing::warn!(target: "browser", %error, "a temporary profile stays until the next sweep");
            }
        }
    }

    /// For `Drop`, which cannot await: a killed process is gone within milliseconds.
    fn kill_now(&mut self) {
        if self.ended.is_some() {
            return;
        }
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return group::kill_rest(self.pid);
        }
        group::kill(self.pid);
        let deadline = Instant::now() + Duration::from_millis(500);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        // The profile is dropped after this, when nothing writes to it any more.
        self.kill_now();
    }
}
