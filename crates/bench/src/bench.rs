//! What the cases share: the site, the product, the raw browser, and a directory that goes with them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use surehand_testkit::{Site, TempHome};

use crate::daemon::Asked;
use crate::options::Options;
use crate::ours::{Called, Subject};
use crate::raw::{Launch, RawBrowser};

/// The session that warm cases use.
pub const SESSION: &str = "bench";

/// One run of the program.
pub struct Bench {
    pub options: Options,
    pub site: Site,
    /// `None` with `--raw-only`.
    pub subject: Option<Box<dyn Subject>>,
    launch: Option<Launch>,
    raw: Option<RawBrowser>,
    profiles: u32,
    // Last: removed when everything above is gone.
    home: TempHome,
}

impl Bench {
    pub fn new(options: Options, site: Site, subject: Option<Box<dyn Subject>>, home: TempHome) -> Self {
        Self { options, site, subject, launch: None, raw: None, profiles: 0, home }
    }

    /// How raw browsers are launched: like the product's own, so that both do the same work.
    pub fn launch(&mut self) -> Result<Launch> {
        if let Some(launch) = &self.launch {
            return Ok(launch.clone());
        }
        let program = &self.options.browser;
        let launch = match &self.subject {
            None => Launch::usual(program),
            Some(subject) => {
                subject.call(Some(SESSION), &["open", &self.site.url("/small")])?;
                let pid =
                    subject.browser().context("the product's browser was not found below its daemon")?;
                Launch::like(program, pid)
            }
        };
        Ok(self.launch.insert(launch).clone())
    }

    /// Puts the product's warm session on `path`, starting daemon and browser if they are down.
    pub fn warm(&self, path: &str) -> Result<()> {
        if let Some(subject) = &self.subject {
            subject.call(Some(SESSION), &["open", &self.site.url(path)])?;
        }
        Ok(())
    }

    /// One call of the product in its warm session; `None` with `--raw-only`.
    pub fn ours(&self, arguments: &[&str]) -> Result<Option<Called>> {
        self.subject.as_ref().map(|subject| subject.call(Some(SESSION), arguments)).transpose()
    }

    /// One command in the product's warm session, asked of its daemon; `None` with `--raw-only`.
    pub fn asked(&self, command: &Value) -> Result<Option<Asked>> {
        self.subject.as_ref().map(|subject| subject.ask(SESSION, command)).transpose()
    }

    /// What starting the product's process costs; `None` with `--raw-only`.
    pub fn process_start(&self) -> Result<Option<Duration>> {
        self.subject.as_ref().map(|subject| subject.process_start()).transpose()
    }

    /// Ends the product's sessions, browser and daemon.
    pub fn shut_down(&self) -> Result<()> {
        self.subject.as_ref().map_or(Ok(()), |subject| subject.shut_down())
    }

    /// A new raw browser. The caller owns it.
    pub fn launch_raw(&mut self) -> Result<RawBrowser> {
        go_on()?;
        let launch = self.launch()?;
        let profile = self.next_profile();
        RawBrowser::launch(&launch, &profile)
    }

    /// The raw browser of the warm cases.
    pub fn raw(&mut self) -> Result<&mut RawBrowser> {
        let raw = match self.raw.take() {
            Some(raw) => raw,
            None => self.launch_raw()?,
        };
        Ok(self.raw.insert(raw))
    }

    /// Ends the raw browser of the warm cases, so that it does not disturb what needs the whole machine.
    pub fn close_raw(&mut self) {
        self.raw = None;
    }

    /// Where a case may put files.
    pub fn scratch(&self) -> PathBuf {
        self.home.work().to_owned()
    }

    fn next_profile(&mut self) -> PathBuf {
        self.profiles += 1;
        self.home.root().join(format!("raw-{}", self.profiles))
    }
}

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on nothing is started: a signal came, and what runs is being ended.
pub fn interrupt() {
    STOP.store(true, Ordering::SeqCst);
}

/// Whether a signal came.
pub fn is_interrupted() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// An error once a signal came; asked before anything is started.
pub fn go_on() -> Result<()> {
    ensure!(!is_interrupted(), "interrupted");
    Ok(())
}
