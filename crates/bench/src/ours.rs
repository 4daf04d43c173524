//! The product as a subject of measurement: what the cases may ask of it.
//!
//! A trait, so that the harness can be run without the product (see the tests of `cases`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use surehand_testkit::{Cli, TempHome, processes};

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
}

impl Product {
    pub fn new(binary: &Path, home: &TempHome, browser: &Path) -> Self {
        let cli = Cli::new(binary, home).env("SUREHAND_BROWSER", browser).limit(Duration::from_secs(60));
        Self { cli, binary: binary.to_owned() }
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
