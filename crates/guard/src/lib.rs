//! What must not leave the process.
//!
//! What lives here: redaction, secrets, the egress guard and the vault.
//! What must not: anything that knows a browser, a page or a verb.

pub mod egress;
mod name;
pub mod redact;
mod secrets;
pub mod vault;

pub use secrets::{ResolveError, SecretPlaces, Secrets, SecretsError, Spelling, Writing, misplaced};
