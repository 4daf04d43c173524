//! One row for each request and each action, with what failed underneath, and nothing that is secret.

use serde_json::{Value, json};
use surehand_testkit::Site;

use crate::common::fresh_cli;
use crate::serving::Service;

/// Rows of the audit, newest first.
fn rows(service: &Service, token: &str, query: &str) -> Vec<Value> {
    let found = service.ask_with(token, "GET", &format!("/api/v1/audit?limit=1000&{query}"), None).ok();
    found["entries"].as_array().unwrap().clone()
}

#[test]
fn requests_and_actions_are_written_down_with_their_causes() {
    let site = Site::builder().page("/", "<title>Home</title><p id=p>x</p>").start().unwrap();
    let service =
        Service::start_in(&fresh_cli(), &["--egress-allow", "127.0.0.1", "--action-timeout", "2000"]);
    let (ada, reader) = (service.token("ada", "packs:*"), service.token("root", "audit:read"));
    service.ask("POST", "/api/v1/packs/browser.interact", &[], b"{}").fails(401, "missing_bearer");
    service.ask_with("no.such.token", "GET", "/api/v1/audit", None).fails(401, "invalid_token");
    service.ask_with(&ada, "GET", "/api/v1/audit", None).fails(403, "insufficient_scope");
    service.ask_with(&ada, "GET", "/api/v1/nothing", None).fails(404, "not_found");
    let steps =
        json!([{ "action": "extract", "selector": "#p" }, { "action": "click", "selector": "#none" }]);
    let answer = service.interact_with(&ada, &site.url("/?token=very-secret-1"), &steps);
    let message = answer.fails(502, "handler_failed");
    let id = answer.header("x-request-id").expect("an id").to_owned();

    let auth = rows(&service, &reader, "event_type=auth");
    let statuses: Vec<i64> = auth.iter().map(|row| row["status"].as_i64().unwrap()).collect();
    assert_eq!(statuses, [403, 401, 401]);
    assert_eq!((&auth[0]["actor_subject"], &auth[2]["code"]), (&json!("ada"), &json!("missing_bearer")));
    assert!(auth.iter().all(|row| row["severity"] == "warning" && row["outcome"] == "denied"), "{auth:?}");

    let of_it = rows(&service, &reader, &format!("request_id={id}"));
    let kinds: Vec<&str> = of_it.iter().map(|row| row["event_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["pack_call", "action", "action", "action"]);
    let (call, click, open) = (&of_it[0], &of_it[1], &of_it[3]);
    assert_eq!(
        (&call["severity"], &call["status"], &call["code"]),
        (&json!("error"), &json!(502), &json!("handler_failed"))
    );
    assert!(call["cause"].as_str().unwrap().starts_with("not-found: "), "{call}");
    assert!(call["duration_ms"].as_u64().unwrap() >= 2000 && call["session_id"].is_string(), "{call}");
    assert_eq!((&click["outcome"], &click["payload"]["index"]), (&json!("failed"), &json!(1)));
    assert!(click["cause"].as_str().unwrap().contains("#none"), "{click}");
    assert_eq!((&open["outcome"], &open["payload"]["action"]), (&json!("ok"), &json!("open")));
    assert!(!message.is_empty() && of_it.iter().all(|row| row["actor_subject"] == "ada"));

    // Nothing that opens a door is in there.
    let all = Value::from(rows(&service, &reader, "")).to_string();
    for secret in [ada.as_str(), &reader, "no.such.token", "very-secret-1", ada.rsplit('.').next().unwrap()] {
        assert!(!all.contains(secret), "{secret} is in the audit");
        assert!(!service.said().contains(secret), "{secret} is in the log");
    }
    // Reading it is written down, too; asking whether it is alive is not.
    assert!(!rows(&service, &reader, "event_type=audit_read").is_empty());
    service.ask("GET", "/healthz", &[], b"").ok();
    assert!(rows(&service, &reader, "").iter().all(|row| row["path"] != "/healthz"));
}

#[test]
fn rows_are_found_by_what_is_known_of_them() {
    let service = Service::start_in(&fresh_cli(), &[]);
    let (ada, bob) = (service.token("ada", "admin"), service.token("bob", "admin"));
    for token in [&ada, &bob, &ada] {
        service.ask_with(token, "GET", "/api/v1/packs", None).ok();
    }
    service.ask_with(&bob, "GET", "/api/v1/packs/none", None).fails(404, "not_found");
    let listed = rows(&service, &ada, "event_type=pack_list");
    assert_eq!(listed.len(), 4);
    assert_eq!(rows(&service, &ada, "event_type=pack_list&actor_subject=bob").len(), 2);
    assert_eq!(rows(&service, &ada, "event_type=pack_list&severity=warning").len(), 1);
    assert_eq!(rows(&service, &ada, "session_id=none").len(), 0);
    let second = listed[1]["ts"].as_str().unwrap().to_owned();
    let since = rows(&service, &ada, &format!("event_type=pack_list&from={second}"));
    assert!(since.len() >= 2 && since.iter().all(|row| row["ts"].as_str().unwrap() >= second.as_str()));
    assert!(rows(&service, &ada, "event_type=pack_list&to=2020-01-01T00:00:00Z").is_empty());
    let one = service.ask_with(&ada, "GET", "/api/v1/audit?event_type=pack_list&limit=1", None).ok();
    assert_eq!(one["entries"].as_array().unwrap().len(), 1);
    let before = format!("/api/v1/audit?event_type=pack_list&limit=1&before={}", one["before"]);
    let next = service.ask_with(&ada, "GET", &before, None).ok();
    assert_eq!(next["entries"][0]["seq"], listed[1]["seq"], "{next}");
    for wrong in ["limit=0", "limit=1001", "limit=x", "from=yesterday", "severity=loud", "nonsense=1"] {
        service.ask_with(&ada, "GET", &format!("/api/v1/audit?{wrong}"), None).fails(400, "invalid_input");
    }
}
