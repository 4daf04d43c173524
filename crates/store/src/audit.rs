//! Audit rows: what is written for each request and each action, and what one can ask for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::hash::Hasher;
use crate::{Hash, NotAHash, Timestamp};

/// What rows are about. Others may be added by whoever writes them; a filter takes any.
pub mod event {
    /// A pack was called.
    pub const PACK_CALL: &str = "pack_call";
    /// One action of a pack.
    pub const ACTION: &str = "action";
    /// A session was opened, used or ended.
    pub const SESSION: &str = "session";
    /// A credential was set, granted, revoked, removed or used.
    pub const VAULT: &str = "vault";
    /// A token was minted or a key changed.
    pub const TOKEN: &str = "token";
    /// Somebody was let in, or not.
    pub const AUTH: &str = "auth";
    /// A request was kept from leaving.
    pub const EGRESS: &str = "egress";
    /// Old rows were thrown away.
    pub const AUDIT_PRUNED: &str = "audit_pruned";
    /// A request that is none of the above.
    pub const REQUEST: &str = "request";
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As it should be.
    #[default]
    Info,
    /// The caller did something wrong.
    Warning,
    /// We did.
    Error,
}

impl Severity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];

    /// As it is stored and hashed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// What the status of an HTTP answer amounts to.
    pub const fn of_status(status: u16) -> Self {
        match status {
            500.. => Self::Error,
            400.. => Self::Warning,
            _ => Self::Info,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Severity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|severity| severity.as_str() == text);
        found.ok_or_else(|| format!("{text:?} is no severity; it is info, warning or error"))
    }
}

/// A JSON object as text, exactly as it is stored: the hash is over these bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload(pub(crate) String);

impl Payload {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

impl From<Map<String, Value>> for Payload {
    fn from(members: Map<String, Value>) -> Self {
        Self(Value::Object(members).to_string())
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str::<&RawValue>(&self.0) {
            Ok(raw) => raw.serialize(serializer),
            // Somebody changed it from outside; it can be shown all the same.
            Err(_) => serializer.serialize_str(&self.0),
        }
    }
}

/// What happened. The store adds the number and the hashes. Nothing here may hold a secret: who writes a row masks before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    /// When.
    pub ts: Timestamp,
    /// The request that this belongs to.
    pub request_id: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// What it is about; see [`event`].
    pub event_type: String,
    /// Who: the subject of the token.
    pub actor_subject: Option<String>,
    /// Through which client.
    pub actor_client: Option<String>,
    /// In which session.
    pub session_id: Option<String>,
    /// Of an HTTP request.
    pub method: Option<String>,
    /// Of an HTTP request, without its query.
    pub path: Option<String>,
    /// Of an HTTP answer.
    pub status: Option<u16>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What came of it: `ok`, `failed`, `denied`, `blocked` …
    pub outcome: Option<String>,
    /// The code of a failure, as the caller saw it.
    pub code: Option<String>,
    /// The cause of a failure, which callers are not told.
    pub cause: Option<String>,
    /// Anything else.
    pub payload: Payload,
}

impl AuditEntry {
    /// Something that happens now.
    pub fn now(event_type: impl Into<String>) -> Self {
        Self { ts: Timestamp::now(), event_type: event_type.into(), ..Self::default() }
    }

    /// Its hash as row number `seq` behind a row with the hash `previous`. The encoding is told in `hash.rs`.
    pub fn hash(&self, seq: u64, previous: &Hash) -> Hash {
        Hasher::after(previous)
            .number(Some(seq.cast_signed()))
            .number(Some(self.ts.millis()))
            .text(self.request_id.as_deref())
            .text(Some(self.severity.as_str()))
            .text(Some(&self.event_type))
            .text(self.actor_subject.as_deref())
            .text(self.actor_client.as_deref())
            .text(self.session_id.as_deref())
            .text(self.method.as_deref())
            .text(self.path.as_deref())
            .number(self.status.map(i64::from))
            .number(self.duration_ms.map(u64::cast_signed))
            .text(self.outcome.as_deref())
            .text(self.code.as_deref())
            .text(self.cause.as_deref())
            .text(Some(self.payload.as_str()))
            .finish()
    }
}

/// An entry at its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    /// Its number: 1, 2, 3 … without gaps; the first may have been thrown away.
    pub seq: u64,
    /// What happened.
    #[serde(flatten)]
    pub entry: AuditEntry,
    /// The hash of the row before.
    pub prev_hash: Hash,
    /// Its own.
    pub hash: Hash,
    /// Whether its columns held what they may hold. If not, somebody changed it, and what is here is as near as can be.
    #[serde(skip)]
    pub legible: bool,
}

/// Where the chain ends. Written down elsewhere it is an anchor: `verify` can be asked whether the chain still passes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct AuditHead {
    /// The number of the last row; 0 if there is none.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
}

impl fmt::Display for AuditHead {
    /// `SEQ:HASH`, which can be parsed again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for AuditHead {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let (seq, hash) = text.split_once(':').ok_or(NotAHash)?;
        Ok(Self { seq: seq.parse().map_err(|_| NotAHash)?, hash: hash.parse()? })
    }
}

/// Which rows are wanted. What is not given does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditFilter {
    /// Not earlier than this.
    pub from: Option<Timestamp>,
    /// Earlier than this.
    pub to: Option<Timestamp>,
    /// Of this type.
    pub event_type: Option<String>,
    /// Of this session.
    pub session_id: Option<String>,
    /// By this subject.
    pub actor_subject: Option<String>,
    /// Of this severity.
    pub severity: Option<Severity>,
    /// Of this request.
    pub request_id: Option<String>,
    /// With a smaller number: the next page towards the past.
    pub before: Option<u64>,
    /// With a greater number. Without `before` these are the rows that come next, so that one can follow the log.
    pub after: Option<u64>,
    /// As many at most; see [`rows`](Self::rows).
    pub limit: Option<u32>,
}

impl AuditFilter {
    /// As many rows if nobody says otherwise.
    pub const USUAL: u32 = 100;
    /// As many rows at most.
    pub const MOST: u32 = 1_000;

    /// How many rows there will be at most.
    pub fn rows(&self) -> u32 {
        self.limit.unwrap_or(Self::USUAL).clamp(1, Self::MOST)
    }
}
