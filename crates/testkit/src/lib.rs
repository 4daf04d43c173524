//! What the tests, the benchmark and the demo share, and nothing of the product.
//!
//! Lives here: a loopback web site built from routes ([`Site`]), a fresh `SUREHAND_HOME` ([`TempHome`]), the
//! built `surehand` binary under a wall-time limit ([`Cli`]), a look at the machine's processes ([`processes`])
//! and bounded waiting for something observable ([`wait_until`]).
//!
//! Must not live here: anything that depends on another Surehand crate (every crate's tests may use this one),
//! assertions about a particular verb, anything that talks to a browser.

mod cli;
mod exec;
mod home;
pub mod processes;
mod site;
mod wait;

pub use cli::{Cli, CliError, JsonRun};
pub use exec::{Run, RunError, run_bounded};
pub use home::TempHome;
pub use site::{Listener, Logged, Request, Response, Site, SiteBuilder};
pub use wait::{wait_for, wait_until};
