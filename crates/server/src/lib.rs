//! The daemon: one background process per user that holds the sessions, and the way to it.
//!
//! What lives here: where the daemon keeps its things, the lines that go over its socket, the client side (plain
//! blocking sockets: a command must start in a millisecond) and the daemon itself.
//! What must not: verbs, what a page is, how a result is printed.

pub mod auth;
pub mod callers;
mod client;
mod connections;
mod daemon;
mod door;
mod executor;
mod home;
pub mod http;
mod ipc;
mod lender;
mod log;
pub mod mcp;
mod runtime;
mod safe;
pub mod secrets;
mod serving;
mod wire;

use surehand_session::{Fault, Kind};

pub use client::{Client, Listener, Silent};
pub use daemon::{DaemonError, run};
pub use executor::{Executor, read_answer};
pub use home::Home;
pub use runtime::{block_on, unless_asked_to_end, when_asked_to_end};
pub use safe::{Lent, Safe, store_fault, vault_fault};
pub use serving::Serving;
pub use wire::{Envelope, ErrorBody, Message, Request, Task, version};

/// A failure of this program itself.
fn internal(error: impl std::fmt::Display) -> Fault {
    Fault::new(Kind::Internal, error.to_string())
}

/// One line for whoever started this process.
#[expect(clippy::print_stderr, reason = "standard output belongs to the protocol")]
fn say(line: &str) {
    eprintln!("{line}");
}
