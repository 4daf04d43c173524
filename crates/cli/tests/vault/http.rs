//! The vault over HTTP: who may do what, and that a value goes in and never out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use surehand_testkit::Site;

use crate::common::fresh_cli;
use crate::serving::Service;

const CREDENTIALS: &str = "/api/v1/vault/credentials";

#[test]
fn credentials_are_kept_granted_and_taken_back() {
    let service = Service::start_in(&fresh_cli(), &[]);
    let (reader, writer) = (service.token("reader", "vault:read"), service.token("writer", "vault:write"));
    let api =
        json!({ "name": "api", "type": "api_key", "plaintext_b64": STANDARD.encode("telling-value-1") });
    service.ask("POST", CREDENTIALS, &[], b"{}").fails(401, "missing_bearer");
    service.ask_with(&reader, "POST", CREDENTIALS, Some(&api)).fails(403, "insufficient_scope");
    service.ask_with(&writer, "GET", CREDENTIALS, None).fails(403, "insufficient_scope");
    let made = service.ask_with(&writer, "POST", CREDENTIALS, Some(&api));
    assert_eq!(made.status, 201, "{made:?}");
    let login =
        json!({ "name": "shop", "type": "login", "fields": { "username": "ada", "password": "hunter22" } });
    assert_eq!(service.ask_with(&writer, "POST", CREDENTIALS, Some(&login)).status, 201);

    // Nobody is granted anything by creating it, and nothing is ever returned.
    let path = format!("{CREDENTIALS}/api");
    let grants = service.ask_with(&reader, "GET", &format!("{path}/grants"), None).ok();
    assert_eq!(grants["grants"], json!([]));
    for answer in [
        made.text(),
        service.ask_with(&reader, "GET", CREDENTIALS, None).text(),
        service.ask_with(&reader, "GET", &path, None).text(),
    ] {
        assert!(answer.contains("api"), "{answer}");
        for value in ["telling", "hunter22", &STANDARD.encode("telling-value-1"), "plaintext"] {
            assert!(!answer.contains(value), "{value}: {answer}");
        }
    }
    let grant = json!({ "subject": "ada" });
    let granted = service.ask_with(&writer, "POST", &format!("{path}/grants"), Some(&grant));
    assert_eq!(granted.status, 201, "{granted:?}");
    assert_eq!(service.ask_with(&writer, "POST", &format!("{path}/grants"), Some(&grant)).status, 200);
    let revoke = format!("{path}/grants?subject=ada");
    service.ask_with(&writer, "DELETE", &revoke, None).ok();
    service.ask_with(&writer, "DELETE", &revoke, None).fails(404, "not_found");
    service.ask_with(&writer, "DELETE", &path, None).ok();
    for (method, path) in [("GET", path.clone()), ("DELETE", path.clone()), ("GET", format!("{path}/grants"))]
    {
        let token = if method == "GET" { &reader } else { &writer };
        service.ask_with(token, method, &path, None).fails(404, "not_found");
    }
}

#[test]
fn what_cannot_be_stored_is_refused_without_repeating_it() {
    let service = Service::start_in(&fresh_cli(), &[]);
    let writer = service.token("writer", "vault:write");
    let secret = "value-of-it";
    for body in [
        json!({}),
        json!([secret]),
        json!({ "name": "x", "type": "api_key" }),
        json!({ "name": "x", "type": "api_key", "plaintext_b64": secret }),
        json!({ "name": "x", "type": "api_key", "plaintext": secret }),
        json!({ "name": "x", "type": secret, "plaintext_b64": "" }),
        json!({ "name": "x", "type": "api_key", "plaintext_b64": STANDARD.encode("abc") }),
        json!({ "name": "x", "type": "login", "fields": { "password": 5 } }),
        json!({ "name": "x", "type": "login", "fields": { "password": "abc" } }),
        json!({ "name": "x", "type": "login", "fields": {} }),
        json!({ "name": "x", "type": "login", "fields": { "a": secret }, "plaintext_b64": secret }),
        json!({ "name": "a b", "type": "api_key", "plaintext_b64": STANDARD.encode(secret) }),
        json!({ "name": "x", "type": "api_key", "host": "a b", "plaintext_b64": STANDARD.encode(secret) }),
        json!({ "name": "x", "type": "api_key", "plaintext_b64": STANDARD.encode("x".repeat(70_000)) }),
    ] {
        let answer = service.ask_with(&writer, "POST", CREDENTIALS, Some(&body));
        answer.fails(400, "invalid_input");
        assert!(!answer.text().contains(secret), "{answer:?}");
    }
    let reader = service.token("reader", "vault:read");
    assert_eq!(service.ask_with(&reader, "GET", CREDENTIALS, None).ok()["credentials"], json!([]));
}

#[test]
fn only_who_was_granted_a_credential_uses_it_and_all_tries_are_written_down() {
    let site = Site::builder().page("/", "<input id=f>").start().unwrap();
    let service = Service::start_in(&fresh_cli(), &["--egress-allow", "127.0.0.1"]);
    let cli = &service.cli;
    crate::stored(cli, &["api"], "telling-value-1\n");
    crate::stored(
        cli,
        &["shop", "--type", "login", "--field", "username=ada", "--secret", "password"],
        "hunter22\n",
    );
    let (ada, bob) = (service.token("ada", "packs:*"), service.token("bob", "packs:*"));
    let admin = service.token("root", "admin");
    let type_in = |token: &str, value: &str| {
        let actions = json!([{ "action": "type", "selector": "#f", "value": value }]);
        service.interact_with(token, &site.url("/"), &actions)
    };
    let run = cli.run(&["vault", "grant", "api", "ada"]).unwrap();
    assert!(run.ok(), "{run:?}");
    type_in(&ada, "${vault:api}").ok();
    let denied = type_in(&bob, "${vault:api}").fails(400, "invalid_input");
    assert!(denied.contains("not granted"), "{denied}");
    let denied = type_in(&admin, "${vault:api}").fails(400, "invalid_input");
    assert!(denied.contains("not granted"), "an admin has no grant either: {denied}");
    let unknown = type_in(&ada, "${vault:none}").fails(400, "invalid_input");
    assert!(unknown.contains("there is no credential"), "{unknown}");
    assert!(cli.run(&["vault", "grant", "shop", "*"]).unwrap().ok());
    type_in(&bob, "${vault:shop#username}").ok();
    let field = type_in(&bob, "${vault:shop#pin}").fails(400, "invalid_input");
    assert!(field.contains("no field"), "{field}");
    let field = type_in(&bob, "${vault:shop}").fails(400, "invalid_input");
    assert!(field.contains("shop#FIELD"), "{field}");
    for malformed in ["${vault:}", "${vault:a b}", "${vault:api", "${vault:a#b#c}"] {
        let answer = type_in(&ada, malformed);
        answer.fails(400, "invalid_input");
        assert!(answer.json()["steps_completed"].is_null(), "nothing may have begun: {answer:?}");
    }
    let reader = service.token("reader", "vault:read");
    let usage = service.ask_with(&reader, "GET", &format!("{CREDENTIALS}/api/usage"), None).ok();
    let rows: Vec<(&str, &str)> = usage["usage"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["subject"].as_str().unwrap(), row["outcome"].as_str().unwrap()))
        .collect();
    for row in [("ada", "allowed"), ("bob", "denied"), ("root", "denied")] {
        assert!(rows.contains(&row), "{row:?}: {rows:?}");
    }
    assert!(cli.run(&["vault", "rm", "api"]).unwrap().ok());
    let usage: Value = service.ask_with(&reader, "GET", &format!("{CREDENTIALS}/api/usage"), None).ok();
    assert_eq!(usage["usage"].as_array().unwrap().len(), rows.len(), "it outlives the credential");
}
