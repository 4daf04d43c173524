//! Where the tools of a playbook run: in this process, in the daemon, or in an MCP server.

use std::sync::Arc;

use clap::Args;
use surehand_guard::Secrets;
use surehand_playbook::TOOLSETS;
use surehand_server::callers::{Foreign, Own, Server};
use surehand_server::secrets::Keeper;
use surehand_server::{Executor, Home};
use surehand_session::{Fault, Kind, Lease};
use surehand_tools::Caller;
use surehand_verbs::split_words;

use crate::config::Effective;
use crate::printer::{Printer, ProgressNotes};

/// Arguments.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Where {
    /// Use the daemon that runs, and its session of --session or a fresh one
    #[arg(long, conflicts_with = "server")]
    reuse: bool,
    /// Use an MCP server: a command line that is started for the run, or the address of one that runs
    #[arg(long, value_name = "COMMAND|URL")]
    server: Option<String>,
}

/// A caller that is ready, and what must live as long as it.
pub(super) struct Ready {
    pub caller: Box<dyn Caller>,
    /// Are its tools those of this program? Then their arguments can be checked.
    pub is_own: bool,
    executor: Option<Executor>,
    scratch: Option<std::path::PathBuf>,
    /// Are its sessions those of the daemon, in the browser that they share there?
    shares_daemon: bool,
}

/// A browser that stays while sessions come and go.
pub(super) enum Warm {
    /// Of this process.
    Leased(Lease),
    /// Of the daemon: a session of ours is in it.
    Held(Box<dyn Caller>),
    /// Whoever has the browser decides.
    Theirs,
}

impl Warm {
    pub async fn end(self) {
        match self {
            Self::Leased(lease) => lease.end().await,
            Self::Held(caller) => caller.close().await,
            Self::Theirs => {}
        }
    }
}

impl Where {
    /// Is the server somebody else's?
    pub fn is_foreign(&self) -> bool {
        self.server.is_some()
    }

    /// A session has a name to be found by others, and only those of the daemon can be.
    pub fn refuse_idle_session(&self, config: &Effective) -> Result<(), Fault> {
        if self.reuse || !config.is_flag("session") {
            return Ok(());
        }
        Err(Fault::new(Kind::Usage, "--session names a session of the daemon, and this run does not use it")
            .hint("add --reuse, or leave --session out: every run has a session of its own"))
    }

    pub async fn prepare(
        &self,
        config: &Effective,
        secrets: Arc<Secrets>,
        printer: &Printer,
    ) -> Result<Ready, Fault> {
        if let Some(server) = &self.server {
            let keeper = Arc::new(Keeper::of_local(&Home::from_env()?, secrets));
            // Much to keep while it waits, and most runs have no server.
            let foreign = Box::pin(Foreign::connect(read_server(server)?, keeper)).await?;
            let is_own = foreign.is_surehand().await;
            return Ok(Ready::new(Box::new(foreign), is_own));
        }
        let home = Home::from_env()?;
        let notes = Arc::new(ProgressNotes::masked(*printer, secrets.clone()));
        let settings = config.settings()?;
        if self.reuse {
            let executor = Executor::running_daemon(&home, secrets)?;
            let shares_daemon = !settings.options.needs_own_browser() && settings.options.connect.is_none();
            let own = Own::new(executor, &TOOLSETS, settings, notes);
            let own = if config.names_session() { own } else { own.with_fresh_session() };
            return Ok(Ready { shares_daemon, ..Ready::new(Box::new(own), true) });
        }
        let scratch = home.root.join(format!("playbook-{}", std::process::id()));
        let executor = Executor::here(&home, &scratch, secrets)?;
        let own = Own::new(executor.clone(), &TOOLSETS, settings, notes).with_fresh_session();
        Ok(Ready { executor: Some(executor), scratch: Some(scratch), ..Ready::new(Box::new(own), true) })
    }
}

impl Ready {
    fn new(caller: Box<dyn Caller>, is_own: bool) -> Self {
        Self { caller, is_own, executor: None, scratch: None, shares_daemon: false }
    }

    /// Keeps one browser for all sessions that follow each other here.
    pub async fn keep_warm(&self) -> Warm {
        if let Some(lease) = self.executor.as_ref().and_then(Executor::keep_warm) {
            return Warm::Leased(lease);
        }
        if !self.shares_daemon {
            return Warm::Theirs;
        }
        let Ok(holder) = self.caller.apart().await else { return Warm::Theirs };
        // It only has to be there. If it cannot be, the first test says why.
        let _ = holder.call("session", serde_json::json!({})).await;
        Warm::Held(holder)
    }

    /// Ends what was started for the run.
    pub async fn end(self) {
        self.caller.close().await;
        if let Some(executor) = self.executor {
            executor.close_all().await;
        }
        if let Some(scratch) = self.scratch {
            // Made only if something was downloaded.
            let _ = fs_err::remove_dir_all(scratch);
        }
    }
}

fn read_server(text: &str) -> Result<Server, Fault> {
    if text.starts_with("http://") || text.starts_with("https://") {
        let token = std::env::var("SUREHAND_MCP_TOKEN").ok().filter(|token| !token.is_empty());
        return Ok(Server::At { url: text.to_owned(), token });
    }
    match split_words(text) {
        Some(words) if !words.is_empty() => Ok(Server::Child(words)),
        _ => Err(Fault::new(Kind::Usage, "--server is no command line").hint("--server 'surehand mcp'")),
    }
}
