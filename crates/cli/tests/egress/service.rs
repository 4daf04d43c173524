//! The guard of the service: on by default, with the codes of the document.

use serde_json::{Value, json};

use crate::guarded::Trap;
use crate::serving::Service;
use crate::{common, site};

fn screenshot() -> Value {
    json!([{ "action": "screenshot" }])
}

#[test]
fn the_service_is_guarded_by_default() {
    let trap = Trap::set();
    let service = Service::start_in(&common::fresh_cli(), &[]);
    let token = service.token("ada", "admin");
    for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"] {
        let url = format!("http://{host}:{}/", trap.port);
        let message = service.interact_with(&token, &url, &screenshot()).fails(400, "invalid_input");
        assert!(message.contains("egress denied: "), "{message}");
    }
    for url in
        ["file:///etc/passwd", "chrome://version", "javascript:1", "data:,x", "view-source:http://x/", "/x"]
    {
        service.interact_with(&token, url, &screenshot()).fails(400, "invalid_input");
    }
    // The service itself, its own debugging and its proxies are on this machine, too.
    let own = format!("http://{}/healthz", service.host);
    let message = service.interact_with(&token, &own, &screenshot()).fails(400, "invalid_input");
    assert!(message.contains("egress denied: "), "{message}");
    for pack in ["browser.screenshot_url", "web.scrape"] {
        let input = json!({ "url": trap.url("/") });
        let answer = service.ask_with(&token, "POST", &format!("/api/v1/packs/{pack}"), Some(&input));
        assert!(answer.fails(400, "invalid_input").contains("egress denied: "), "{answer:?}");
    }
    trap.is_untouched("a service");
}

#[test]
fn calls_of_the_service_stop_where_nobody_may_go() {
    let trap = Trap::set();
    let away = trap.url("/302");
    let link = format!("<title>Home</title><a id=link href='{}'>away</a>", trap.url("/link"));
    let site = site(&link, |site| site.redirect("/302", &away));
    let allow = ["--egress-allow", &site.url("").replace("http://", "")];
    let service = Service::start_in(&common::fresh_cli(), &allow);
    let token = service.token("ada", "admin");
    let message = service.interact_with(&token, &site.url("/302"), &screenshot()).fails(400, "invalid_input");
    assert!(message.contains("egress denied: "), "{message}");
    let steps = json!([{ "action": "screenshot" }, { "action": "navigate", "url": site.url("/302") }, { "action": "screenshot" }]);
    let answer = service.interact_with(&token, &site.url("/"), &steps);
    assert!(answer.fails(400, "invalid_input").contains("egress denied: "), "{answer:?}");
    assert_eq!(answer.json()["steps_completed"], 1);
    // A click is done, whatever comes of it; where it led is told.
    let steps = json!([{ "action": "click", "selector": "#link" }, { "action": "assert_text", "text": "egress denied" }]);
    let done = service.interact_with(&token, &site.url("/"), &steps).ok();
    assert_eq!((&done["steps_completed"], &done["assertions_passed"]), (&json!(2), &json!(true)), "{done}");
    assert_eq!(done["blocked_requests"][0]["url"], trap.url("/link"));
    trap.is_untouched("calls");

    // The same engine over MCP has the same guard.
    let token = service.token("ada", "mcp:use");
    let client = json!({ "name": "t", "version": "1" });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client } });
    let greeted = service.ask_with(&token, "POST", "/mcp", Some(&hello));
    assert_eq!(greeted.status, 200, "{greeted:?}");
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "navigate", "arguments": { "url": trap.url("/mcp") } } });
    let answer = service.ask_with(&token, "POST", "/mcp", Some(&call));
    assert!(!answer.text().contains("Forbidden"), "{answer:?}");
    trap.is_untouched("mcp of the service");
}

#[test]
fn the_guard_can_be_switched_off_and_counts_bytes() {
    let site = site("<title>Home</title>", |site| {
        site.file("/big", "text/plain", vec![b'x'; 3_000_000])
            .page("/load", "<script src=/big></script><p id=p>x</p>")
    });
    let token_of = |service: &Service| service.token("ada", "admin");
    let off = Service::start_in(&common::fresh_cli(), &["--egress=false"]);
    off.interact_with(&token_of(&off), &site.url("/"), &screenshot()).ok();
    let allow = ["--max-bytes", "1000000", "--egress-allow", "127.0.0.1"];
    let tight = Service::start_in(&common::fresh_cli(), &allow);
    let token = token_of(&tight);
    let steps = json!([{ "action": "navigate", "url": site.url("/load") }, { "action": "navigate", "url": site.url("/") }]);
    let answer = tight.interact_with(&token, &site.url("/"), &steps);
    assert!(answer.status >= 400 && answer.text().contains("budget"), "{answer:?}");
    tight.interact_with(&token, &site.url("/"), &screenshot()).ok();
}

/// Asks for the same address three times, and for another one of each visit.
const REPEATING: &str = "<title>Repeating</title><script>(async () => {
  const ask = path => fetch('TRAP' + path, { mode: 'no-cors' }).catch(() => 0);
  for (const path of ['/same', '/same', '/same', location.search.slice(1)]) await ask(path);
  document.body.insertAdjacentHTML('beforeend', '<p id=done>done</p>');
})()</script><body>";

#[test]
fn calls_of_a_kept_session_tell_what_was_refused_to_them() {
    let trap = Trap::set();
    let site = site(&REPEATING.replace("TRAP", &trap.url("")), |site| site);
    let service =
        Service::start_in(&common::fresh_cli(), &["--egress-allow", &site.url("").replace("http://", "")]);
    let token = service.token("ada", "admin");
    let made = service.ask_with(&token, "POST", "/api/v1/sessions", Some(&json!({}))).ok();
    for call in ["/one", "/two"] {
        let actions = json!([{ "action": "extract", "selector": "#done" }]);
        let url = site.url(&format!("/?{call}"));
        let input = json!({ "url": url, "actions": actions, "session_id": made["session_id"] });
        let done = service.ask_with(&token, "POST", "/api/v1/packs/browser.interact", Some(&input)).ok();
        let told = |one: &Value| (one["url"].as_str().unwrap().to_owned(), one["count"].as_u64().unwrap());
        let mut told: Vec<_> = done["blocked_requests"].as_array().unwrap().iter().map(told).collect();
        told.sort();
        let mut due = [(trap.url("/same"), 3), (trap.url(call), 1)];
        due.sort();
        assert_eq!(told, due, "{call}");
    }
    let rows = service.ask_with(&token, "GET", "/api/v1/audit?event_type=egress&limit=1000", None).ok();
    let counts =
        rows["entries"].as_array().unwrap().iter().map(|row| row["payload"]["count"].as_u64().unwrap());
    assert_eq!(counts.clone().count(), 4, "{rows}");
    assert_eq!(counts.sum::<u64>(), 8, "{rows}");
    let metrics = service.ask("GET", "/metrics", &[], b"").text();
    assert!(metrics.contains("surehand_egress_blocked_total 8\n"), "{metrics}");
    trap.is_untouched("a kept session");
}

#[test]
fn what_a_caller_itself_asks_for_is_counted_as_well() {
    let trap = Trap::set();
    let service = Service::start_in(&common::fresh_cli(), &[]);
    let token = service.token("ada", "admin");
    let url = trap.url("/direct?token=telling").replace("http://", "http://ada:telling@");
    let failed = service.interact_with(&token, &url, &screenshot());
    failed.must_be(400, "invalid_input").must_say("egress denied");
    assert_eq!(failed.json()["blocked_requests"][0]["url"], trap.url("/direct"), "{}", failed.text());
    let rows = service.ask_with(&token, "GET", "/api/v1/audit?event_type=egress", None).ok();
    assert_eq!(rows["entries"].as_array().map(Vec::len), Some(1), "{rows}");
    let all = service.ask_with(&token, "GET", "/api/v1/audit", None).text();
    assert!(!all.contains("telling"), "what is secret in an address is not written down: {all}");
    let metrics = service.ask("GET", "/metrics", &[], b"").text();
    assert!(metrics.contains("surehand_egress_blocked_total 1\n"), "{metrics}");
    trap.is_untouched("a direct attempt");
}
