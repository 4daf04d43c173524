//! Several processes, each with several threads, append to one chain at once.

#![allow(clippy::expect_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use surehand_store::{AuditEntry, AuditFilter, Sqlite, Store as _, StoreError, event, verify};

const FILE: &str = "SUREHAND_TEST_STORE";
const THREADS: usize = 2;
const EACH: usize = 250;

/// Who waits is not first in a line: on a machine with much work somebody may find the file locked each time it looks, and
/// is told so in the end. Nothing was written then.
fn patiently<T>(ask: impl Fn() -> Result<T, StoreError>) -> Result<T, StoreError> {
    loop {
        match ask() {
            Err(StoreError::Locked { .. }) => {}
            other => return other,
        }
    }
}

fn append(path: &Path, who: &str) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                // A connection of its own, opened while others open, migrate and write.
                let store = patiently(|| Sqlite::open(path)).expect("a store");
                for n in 0..EACH {
                    let subject = Some(format!("{who}-{thread}"));
                    let entry = AuditEntry {
                        actor_subject: subject,
                        duration_ms: Some(n as u64),
                        ..AuditEntry::now(event::ACTION)
                    };
                    let entries = [entry];
                    patiently(|| store.append_audit(&entries)).expect("a row");
                }
            });
        }
    });
}

/// Not a test by itself: what the other processes do.
#[test]
fn child() {
    if let Some(path) = std::env::var_os(FILE) {
        append(&PathBuf::from(path), &format!("process-{}", std::process::id()));
    }
}

#[test]
fn two_processes_make_one_chain() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("surehand.db");
    let start = || -> Child {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["child", "--exact"]).env(FILE, &path).spawn().expect("a process")
    };
    let children = [start(), start()];
    let store = patiently(|| Sqlite::open(&path)).expect("a store");
    // Checking while others append finds nothing wrong.
    let during = verify(&store, None).expect("a check");
    assert_eq!(during.broken, None);
    for mut child in children {
        assert!(child.wait().expect("an end").success());
    }
    let found = verify(&store, None).expect("a check");
    assert_eq!((found.rows, found.broken), ((2 * THREADS * EACH) as u64, None));
    // Each writer's rows are in its order.
    let rows =
        store.query_audit(&AuditFilter { limit: Some(1_000), ..AuditFilter::default() }).expect("rows");
    let one = rows[0].entry.actor_subject.clone();
    let of_one: Vec<_> = rows.iter().filter(|row| row.entry.actor_subject == one).collect();
    assert_eq!(of_one.len(), EACH);
    assert!(of_one.windows(2).all(|pair| pair[0].entry.duration_ms > pair[1].entry.duration_ms));
}
