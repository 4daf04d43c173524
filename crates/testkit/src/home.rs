//! A fresh `SUREHAND_HOME` in a temporary directory, removed with its last owner.
//!
//! A test process that is killed cannot clean up after itself, so each directory notes its owner, and the next
//! process that makes a home sweeps those whose owner is dead, together with the processes that still use them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use tempfile::TempDir;

use crate::{processes, wait_until};

/// Kept short: a Unix socket's path must fit into 108 bytes.
const PREFIX: &str = "sh-kit-";
const OWNER: &str = "owner";

/// A temporary directory with a `home` for the program under test and a `work` directory to run it in.
/// Clones share the directory; it goes with the last of them.
#[derive(Debug, Clone)]
pub struct TempHome(Arc<Root>);

#[derive(Debug)]
struct Root {
    directory: TempDir,
    home: PathBuf,
    work: PathBuf,
}

impl TempHome {
    /// A new, empty home. The first call of a process also sweeps what dead processes left behind.
    pub fn new() -> io::Result<Self> {
        static SWEEP: Once = Once::new();
        SWEEP.call_once(|| sweep(&std::env::temp_dir()));

        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let (home, work) = (directory.path().join("home"), directory.path().join("work"));
        fs_err::write(directory.path().join(OWNER), Owner::this_process().to_string())?;
        fs_err::create_dir(&home)?;
        fs_err::create_dir(&work)?;
        Ok(Self(Arc::new(Root { directory, home, work })))
    }

    /// What `SUREHAND_HOME` is set to.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.home
    }

    /// An empty directory to run in and to write to.
    #[must_use]
    pub fn work(&self) -> &Path {
        &self.0.work
    }

    /// The directory that holds both; whatever is put here is removed as well.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.0.directory.path()
    }

    /// Something that ends every process that uses this home and removes it: for handlers of signals and panics,
    /// after which no destructor runs. It does not keep the home alive.
    pub fn cleaner(&self) -> impl Fn() + Send + Sync + 'static {
        let root = self.root().to_owned();
        move || remove(&root)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // A browser that is just ending may still write into its profile, so one attempt is not enough.
        let _ = wait_until(Duration::from_secs(5), || gone(self.directory.path()));
    }
}

/// Removes a home; says whether it is gone. The note of its owner goes last: without it, what could not be removed
/// now would never be swept.
fn gone(root: &Path) -> bool {
    let Ok(entries) = fs_err::read_dir(root) else { return !root.exists() };
    let is_note = |path: &Path| path.ends_with(OWNER);
    let others = entries.flatten().map(|entry| entry.path()).filter(|path| !is_note(path));
    let emptied = others.fold(true, |so_far, path| {
        let removed = if path.is_dir() && !path.is_symlink() {
            fs_err::remove_dir_all(&path)
        } else {
            fs_err::remove_file(&path)
        };
        removed.is_ok() && so_far
    });
    emptied && fs_err::remove_dir_all(root).is_ok()
}

fn remove(root: &Path) {
    // More than once: one that is just ending may have started another.
    for _ in 0..3 {
        let users = users_of(root);
        if users.is_empty() {
            break;
        }
        for pid in users {
            processes::end(pid, Duration::from_secs(3));
        }
    }
    let _ = wait_until(Duration::from_secs(5), || gone(root));
}

/// Processes started with this home in their environment, or as a browser with a profile below this directory.
fn users_of(root: &Path) -> Vec<u32> {
    let mut pids = processes::with_env("SUREHAND_HOME", &root.join("home").to_string_lossy());
    pids.extend(processes::with_arg(&format!("--user-data-dir={}/", root.display())));
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// Removes the homes in `parent` whose owner is dead. Others, and those that cannot be judged, stay.
fn sweep(parent: &Path) {
    let Ok(entries) = fs_err::read_dir(parent) else { return };
    let this = Owner::this_process();
    for entry in entries.flatten() {
        let root = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) || !is_our_directory(&root) {
            continue;
        }
        let Ok(note) = fs_err::read_to_string(root.join(OWNER)) else { continue };
        if Owner::parse(&note).is_some_and(|owner| owner.namespace == this.namespace && owner.is_dead()) {
            remove(&root);
        }
    }
}

#[cfg(unix)]
fn is_our_directory(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    fs_err::symlink_metadata(path).is_ok_and(|data| data.is_dir() && data.uid() == own)
}

#[cfg(not(unix))]
fn is_our_directory(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|data| data.is_dir())
}

/// Who made a home. The start time guards against a reused id, the namespace against a shared `/tmp`, in which
/// the owner is alive but not visible from here.
#[derive(Debug, PartialEq)]
struct Owner {
    pid: u32,
    started: u64,
    namespace: String,
}

impl Owner {
    fn this_process() -> Self {
        let pid = std::process::id();
        let namespace = fs_err::read_link("/proc/self/ns/pid");
        Self {
            pid,
            started: processes::start_time(pid).unwrap_or(0),
            namespace: namespace
                .map_or_else(|_| "unknown".into(), |link| link.to_string_lossy().into_owned()),
        }
    }

    fn parse(note: &str) -> Option<Self> {
        let mut words = note.split_whitespace();
        Some(Self {
            pid: words.next()?.parse().ok()?,
            started: words.next()?.parse().ok()?,
            namespace: words.next()?.to_owned(),
        })
    }

    /// Where start times are unknown (not Linux), nobody is known to be dead.
    fn is_dead(&self) -> bool {
        self.started != 0 && processes::start_time(self.pid) != Some(self.started)
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {} {}", self.pid, self.started, self.namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_with_its_last_owner() {
        let home = TempHome::new().unwrap();
        let root = home.root().to_owned();
        fs_err::write(home.path().join("file"), "x").unwrap();
        let clone = home.clone();
        drop(home);
        assert!(clone.path().join("file").exists());
        drop(clone);
        assert!(!root.exists());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn sweeps_only_what_dead_owners_left() {
        let parent = tempfile::tempdir().unwrap();
        let this = Owner::this_process();
        let make = |name: &str, owner: Option<Owner>| {
            let root = parent.path().join(name);
            fs_err::create_dir(&root).unwrap();
            if let Some(owner) = owner {
                fs_err::write(root.join(OWNER), owner.to_string()).unwrap();
            }
            root
        };
        let namespace = this.namespace.clone();
        let dead = make("sh-kit-dead", Some(Owner { pid: this.pid, started: this.started + 1, namespace }));
        let elsewhere = Owner { pid: 4_000_000, started: 7, namespace: "pid:[1]".into() };
        let stays = [
            make("sh-kit-live", Some(this)),
            make("sh-kit-elsewhere", Some(elsewhere)),
            make("sh-kit-unknown", None),
            make("other", Some(Owner { pid: 4_000_000, started: 7, namespace: "pid:[1]".into() })),
        ];
        sweep(parent.path());
        assert!(!dead.exists());
        for root in stays {
            assert!(root.exists(), "{} must stay", root.display());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cleaner_ends_the_processes_that_use_it() {
        let home = TempHome::new().unwrap();
        let mut child =
            std::process::Command::new("sleep").arg("61").env("SUREHAND_HOME", home.path()).spawn().unwrap();
        home.cleaner()();
        assert!(!processes::alive(child.id()));
        assert!(!home.root().exists());
        child.wait().unwrap();
    }
}
