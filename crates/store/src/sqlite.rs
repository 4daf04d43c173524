//! The store in one file, with SQLite.
//!
//! One connection behind a lock serves a process; other processes have theirs. Writers take the file's lock at their
//! beginning (`BEGIN IMMEDIATE`), so that what they read stays true until they have written.

mod audit;
mod open;
mod prune;
mod schema;
mod vault;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::{
    AuditEntry, AuditFilter, AuditHead, AuditRow, CredentialRow, Grant, Pruned, Pruning, Sealed, Store,
    StoreError, Timestamp, UsageEntry, UsageFilter, UsageRow,
};

/// How long somebody waits for somebody else.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two parts of a long work, so that somebody else has a turn.
const BREATH: Duration = Duration::from_millis(5);

/// See the module.
pub struct Sqlite {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sqlite").field(&self.path).finish()
    }
}

/// Whether a write is on the disk when it is done. All writes survive the end of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Care {
    /// The last of them may be lost when the power goes, and the chain is whole without them. Waiting for the disk at each
    /// action would make every request slower.
    Usual,
    /// Survives that, too: a key may have been changed or thrown away because this was written.
    Durable,
}

impl Sqlite {
    /// Opens the file, for its owner alone; makes it, and its folder, if it is not there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let connection = open::open(&path)?;
        Ok(Self { path, connection: Mutex::new(connection) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A panic while somebody held the lock rolled their transaction back, so the connection is good.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, StoreError> {
        read(&self.lock()).map_err(|failure| failure.at(&self.path))
    }

    fn write<T>(
        &self,
        care: Care,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut connection = self.lock();
        let run = || {
            if care == Care::Durable {
                connection.pragma_update(None, "synchronous", "FULL")?;
            }
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = write(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        let done = run().map_err(|failure: Failure| failure.at(&self.path));
        if care == Care::Durable {
            let _ = connection.pragma_update(None, "synchronous", "NORMAL");
        }
        done
    }

    /// Moves everything from the log into the file and empties the log: what was overwritten is gone from both.
    fn forget(&self) {
        let _ = self.lock().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

/// What goes wrong inside, before the path is known.
enum Failure {
    Sqlite(rusqlite::Error),
    Tampered(String),
    Other(StoreError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Other(error)
    }
}

impl Failure {
    fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Sqlite(error) => by_code(error, path),
            Self::Tampered(detail) => StoreError::Tampered { path: path.to_owned(), detail },
            Self::Other(error) => error,
        }
    }
}

fn by_code(error: rusqlite::Error, path: &Path) -> StoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Locked { path, seconds: PATIENCE.as_secs() }
        }
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Corrupt { path, detail: error.to_string() }
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            StoreError::Refused { path, detail: error.to_string() }
        }
        _ => StoreError::Other { path, cause: Box::new(error) },
    }
}

/// SQLite's numbers have a sign; a greater one is as good as none.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Store for Sqlite {
    fn append_audit(&self, entries: &[AuditEntry]) -> Result<AuditHead, StoreError> {
        self.write(Care::Usual, |transaction| audit::append(transaction, entries))
    }

    fn query_audit(&self, filter: &AuditFilter) -> Result<Vec<AuditRow>, StoreError> {
        self.read(|connection| audit::query(connection, filter))
    }

    fn walk_audit(&self, after: u64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        self.read(|connection| audit::walk(connection, after, limit))
    }

    fn audit_head(&self) -> Result<AuditHead, StoreError> {
        self.read(audit::head)
    }

    fn audit_pruned(&self) -> Result<Pruned, StoreError> {
        self.read(prune::pruned)
    }

    fn prune_audit(&self, before: Timestamp) -> Result<Pruning, StoreError> {
        let pruning = self.write(Care::Durable, |transaction| prune::begin(transaction, before))?;
        while self.write(Care::Usual, prune::delete_some)? > 0 {
            std::thread::sleep(BREATH);
        }
        self.forget();
        Ok(pruning)
    }

    fn put_credential(&self, row: &CredentialRow) -> Result<(), StoreError> {
        self.write(Care::Durable, |transaction| vault::put(transaction, row))
    }

    fn credential(&self, name: &str) -> Result<Option<CredentialRow>, StoreError> {
        self.read(|connection| vault::get(connection, name))
    }

    fn credentials(&self) -> Result<Vec<CredentialRow>, StoreError> {
        self.read(vault::list)
    }

    fn remove_credential(&self, name: &str) -> Result<bool, StoreError> {
        let was_there = self.write(Care::Durable, |transaction| vault::remove(transaction, name))?;
        self.forget();
        Ok(was_there)
    }

    fn reseal_credentials(
        &self,
        reseal: &mut dyn FnMut(&CredentialRow) -> Option<Sealed>,
    ) -> Result<bool, StoreError> {
        let resealed = self.write(Care::Durable, |transaction| vault::reseal(transaction, reseal))?;
        self.forget();
        Ok(resealed)
    }

    fn add_grant(&self, name: &str, grant: &Grant) -> Result<bool, StoreError> {
        self.write(Care::Durable, |transaction| vault::add_grant(transaction, name, grant))
    }

    fn remove_grant(&self, name: &str, subject: &str, client: &str) -> Result<bool, StoreError> {
        self.write(Care::Durable, |transaction| vault::remove_grant(transaction, name, subject, client))
    }

    fn grants(&self, name: &str) -> Result<Vec<Grant>, StoreError> {
        self.read(|connection| vault::grants(connection, name))
    }

    fn append_usage(&self, entry: &UsageEntry) -> Result<(), StoreError> {
        self.write(Care::Usual, |transaction| vault::append_usage(transaction, entry))
    }

    fn usage(&self, filter: &UsageFilter) -> Result<Vec<UsageRow>, StoreError> {
        self.read(|connection| vault::usage(connection, filter))
    }
}

#[cfg(test)]
mod tests;
