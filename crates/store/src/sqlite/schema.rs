//! The tables, and how an older file gets them. `user_version` says which migrations a file has.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::Failure;
use crate::StoreError;

/// A migration is never changed once it was released; what is to change becomes another one.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema/1-audit.sql"),
    include_str!("schema/2-vault.sql"),
    include_str!("schema/3-prune.sql"),
];

/// `SRHD`: a file of ours.
pub(super) const APPLICATION: i64 = 0x5352_4844;

const KNOWN: i64 = MIGRATIONS.len() as i64;

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Refuses what was not written by this program or an older one. Says which migrations the file has.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<i64, Failure> {
    let found = number(connection, "user_version")?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let path = path.to_owned();
    if number(connection, "application_id")? != APPLICATION && (found != 0 || tables != 0) {
        return Err(StoreError::Foreign { path }.into());
    }
    if found > KNOWN {
        return Err(StoreError::Newer { path, found, known: KNOWN }.into());
    }
    Ok(found)
}

pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Failure> {
    if check(connection, path)? == KNOWN {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been first.
    let found = usize::try_from(check(&transaction, path)?).unwrap_or_default();
    for migration in &MIGRATIONS[found..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", KNOWN)?;
    Ok(transaction.commit()?)
}
