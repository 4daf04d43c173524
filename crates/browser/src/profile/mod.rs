//! Fresh profiles: one directory per launched browser, held by its owner's lock, gone with the browser.
//!
//! The lock is a file lock on `owner.lock` in the directory. The system frees it when the owner ends in whatever way,
//! so a free lock means a dead owner, and a reused process number cannot fool anybody. Profiles of the user's own
//! never come here.

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod users;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod users;

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use fs_err::File;

use crate::Error;

const OWNER: &str = "owner.lock";
/// Held while a directory gets its owner, and while a sweep decides whose directories have none, so that a sweep
/// never takes a directory between its creation and its locking.
const GATE: &str = ".gate";
const PREFIX: &str = "profile-";

/// A fresh profile directory that this process owns; it goes when this is dropped.
#[derive(Debug)]
pub struct TempProfile {
    path: PathBuf,
    gone: bool,
    _owner: File,
}

/// What a sweep did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Directories that are gone now.
    pub removed: Vec<PathBuf>,
    /// Directories that could not be removed, and why.
    pub failed: Vec<(PathBuf, String)>,
}

impl TempProfile {
    /// Makes and locks a new directory in `scratch`.
    pub fn create(scratch: &Path) -> Result<Self, Error> {
        create(scratch).map_err(Error::io("cannot make a temporary profile"))
    }

    /// The directory, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directory. What still uses it (a browser that is not quite dead) is ended where the system lets
    /// us see it.
    pub fn remove(mut self) -> io::Result<()> {
        self.gone = true;
        remove_dir(&self.path)
    }

    /// Leaves the directory behind as an owner does that gets `kill -9`.
    #[cfg(test)]
    pub(crate) fn abandon(mut self) -> PathBuf {
        self.gone = true;
        self.path.clone()
    }
}

impl Drop for TempProfile {
    fn drop(&mut self) {
        if !self.gone
            && let Err(error) = remove_dir(&self.path)
        {
            tracing::debug!(target: "browser", %error, "a temporary profile stays until the next sweep");
        }
    }
}

fn create(scratch: &Path) -> io::Result<TempProfile> {
    make_private(scratch)?;
    let scratch = std::path::absolute(scratch)?;
    let _gate = gate(&scratch)?;
    let path = scratch.join(unique());
    fs_err::create_dir(&path)?;
    let owner = File::create(path.join(OWNER))?;
    owner.file().lock()?;
    Ok(TempProfile { path, gone: false, _owner: owner })
}

/// A profile holds cookies and whatever a page stores: nobody else's business.
fn make_private(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    fs_err::create_dir_all(dir)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs_err::set_permissions(dir, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn gate(scratch: &Path) -> io::Result<File> {
    let gate = File::create(scratch.join(GATE))?;
    gate.file().lock()?;
    Ok(gate)
}

fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{}-{:x}-{count}", std::process::id(), now.as_micros())
}

/// The directories in `scratch` whose owner is dead. Looking only.
pub fn leftovers(scratch: &Path) -> Vec<PathBuf> {
    let Ok(_gate) = existing(scratch).and_then(|()| gate(scratch)) else { return Vec::new() };
    orphans(scratch).into_iter().map(|(dir, _)| dir).collect()
}

/// Removes the directories in `scratch` whose owner is dead, and ends what still uses them. Takes a bounded time.
pub fn sweep(scratch: &Path) -> Swept {
    let mut swept = Swept::default();
    let Ok(scratch) = std::path::absolute(scratch) else { return swept };
    if existing(&scratch).is_err() {
        return swept;
    }
    let orphans = match gate(&scratch) {
        Ok(_gate) => orphans(&scratch),
        Err(error) => {
            swept.failed.push((scratch, error.to_string()));
            return swept;
        }
    };
    // Their locks are ours until each is gone, so a second sweep at the same time leaves them to us.
    for (dir, _lock) in orphans {
        users::end(&dir);
        match remove_dir(&dir) {
            Ok(()) => swept.removed.push(dir),
            Err(error) => swept.failed.push((dir, error.to_string())),
        }
    }
    swept
}

fn existing(scratch: &Path) -> io::Result<()> {
    fs_err::metadata(scratch).map(drop)
}

fn orphans(scratch: &Path) -> Vec<(PathBuf, File)> {
    let Ok(entries) = fs_err::read_dir(scratch) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| {
            let dir = entry.path();
            let lock = File::create(dir.join(OWNER)).ok()?;
            lock.file().try_lock().ok()?;
            Some((dir, lock))
        })
        .collect()
}

/// Removes a directory that a dying browser may still write to: ends its users, and tries a few times.
fn remove_dir(dir: &Path) -> io::Result<()> {
    let mut pause = Duration::from_millis(5);
    for _ in 0..8 {
        match fs_err::remove_dir_all(dir) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !dir.exists() => return Ok(()),
            Err(_) => users::end(dir),
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(200));
    }
    fs_err::remove_dir_all(dir)
}
