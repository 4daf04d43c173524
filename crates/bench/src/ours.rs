//! The product as a subject of measurement: what the cases may ask of it.
//!
//! A trait, so that the harness can be run without the product (see the tests of `cases`).

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use surehand_testkit::{Cli, TempHome, processes};

use crate::daemon::{self, Asked};

/// One call of the CLI.
#[derive(Debug)]
pub struct Called {
    /// Process start included.
    pub elapsed: Duration,
    /// What it printed.
    pub stdout: String,
}

/// Something that understands Surehand's command line. A call that fails is an error: its time means nothing.
pub trait Subject {
    /// The executable, for its size.
    fn binary(&self) -> &Path;

    /// `[--session NAME] VERB ARGS`.
    fn call(&self, session: Option<&str>, arguments: &[&str]) -> Result<Called>;

    /// Asks the running daemon itself: `command` is a verb with its arguments, as the daemon reads it.
    fn ask(&self, session: &str, command: &Value) -> Result<Asked>;

    /// The program, to be given arguments and started.
    fn command(&self) -> Result<Command> {
        Err(anyhow!("this subject is no program"))
    }

    /// The process that holds the sessions.
    fn daemon(&self) -> Option<u32>;

    /// The main process of the browser that the daemon launched.
    fn browser(&self) -> Option<u32>;

    /// Ends sessions, browser and daemon; returns when all are gone.
    fn shut_down(&self) -> Result<()>;

    /// What starting the process costs: `--version`.
    fn process_start(&self) -> Result<Duration> {
        Ok(self.call(None, &["--version"])?.elapsed)
    }
}

/// The built binary.
#[derive(Debug)]
pub struct Product {
    cli: Cli,
    binary: PathBuf,
    version: OnceCell<String>,
}

impl Product {
    pub fn new(binary: &Path, home: &TempHome, browser: &Path) -> Self {
        let cli = Cli::new(binary, home).env("SUREHAND_BROWSER", browser).limit(Duration::from_secs(60));
        Self { cli, binary: binary.to_owned(), version: OnceCell::new() }
    }

    /// What the daemon wants to hear; only release builds say all of it.
    fn version(&self) -> Result<&str> {
        if let Some(version) = self.version.get() {
            return Ok(version);
        }
        let said = self.call(None, &["--version"])?.stdout;
        let version = said.split_whitespace().last().context("`--version` said nothing")?;
        Ok(self.version.get_or_init(|| version.to_owned()))
    }
}

impl Subject for Product {
    fn binary(&self) -> &Path {
        &self.binary
    }

    fn call(&self, session: Option<&str>, arguments: &[&str]) -> Result<Called> {
        let run = match session {
            Some(session) => self.cli.session(session).run(arguments)?,
            None => self.cli.run(arguments)?,
        };
        let line = arguments.join(" ");
        ensure!(run.ok(), "surehand {line}: exit code {:?}: {}", run.code, run.stderr.trim());
        ensure!(!run.held_open, "surehand {line}: somebody still holds its output");
        Ok(Called { elapsed: run.elapsed, stdout: run.stdout })
    }

    fn ask(&self, session: &str, command: &Value) -> Result<Asked> {
        daemon::ask(&self.cli.home().path().join("daemon.sock"), self.version()?, session, command)
    }

    fn command(&self) -> Result<Command> {
        Ok(self.cli.command())
    }

    fn daemon(&self) -> Option<u32> {
        self.cli.daemon_pid()
    }

    fn browser(&self) -> Option<u32> {
        processes::descendants(self.daemon()?).into_iter().find(|pid| {
            let arguments = processes::args(*pid);
            let has = |beginning: &str| arguments.iter().any(|each| each.starts_with(beginning));
            has("--remote-debugging-") && !has("--type=")
        })
    }

    fn shut_down(&self) -> Result<()> {
        let browser = self.browser();
        self.cli.shut_down()?;
        match browser.filter(|pid| processes::alive(*pid)) {
            Some(pid) => Err(anyhow!("the browser, process {pid}, outlived its daemon")),
            None => Ok(()),
        }
    }
}
