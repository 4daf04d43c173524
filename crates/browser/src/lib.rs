//! The browser as a program: finding one, installing one, starting it, attaching to a running one, and ending it
//! with everything that it leaves behind.
//!
//! What must not live here: anything that speaks the DevTools protocol beyond the one ping that tells whether a
//! fresh browser is alive (that is `surehand-cdp`), any terminal output, and any reading of the environment outside
//! [`Machine::from_env`].

pub mod attach;
pub mod doctor;
mod error;
pub mod find;
pub mod install;
pub mod launch;
mod machine;
mod notes;
pub mod profile;
mod run;
mod space;
#[cfg(test)]
#[cfg(unix)]
mod testing;
mod version;

pub use error::{Attempt, Error, Exit};
pub use find::{Found, Product, Source};
pub use launch::{BrowserProcess, Channel, LaunchOptions, Launched, Sandbox};
pub use machine::Machine;
pub use notes::Notes;
pub use version::version;
