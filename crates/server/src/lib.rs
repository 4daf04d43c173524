//! The daemon: one background process per user that holds the sessions, and the way to it.
//!
//! What lives here: where the daemon keeps its things, the lines that go over its socket, the client side (plain
//! blocking sockets: a command must start in a millisecond) and the daemon itself.
//! What must not: verbs, what a page is, how a result is printed.

mod client;
mod daemon;
mod home;
mod ipc;
mod log;
mod wire;

pub use client::{Client, Listener, Silent};
pub use daemon::{DaemonError, run};
pub use home::Home;
pub use wire::{Envelope, ErrorBody, Message, Request, Task, version};
