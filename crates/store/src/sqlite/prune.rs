//! Throwing the oldest rows away, so that the rest can still be checked.
//!
//! First it is written down, in the chain and beside it: from then on the old rows are not seen any more. Then they are
//! deleted a few at a time, so that nobody who appends has to wait for all of them.

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::{Failure, audit};
use crate::{AuditEntry, AuditHead, Hash, Pruned, Pruning, Timestamp, event};

/// As many rows go in one transaction.
const BATCH: u32 = 2_000;

/// What was pruned so far.
pub(super) fn pruned(connection: &Connection) -> Result<Pruned, Failure> {
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?));
    let sql = "SELECT seq, hash, before FROM audit_pruned WHERE one = 1";
    match connection.query_row(sql, [], read).optional() {
        Ok(Some((seq, hash, before))) => {
            let last = AuditHead { seq: seq.cast_unsigned(), hash: Hash(hash) };
            Ok(Pruned { last, before: Timestamp::from_millis(before) })
        }
        Ok(None)
        | Err(rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..)) => {
            Err(Failure::Tampered("the record of what was pruned is gone".to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes down what goes.
pub(super) fn begin(transaction: &Transaction<'_>, before: Timestamp) -> Result<Pruning, Failure> {
    let (done, head) = (pruned(transaction)?, audit::head(transaction)?);
    let last = last_to_go(transaction, &done, head, before)?;
    let rows = last.seq - done.last.seq;
    let usage = count_usage(transaction, before)?;
    if rows == 0 && usage == 0 {
        return Ok(Pruning { rows, usage, pruned: done, head });
    }
    let pruned = Pruned { last, before: before.max(done.before) };
    let values = params![last.seq.cast_signed(), last.hash.0, pruned.before.millis()];
    transaction.execute("UPDATE audit_pruned SET seq = ?1, hash = ?2, before = ?3 WHERE one = 1", values)?;
    let mut entry = AuditEntry::now(event::AUDIT_PRUNED);
    entry.payload = pruned.told(rows, usage).into();
    let head = audit::append(transaction, &[entry])?;
    Ok(Pruning { rows, usage, pruned, head })
}

/// The last of the rows from the beginning that are all earlier. A later one among them, as by a clock that was wrong, keeps
/// those behind it: there are no gaps.
fn last_to_go(
    transaction: &Transaction<'_>,
    done: &Pruned,
    head: AuditHead,
    before: Timestamp,
) -> Result<AuditHead, Failure> {
    let sql = "SELECT min(seq) FROM audit WHERE ts >= ?1 AND seq > ?2";
    let values = params![before.millis(), done.last.seq.cast_signed()];
    let kept: Option<i64> = transaction.query_row(sql, values, |row| row.get(0))?;
    let seq = kept.map_or(head.seq, |seq| seq.cast_unsigned() - 1);
    if seq <= done.last.seq {
        return Ok(done.last);
    }
    let sql = "SELECT hash FROM audit WHERE seq = ?1";
    let hash = transaction.query_row(sql, [seq.cast_signed()], |row| row.get(0)).optional()?;
    let hash = hash.ok_or_else(|| Failure::Tampered(format!("row {seq} is missing")))?;
    Ok(AuditHead { seq, hash: Hash(hash) })
}

fn count_usage(transaction: &Transaction<'_>, before: Timestamp) -> Result<u64, Failure> {
    let sql = "SELECT count(*) FROM usage WHERE ts < ?1";
    Ok(transaction.query_row(sql, [before.millis()], |row| row.get::<_, i64>(0))?.cast_unsigned())
}

/// Deletes some of what goes, also what was left when somebody was interrupted, and says how much.
pub(super) fn delete_some(transaction: &Transaction<'_>) -> Result<usize, Failure> {
    let rows = "DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE seq <= (SELECT seq FROM audit_pruned) LIMIT ?1)";
    let usage = "DELETE FROM usage WHERE id IN (SELECT id FROM usage WHERE ts < (SELECT before FROM audit_pruned) LIMIT ?1)";
    Ok(transaction.execute(rows, [BATCH])? + transaction.execute(usage, [BATCH])?)
}
