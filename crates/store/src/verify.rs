//! Checks the chain of the audit log from its first row to its last.
//!
//! What it finds: a row that was changed, removed, added, moved or replaced, and an end that was cut off, for which the store
//! keeps the number and the hash of the last row in a record of its own.
//!
//! What a chain of hashes cannot show: it has no key, so somebody who may write to the file and knows this program can make
//! a whole chain anew, with its record, from any row on, and it will be as good as the first one. Against this only an anchor
//! helps that they cannot reach: keep [`Verification::head`] elsewhere (a ticket, a log of another machine) and give it to the
//! next check. Nor does it show rows that were never written.

use std::fmt;

use serde::Serialize;

use crate::{AuditHead, AuditRow, Hash, Store, StoreError};

/// How many rows are looked at at once. Between two batches others may write.
const BATCH: u32 = 500;

/// How far from its place a moved row is looked for.
const NEIGHBOURHOOD: u64 = 1_000;

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// So many rows are as they were written.
    pub rows: u64,
    /// Where the chain ends as far as it is good.
    pub head: AuditHead,
    /// Where it breaks.
    pub broken: Option<Break>,
}

/// The first row that is not as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Break {
    /// Its number.
    pub seq: u64,
    /// What is wrong with it.
    #[serde(flatten)]
    pub reason: Reason,
}

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// Its fields do not make its hash.
    Changed,
    /// It is not there, though later ones are.
    Missing,
    /// It was written as another number.
    Moved {
        /// Which one.
        from: u64,
    },
    /// It is as it was written, but behind another row: the one before was replaced, with a hash that fits.
    Unlinked,
    /// It and all behind it are not there.
    Truncated {
        /// The number of the last row that was written.
        last: u64,
    },
    /// It was not appended by the program: the record of the end does not know it.
    Added,
    /// The chain is whole, but this row is not the one that the anchor tells of.
    NotTheAnchor,
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seq = self.seq;
        match self.reason {
            Reason::Changed => write!(f, "row {seq} was changed: its fields do not make its hash"),
            Reason::Missing => write!(f, "row {seq} is missing, though later rows are there"),
            Reason::Moved { from } => write!(f, "row {seq} was moved: it was written as row {from}"),
            Reason::Unlinked => {
                write!(f, "row {seq} does not follow the row before it, which was replaced")
            }
            Reason::Truncated { last } => {
                write!(f, "the end was cut off: row {seq} is missing, the last one was row {last}")
            }
            Reason::Added => write!(f, "row {seq} was not appended by the program"),
            Reason::NotTheAnchor => {
                write!(f, "row {seq} is not the one that was noted: the chain was made anew")
            }
        }
    }
}

/// See the module. The anchor is the end of the chain as it was once noted.
pub fn verify(store: &dyn Store, anchor: Option<&AuditHead>) -> Result<Verification, StoreError> {
    let mut good = AuditHead::default();
    let broken = |good: AuditHead, seq, reason| {
        Ok(Verification { rows: good.seq, head: good, broken: Some(Break { seq, reason }) })
    };
    let mut head = None;
    loop {
        let rows = store.walk_audit(good.seq, BATCH)?;
        if rows.is_empty() {
            // The record is read behind the rows, so that it never knows less than they do. It may know more: somebody
            // appended in between. Then another look finds those rows, or they are gone.
            let now = store.audit_head()?;
            match now.seq.cmp(&good.seq) {
                std::cmp::Ordering::Less => return broken(good, now.seq + 1, Reason::Added),
                std::cmp::Ordering::Equal if now.hash == good.hash => break,
                std::cmp::Ordering::Equal => return broken(good, now.seq, Reason::Changed),
                std::cmp::Ordering::Greater if head == Some(good) => {
                    return broken(good, good.seq + 1, Reason::Truncated { last: now.seq });
                }
                std::cmp::Ordering::Greater => head = Some(good),
            }
        }
        for row in rows {
            if let Some((seq, reason)) = fault(&good, &row) {
                return broken(good, seq, reason);
            }
            good = AuditHead { seq: row.seq, hash: row.hash };
            if anchor.is_some_and(|anchor| anchor.seq == good.seq && anchor.hash != good.hash) {
                return broken(good, good.seq, Reason::NotTheAnchor);
            }
        }
    }
    match anchor {
        Some(anchor) if anchor.seq > good.seq => {
            broken(good, good.seq + 1, Reason::Truncated { last: anchor.seq })
        }
        _ => Ok(Verification { rows: good.seq, head: good, broken: None }),
    }
}

/// What is wrong with a row behind good ones, and with which.
fn fault(good: &AuditHead, row: &AuditRow) -> Option<(u64, Reason)> {
    let expected = good.seq + 1;
    let makes = |seq: u64, previous: &Hash| row.entry.hash(seq, previous) == row.hash;
    if row.seq != expected {
        return Some((expected, Reason::Missing));
    }
    if !row.legible {
        return Some((row.seq, Reason::Changed));
    }
    let whole = makes(row.seq, &row.prev_hash);
    if whole && row.prev_hash == good.hash {
        return None;
    }
    if whole {
        return Some((row.seq, Reason::Unlinked));
    }
    let near = row.seq.saturating_sub(NEIGHBOURHOOD)..=row.seq.saturating_add(NEIGHBOURHOOD);
    let moved = near.into_iter().find(|seq| makes(*seq, &row.prev_hash));
    Some((row.seq, moved.map_or(Reason::Changed, |from| Reason::Moved { from })))
}
