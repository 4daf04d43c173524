//! What goes wrong with a store, by what is to be done about it.

use std::error::Error;
use std::path::PathBuf;

/// What lies underneath; which library it comes from is nobody's business.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Why a store did not do what it was asked. Nothing was changed: what is written is written whole or not at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Somebody else holds the lock for too long.
    #[error("{} was in use by another program for {seconds} s; try again, and end the program that holds it if that helps not", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// No room.
    #[error("there is no room to write {}: the disk is full, or a quota is used up; make room and try again", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Damaged, or something else.
    #[error("{} is damaged, or is no database ({detail}); move it away together with its -wal and -shm files, and put a copy from before in its place", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// A database of another program.
    #[error("{} is a database of another program; choose another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Written by a version that is newer than this one.
    #[error("{} was written by a newer Surehand (its schema is {found}, this program knows {known}); update this program", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// May not be read or written.
    #[error("{} may not be read and written ({detail}); check who owns it and its folder", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// The end of the chain is not where the store knows it to be, so nothing can be appended.
    #[error("the audit log in {} was changed from outside: {detail}; keep a copy, see how far `surehand audit verify` comes, then move the file away", path.display())]
    Tampered {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        detail: String,
    },
    /// Somebody else wrote the same row in between.
    #[error("somebody else changed {what} at the same time; look at it again")]
    Conflict {
        /// Which row.
        what: String,
    },
    /// The row that something is about is not there.
    #[error("there is no {what}")]
    Missing {
        /// Which row.
        what: String,
    },
    /// Anything else.
    #[error("{} could not be used: {cause}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What lies underneath.
        cause: Cause,
    },
}
