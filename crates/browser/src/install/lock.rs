//! One installation at a time in a cache directory, across processes.

use std::{
    fs::TryLockError,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use fs_err::File;

use crate::{Error, Notes};

/// Longer than any download that is worth waiting for.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// Takes the cache's lock, which the system frees when its holder ends; says so when it has to wait.
pub(super) fn hold(cache: &Path, notes: &dyn Notes) -> Result<File, Error> {
    let path = cache.join(".install.lock");
    let file = File::create(&path).map_err(Error::io("cannot lock the browser cache"))?;
    let started = Instant::now();
    let mut told = false;
    loop {
        match file.file().try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => {
                return Err(Error::Io { doing: "cannot lock the browser cache", source });
            }
            Err(TryLockError::WouldBlock) if started.elapsed() > LONGEST => {
                return Err(Error::Locked { path, waited: LONGEST });
            }
            Err(TryLockError::WouldBlock) => {}
        }
        if !told {
            notes.note("Another Surehand is installing a browser right now; waiting for it.");
            told = true;
        }
        thread::sleep(Duration::from_millis(100));
    }
}
