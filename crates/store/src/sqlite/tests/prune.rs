//! Rows that were thrown away in order, and others.

use super::*;
use crate::{Break, UsageEntry, Verification, event};

fn seconds(n: i64) -> Timestamp {
    Timestamp::from_millis(1_000 * n)
}

fn used(store: &Sqlite, n: i64) {
    let entry = UsageEntry {
        ts: seconds(n),
        name: "a".to_owned(),
        field: None,
        credential_id: None,
        subject: "ada".to_owned(),
        client: String::new(),
        outcome: UsageOutcome::Allowed,
    };
    store.append_usage(&entry).unwrap();
}

/// What somebody with the file could do, who removes the triggers first.
fn tamper(store: &Sqlite, sql: &str) -> Verification {
    for trigger in ["audit_no_update", "audit_no_delete", "audit_pruned_grows", "audit_pruned_stays"] {
        store.lock().execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
    store.lock().execute_batch(sql).unwrap();
    verify(store, None).unwrap()
}

fn found(seq: u64, reason: Reason) -> Option<Break> {
    Some(Break { seq, reason })
}

#[test]
fn what_is_left_can_be_checked_and_tells_what_went() {
    let (_folder, store) = filled(9);
    (1..=4).for_each(|n| used(&store, n));
    let fifth = store.walk_audit(4, 1).unwrap()[0].hash;
    let pruning = store.prune_audit(seconds(6)).unwrap();
    assert_eq!((pruning.rows, pruning.usage, pruning.head.seq), (5, 4, 10));
    let pruned = Pruned { last: AuditHead { seq: 5, hash: fifth }, before: seconds(6) };
    assert_eq!((pruning.pruned, store.audit_pruned().unwrap()), (pruned, pruned));
    assert_eq!(numbers(&store, AuditFilter::default()), [10, 9, 8, 7, 6]);
    let usage: i64 = store.lock().query_row("SELECT count(*) FROM usage", [], |row| row.get(0)).unwrap();
    assert_eq!(usage, 0);
    let told = store.walk_audit(9, 1).unwrap().remove(0).entry;
    assert_eq!(told.event_type, event::AUDIT_PRUNED);
    let payload: Value = serde_json::from_str(told.payload.as_str()).unwrap();
    assert_eq!((&payload["rows"], &payload["before"]), (&json!(5), &json!("1970-01-01T00:00:06.000Z")));
    let head = store.audit_head().unwrap();
    let whole = Verification { rows: 5, head, pruned: Some(pruned), broken: None };
    assert_eq!(verify(&store, None).unwrap(), whole);

    // What was noted before counts as long as it is there.
    let anchor = |seq: u64, hash: Hash| verify(&store, Some(&AuditHead { seq, hash })).unwrap().broken;
    assert_eq!((anchor(5, fifth), anchor(10, head.hash)), (None, None));
    assert_eq!(anchor(5, Hash::ZERO), found(5, Reason::NotTheAnchor));
    assert_eq!(anchor(4, fifth), found(4, Reason::AnchorPruned));
    assert_eq!(anchor(11, fifth), found(11, Reason::Truncated { last: 11 }));

    // Again: nothing to do, then everything, the row that told of the first time included.
    assert_eq!(store.prune_audit(seconds(6)).unwrap().rows, 0);
    assert_eq!(store.audit_head().unwrap(), head, "nothing went, so nothing is told");
    // Not by the clock as it is: the row that told may be of this very millisecond.
    let later = Timestamp::from_millis(Timestamp::now().millis() + 60_000);
    assert_eq!(store.prune_audit(later).unwrap().rows, 5);
    assert_eq!(store.append_audit(&[entry(20)]).unwrap().seq, 12);
    let left = verify(&store, None).unwrap();
    assert_eq!((left.rows, left.pruned.unwrap().last.seq, left.broken), (2, 10, None));
}

#[test]
fn a_later_row_keeps_those_behind_it() {
    let (_folder, store) = filled(2);
    store.append_audit(&[entry(50), entry(3), entry(4)]).unwrap();
    assert_eq!(store.prune_audit(seconds(10)).unwrap().rows, 2);
    assert_eq!(numbers(&store, AuditFilter::default()), [6, 5, 4, 3]);
    assert_eq!(verify(&store, None).unwrap().broken, None);
}

#[test]
fn only_what_was_pruned_can_be_deleted() {
    let (_folder, store) = filled(9);
    used(&store, 8);
    store.prune_audit(seconds(6)).unwrap();
    for refused in [
        "DELETE FROM audit WHERE seq = 6",
        "DELETE FROM usage",
        "DELETE FROM audit_pruned",
        "UPDATE audit_pruned SET seq = 4",
        "UPDATE audit_pruned SET seq = 99",
        "UPDATE audit_pruned SET before = 0",
    ] {
        let error = store.lock().execute_batch(refused).unwrap_err().to_string();
        assert!(error.contains("append-only"), "{refused}: {error}");
    }
}

#[test]
fn who_changes_what_is_left_is_found() {
    let cases = [
        ("UPDATE audit SET code = 'x' WHERE seq = 6", 6, Reason::Changed),
        ("DELETE FROM audit WHERE seq = 6", 6, Reason::Missing),
        ("DELETE FROM audit WHERE seq = 10", 10, Reason::Truncated { last: 10 }),
        ("UPDATE audit_pruned SET hash = zeroblob(32)", 6, Reason::Unlinked),
        // The record of what went is moved on together with what it tells of.
        (
            "UPDATE audit_pruned SET seq = 6, hash = (SELECT hash FROM audit WHERE seq = 6); DELETE FROM audit WHERE seq = 6",
            6,
            Reason::NotPruned,
        ),
        ("UPDATE audit_pruned SET before = 9000", 5, Reason::NotPruned),
    ];
    for (sql, seq, reason) in cases {
        let (_folder, store) = filled(9);
        store.prune_audit(seconds(6)).unwrap();
        assert_eq!(tamper(&store, sql).broken, found(seq, reason), "{sql}");
    }
    // Where nothing was ever thrown away.
    let (_folder, store) = filled(9);
    let cut = "UPDATE audit_pruned SET seq = 3, hash = (SELECT hash FROM audit WHERE seq = 3); DELETE FROM audit WHERE seq <= 3";
    assert_eq!(tamper(&store, cut).broken, found(3, Reason::NotPruned));
    store.lock().execute_batch("DELETE FROM audit_pruned").unwrap();
    assert!(matches!(verify(&store, None), Err(StoreError::Tampered { .. })));
}

#[test]
fn rows_that_were_left_by_somebody_who_was_interrupted_are_not_seen_and_go_next_time() {
    let (_folder, store) = filled(5_000);
    let begun =
        store.write(Care::Usual, |transaction| crate::sqlite::prune::begin(transaction, seconds(4_001)));
    assert_eq!(begun.unwrap().rows, 4_000);
    let left = || -> i64 {
        store.lock().query_row("SELECT count(*) FROM audit WHERE seq <= 4000", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(left(), 4_000);
    assert!(numbers(&store, AuditFilter { before: Some(4_001), ..AuditFilter::default() }).is_empty());
    let whole = verify(&store, None).unwrap();
    assert_eq!((whole.rows, whole.broken), (1_001, None));
    assert_eq!(store.prune_audit(seconds(4_001)).unwrap().rows, 0);
    assert_eq!(left(), 0);
}
