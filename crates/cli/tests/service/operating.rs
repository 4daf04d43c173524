//! Operating it: numbers, logs, and the same engine over MCP on the same port.

use serde_json::{Value, json};

use crate::common::fresh_cli;
use crate::fixture::{Service, pages, shared};
use crate::serving::Answer;

#[test]
fn numbers_are_what_prometheus_reads() {
    let (service, site) = (shared(), pages(&[("/", "<p>x</p>")]));
    let ok = "surehand_packs_total{pack=\"browser.interact\",code=\"ok\"}";
    let (calls, actions) = (service.metric(ok), service.metric("surehand_actions_total"));
    service.interact(&site.url("/"), &json!([{ "action": "screenshot" }])).ok();
    assert!(service.metric(ok) >= calls + 1.0 && service.metric("surehand_actions_total") >= actions + 2.0);
    let answer = service.ask("GET", "/metrics", &[], b"");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = answer.text();
    assert!(text.ends_with('\n'));
    let mut known = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(kind != "counter" || name.ends_with("_total"), "{line}");
            known = name.to_owned();
        } else if !line.starts_with("# HELP ") {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let name = sample.split('{').next().unwrap();
            assert!(name.starts_with(&known) && !known.is_empty(), "{line} is not of {known}");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            assert_eq!(sample.contains('{'), sample.ends_with('}'), "{line}");
        }
    }
    // Addresses that nobody knows are one row, however many there are.
    for n in 0..3 {
        service.get(&format!("/nothing/{n}"));
    }
    let text = service.ask("GET", "/metrics", &[], b"").text();
    assert!(!text.contains("/nothing/") && text.contains("route=\"none\""), "{text}");
    assert!(!text.contains("tester"), "it names callers");
}

#[test]
fn every_request_is_a_line_in_the_log() {
    let service = Service::start_allowed(&fresh_cli().env("SUREHAND_LOG", "info"), &[]);
    let token = service.token_of("tester");
    let bearer = format!("Bearer {token}");
    service
        .ask("GET", "/api/v1/packs?secret=1", &[("Authorization", &bearer), ("X-Request-Id", "line-1")], b"")
        .ok();
    assert!(
        surehand_testkit::wait_until(crate::fixture::SOON, || service.said().contains("line-1")),
        "{}",
        service.said()
    );
    let said = service.said();
    let line = said.lines().find(|line| line.contains("line-1")).unwrap();
    for part in ["request", "GET", "/api/v1/packs", "200", "tester"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!said.contains(&token) && !said.contains("secret=1"), "{said}");
}

fn rpc(
    service: &Service,
    token: &str,
    session: Option<&str>,
    method: &str,
    params: &Value,
) -> (Answer, Value) {
    let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string();
    let bearer = format!("Bearer {token}");
    let mut headers = vec![
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    headers.extend(session.map(|session| ("Mcp-Session-Id", session)));
    let answer = service.ask("POST", "/mcp", &headers, request.as_bytes());
    let text = answer.text();
    let messages =
        text.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let message = messages.into_iter().find(|message| message["id"] == 7).unwrap_or_default();
    (answer, message)
}

#[test]
fn agents_come_in_at_the_same_port_with_a_token_for_it() {
    let (service, site) = (shared(), pages(&[("/", "<title>T</title><p>x</p>")]));
    let who = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    assert_eq!(service.ask("POST", "/mcp", &[], b"{}").status, 401);
    let wrong = service.mint(&["--sub", "agent", "--scope", "packs:*"]);
    rpc(&service, &wrong, None, "initialize", &who).0.must_be(403, "insufficient_scope");
    let token = service.mint(&["--sub", "agent", "--scope", "mcp:use,packs:browser.interact"]);
    let (answer, message) = rpc(&service, &token, None, "initialize", &who);
    assert_eq!(message["result"]["serverInfo"]["name"], "surehand", "{}", answer.text());
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Mcp-Session-Id", &session),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    assert_eq!(service.ask("POST", "/mcp", &headers, told.as_bytes()).status, 202);
    let (_, listed) = rpc(&service, &token, Some(&session), "tools/list", &json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for name in ["navigate", "browser_interact", "web_scrape"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let arguments = json!({ "url": site.url("/"), "actions": [{ "action": "extract", "selector": "p" }, { "action": "screenshot" }] });
    let call = json!({ "name": "browser_interact", "arguments": arguments });
    let (_, called) = rpc(&service, &token, Some(&session), "tools/call", &call);
    let content = called["result"]["content"].as_array().unwrap_or_else(|| panic!("{called}"));
    let output: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&output["extractions"]["p"], &output["steps_completed"]), (&json!("x"), &json!(2)));
    assert!(content.iter().any(|one| one["type"] == "image" && one["mimeType"] == "image/png"));
    // What a token does not allow over HTTP it does not allow here.
    let call = json!({ "name": "web_scrape", "arguments": { "url": site.url("/") } });
    let (answer, refused) = rpc(&service, &token, Some(&session), "tools/call", &call);
    assert!(
        refused["result"]["isError"] == true || refused["error"].is_object() || answer.status == 403,
        "{refused}"
    );
    // The guard holds here as well.
    let call = json!({ "name": "navigate", "arguments": { "url": "http://10.1.2.3/" } });
    let (_, refused) = rpc(&service, &token, Some(&session), "tools/call", &call);
    assert!(refused.to_string().contains("egress"), "{refused}");
    let ended = service.ask("DELETE", "/mcp", &headers, b"");
    assert!(ended.status < 300, "{}", ended.text());
}
