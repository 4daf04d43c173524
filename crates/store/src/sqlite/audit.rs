//! The audit log: appending to the chain, and reading it.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row, Transaction, params, params_from_iter};

use super::{Failure, signed};
use crate::{AuditEntry, AuditFilter, AuditHead, AuditRow, Hash, Payload, Severity, Timestamp};

const COLUMNS: &str = "seq, ts, request_id, severity, event_type, actor_subject, actor_client, session_id, method, \
                       path, status, duration_ms, outcome, code, cause, payload, prev_hash, hash";

/// Rows that were pruned may not be deleted yet.
const KEPT: &str = "seq > (SELECT seq FROM audit_pruned)";

/// Goes on behind the record of the end, not behind the last row: if that was cut off, the gap stays to be seen.
pub(super) fn append(transaction: &Transaction<'_>, entries: &[AuditEntry]) -> Result<AuditHead, Failure> {
    let mut head = head(transaction)?;
    if entries.is_empty() {
        return Ok(head);
    }
    let places = "?, ".repeat(17);
    let mut insert = transaction.prepare(&format!("INSERT INTO audit ({COLUMNS}) VALUES ({places}?)"))?;
    for entry in entries {
        let seq = head.seq + 1;
        let hash = entry.hash(seq, &head.hash);
        let inserted = insert.execute(params![
            seq.cast_signed(),
            entry.ts.millis(),
            entry.request_id,
            entry.severity.as_str(),
            entry.event_type,
            entry.actor_subject,
            entry.actor_client,
            entry.session_id,
            entry.method,
            entry.path,
            entry.status,
            entry.duration_ms.map(u64::cast_signed),
            entry.outcome,
            entry.code,
            entry.cause,
            entry.payload.as_str(),
            head.hash.0,
            hash.0,
        ]);
        match inserted {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                return Err(Failure::Tampered(format!("row {seq} is there, though it was not appended yet")));
            }
            other => other?,
        };
        head = AuditHead { seq, hash };
    }
    let end = params![head.seq.cast_signed(), head.hash.0];
    transaction.execute("UPDATE audit_head SET seq = ?1, hash = ?2 WHERE one = 1", end)?;
    Ok(head)
}

pub(super) fn head(connection: &Connection) -> Result<AuditHead, Failure> {
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?));
    let found = connection.query_row("SELECT seq, hash FROM audit_head WHERE one = 1", [], read).optional();
    match found {
        Ok(Some((seq, hash))) => Ok(AuditHead { seq: seq.cast_unsigned(), hash: Hash(hash) }),
        Ok(None)
        | Err(rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..)) => {
            Err(Failure::Tampered("the record of its end is gone".to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn walk(connection: &Connection, after: u64, limit: u32) -> Result<Vec<AuditRow>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM audit WHERE seq > ?1 AND {KEPT} ORDER BY seq LIMIT ?2");
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params![signed(after), limit], |row| Ok(decoded(row)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn query(connection: &Connection, filter: &AuditFilter) -> Result<Vec<AuditRow>, Failure> {
    let text = |text: &Option<String>| text.clone().map(Value::Text);
    let number = |number: Option<u64>| number.map(|number| Value::Integer(signed(number)));
    let time = |time: Option<Timestamp>| time.map(|time| Value::Integer(time.millis()));
    let severity = filter.severity.map(|severity| Value::Text(severity.as_str().to_owned()));
    let conditions = [
        ("ts >= ?", time(filter.from)),
        ("ts < ?", time(filter.to)),
        ("event_type = ?", text(&filter.event_type)),
        ("session_id = ?", text(&filter.session_id)),
        ("actor_subject = ?", text(&filter.actor_subject)),
        ("severity = ?", severity),
        ("request_id = ?", text(&filter.request_id)),
        ("seq < ?", number(filter.before)),
        ("seq > ?", number(filter.after)),
    ];
    let given = conditions.into_iter().filter_map(|(condition, value)| Some((condition, value?)));
    let (conditions, mut values): (Vec<_>, Vec<_>) = given.unzip();
    let conditions = [&conditions[..], &[KEPT]].concat().join(" AND ");
    let follows = filter.after.is_some() && filter.before.is_none();
    let order = if follows { "ASC" } else { "DESC" };
    values.push(Value::Integer(i64::from(filter.rows())));
    let sql = format!("SELECT {COLUMNS} FROM audit WHERE {conditions} ORDER BY seq {order} LIMIT ?");
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| Ok(decoded(row)))?;
    let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
    if follows {
        rows.reverse();
    }
    Ok(rows)
}

/// Never fails: a row that was tampered with must be readable, or nobody could say which one it is.
fn decoded(row: &Row<'_>) -> AuditRow {
    let mut columns = Columns { row, next: 0, legible: true };
    let seq = columns.number().unwrap_or_default().cast_unsigned();
    let entry = AuditEntry {
        ts: Timestamp::from_millis(columns.number().unwrap_or_default()),
        request_id: columns.text(),
        severity: columns.severity(),
        event_type: columns.text().unwrap_or_default(),
        actor_subject: columns.text(),
        actor_client: columns.text(),
        session_id: columns.text(),
        method: columns.text(),
        path: columns.text(),
        status: columns.status(),
        duration_ms: columns.number().map(i64::cast_unsigned),
        outcome: columns.text(),
        code: columns.text(),
        cause: columns.text(),
        payload: Payload(columns.text().unwrap_or_default()),
    };
    let (prev_hash, hash) = (columns.hash(), columns.hash());
    AuditRow { seq, entry, prev_hash, hash, legible: columns.legible }
}

/// The columns of a row, one after the other.
struct Columns<'a> {
    row: &'a Row<'a>,
    next: usize,
    /// Nothing was there that could not be.
    legible: bool,
}

impl<'a> Columns<'a> {
    fn take(&mut self) -> ValueRef<'a> {
        self.next += 1;
        self.row.get_ref(self.next - 1).unwrap_or(ValueRef::Real(f64::NAN))
    }

    fn unless_illegible<T>(&mut self, value: Option<T>) -> Option<T> {
        self.legible &= value.is_some();
        value
    }

    fn number(&mut self) -> Option<i64> {
        match self.take() {
            ValueRef::Integer(number) => Some(number),
            ValueRef::Null => None,
            _ => self.unless_illegible(None),
        }
    }

    fn status(&mut self) -> Option<u16> {
        let number = self.number()?;
        self.unless_illegible(u16::try_from(number).ok())
    }

    fn text(&mut self) -> Option<String> {
        match self.take() {
            ValueRef::Text(bytes) => {
                self.legible &= std::str::from_utf8(bytes).is_ok();
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
            ValueRef::Null => None,
            _ => self.unless_illegible(None),
        }
    }

    fn severity(&mut self) -> Severity {
        let known = self.text().and_then(|text| text.parse().ok());
        self.unless_illegible(known).unwrap_or(Severity::Error)
    }

    fn hash(&mut self) -> Hash {
        let bytes = match self.take() {
            ValueRef::Blob(bytes) => <[u8; 32]>::try_from(bytes).ok(),
            _ => None,
        };
        self.unless_illegible(bytes).map_or(Hash::ZERO, Hash)
    }
}
