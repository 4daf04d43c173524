//! The hash of an audit row, and how a row becomes the bytes that are hashed.
//!
//! The encoding, so that anybody can check a chain without this program. SHA-256 over, in this order:
//!
//! 1. the text `surehand-audit-1` and a zero byte;
//! 2. `prev_hash`, 32 bytes: the hash of the row before, for the first row 32 zero bytes;
//! 3. the fields `seq`, `ts` (milliseconds since 1970), `request_id`, `severity`, `event_type`, `actor_subject`,
//!    `actor_client`, `session_id`, `method`, `path`, `status`, `duration_ms`, `outcome`, `code`, `cause`, `payload`.
//!
//! A field that is not there is the byte 0. A number is the byte 1 and eight bytes, big-endian, two's complement. A text is
//! the byte 2, its length in bytes as eight bytes, big-endian, and its bytes in UTF-8. Since lengths are written, no two
//! rows have the same bytes.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest::{Context, SHA256};
use serde::{Serialize, Serializer};

/// A SHA-256. Shown and serialized as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Hash(pub [u8; 32]);

/// A text that is no hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 hexadecimal digits")]
pub struct NotAHash;

impl Hash {
    /// What the first row follows.
    pub const ZERO: Self = Self([0; 32]);
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        crate::unhex(text).map(Self).ok_or(NotAHash)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Takes the fields of a row one by one.
pub(crate) struct Hasher(Context);

impl Hasher {
    pub fn after(previous: &Hash) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(b"surehand-audit-1\0");
        context.update(&previous.0);
        Self(context)
    }

    pub fn number(mut self, number: Option<i64>) -> Self {
        match number {
            Some(number) => {
                self.0.update(&[1]);
                self.0.update(&number.to_be_bytes());
            }
            None => self.0.update(&[0]),
        }
        self
    }

    pub fn text(mut self, text: Option<&str>) -> Self {
        match text {
            Some(text) => {
                self.0.update(&[2]);
                self.0.update(&(text.len() as u64).to_be_bytes());
                self.0.update(text.as_bytes());
            }
            None => self.0.update(&[0]),
        }
        self
    }

    pub fn finish(self) -> Hash {
        let mut hash = Hash::ZERO;
        hash.0.copy_from_slice(self.0.finish().as_ref());
        hash
    }
}
