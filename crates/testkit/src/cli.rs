//! The built `surehand` binary with a home and a session of its own, under a wall-time limit.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::exec::{Run, RunError, run_bounded};
use crate::{TempHome, processes, wait_until};

const DEFAULT_LIMIT: Duration = Duration::from_secs(60);
const CLOSE_LIMIT: Duration = Duration::from_secs(30);
const DAEMON_GRACE: Duration = Duration::from_secs(10);

/// Runs one binary in one home. Clones (see [`Cli::session`]) share the home; when the last one goes, every
/// session of that home is closed and its daemon is ended.
#[derive(Debug, Clone)]
pub struct Cli {
    shared: Arc<Shared>,
    session: Option<String>,
    limit: Duration,
    directory: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

#[derive(Debug)]
struct Shared {
    binary: PathBuf,
    home: TempHome,
    used: AtomicBool,
}

/// One `--json` call.
#[derive(Debug, Clone)]
pub struct JsonRun {
    /// The envelope.
    pub value: Value,
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Process start included.
    pub elapsed: Duration,
}

impl JsonRun {
    /// Whether the envelope says `success`.
    #[must_use]
    pub fn success(&self) -> bool {
        self.value["success"] == true
    }

    /// `data` of the envelope.
    #[must_use]
    pub fn data(&self) -> &Value {
        &self.value["data"]
    }

    /// `error.code` of the envelope; empty if there is none.
    #[must_use]
    pub fn error_code(&self) -> &str {
        self.value["error"]["code"].as_str().unwrap_or_default()
    }
}

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// It did not run to its end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// `--json` printed something else than one JSON document.
    #[error(
        "not one JSON document ({source}), exit code {code:?}, output held open: {held_open}\nstdout: {stdout}\nstderr: {stderr}"
    )]
    NotJson {
        /// The exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// Whether somebody still held its output when it had ended: then the output may be cut.
        held_open: bool,
        /// What the parser said.
        source: serde_json::Error,
        /// What was printed.
        stdout: String,
        /// What was complained about.
        stderr: String,
    },
    /// The daemon did not end.
    #[error("the daemon, process {0}, did not end")]
    DaemonStays(u32),
}

impl Cli {
    /// `binary` in `home`, with the default session, a limit of a minute, run in the home's work directory.
    #[must_use]
    pub fn new(binary: impl Into<PathBuf>, home: &TempHome) -> Self {
        let shared = Shared { binary: binary.into(), home: home.clone(), used: AtomicBool::new(false) };
        Self {
            shared: Arc::new(shared),
            session: None,
            limit: DEFAULT_LIMIT,
            directory: home.work().to_owned(),
            variables: vec![],
        }
    }

    /// The same home, another session.
    #[must_use]
    pub fn session(&self, name: &str) -> Self {
        Self { session: Some(name.to_owned()), ..self.clone() }
    }

    /// The same, for commands that name no session.
    #[must_use]
    pub fn without_session(&self) -> Self {
        Self { session: None, ..self.clone() }
    }

    /// The same, with another limit on each call's wall time.
    #[must_use]
    pub fn limit(&self, limit: Duration) -> Self {
        Self { limit, ..self.clone() }
    }

    /// The same, run in another directory.
    #[must_use]
    pub fn directory(&self, directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), ..self.clone() }
    }

    /// The same, with one more environment variable.
    #[must_use]
    pub fn env(&self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let mut more = self.clone();
        more.variables.push((name.into(), value.into()));
        more
    }

    /// The home it runs in.
    #[must_use]
    pub fn home(&self) -> &TempHome {
        &self.shared.home
    }

    /// The binary it runs.
    #[must_use]
    pub fn binary(&self) -> &Path {
        &self.shared.binary
    }

    /// Runs with `arguments` (after `--session`) and says what came of it, whatever the exit code.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Run, CliError> {
        self.run_with_input(arguments, b"")
    }

    /// Like [`Cli::run`], with `input` on standard input.
    pub fn run_with_input<A: AsRef<OsStr>>(&self, arguments: &[A], input: &[u8]) -> Result<Run, CliError> {
        let mut command = self.command();
        command.args(arguments);
        Ok(run_bounded(command, input, self.limit)?)
    }

    /// Runs with `--json` and parses what it prints, whatever the exit code.
    pub fn json<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<JsonRun, CliError> {
        let mut command = self.command();
        command.arg("--json").args(arguments);
        let run = run_bounded(command, b"", self.limit)?;
        match serde_json::from_str(&run.stdout) {
            Ok(value) => Ok(JsonRun { value, code: run.code, elapsed: run.elapsed }),
            Err(source) => {
                let Run { code, held_open, stdout, stderr, .. } = run;
                Err(CliError::NotJson { code, held_open, source, stdout, stderr })
            }
        }
    }

    /// The prepared command, for what the other methods do not cover (parallel calls, signals).
    #[must_use]
    pub fn command(&self) -> Command {
        self.shared.used.store(true, Ordering::Relaxed);
        let mut command = self.shared.command(&self.directory);
        if let Some(session) = &self.session {
            command.args(["--session", session]);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The daemon of this home, if it runs.
    #[must_use]
    pub fn daemon_pid(&self) -> Option<u32> {
        self.shared.daemon_pid()
    }

    /// Closes every session, ends the daemon and waits until it is gone.
    pub fn shut_down(&self) -> Result<(), CliError> {
        self.shared.shut_down()
    }
}

impl Shared {
    fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(&self.binary);
        // The caller's own settings must not leak in; which browser to use, and logging, is theirs to say.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("SUREHAND_") && !matches!(&*text, "SUREHAND_BROWSER" | "SUREHAND_LOG") {
                command.env_remove(&name);
            }
        }
        command.env("SUREHAND_HOME", self.home.path()).current_dir(directory);
        command
    }

    fn daemon_pid(&self) -> Option<u32> {
        let note = fs_err::read_to_string(self.home.path().join("daemon.pid")).ok();
        let noted = note.as_deref().and_then(|text| text.trim().parse().ok());
        let scan = || processes::with_env("SUREHAND_HOME", &self.home.path().to_string_lossy());
        // The note may be stale and its id in use by somebody else: only a process of this home counts.
        noted
            .filter(|pid| self.is_daemon(*pid))
            .or_else(|| scan().into_iter().find(|pid| self.is_daemon(*pid)))
    }

    fn is_daemon(&self, pid: u32) -> bool {
        let home = format!("SUREHAND_HOME={}", self.home.path().display());
        let arguments = processes::args(pid);
        // Its browser has the same environment, but a profile and no such argument.
        processes::alive(pid)
            && arguments.iter().skip(1).any(|argument| argument.contains("daemon"))
            && !arguments.iter().any(|argument| argument.starts_with("--user-data-dir"))
            && processes::environment(pid).contains(&home)
    }

    fn shut_down(&self) -> Result<(), CliError> {
        let Some(daemon) = self.daemon_pid() else { return Ok(()) };
        let mut close = self.command(self.home.work());
        close.args(["close", "--all"]);
        let closed = run_bounded(close, b"", CLOSE_LIMIT);
        let below = processes::descendants(daemon);
        if !processes::end(daemon, DAEMON_GRACE) {
            return Err(CliError::DaemonStays(daemon));
        }
        let _ = wait_until(DAEMON_GRACE, || !below.iter().any(|pid| processes::alive(*pid)));
        closed?;
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if *self.used.get_mut() {
            let _ = self.shut_down();
        }
    }
}
