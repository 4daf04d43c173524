//! What must not leave the process.
//!
//! What lives here: redaction, secrets, and the vault. Egress rules move in with the part that needs them.
//! What must not: anything that knows a browser, a page or a verb.

mod name;
pub mod redact;
mod secrets;
pub mod vault;

pub use secrets::{ResolveError, Secrets, SecretsError, Spelling};
