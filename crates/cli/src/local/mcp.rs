//! `mcp`: serve tools to agents; `mcp install`: tell an agent's program where to find them.

mod clients;
mod install;
mod json_text;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use surehand_server::Home;
use surehand_server::mcp::{HttpOptions, McpOptions};
use surehand_session::{Fault, Kind};
use surehand_tools::Toolset;

use super::{secrets, tools::sets};
use crate::config::Effective;
use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    serve: Serve,
}

/// What to do instead of serving.
#[derive(Debug, Subcommand)]
enum Action {
    /// Write the configuration of an MCP client, keeping what is there
    #[command(
        after_help = "Example:\n  surehand mcp install claude\n  surehand mcp install vscode --project --toolsets page,direct\n  surehand mcp install codex --session shop --headed --secrets secrets.env\n  surehand mcp install zed --print"
    )]
    Install(install::Install),
}

/// How to serve.
#[derive(Debug, Args)]
struct Serve {
    /// Serve over HTTP at this address instead of standard input and output, e.g. 127.0.0.1:8931
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// Let clients reach it under this name, too; may be given several times
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
    /// Which sets of tools, separated by commas [default: page]
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    toolsets: Vec<String>,
    /// KEY=value lines that agents may use as ${SECRET:KEY} without seeing the value
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,
}

impl Mcp {
    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        match &self.action {
            Some(_) if self.serve.says_something() => Err(Fault::new(
                Kind::Usage,
                "--http, --allow-host, --toolsets and --secrets before `install` are for serving",
            )
            .hint("surehand mcp install claude --toolsets page,direct")),
            Some(Action::Install(install)) => install.run(config, printer),
            None => self.serve.run(config, printer),
        }
    }
}

impl Serve {
    fn says_something(&self) -> bool {
        let lists = [&self.toolsets, &self.allow_host];
        self.http.is_some() || self.secrets.is_some() || lists.iter().any(|list| !list.is_empty())
    }

    fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        let http = self.http.map(|address| HttpOptions {
            address,
            token: std::env::var("SUREHAND_MCP_TOKEN").ok().filter(|token| !token.is_empty()),
            allowed_hosts: self.allow_host.clone(),
        });
        surehand_server::mcp::serve(McpOptions {
            toolsets: if self.toolsets.is_empty() { vec![Toolset::Page] } else { sets(&self.toolsets)? },
            settings: config.settings()?,
            shared: config.names_session(),
            home: Home::from_env()?,
            http,
            secrets: secrets::read(self.secrets.as_deref(), printer)?,
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
