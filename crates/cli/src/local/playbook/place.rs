//! Where the tools of a playbook run: in this process, in the daemon, or in an MCP server.

use std::sync::Arc;

use clap::Args;
use surehand_guard::Secrets;
use surehand_playbook::TOOLSETS;
use surehand_server::callers::{Foreign, Own, Server};
use surehand_server::secrets::Keeper;
use surehand_server::{Executor, Home};
use surehand_session::{Fault, Kind};
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
}

impl Where {
    /// Is the server somebody else's?
    pub fn is_foreign(&self) -> bool {
        self.server.is_some()
    }

    pub async fn prepare(
        &self,
        config: &Effective,
        secrets: Arc<Secrets>,
        printer: &Printer,
    ) -> Result<Ready, Fault> {
        if let Some(server) = &self.server {
            let keeper = Arc::new(Keeper::of_local(&Home::from_env()?, secrets));
            let foreign = Foreign::connect(read_server(server)?, keeper).await?;
            let is_own = foreign.is_surehand().await;
            return Ok(Ready { caller: Box::new(foreign), is_own, executor: None, scratch: None });
        }
        let home = Home::from_env()?;
        let notes = Arc::new(ProgressNotes::masked(*printer, secrets.clone()));
        let settings = config.settings()?;
        if self.reuse {
            let executor = Executor::running_daemon(&home, secrets)?;
            let own = Own::new(executor, &TOOLSETS, settings, notes);
            let own = if config.names_session() { own } else { own.with_fresh_session() };
            return Ok(Ready { caller: Box::new(own), is_own: true, executor: None, scratch: None });
        }
        let scratch = home.root.join(format!("playbook-{}", std::process::id()));
        let executor = Executor::here(&home, &scratch, secrets)?;
        let own = Own::new(executor.clone(), &TOOLSETS, settings, notes).with_fresh_session();
        Ok(Ready { caller: Box::new(own), is_own: true, executor: Some(executor), scratch: Some(scratch) })
    }
}

impl Ready {
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
    if text.starts_with("https://") {
        return Err(Fault::new(Kind::Usage, "servers are reached over http only")
            .hint("put something that speaks TLS in between, or start the server as a child"));
    }
    if text.starts_with("http://") {
        let token = std::env::var("SUREHAND_MCP_TOKEN").ok().filter(|token| !token.is_empty());
        return Ok(Server::At { url: text.to_owned(), token });
    }
    match split_words(text) {
        Some(words) if !words.is_empty() => Ok(Server::Child(words)),
        _ => Err(Fault::new(Kind::Usage, "--server is no command line").hint("--server 'surehand mcp'")),
    }
}
