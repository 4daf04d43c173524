//! What the tests, the benchmark and the demo share, and nothing of the product.
//!
//! Lives here: a loopback web site built from routes ([`Site`]), a fresh `SUREHAND_HOME` ([`TempHome`]), the
//! built `surehand` binary under a wall-time limit ([`Cli`]), a port where nobody listens ([`ClosedPort`]), a look at
//! the machine's processes ([`processes`]), what a thread has worked ([`Effort`]) and bounded waiting for something
//! observable ([`wait_until`]).
//!
//! Must not live here: anything that depends on another Surehand crate (every crate's tests may use this one),
//! assertions about a particular verb, anything that talks to a browser.

mod cli;
mod effort;
mod exec;
mod home;
mod port;
pub mod processes;
mod site;
mod wait;

pub use cli::{Cli, CliError, JsonRun};
pub use effort::Effort;
pub use exec::{Run, RunError, run_bounded};
pub use home::TempHome;
pub use port::ClosedPort;
pub use site::{Listener, Logged, Request, Response, Site, SiteBuilder};
pub use wait::{wait_for, wait_until};
