//! Rows of the vault: credentials, who may use them, and who did. Sealed is sealed: nothing here can open them.

use std::fmt;

use serde::Serialize;

use crate::Timestamp;

/// What a key made of a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed {
    /// Which key.
    pub key_id: String,
    /// Never the same twice under one key.
    pub nonce: [u8; 12],
    /// With its tag.
    pub ciphertext: Vec<u8>,
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[sealed with {}]", self.key_id)
    }
}

/// A credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialRow {
    /// Never used again, not even for the same name.
    pub id: String,
    /// Unique.
    pub name: String,
    /// `login`, `cookie` …
    pub kind: String,
    /// Where it belongs.
    pub host: Option<String>,
    /// What its fields are called; none if it is one value.
    pub fields: Vec<String>,
    /// 1 for a new one, one more each time it is written.
    pub version: u64,
    /// The secret.
    pub sealed: Sealed,
    /// When it was first set.
    pub created: Timestamp,
    /// When it was last set.
    pub updated: Timestamp,
}

/// Who may use a credential.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Grant {
    /// `*` is any.
    pub subject: String,
    /// Empty is any.
    pub client: String,
    /// Since when.
    pub created: Timestamp,
}

/// What came of an attempt to use a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageOutcome {
    /// It was handed out.
    Allowed,
    /// It is there, but not for them.
    Denied,
    /// It is not there, or has no such field.
    NoMatch,
}

impl UsageOutcome {
    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::NoMatch => "no_match",
        }
    }
}

/// An attempt to use a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsageEntry {
    /// When.
    pub ts: Timestamp,
    /// The name that was asked for.
    pub name: String,
    /// The field that was asked for.
    pub field: Option<String>,
    /// The credential that had the name then.
    pub credential_id: Option<String>,
    /// Who.
    pub subject: String,
    /// Through which client.
    pub client: String,
    /// What came of it.
    pub outcome: UsageOutcome,
}

/// The same with its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsageRow {
    /// Grows with time.
    pub id: u64,
    /// The attempt.
    #[serde(flatten)]
    pub entry: UsageEntry,
}

/// Which attempts are wanted, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageFilter {
    /// For this name, also from before the credential was removed.
    pub name: Option<String>,
    /// With a smaller number: the next page towards the past.
    pub before: Option<u64>,
    /// As many at most; 100 if not given, never more than 1,000.
    pub limit: Option<u32>,
}
