//! What outlives a process: who did what (the audit log, a hash chain, of which the oldest rows can be thrown away), sealed credentials, who may use them, and who did.
//!
//! What lives here: rows, the one small trait [`Store`] over them, the chain and its check, and SQLite behind the trait.
//! Everything blocks; who has a runtime calls from a thread that may.
//! What must not: HTTP, and the keys of secrets. Credentials arrive sealed and leave sealed.

mod audit;
mod error;
mod hash;
mod prune;
mod sqlite;
mod store;
mod time;
mod vault;
mod verify;

pub use audit::{AuditEntry, AuditFilter, AuditHead, AuditRow, Payload, Severity, event};
pub use error::{Cause, StoreError};
pub use hash::{Hash, NotAHash};
pub use prune::{Pruned, Pruning};
pub use sqlite::Sqlite;
pub use store::Store;
pub use time::{NotATime, Timestamp};
pub use vault::{CredentialRow, Grant, Sealed, UsageEntry, UsageFilter, UsageOutcome, UsageRow};
pub use verify::{Break, Reason, Verification, verify};

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The bytes that hexadecimal digits of either case stand for, if there are exactly `N`.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}
