//! Checks the chain of the audit log from its first row, or the first that was not thrown away, to its last.
//!
//! What it finds: a row that was changed, removed, added, moved or replaced, and an end that was cut off, for which the store
//! keeps the number and the hash of the last row in a record of its own. Rows that were thrown away in order are told of by
//! a row of the chain; the rest must follow the last of them.
//!
//! What a chain of hashes cannot show: it has no key, so somebody who may write to the file and knows this program can make
//! a whole chain anew, with its record, from any row on, and it will be as good as the first one. Against this only an anchor
//! helps that they cannot reach: keep [`Verification::head`] elsewhere (a ticket, a log of another machine) and give it to the
//! next check. Nor does it show rows that were never written.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

use crate::{AuditHead, AuditRow, Hash, Pruned, Store, StoreError};

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
    /// What was thrown away before its first row.
    pub pruned: Option<Pruned>,
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
    /// It and all before it are not there, and no row tells that they were thrown away.
    NotPruned,
    /// The anchor tells of this row, which was thrown away in order: nothing can be said about it.
    AnchorPruned,
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
            Reason::NotPruned => {
                write!(f, "row {seq} and all before it are missing, and no row tells that they were pruned")
            }
            Reason::AnchorPruned => {
                write!(f, "row {seq}, which was noted, was pruned; a later one is needed to compare")
            }
        }
    }
}

/// See the module. The anchor is the end of the chain as it was once noted.
pub fn verify(store: &dyn Store, anchor: Option<&AuditHead>) -> Result<Verification, StoreError> {
    loop {
        let pruned = store.audit_pruned()?;
        let found = Check::behind(pruned, anchor).run(store)?;
        // Rows that somebody throws away meanwhile look like missing ones.
        if found.broken.is_none() || store.audit_pruned()? == pruned {
            return Ok(found);
        }
    }
}

/// A check on its way through the rows.
struct Check<'a> {
    pruned: Pruned,
    anchor: Option<&'a AuditHead>,
    /// The last row that is as it should be.
    good: AuditHead,
    /// Whether a row told of those that were thrown away.
    told: bool,
}

impl<'a> Check<'a> {
    fn behind(pruned: Pruned, anchor: Option<&'a AuditHead>) -> Self {
        Self { pruned, anchor, good: pruned.last, told: pruned.last.seq == 0 }
    }

    fn run(mut self, store: &dyn Store) -> Result<Verification, StoreError> {
        let broken = self.find(store)?;
        let rows = self.good.seq - self.pruned.last.seq;
        let pruned = (self.pruned.last.seq > 0).then_some(self.pruned);
        Ok(Verification { rows, head: self.good, pruned, broken })
    }

    /// The first thing that is wrong.
    fn find(&mut self, store: &dyn Store) -> Result<Option<Break>, StoreError> {
        let mut seen = None;
        if let Some(broken) = self.passed() {
            return Ok(Some(broken));
        }
        loop {
            let rows = store.walk_audit(self.good.seq, BATCH)?;
            for row in &rows {
                if let Some(broken) = self.row(row) {
                    return Ok(Some(broken));
                }
            }
            if !rows.is_empty() {
                continue;
            }
            // The record is read behind the rows, so that it never knows less than they do. It may know more: somebody
            // appended in between. Then another look finds those rows, or they are gone.
            let (now, good) = (store.audit_head()?, self.good);
            let (seq, reason) = match now.seq.cmp(&good.seq) {
                Ordering::Less => (now.seq + 1, Reason::Added),
                Ordering::Equal if now.hash == good.hash => return Ok(self.end()),
                Ordering::Equal => (now.seq, Reason::Changed),
                Ordering::Greater if seen == Some(good) => {
                    (good.seq + 1, Reason::Truncated { last: now.seq })
                }
                Ordering::Greater => {
                    seen = Some(good);
                    continue;
                }
            };
            return Ok(Some(Break { seq, reason }));
        }
    }

    fn row(&mut self, row: &AuditRow) -> Option<Break> {
        if let Some((seq, reason)) = fault(&self.good, row) {
            return Some(Break { seq, reason });
        }
        self.good = AuditHead { seq: row.seq, hash: row.hash };
        self.told |= self.pruned.is_told_by(row);
        self.passed()
    }

    /// The anchor, at the row that was just found good, or before the first.
    fn passed(&self) -> Option<Break> {
        let (seq, anchor) = (self.good.seq, self.anchor?);
        let reason = match anchor.seq.cmp(&seq) {
            Ordering::Less if self.good == self.pruned.last => Reason::AnchorPruned,
            Ordering::Equal if anchor.hash != self.good.hash => Reason::NotTheAnchor,
            _ => return None,
        };
        Some(Break { seq: anchor.seq, reason })
    }

    /// All rows are good; what else must hold.
    fn end(&self) -> Option<Break> {
        if !self.told {
            return Some(Break { seq: self.pruned.last.seq, reason: Reason::NotPruned });
        }
        let last = self.anchor.filter(|anchor| anchor.seq > self.good.seq)?.seq;
        Some(Break { seq: self.good.seq + 1, reason: Reason::Truncated { last } })
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
