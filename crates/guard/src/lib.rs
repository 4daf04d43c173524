//! What must not leave the process.
//!
//! What lives here: redaction, and secrets. Egress rules and the vault move in with the parts that need them.
//! What must not: anything that knows a browser, a page or a verb.

pub mod redact;
mod secrets;

pub use secrets::{ResolveError, Secrets, SecretsError, misplaced, take_secrets};
