//! What must not leave the process.
//!
//! What lives here: redaction, secrets, and the egress guard. The vault moves in with the part that needs it.
//! What must not: anything that knows a browser, a page or a verb.

pub mod egress;
pub mod redact;
mod secrets;

pub use secrets::{ResolveError, Secrets, SecretsError};
