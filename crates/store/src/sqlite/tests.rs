mod prune;

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::{Hash, Payload, Reason, Severity, Timestamp, UsageOutcome, verify};

fn new() -> (TempDir, Sqlite) {
    let folder = TempDir::new().expect("a folder");
    let store = Sqlite::open(folder.path().join("home/surehand.db")).expect("a store");
    (folder, store)
}

fn entry(n: i64) -> AuditEntry {
    let Value::Object(payload) = json!({ "n": n, "ä": [0.1, null] }) else { unreachable!() };
    AuditEntry {
        ts: Timestamp::from_millis(1_000 * n),
        request_id: Some(format!("r{}", n / 2)),
        severity: if n % 3 == 0 { Severity::Warning } else { Severity::Info },
        event_type: if n % 2 == 0 { "action" } else { "pack_call" }.to_owned(),
        actor_subject: (n % 4 == 0).then(|| "ada".to_owned()),
        session_id: (n == 7).then(|| "s7".to_owned()),
        status: (n % 2 == 1).then_some(200),
        duration_ms: Some(n.cast_unsigned()),
        payload: Payload::from(payload),
        ..AuditEntry::default()
    }
}

fn filled(count: i64) -> (TempDir, Sqlite) {
    let (folder, store) = new();
    let entries: Vec<_> = (1..=count).map(entry).collect();
    assert_eq!(store.append_audit(&entries).unwrap().seq, count.cast_unsigned());
    (folder, store)
}

fn numbers(store: &Sqlite, filter: AuditFilter) -> Vec<u64> {
    store.query_audit(&filter).unwrap().iter().map(|row| row.seq).collect()
}

#[test]
fn rows_come_back_as_they_were_written() {
    let (_folder, store) = filled(8);
    let rows = store.walk_audit(0, 100).unwrap();
    assert_eq!(rows.len(), 8);
    for (row, n) in rows.iter().zip(1..) {
        assert_eq!((row.seq.cast_signed(), &row.entry), (n, &entry(n)));
    }
    assert_eq!(rows[0].prev_hash, Hash::ZERO);
    assert_eq!(rows[1].prev_hash, rows[0].hash);
    assert_eq!(store.audit_head().unwrap(), AuditHead { seq: 8, hash: rows[7].hash });
    let shown = serde_json::to_value(&rows[6]).unwrap();
    assert_eq!(shown["ts"], "1970-01-01T00:00:07.000Z");
    assert_eq!(
        (&shown["seq"], &shown["payload"]["n"], &shown["session_id"]),
        (&json!(7), &json!(7), &json!("s7"))
    );
    assert_eq!(shown["hash"].as_str().unwrap().len(), 64);
}

#[test]
fn rows_are_found_by_what_is_asked_for() {
    let (_folder, store) = filled(1_100);
    let none = AuditFilter::default;
    let few = || AuditFilter { limit: Some(3), ..none() };
    assert_eq!(numbers(&store, none()).len(), 100);
    assert_eq!(numbers(&store, AuditFilter { limit: Some(5_000), ..none() }).len(), 1_000);
    assert_eq!(numbers(&store, few()), [1_100, 1_099, 1_098]);
    assert_eq!(numbers(&store, AuditFilter { before: Some(4), ..none() }), [3, 2, 1]);
    assert_eq!(numbers(&store, AuditFilter { after: Some(4), ..few() }), [7, 6, 5]);
    assert_eq!(numbers(&store, AuditFilter { after: Some(4), before: Some(9), ..few() }), [8, 7, 6]);
    assert!(numbers(&store, AuditFilter { after: Some(u64::MAX), ..none() }).is_empty());
    let time = |seconds: i64| Some(Timestamp::from_millis(seconds * 1_000));
    assert_eq!(numbers(&store, AuditFilter { from: time(3), to: time(6), ..none() }), [5, 4, 3]);
    let kind = |kind: &str| AuditFilter { event_type: Some(kind.to_owned()), ..few() };
    assert_eq!(numbers(&store, kind("action")), [1_100, 1_098, 1_096]);
    assert!(numbers(&store, kind("'; DROP TABLE audit; --")).is_empty());
    assert_eq!(numbers(&store, AuditFilter { session_id: Some("s7".to_owned()), ..none() }), [7]);
    assert_eq!(numbers(&store, AuditFilter { request_id: Some("r4".to_owned()), ..none() }), [9, 8]);
    let ada =
        AuditFilter { actor_subject: Some("ada".to_owned()), severity: Some(Severity::Warning), ..few() };
    assert_eq!(numbers(&store, ada), [1_092, 1_080, 1_068]);
}

/// Does to the rows what somebody with the file could do, who removes the triggers first.
fn tampered(count: i64, sql: &str) -> Option<(u64, Reason)> {
    let (_folder, store) = filled(count);
    assert_eq!(verify(&store, None).unwrap().broken, None);
    for refused in ["DELETE FROM audit", "UPDATE audit SET code = 'x'", "UPDATE audit_head SET seq = 1"] {
        let error = store.lock().execute_batch(refused).unwrap_err().to_string();
        assert!(error.contains("append-only"), "{error}");
    }
    let triggers = "audit_no_update audit_no_delete audit_head_grows audit_head_stays";
    for trigger in triggers.split(' ') {
        store.lock().execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
    store.lock().execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
    store.lock().execute_batch(sql).unwrap();
    let found = verify(&store, None).unwrap();
    let broken = found.broken?;
    assert!(broken.to_string().contains(&format!("row {}", broken.seq)));
    assert_eq!(found.head.seq, found.rows);
    Some((broken.seq, broken.reason))
}

#[test]
fn a_changed_row_is_found_in_any_column() {
    for change in [
        "seq = 6000",
        "ts = ts + 1",
        "request_id = NULL",
        "severity = 'warning'",
        "severity = 'INFO'",
        "event_type = 'other'",
        "actor_subject = ''",
        "actor_client = 'x'",
        "session_id = 's8'",
        "method = ''",
        "path = '/'",
        "status = 65736",
        "duration_ms = NULL",
        "outcome = 'ok'",
        "code = 'x'",
        "cause = 'x'",
        "payload = payload || ' '",
        "payload = 'no JSON'",
        "payload = CAST(X'ff' AS TEXT)",
        "hash = zeroblob(32)",
        "hash = zeroblob(31)",
        "prev_hash = zeroblob(32)",
    ] {
        let (seq, reason) = tampered(12, &format!("UPDATE audit SET {change} WHERE seq = 7")).expect(change);
        let wanted = if change.starts_with("seq") { Reason::Missing } else { Reason::Changed };
        assert_eq!((seq, reason), (7, wanted), "{change}");
    }
    assert_eq!(tampered(12, "SELECT 1"), None);
}

#[test]
fn what_is_missing_moved_or_added_is_found() {
    let cases = [
        ("DELETE FROM audit WHERE seq = 1", 1, Reason::Missing),
        ("DELETE FROM audit WHERE seq = 700", 700, Reason::Missing),
        ("DELETE FROM audit WHERE seq > 1190", 1_191, Reason::Truncated { last: 1_200 }),
        ("DELETE FROM audit", 1, Reason::Truncated { last: 1_200 }),
        (
            "UPDATE audit SET seq = -1 WHERE seq = 6; UPDATE audit SET seq = 6 WHERE seq = 7; UPDATE audit SET seq = 7 WHERE seq = -1",
            6,
            Reason::Moved { from: 7 },
        ),
        (
            "DELETE FROM audit WHERE seq = 6; UPDATE audit SET seq = -seq; UPDATE audit SET seq = -seq - (seq < -6)",
            6,
            Reason::Moved { from: 7 },
        ),
        (
            "INSERT INTO audit SELECT 1201, ts, request_id, severity, event_type, actor_subject, actor_client, session_id, \
          method, path, status, duration_ms, outcome, code, cause, payload, hash, hash FROM audit WHERE seq = 1200",
            1_201,
            Reason::Changed,
        ),
        (
            "UPDATE audit_head SET seq = 1100, hash = (SELECT hash FROM audit WHERE seq = 1100)",
            1_101,
            Reason::Added,
        ),
        ("UPDATE audit_head SET hash = zeroblob(32)", 1_200, Reason::Changed),
    ];
    for (sql, seq, reason) in cases {
        assert_eq!(tampered(1_200, sql), Some((seq, reason)), "{sql}");
    }
}

#[test]
fn a_row_with_a_new_hash_that_fits_breaks_the_next_one() {
    let (_folder, store) = filled(9);
    let forged = AuditEntry { code: Some("forged".to_owned()), ..entry(5) };
    let before = store.walk_audit(3, 1).unwrap()[0].hash;
    store.lock().execute_batch("DROP TRIGGER audit_no_update").unwrap();
    let hash = forged.hash(5, &before).0;
    store.lock().execute("UPDATE audit SET code = 'forged', hash = ?1 WHERE seq = 5", [hash]).unwrap();
    let broken = verify(&store, None).unwrap().broken.unwrap();
    assert_eq!((broken.seq, broken.reason), (6, Reason::Unlinked));
}

#[test]
fn an_anchor_finds_a_chain_that_was_made_anew() {
    let (_folder, store) = filled(9);
    let anchor: AuditHead = store.audit_head().unwrap().to_string().parse().unwrap();
    store.append_audit(&[entry(10)]).unwrap();
    assert_eq!(verify(&store, Some(&anchor)).unwrap().broken, None);
    let (_folder, forged) = new();
    forged.append_audit(&(0..12).map(entry).collect::<Vec<_>>()).unwrap();
    let found = verify(&forged, Some(&anchor)).unwrap().broken.unwrap();
    assert_eq!((found.seq, found.reason), (9, Reason::NotTheAnchor));
    let (_folder, short) = filled(4);
    let found = verify(&short, Some(&anchor)).unwrap().broken.unwrap();
    assert_eq!((found.seq, found.reason), (5, Reason::Truncated { last: 9 }));
}

#[test]
fn appending_does_not_hide_what_was_cut_off_or_put_in() {
    let (_folder, store) = filled(9);
    store.lock().execute_batch("DROP TRIGGER audit_no_delete; DELETE FROM audit WHERE seq > 7").unwrap();
    assert_eq!(store.append_audit(&[entry(10)]).unwrap().seq, 10);
    let found = verify(&store, None).unwrap().broken.unwrap();
    assert_eq!((found.seq, found.reason), (8, Reason::Missing));

    let (_folder, store) = filled(9);
    store.lock().execute_batch("DROP TRIGGER audit_head_grows; UPDATE audit_head SET seq = 8").unwrap();
    let error = store.append_audit(&[entry(10)]).unwrap_err();
    assert!(
        matches!(error, StoreError::Tampered { .. }) && error.to_string().contains("audit verify"),
        "{error}"
    );
    store.lock().execute_batch("DROP TRIGGER audit_head_stays; DELETE FROM audit_head").unwrap();
    assert!(matches!(store.append_audit(&[]), Err(StoreError::Tampered { .. })));
}

#[test]
fn an_older_file_is_brought_up_to_date() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("old.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(schema::MIGRATIONS[0]).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    old.pragma_update(None, "application_id", schema::APPLICATION).unwrap();
    drop(old);
    // With what was in it: rows of the older program.
    let mut connection = Connection::open(&path).unwrap();
    let transaction = connection.transaction().unwrap();
    audit::append(&transaction, &[entry(1), entry(2)]).unwrap_or_else(|_| panic!("rows"));
    transaction.commit().unwrap();
    drop(connection);

    let store = Sqlite::open(&path).unwrap();
    assert_eq!(store.credentials().unwrap(), []);
    assert_eq!(store.append_audit(&[entry(3)]).unwrap().seq, 3);
    let found = verify(&store, None).unwrap();
    assert_eq!((found.rows, found.broken), (3, None));
}

#[test]
fn a_file_that_is_not_ours_is_refused_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let refused = |name: &str, sql: &str| {
        let path = folder.path().join(name);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let before = fs_err::read(&path).unwrap();
        let error = Sqlite::open(&path).unwrap_err();
        assert_eq!(fs_err::read(&path).unwrap(), before);
        error
    };
    let newer = format!("PRAGMA user_version = 99; PRAGMA application_id = {};", schema::APPLICATION);
    let error = refused("newer.db", &newer);
    assert!(matches!(error, StoreError::Newer { found: 99, known: 3, .. }), "{error}");
    assert!(error.to_string().contains("update this program"), "{error}");
    assert!(matches!(refused("foreign.db", "CREATE TABLE a (b)"), StoreError::Foreign { .. }));

    let garbage = folder.path().join("garbage.db");
    fs_err::write(&garbage, "no database, but long enough to be taken for one".repeat(100)).unwrap();
    assert!(matches!(Sqlite::open(&garbage), Err(StoreError::Corrupt { .. })));
    assert!(matches!(Sqlite::open(folder.path()), Err(StoreError::Refused { .. })));
}

#[test]
fn a_full_disk_is_told_and_nothing_is_half_written() {
    let (_folder, store) = filled(3);
    let pages: i64 = store.lock().pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = |pages: i64| {
        store.lock().query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
    };
    limit(pages);
    let many: Vec<_> = (4..5_000).map(entry).collect();
    let error = store.append_audit(&many).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }) && error.to_string().contains("make room"), "{error}");
    limit(1_000_000);
    assert_eq!(store.append_audit(&[entry(4)]).unwrap().seq, 4);
    assert_eq!(verify(&store, None).unwrap().rows, 4);
}

#[test]
fn a_lock_that_is_held_too_long_is_told() {
    let (_folder, store) = filled(1);
    store.lock().busy_timeout(Duration::from_millis(50)).unwrap();
    let other = Connection::open(store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.append_audit(&[entry(2)]).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    assert_eq!(numbers(&store, AuditFilter::default()), [1], "readers do not wait");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.append_audit(&[entry(2)]).unwrap().seq, 2);
}

#[cfg(unix)]
#[test]
fn files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, store) = filled(1);
    let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    let home = folder.path().join("home");
    assert_eq!(mode(&home), 0o700);
    let files = || ["surehand.db", "surehand.db-wal", "surehand.db-shm"].map(|name| home.join(name));
    assert_eq!(files().map(|file| mode(&file)), [0o600; 3]);
    for file in files() {
        fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    Sqlite::open(store.path()).unwrap();
    assert_eq!(files().map(|file| mode(&file)), [0o600; 3]);
}

fn credential(name: &str, version: u64, key: &str) -> CredentialRow {
    CredentialRow {
        id: format!("id-{name}"),
        name: name.to_owned(),
        kind: "login".to_owned(),
        host: None,
        fields: vec!["username".to_owned()],
        version,
        sealed: Sealed { key_id: key.to_owned(), nonce: [7; 12], ciphertext: vec![1, 2, 3] },
        created: Timestamp::from_millis(1),
        updated: Timestamp::from_millis(2),
    }
}

#[test]
fn credentials_are_written_by_one_at_a_time() {
    let (_folder, store) = new();
    store.put_credential(&credential("b", 1, "k")).unwrap();
    store.put_credential(&credential("a", 1, "k")).unwrap();
    assert_eq!(store.credential("b").unwrap(), Some(credential("b", 1, "k")));
    assert_eq!(store.credential("B").unwrap(), None);
    let same_name = CredentialRow { id: "other".to_owned(), ..credential("b", 1, "k") };
    for stale in
        [credential("b", 1, "k"), credential("b", 3, "k"), same_name, credential("c", 1, "other key")]
    {
        assert!(matches!(store.put_credential(&stale), Err(StoreError::Conflict { .. })), "{stale:?}");
    }
    store.put_credential(&credential("b", 2, "k")).unwrap();
    let sealed = || Sealed { key_id: "new".to_owned(), nonce: [8; 12], ciphertext: vec![4] };
    assert!(!store.reseal_credentials(&mut |row| (row.name == "a").then(sealed)).unwrap());
    assert_eq!(store.credential("a").unwrap(), Some(credential("a", 1, "k")));
    assert!(store.reseal_credentials(&mut |_| Some(sealed())).unwrap());
    let all = store.credentials().unwrap();
    let seen: Vec<_> = all.iter().map(|row| (row.name.as_str(), row.version, &row.sealed)).collect();
    assert_eq!(seen, [("a", 2, &sealed()), ("b", 3, &sealed())]);
}

#[test]
fn grants_go_with_their_credential_and_usage_stays() {
    let (_folder, store) = new();
    let grant = |subject: &str, client: &str| {
        let (subject, client) = (subject.to_owned(), client.to_owned());
        Grant { subject, client, created: Timestamp::from_millis(3) }
    };
    assert!(matches!(store.add_grant("a", &grant("*", "")), Err(StoreError::Missing { .. })));
    store.put_credential(&credential("a", 1, "k")).unwrap();
    assert_eq!(store.grants("a").unwrap(), []);
    assert!(store.add_grant("a", &grant("ada", "")).unwrap());
    assert!(!store.add_grant("a", &grant("ada", "")).unwrap());
    assert!(store.add_grant("a", &grant("*", "ci")).unwrap());
    assert_eq!(store.grants("a").unwrap(), [grant("*", "ci"), grant("ada", "")]);
    assert!(store.remove_grant("a", "*", "ci").unwrap() && !store.remove_grant("a", "*", "ci").unwrap());
    let usage = |n: i64, name: &str| UsageEntry {
        ts: Timestamp::from_millis(n),
        name: name.to_owned(),
        field: Some("username".to_owned()),
        credential_id: None,
        subject: "ada".to_owned(),
        client: String::new(),
        outcome: if n == 1 { UsageOutcome::Denied } else { UsageOutcome::Allowed },
    };
    for (n, name) in [(1, "a"), (2, "b"), (3, "a")] {
        store.append_usage(&usage(n, name)).unwrap();
    }
    assert!(store.remove_credential("a").unwrap() && !store.remove_credential("a").unwrap());
    store.put_credential(&credential("a", 1, "k")).unwrap();
    assert_eq!(store.grants("a").unwrap(), [], "a new one of the same name is nobody's");
    let seen = |filter: UsageFilter| {
        let rows = store.usage(&filter).unwrap();
        rows.into_iter().map(|row| (row.id, row.entry)).collect::<Vec<_>>()
    };
    let of_a = UsageFilter { name: Some("a".to_owned()), ..UsageFilter::default() };
    assert_eq!(seen(of_a), [(3, usage(3, "a")), (1, usage(1, "a"))]);
    let older = UsageFilter { before: Some(3), limit: Some(1), ..UsageFilter::default() };
    assert_eq!(seen(older), [(2, usage(2, "b"))]);
    assert!(store.lock().execute_batch("DELETE FROM usage").is_err());
}
