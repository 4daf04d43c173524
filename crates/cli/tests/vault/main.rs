//! The vault: who may use what, over the command line, HTTP, MCP and playbooks, and that nothing of it ever comes out.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;
#[path = "../common/mod.rs"]
mod common;
#[path = "../guarded/mod.rs"]
mod guarded;
mod http;
mod keyring;
mod leaks;
mod local;
#[path = "../serving/mod.rs"]
mod serving;

use surehand_testkit::{Cli, Run};

/// Stores a credential over the command line.
pub fn set(cli: &Cli, arguments: &[&str], input: &str) -> Run {
    cli.run_with_input(&[&["vault", "set"], arguments].concat(), input.as_bytes()).unwrap()
}

/// Stores one that must be taken.
#[track_caller]
pub fn stored(cli: &Cli, arguments: &[&str], input: &str) {
    let run = set(cli, arguments, input);
    assert!(run.ok(), "{arguments:?}: {run:?}");
}
