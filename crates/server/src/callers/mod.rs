//! Those who call tools for a playbook: with the engine of this process or of the daemon, or as a client of any MCP server.

mod foreign;
mod http;
mod own;

pub use foreign::{Foreign, Server};
pub use own::Own;
