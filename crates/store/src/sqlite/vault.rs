//! Credentials, grants and usage.

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row, Transaction, params};

use super::{Failure, signed};
use crate::{
    AuditFilter, CredentialRow, Grant, Sealed, StoreError, Timestamp, UsageEntry, UsageFilter, UsageOutcome,
    UsageRow,
};

const COLUMNS: &str = "id, name, kind, host, fields, version, key_id, nonce, ciphertext, created, updated";

fn conflict(name: &str) -> Failure {
    StoreError::Conflict { what: format!("the credential {name:?}") }.into()
}

pub(super) fn put(transaction: &Transaction<'_>, row: &CredentialRow) -> Result<(), Failure> {
    let other_key = "SELECT 1 FROM credentials WHERE key_id <> ?1 AND id <> ?2 LIMIT 1";
    let other_key = transaction.query_row(other_key, [&row.sealed.key_id, &row.id], |_| Ok(())).optional()?;
    if other_key.is_some() {
        return Err(conflict(&row.name));
    }
    let fields = serde_json::Value::from(row.fields.clone()).to_string();
    let values = params![
        row.id,
        row.name,
        row.kind,
        row.host,
        fields,
        signed(row.version),
        row.sealed.key_id,
        row.sealed.nonce,
        row.sealed.ciphertext,
        row.created.millis(),
        row.updated.millis(),
    ];
    let written = if row.version == 1 {
        let sql = format!("INSERT INTO credentials ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        transaction.execute(&sql, values)
    } else {
        let sql = "UPDATE credentials SET name = ?2, kind = ?3, host = ?4, fields = ?5, version = ?6, key_id = ?7, \
                   nonce = ?8, ciphertext = ?9, created = ?10, updated = ?11 WHERE id = ?1 AND version = ?6 - 1";
        transaction.execute(sql, values)
    };
    match written {
        Ok(1) => Ok(()),
        Ok(_) => Err(conflict(&row.name)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(conflict(&row.name))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn get(connection: &Connection, name: &str) -> Result<Option<CredentialRow>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM credentials WHERE name = ?1");
    Ok(connection.query_row(&sql, [name], credential).optional()?)
}

pub(super) fn list(connection: &Connection) -> Result<Vec<CredentialRow>, Failure> {
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM credentials ORDER BY name"))?;
    let rows = statement.query_map([], credential)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn credential(row: &Row<'_>) -> rusqlite::Result<CredentialRow> {
    let fields: String = row.get(4)?;
    Ok(CredentialRow {
        id: row.get(0)?,
        name: row.get(1)?,
        kind: row.get(2)?,
        host: row.get(3)?,
        // What is no list was changed from outside; then the seal does not fit, and whoever opens it says so.
        fields: serde_json::from_str(&fields).unwrap_or_else(|_| vec![fields]),
        version: row.get::<_, i64>(5)?.cast_unsigned(),
        sealed: Sealed { key_id: row.get(6)?, nonce: row.get(7)?, ciphertext: row.get(8)? },
        created: Timestamp::from_millis(row.get(9)?),
        updated: Timestamp::from_millis(row.get(10)?),
    })
}

pub(super) fn remove(transaction: &Transaction<'_>, name: &str) -> Result<bool, Failure> {
    Ok(transaction.execute("DELETE FROM credentials WHERE name = ?1", [name])? > 0)
}

pub(super) fn reseal(
    transaction: &Transaction<'_>,
    reseal: &mut dyn FnMut(&CredentialRow) -> Option<Sealed>,
) -> Result<bool, Failure> {
    let sql = "UPDATE credentials SET version = ?2, key_id = ?3, nonce = ?4, ciphertext = ?5 WHERE id = ?1";
    let mut update = transaction.prepare(sql)?;
    let rows = list(transaction)?;
    let sealed: Option<Vec<Sealed>> = rows.iter().map(reseal).collect();
    let Some(sealed) = sealed else { return Ok(false) };
    for (row, Sealed { key_id, nonce, ciphertext }) in rows.iter().zip(sealed) {
        update.execute(params![row.id, signed(row.version + 1), key_id, nonce, ciphertext])?;
    }
    Ok(true)
}

pub(super) fn add_grant(transaction: &Transaction<'_>, name: &str, grant: &Grant) -> Result<bool, Failure> {
    let id = transaction.query_row("SELECT id FROM credentials WHERE name = ?1", [name], |row| row.get(0));
    let Some(id) = id.optional()? else {
        return Err(StoreError::Missing { what: format!("credential {name:?}") }.into());
    };
    let id: String = id;
    let sql =
        "INSERT OR IGNORE INTO grants (credential_id, subject, client, created) VALUES (?1, ?2, ?3, ?4)";
    Ok(transaction.execute(sql, params![id, grant.subject, grant.client, grant.created.millis()])? > 0)
}

pub(super) fn remove_grant(
    transaction: &Transaction<'_>,
    name: &str,
    subject: &str,
    client: &str,
) -> Result<bool, Failure> {
    let sql = "DELETE FROM grants WHERE subject = ?2 AND client = ?3 \
               AND credential_id IN (SELECT id FROM credentials WHERE name = ?1)";
    Ok(transaction.execute(sql, [name, subject, client])? > 0)
}

pub(super) fn grants(connection: &Connection, name: &str) -> Result<Vec<Grant>, Failure> {
    let sql = "SELECT subject, client, grants.created FROM grants JOIN credentials ON credentials.id = credential_id \
               WHERE name = ?1 ORDER BY subject, client";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([name], |row| {
        let created = Timestamp::from_millis(row.get(2)?);
        Ok(Grant { subject: row.get(0)?, client: row.get(1)?, created })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn append_usage(transaction: &Transaction<'_>, entry: &UsageEntry) -> Result<(), Failure> {
    let sql = "INSERT INTO usage (ts, name, field, credential_id, subject, client, outcome) VALUES (?, ?, ?, ?, ?, ?, ?)";
    transaction.execute(
        sql,
        params![
            entry.ts.millis(),
            entry.name,
            entry.field,
            entry.credential_id,
            entry.subject,
            entry.client,
            entry.outcome.as_str(),
        ],
    )?;
    Ok(())
}

pub(super) fn usage(connection: &Connection, filter: &UsageFilter) -> Result<Vec<UsageRow>, Failure> {
    let sql = "SELECT id, ts, name, field, credential_id, subject, client, outcome FROM usage \
               WHERE (?1 IS NULL OR name = ?1) AND id < ?2 ORDER BY id DESC LIMIT ?3";
    let mut statement = connection.prepare(sql)?;
    let limit = filter.limit.unwrap_or(AuditFilter::USUAL).clamp(1, AuditFilter::MOST);
    let rows =
        statement.query_map(params![filter.name, filter.before.map_or(i64::MAX, signed), limit], |row| {
            let outcome: String = row.get(7)?;
            let entry = UsageEntry {
                ts: Timestamp::from_millis(row.get(1)?),
                name: row.get(2)?,
                field: row.get(3)?,
                credential_id: row.get(4)?,
                subject: row.get(5)?,
                client: row.get(6)?,
                outcome: match outcome.as_str() {
                    "allowed" => UsageOutcome::Allowed,
                    "denied" => UsageOutcome::Denied,
                    _ => UsageOutcome::NoMatch,
                },
            };
            Ok(UsageRow { id: row.get::<_, i64>(0)?.cast_unsigned(), entry })
        })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
