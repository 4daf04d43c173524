//! What was thrown away of the audit log, and how the rest tells of it.
//!
//! The chain is checked from the row behind the last one that went, whose hash is kept. A row in the chain tells the same:
//! who only takes rows away, and the record with them, is found out.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{AuditHead, AuditRow, Timestamp, event};

/// The rows that were thrown away, all from the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Pruned {
    /// The last of them; number 0 if there is none.
    pub last: AuditHead,
    /// They were earlier than this.
    pub before: Timestamp,
}

/// What throwing away came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pruning {
    /// So many rows of the audit went.
    pub rows: u64,
    /// So many uses of credentials.
    pub usage: u64,
    /// All that went, now and before.
    #[serde(flatten)]
    pub pruned: Pruned,
    /// Where the chain ends now.
    pub head: AuditHead,
}

impl Pruned {
    /// The payload of the row that tells of it.
    pub(crate) fn told(&self, rows: u64, usage: u64) -> Map<String, Value> {
        let told = json!({
            "rows": rows, "usage": usage, "last": self.last.to_string(), "before": self.before.to_string(),
        });
        told.as_object().cloned().unwrap_or_default()
    }

    /// Is this the row that tells of it?
    pub(crate) fn is_told_by(&self, row: &AuditRow) -> bool {
        if row.entry.event_type != event::AUDIT_PRUNED {
            return false;
        }
        let told: Value = serde_json::from_str(row.entry.payload.as_str()).unwrap_or_default();
        told["last"] == self.last.to_string() && told["before"] == self.before.to_string()
    }
}
