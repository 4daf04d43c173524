//! Who may do what: tokens, scopes, keys that change while the service runs, and under which names it is reached.

use std::os::unix::fs::PermissionsExt;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use serde_json::{Value, json};

use crate::common::fresh_cli;
use crate::fixture::{Service, shared};
use crate::forge;

const PACKS: &str = "/api/v1/packs";

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The only key of a home: its name and its secret.
fn key_of(service: &Service) -> (String, Vec<u8>) {
    let mut keys = fs_err::read_dir(service.cli.home().path().join("keys")).unwrap();
    let path = keys.next().unwrap().unwrap().path();
    let key: Value = serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap();
    let secret = BASE64.decode(key["secret"].as_str().unwrap()).unwrap();
    (key["kid"].as_str().unwrap().to_owned(), secret)
}

#[test]
fn a_token_is_needed_and_the_answer_says_so_as_the_standards_do() {
    let service = shared();
    let none = service.ask("GET", PACKS, &[], b"");
    none.must_be(401, "missing_bearer");
    assert_eq!(none.header("www-authenticate"), Some("Bearer realm=\"surehand\""));
    // Another way to say who one is was not understood: that is no wrong token.
    let basic = service.ask("GET", PACKS, &[("Authorization", "Basic YTpi")], b"");
    basic.must_be(401, "missing_bearer");
    assert_eq!(basic.header("www-authenticate"), Some("Bearer realm=\"surehand\""));
    for shown in ["Bearer", "Bearer ", "Bearer x", "Bearer a.b.c", "Bearer \u{e9}"] {
        let answer = service.ask("GET", PACKS, &[("Authorization", shown)], b"");
        answer.must_be(401, "invalid_token");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer realm=\"surehand\", error=\"invalid_token\""), "{challenge}");
    }
    let token = service.token_of("tester");
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let shown = format!("{scheme} {token}");
        assert_eq!(service.ask("GET", PACKS, &[("Authorization", &shown)], b"").status, 200, "{scheme}");
    }
    let twice = [("Authorization", "Bearer x"), ("Authorization", "Bearer y")];
    service.ask("GET", PACKS, &twice, b"").must_be(401, "invalid_token").must_say("several");
    // A token in the address would be in every log: it is none.
    assert_eq!(service.ask("GET", &format!("{PACKS}?access_token={token}"), &[], b"").status, 401);
    for open in ["/healthz", "/readyz", "/version", "/docs", "/api/openapi.json", "/metrics"] {
        assert_eq!(service.ask("GET", open, &[], b"").status, 200, "{open}");
    }
}

#[test]
fn what_is_not_in_order_is_not_believed() {
    let service = Service::start(&[]);
    let (kid, secret) = key_of(&service);
    let header = json!({ "alg": "HS256", "typ": "JWT", "kid": kid });
    let claims = json!({
        "iss": "surehand", "aud": "surehand", "sub": "ada", "exp": now() + 60, "scopes": ["packs:*"],
    });
    let status = |token: &str| {
        let answer = service.ask_with(token, "GET", PACKS, None);
        if answer.status == 401 {
            answer.must_be(401, "invalid_token");
        }
        answer.status
    };
    assert_eq!(status(&forge::token(&header, &claims, &secret)), 200, "the forge itself is wrong");
    let without_kid = json!({ "alg": "HS256" });
    assert_eq!(status(&forge::token(&without_kid, &claims, &secret)), 200);
    let mut spaced = claims.clone();
    spaced.as_object_mut().unwrap().remove("scopes");
    spaced["scope"] = "vault:read packs:*".into();
    spaced["aud"] = json!(["other", "surehand"]);
    assert_eq!(status(&forge::token(&header, &spaced, &secret)), 200, "as OAuth writes it");
    let mut fractions = claims.clone();
    fractions["exp"] = json!(now() as f64 + 60.5);
    fractions["iat"] = json!(now() as f64 - 0.5);
    assert_eq!(status(&forge::token(&header, &fractions, &secret)), 200, "as some clocks tell the time");
    for (name, value) in [
        ("exp", json!(now() - 3600)),
        ("exp", json!(now() as f64 - 3600.5)),
        ("exp", json!(-1)),
        ("exp", json!("tomorrow")),
        ("exp", Value::Null),
        ("nbf", json!(now() + 3600)),
        ("iss", json!("helmdeck")),
        ("iss", Value::Null),
        ("aud", json!("other")),
        ("aud", json!([])),
        ("aud", Value::Null),
        ("sub", json!("")),
        ("sub", json!("local")),
        ("sub", Value::Null),
        ("scopes", json!("packs:*")),
    ] {
        let mut changed = claims.clone();
        match value {
            Value::Null => _ = changed.as_object_mut().unwrap().remove(name),
            ref value => changed[name] = value.clone(),
        }
        assert_eq!(status(&forge::token(&header, &changed, &secret)), 401, "{name}: {value}");
    }
    for changed in [
        json!({ "alg": "none", "kid": kid }),
        json!({ "alg": "HS512", "kid": kid }),
        json!({ "alg": "EdDSA", "kid": kid }),
        json!({ "alg": "HS256", "kid": "other" }),
        json!({ "alg": "HS256", "kid": kid, "crit": ["exp"] }),
        json!({ "alg": "HS256", "kid": "../../etc/passwd" }),
    ] {
        assert_eq!(status(&forge::token(&changed, &claims, &secret)), 401, "{changed}");
    }
    let unsigned = forge::token(&json!({ "alg": "none" }), &claims, &secret);
    assert_eq!(status(&format!("{}.", unsigned.rsplit_once('.').unwrap().0)), 401);
    assert_eq!(status(&forge::token(&header, &claims, &[7; 32])), 401, "signed with another key");
    // What it says was changed after it was signed.
    let good = forge::token(&header, &claims, &secret);
    let mut parts: Vec<&str> = good.split('.').collect();
    let more = BASE64.encode(claims.to_string().replace("packs:*", "admin"));
    parts[1] = &more;
    assert_eq!(status(&parts.join(".")), 401);
    // Each refusal is written down.
    assert!(service.audit("event_type=auth").len() > 20);
}

#[test]
fn a_token_allows_what_its_scopes_say_and_nothing_more() {
    let service = shared();
    let no_page = json!({ "url": "x", "actions": [] });
    let post = |token: &str, path: &str| service.ask_with(token, "POST", path, Some(&no_page));
    let one = service.mint(&["--sub", "a", "--scope", "packs:browser.interact"]);
    let interact = "/api/v1/packs/browser.interact";
    // Let through, it is the input that is wrong.
    post(&one, interact).must_be(400, "invalid_input");
    post(&one, &format!("{interact}/v1")).must_be(400, "invalid_input");
    for path in [
        "/api/v1/packs/web.scrape",
        "/api/v1/packs/browser.screenshot_url",
        "/api/v1/packs/browser.interact.x",
    ] {
        let refused = post(&one, path);
        refused.must_be(403, "insufficient_scope");
        let name = path.rsplit('/').next().unwrap();
        let wanted =
            format!("Bearer realm=\"surehand\", error=\"insufficient_scope\", scope=\"packs:{name}\"");
        assert_eq!(refused.header("www-authenticate"), Some(wanted.as_str()));
    }
    let all = service.mint(&["--sub", "a", "--scope", "packs:*"]);
    for pack in
        ["browser.interact", "web.scrape", "web.scrape_spa", "web.login_and_fetch", "browser.screenshot_url"]
    {
        post(&all, &format!("/api/v1/packs/{pack}")).must_be(400, "invalid_input");
    }
    for (scope, method, path) in [
        ("packs:read", "GET", "/api/v1/packs"),
        ("packs:read", "GET", interact),
        ("sessions:read", "GET", "/api/v1/sessions"),
        ("sessions:write", "DELETE", "/api/v1/sessions/none"),
        ("vault:read", "GET", "/api/v1/vault/credentials"),
        ("vault:write", "DELETE", "/api/v1/vault/credentials/none"),
        ("audit:read", "GET", "/api/v1/audit?limit=1"),
        ("mcp:use", "DELETE", "/mcp"),
    ] {
        let right = service.mint(&["--sub", "a", "--scope", scope]);
        assert_ne!(service.ask_with(&right, method, path, None).status, 403, "{scope} {path}");
        let family = scope.split(':').next().unwrap();
        let others: Vec<String> = ["packs", "sessions", "vault", "audit", "mcp"]
            .iter()
            .filter(|other| **other != family)
            .map(|other| format!("{other}:*"))
            .collect();
        let wrong = service.mint(&["--sub", "a", "--scope", &others.join(",")]);
        service.ask_with(&wrong, method, path, None).must_be(403, "insufficient_scope");
    }
    let reads = service.mint(&["--sub", "a", "--scope", "sessions:read,vault:read"]);
    service.ask_with(&reads, "POST", "/api/v1/sessions", None).must_be(403, "insufficient_scope");
    service.ask_with(&reads, "POST", "/api/v1/vault/credentials", None).must_be(403, "insufficient_scope");
    // Who was turned away is in the audit.
    let denied = service.audit("event_type=auth&actor_subject=a");
    assert!(denied.iter().all(|row| row["outcome"] == "denied" && row["status"] == 403), "{denied:?}");
    assert!(!denied.is_empty());
}

#[test]
fn keys_change_while_the_service_runs() {
    let service = Service::start(&[]);
    let status = |token: &str| service.ask_with(token, "GET", PACKS, None).status;
    let run = |arguments: &[&str]| {
        let run = service.cli.run(&[&["token"], arguments].concat()).unwrap();
        assert!(run.ok(), "{arguments:?}: {run:?}");
        run.stdout
    };
    let (first, _) = key_of(&service);
    let old = service.mint(&["--sub", "a", "--scope", "packs:*"]);
    run(&["new-key", "--algorithm", "eddsa", "--kid", "second"]);
    let new = service.mint(&["--sub", "a", "--scope", "packs:*", "--kid", "second"]);
    assert_eq!((status(&old), status(&new)), (200, 200));
    let keys = run(&["keys"]);
    assert!(keys.contains("second  EdDSA  signs") && keys.contains(&format!("{first}  HS256")), "{keys}");
    run(&["remove-key", &first]);
    assert_eq!((status(&old), status(&new)), (401, 200));
    // Somebody else's public half.
    let theirs = fresh_cli();
    assert!(theirs.run(&["token", "new-key", "--algorithm", "eddsa", "--kid", "issuer"]).unwrap().ok());
    let minted = theirs.run(&["token", "mint", "--sub", "b", "--scope", "packs:*"]).unwrap();
    let foreign = minted.stdout.trim();
    assert_eq!(status(foreign), 401);
    let listed = theirs.json(&["token", "keys"]).unwrap();
    run(&["trust", "issuer", listed.data()["keys"][0]["public"].as_str().unwrap()]);
    assert_eq!(status(foreign), 200);
    run(&["remove-key", "issuer"]);
    assert_eq!(status(foreign), 401);
    run(&["remove-key", "second"]);
    assert_eq!(status(&new), 401);
    // A file that others can read is no key: nobody gets in, and nobody is told where it lies.
    run(&["new-key", "--kid", "third"]);
    let third = service.mint(&["--sub", "a", "--scope", "packs:*"]);
    assert_eq!(status(&third), 200);
    let path = service.cli.home().path().join("keys/third.json");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    fs_err::write(service.cli.home().path().join("keys/other"), "").unwrap();
    let refused = service.ask_with(&third, "GET", PACKS, None);
    refused.must_be(503, "keys_unavailable");
    assert!(
        !refused.text().contains("third") && refused.header("retry-after").is_some(),
        "{}",
        refused.text()
    );
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(status(&third), 200);
}

#[test]
fn a_public_key_may_begin_with_a_dash() {
    let public = "-q2VVHxs0Gpp7o_TzTZanELNHxRWfo3exBAeT-RQHQI";
    let run = fresh_cli().json(&["token", "trust", "issuer", public]).unwrap();
    assert!(run.success(), "{}", run.value);
}

#[test]
fn there_is_no_secret_that_all_know() {
    let cli = fresh_cli();
    let service = Service::start_allowed(&cli, &[]);
    assert!(service.greeting.contains("token mint"), "{}", service.greeting);
    let folder = cli.home().path().join("keys");
    let mode = |path: &std::path::Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    let keys: Vec<_> = fs_err::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!((keys.len(), mode(&folder), mode(&keys[0])), (1, 0o700, 0o600));
    let secret = BASE64.encode(key_of(&service).1);
    assert!(!service.greeting.contains(&secret), "it was shown");
    drop(service);
    // It is told once.
    let again = Service::start_allowed(&cli, &[]);
    assert_eq!(again.greeting.lines().count(), 1, "{}", again.greeting);
    drop(again);
    // One from outside is not written down.
    let given = "0123456789abcdef0123456789abcdef-given";
    let cli = fresh_cli().env("SUREHAND_JWT_SECRET", given);
    let service = Service::start_allowed(&cli, &[]);
    service.get(PACKS).ok();
    assert!(!cli.home().path().join("keys").exists());
    drop(service);
    let short = fresh_cli().env("SUREHAND_JWT_SECRET", "secret");
    let run = short.run(&["serve", "--listen", "127.0.0.1:0"]).unwrap();
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("32") && !run.stderr.contains("\"secret\""), "{run:?}");
}

#[test]
fn tokens_are_made_and_looked_at() {
    let cli = fresh_cli();
    let mint = |arguments: &[&str]| cli.run(&[&["token", "mint"], arguments].concat()).unwrap();
    let minted = mint(&["--sub", "ci", "--scope", "packs:*,vault:read", "--ttl", "7d", "--client", "build"]);
    assert_eq!((minted.code, minted.stdout.lines().count()), (Some(0), 1), "{minted:?}");
    let looked = cli.json(&["token", "inspect", minted.stdout.trim()]).unwrap();
    let claims = &looked.data()["claims"];
    assert_eq!(
        (&claims["sub"], &claims["client"], &looked.data()["valid"]),
        (&json!("ci"), &json!("build"), &json!(true))
    );
    assert_eq!(claims["scopes"], json!(["packs:*", "vault:read"]));
    let left = claims["exp"].as_u64().unwrap() - now();
    assert!((7 * 24 * 3600 - 60..=7 * 24 * 3600).contains(&left), "{left}");
    for wrong in [
        &["--sub", "ci", "--scope", "pack:*"][..],
        &["--sub", "ci", "--scope", "root"],
        &["--sub", "", "--scope", "admin"],
        &["--sub", "ci"],
        &["--scope", "admin"],
        &["--sub", "ci", "--scope", "admin", "--ttl", "0s"],
        &["--sub", "ci", "--scope", "admin", "--ttl", "soon"],
        &["--sub", "ci", "--scope", "admin", "--ttl", "10000d"],
        &["--sub", "ci", "--scope", "admin", "--kid", "none"],
    ] {
        assert_eq!(mint(wrong).code, Some(2), "{wrong:?}");
    }
    let other = fresh_cli();
    let looked = other.run(&["token", "inspect", minted.stdout.trim()]).unwrap();
    assert_eq!(looked.code, Some(1), "{looked:?}");
    assert!(looked.stdout.contains("no key of this service signed it"), "{looked:?}");
    assert_eq!(other.run(&["token", "inspect", "x"]).unwrap().code, Some(2));
}

#[test]
fn it_is_reached_under_its_own_names_only() {
    let service = Service::start(&["--allow-host", "browser.example", "--allow-host", "tls.example:443"]);
    let token = format!("Bearer {}", service.token_of("tester"));
    let port = service.host.rsplit(':').next().unwrap().to_owned();
    let ask =
        |name: &str, value: &str| service.ask("GET", PACKS, &[("Authorization", &token), (name, value)], b"");
    for host in [
        &service.host,
        &format!("localhost:{port}"),
        &format!("browser.example:{port}"),
        "browser.example",
        "BROWSER.example",
    ] {
        assert_eq!(ask("Host", host).status, 200, "{host}");
    }
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""] {
        ask("Host", host).must_be(403, "forbidden_origin");
    }
    for origin in [
        format!("http://{}", service.host),
        format!("https://browser.example:{port}"),
        "https://tls.example".to_owned(),
        "https://tls.example:443".to_owned(),
    ] {
        assert_eq!(ask("Origin", &origin).status, 200, "{origin}");
    }
    for origin in [
        "null",
        "http://evil.example",
        "https://127.0.0.1",
        "http://tls.example",
        "http://browser.example.evil.example",
    ] {
        ask("Origin", origin).must_be(403, "forbidden_origin");
    }
    // One name does not vouch for another.
    let bearer = ("Authorization", token.as_str());
    let twice = [bearer, ("Host", service.host.as_str()), ("Host", "evil.example")];
    service.ask("GET", PACKS, &twice, b"").must_be(403, "forbidden_origin");
    service.ask("GET", "http://evil.example/healthz", &[], b"").must_be(403, "forbidden_origin");
    assert_eq!(service.ask("GET", &format!("http://{}/healthz", service.host), &[], b"").status, 200);
    // Nor are strangers told whether it is well.
    service.ask("GET", "/healthz", &[("Host", "evil.example")], b"").must_be(403, "forbidden_origin");
    // No page elsewhere may read an answer.
    assert!(ask("Origin", "null").header("access-control-allow-origin").is_none());
}

#[test]
fn every_answer_has_the_name_of_its_request() {
    let service = shared();
    let with = |id: &str| {
        service
            .ask("GET", "/version", &[("X-Request-Id", id)], b"")
            .header("x-request-id")
            .unwrap()
            .to_owned()
    };
    assert_eq!(with("build-17.a_b"), "build-17.a_b");
    let long = "x".repeat(65);
    for odd in ["a b", "<script>", "", long.as_str()] {
        assert_ne!(with(odd), odd);
    }
    let own: Vec<String> = (0..3)
        .map(|_| service.ask("GET", "/version", &[], b"").header("x-request-id").unwrap().to_owned())
        .collect();
    assert!(own[0] != own[1] && own[1] != own[2] && own[0].len() >= 16, "{own:?}");
    let refused = service.ask("GET", PACKS, &[("X-Request-Id", "r-1")], b"");
    assert_eq!((refused.status, refused.header("x-request-id")), (401, Some("r-1")));
    assert_eq!(
        (refused.header("x-content-type-options"), refused.header("cache-control")),
        (Some("nosniff"), Some("no-store"))
    );
    assert!(service.audit("event_type=auth").iter().any(|row| row["request_id"] == "r-1"));
}

#[test]
fn who_asks_for_the_head_alone_needs_a_token_as_well() {
    let service = shared();
    for path in ["/api/v1/vault/credentials", "/api/v1/audit", "/api/v1/sessions", "/api/v1/packs"] {
        assert_eq!(service.ask("HEAD", path, &[], b"").status, 401, "{path}");
        assert_eq!(service.ask_with(&service.token_of("tester"), "HEAD", path, None).status, 200, "{path}");
    }
    for method in ["PUT", "PATCH", "OPTIONS", "TRACE"] {
        let answer = service.ask(method, "/api/v1/vault/credentials", &[], b"");
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET,HEAD,POST")), "{method}");
    }
}

#[test]
fn it_is_reached_under_its_public_address() {
    let service = Service::start(&["--public-url", "https://browser.example/sure/"]);
    let token = format!("Bearer {}", service.token_of("tester"));
    let ask = |host: &str, origin: &str| {
        service.ask("GET", PACKS, &[("Authorization", &token), ("Host", host), ("Origin", origin)], b"")
    };
    for (host, origin) in [
        ("browser.example", "https://browser.example"),
        ("browser.example:443", "https://browser.example:443"),
        (service.host.as_str(), "https://browser.example"),
    ] {
        assert_eq!(ask(host, origin).status, 200, "{host} {origin}");
    }
    for (host, origin) in [
        ("evil.example", "https://browser.example"),
        ("browser.example", "http://browser.example"),
        ("browser.example", "https://browser.example:8443"),
    ] {
        ask(host, origin).must_be(403, "forbidden_origin");
    }
    // For agents as well, who have a door of their own behind this one.
    let headers = [
        ("Authorization", token.as_str()),
        ("Host", "browser.example"),
        ("Origin", "https://browser.example"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let greeted = service.ask("POST", "/mcp", &headers, hello.as_bytes());
    assert_eq!(greeted.status, 200, "{}", greeted.text());
    let reference = service.ask("GET", "/api/openapi.json", &[], b"").ok();
    assert_eq!(reference["servers"][0]["url"], "https://browser.example/sure");
    for wrong in ["browser.example", "ftp://browser.example", "https://browser.example/?x=1"] {
        let refused = service.cli.run(&["serve", "--listen", "127.0.0.1:0", "--public-url", wrong]).unwrap();
        assert_eq!(refused.code, Some(2), "{wrong}: {refused:?}");
    }
}
