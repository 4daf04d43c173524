//! What must not leave the process.
//!
//! What lives here: redaction. Egress rules, secrets and the vault move in with the parts that need them.
//! What must not: anything that knows a browser, a page or a verb.

pub mod redact;
