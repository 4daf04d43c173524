//! `surehand audit`: reading it, and finding out that somebody changed it.

use std::path::Path;

use serde_json::json;
use surehand_testkit::wait_for;

use crate::common::{fails, fresh_cli, ok};
use crate::serving::{SOON, Service};

/// As somebody would who has the file and no key: the bytes of a row, in place.
fn change(file: &Path, from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut bytes = fs_err::read(file).unwrap();
    let at: Vec<usize> = (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert!(!at.is_empty(), "it is not there");
    for at in at {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    fs_err::write(file, bytes).unwrap();
}

#[test]
fn what_was_changed_is_noticed() {
    let cli = fresh_cli();
    fails(&cli, &["audit", "verify"]).must_be("missing-file", 2);
    fails(&cli, &["audit", "list"]).must_be("missing-file", 2);
    let service = Service::start_in(&cli, &[]);
    let token = service.token("mallory", "packs:*");
    for _ in 0..3 {
        service.ask_with(&token, "GET", "/api/v1/packs", None).ok();
    }
    service.ask("GET", "/api/v1/packs", &[], b"").fails(401, "missing_bearer");
    // While it runs, as well.
    ok(&cli, &["audit", "verify"]);
    drop(service);

    let listed = ok(&cli, &["audit", "list", "--actor", "mallory"]);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 3);
    assert_eq!(ok(&cli, &["audit", "list", "--severity", "warning"])["entries"][0]["status"], 401);
    assert_eq!(ok(&cli, &["audit", "list", "--limit", "1"])["entries"].as_array().unwrap().len(), 1);
    let text = cli.run(&["audit", "list", "--event-type", "pack_list"]).unwrap().stdout;
    assert!(text.lines().count() == 3 && text.contains("mallory"), "{text}");
    for wrong in [["--limit", "0"], ["--limit", "1001"], ["--severity", "loud"], ["--from", "yesterday"]] {
        assert_eq!(fails(&cli, &[&["audit", "list"], &wrong[..]].concat()).exit, 2, "{wrong:?}");
    }

    let whole = ok(&cli, &["audit", "verify"]);
    assert_eq!(whole["rows"], 4);
    let head = format!("{}:{}", whole["head"]["seq"], whole["head"]["hash"].as_str().unwrap());
    ok(&cli, &["audit", "verify", "--anchor", &head]);
    let (seq, hash) = head.split_once(':').unwrap();
    let other: String = hash.chars().rev().collect();
    fails(&cli, &["audit", "verify", "--anchor", &format!("{seq}:{other}")]).must_be("check-failed", 1);
    // One that was longer before lost rows.
    fails(&cli, &["audit", "verify", "--anchor", &format!("99:{hash}")]).must_be("check-failed", 1);
    fails(&cli, &["audit", "verify", "--anchor", "nonsense"]).must_be("bad-number", 2);

    change(&cli.home().path().join("surehand.db"), b"mallory", b"innocen");
    let failure = fails(&cli, &["audit", "verify"]);
    failure.must_be("check-failed", 1).must_say("the record was changed");
}

#[test]
fn what_is_old_can_be_thrown_away_and_the_rest_is_checked() {
    let cli = fresh_cli();
    let service = Service::start_in(&cli, &[]);
    let token = service.token("mallory", "admin");
    let list = || service.ask_with(&token, "GET", "/api/v1/packs", None).ok();
    // Rows of the same millisecond go together.
    let newest = wait_for(SOON, || {
        list();
        let rows = service.ask_with(&token, "GET", "/api/v1/audit", None).ok();
        let times: Vec<&str> =
            rows["entries"].as_array().unwrap().iter().map(|row| row["ts"].as_str().unwrap()).collect();
        (times.first() > times.last()).then(|| times[0].to_owned())
    });
    let newest = newest.expect("rows of two times");
    let old = ok(&cli, &["audit", "verify"]);
    assert_eq!(old["pruned"], json!(null));

    for wrong in [
        &[][..],
        &["--keep", "0"],
        &["--before", "2999-01-01T00:00:00Z"],
        &["--keep", "1", "--before", &newest],
    ] {
        assert_eq!(fails(&cli, &[&["audit", "prune"], wrong].concat()).exit, 2, "{wrong:?}");
    }
    assert_eq!(ok(&cli, &["audit", "prune", "--keep", "1"])["rows"], 0);
    // While the service runs.
    let pruned = ok(&cli, &["audit", "prune", "--before", &newest]);
    let count = pruned["rows"].as_u64().unwrap();
    assert!(count >= 1, "{pruned}");
    list();
    let found = ok(&cli, &["audit", "verify"]);
    assert_eq!(
        (&found["pruned"]["last"]["seq"], &found["pruned"]["before"]),
        (&json!(count), &json!(newest))
    );
    let text = cli.run(&["audit", "verify"]).unwrap().stdout;
    assert!(text.starts_with(&format!("{count} rows were pruned, all before {newest}\n")), "{text}");
    let told = ok(&cli, &["audit", "list", "--event-type", "audit_pruned"]);
    assert_eq!(told["entries"][0]["payload"]["rows"], count, "{told}");
    // What was noted before it went cannot be compared any more.
    let anchor = format!("{}:{}", 1, old["head"]["hash"].as_str().unwrap());
    let failure = fails(&cli, &["audit", "verify", "--anchor", &anchor]);
    failure.must_be("check-failed", 1);
    drop(service);
    // What SQLite has beside the file is in it when the last who has it open closes it.
    ok(&cli, &["audit", "verify"]);

    change(&cli.home().path().join("surehand.db"), b"mallory", b"innocen");
    for arguments in [&["audit", "verify"][..], &["audit", "prune", "--keep", "1"]] {
        fails(&cli, arguments).must_be("check-failed", 1).must_say("the record was changed");
    }
}
