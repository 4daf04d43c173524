//! `cargo xtask`: development tasks that write committed files or check that they are current.
//! One module per task; this file only reads the command line.

mod protocol;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "xtask", about = "Development tasks of Surehand", version)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Regenerate crates/cdp/src/protocol from a browser's own description of CDP.
    Protocol(protocol::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().task {
        Task::Protocol(args) => protocol::run(&args, &workspace_root()),
    }
}

/// The workspace that this binary was built from; tasks work on it whatever the current directory is.
fn workspace_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[expect(clippy::print_stdout, reason = "the only place where xtask prints")]
fn say(line: &str) {
    println!("{line}");
}
