//! Commands about this program itself: they do not run in the daemon.

mod audit;
mod configuration;
mod demo;
mod doctor;
mod install;
mod mcp;
mod pack;
mod paper;
mod playbook;
mod secrets;
mod serve;
mod token;
mod tools;
mod vault;

use std::process::ExitCode;

use clap::Subcommand;
use surehand_server::Home;
use surehand_session::Fault;

use crate::args::DaemonArgs;
use crate::config::Effective;
use crate::printer::Printer;

/// See the module.
#[derive(Debug, Subcommand)]
pub(crate) enum Local {
    /// Find a browser on this machine, or install one
    #[command(after_help = "Example:\n  surehand install")]
    Install,
    /// Check browser, sandbox, fonts, disk, daemon, leftovers and ports, and print the fix of each
    #[command(after_help = "Example:\n  surehand doctor")]
    Doctor,
    /// Run the quickstart example: serve a small page on loopback, drive it, write a report
    #[command(after_help = "Example:\n  surehand demo")]
    Demo(demo::Demo),
    /// Show every setting and where its value came from
    #[command(after_help = "Example:\n  surehand config")]
    Config,
    /// Print the completions for a shell
    #[command(
        after_help = "Example:\n  surehand completions bash > ~/.local/share/bash-completion/completions/surehand"
    )]
    Completions(paper::Completions),
    /// Print the man page
    #[command(after_help = "Example:\n  surehand man > surehand.1")]
    Man,
    /// Serve tools to agents over MCP: standard input and output, or HTTP
    #[command(
        after_help = "Example:\n  surehand mcp\n  surehand mcp --http 127.0.0.1:8931 --toolsets page,direct\n  surehand mcp --secrets secrets.env\n  surehand mcp install claude"
    )]
    Mcp(mcp::Mcp),
    /// Run scenarios in YAML or JSON: steps, contracts, reports
    #[command(after_help = "Example:\n  surehand playbook run checkout.playbook.yaml")]
    Playbook(playbook::PlaybookCommand),
    /// Run browser work for other programs over HTTP: packs, sessions, vault, audit, MCP
    #[command(
        after_help = "Example:\n  surehand serve\n  surehand serve --listen 127.0.0.1:3000 --egress-allow 127.0.0.1:8000\n  surehand token mint --sub me --scope 'packs:*'"
    )]
    Serve(serve::Serve),
    /// Run a pack here: a whole errand in one call
    #[command(after_help = "Example:\n  surehand pack list\n  surehand pack run browser.interact input.json")]
    Pack(pack::Pack),
    /// Make and look at tokens for the service, and the keys that sign them
    #[command(
        after_help = "Example:\n  surehand token mint --sub me --scope 'packs:*'\n  surehand token inspect TOKEN\n  surehand token new-key --algorithm eddsa"
    )]
    Token(token::Token),
    /// Credentials that packs, playbooks and agents may use but not see
    #[command(
        after_help = "Example:\n  surehand vault set shop --type login --field username=ada --secret password\n  surehand vault grant shop ci\n  surehand vault list"
    )]
    Vault(vault::VaultCommand),
    /// What the service did, and whether somebody changed the record
    #[command(after_help = "Example:\n  surehand audit list --severity error\n  surehand audit verify")]
    Audit(audit::Audit),
    /// List the tools that agents are offered, with their size
    #[command(after_help = "Example:\n  surehand tools\n  surehand tools navigate")]
    Tools(tools::Tools),
    /// Call a tool as an agent would
    #[command(after_help = "Example:\n  surehand tool navigate '{\"url\": \"http://127.0.0.1:8000\"}'")]
    Tool(tools::Tool),
    /// See whether a browser that somebody else started can be reached
    #[command(after_help = "Example:\n  surehand status http://127.0.0.1:9222", alias = "self-test")]
    Status(tools::Status),
    /// Run the daemon (started by itself)
    #[command(hide = true)]
    Daemon(DaemonArgs),
}

pub(crate) fn run(command: Local, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
    match command {
        Local::Install => install::run(printer),
        Local::Doctor => doctor::run(printer),
        Local::Demo(demo) => demo.run(config, printer),
        Local::Config => configuration::run(config, printer),
        Local::Completions(completions) => completions.run(printer),
        Local::Man => paper::man(printer),
        Local::Mcp(mcp) => mcp.run(config, printer),
        Local::Playbook(playbook) => playbook.run(config, printer),
        Local::Serve(serve) => serve.run(config),
        Local::Pack(pack) => pack.run(config, printer),
        Local::Token(token) => token.run(printer),
        Local::Vault(vault) => vault.run(printer),
        Local::Audit(audit) => audit.run(printer),
        Local::Tools(tools) => tools.run(printer),
        Local::Tool(tool) => tool.run(config, printer),
        Local::Status(status) => status.run(config, printer),
        Local::Daemon(place) => Ok(daemon(place, printer)),
    }
}

/// Whoever started the daemon reads one line of its output: `ready`, or why not.
fn daemon(place: DaemonArgs, printer: &Printer) -> ExitCode {
    match surehand_server::run(&Home { root: place.root, socket: place.socket }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            printer.line(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
