//! Opening the file: for its owner alone, with a log beside it, so that readers do not wait for writers.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Failure, PATIENCE, schema};
use crate::StoreError;

pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    make_private(path).map_err(|error| by_kind(error, path))?;
    // Not `SQLITE_OPEN_URI`: a path is a path.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> Result<Connection, Failure> {
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        // Before anything is written: it may not be ours.
        schema::check(&connection, path)?;
        set_up(&connection)?;
        schema::migrate(&mut connection, path)?;
        Ok(connection)
    };
    open().map_err(|failure| failure.at(path))
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    log_ahead(connection)?;
    // See `Care`: what must be on the disk asks for it.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Views and triggers of a file that somebody else made must not call functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    // A removed credential is overwritten, not only unlinked: it may be sealed with a key that leaked.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.query_row("PRAGMA journal_size_limit = 16777216", [], |_| Ok(()))
}

/// SQLite does not wait here by itself when two processes do it at once.
fn log_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < end =>
            {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

/// The file is made before SQLite does, which gives its other files the same permissions.
fn make_private(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private::folder(folder)?;
    }
    private::file(path)?;
    for suffix in ["-wal", "-shm"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        private::tighten(&PathBuf::from(beside))?;
    }
    Ok(())
}

fn by_kind(error: io::Error, path: &Path) -> StoreError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::NotADirectory => StoreError::Refused { path, detail: error.to_string() },
        _ => StoreError::Other { path, cause: Box::new(error) },
    }
}

#[cfg(unix)]
mod private {
    use std::io;
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    use std::path::Path;

    use fs_err::os::unix::fs::OpenOptionsExt as _;

    /// A folder that is there is somebody's, and stays as it is.
    pub fn folder(folder: &Path) -> io::Result<()> {
        if folder.is_dir() {
            Ok(())
        } else {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
        }
    }

    pub fn file(path: &Path) -> io::Result<()> {
        fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        tighten(path)
    }

    pub fn tighten(path: &Path) -> io::Result<()> {
        let permissions = match fs_err::metadata(path) {
            Ok(metadata) => metadata.permissions(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if permissions.mode() & 0o077 == 0 {
            return Ok(());
        }
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o600))
    }
}

/// Folders of a user are the user's alone on Windows.
#[cfg(not(unix))]
mod private {
    use std::io;
    use std::path::Path;

    pub fn folder(folder: &Path) -> io::Result<()> {
        fs_err::create_dir_all(folder)
    }

    pub fn file(path: &Path) -> io::Result<()> {
        fs_err::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        Ok(())
    }

    pub fn tighten(_: &Path) -> io::Result<()> {
        Ok(())
    }
}
