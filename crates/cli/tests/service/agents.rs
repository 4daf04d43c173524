//! Agents at `/mcp` of the service: the same engine, and the same rules as for who calls packs.

use serde_json::{Value, json};
use surehand_testkit::wait_until;

use crate::fixture::{SOON, Service, pages, shared};
use crate::serving::Answer;

const NEWEST: &str = "2026-07-28";

/// A client with a session of MCP, or without one, as the newest revision has it.
struct Agent<'s> {
    service: &'s Service,
    token: String,
    session: Option<String>,
}

impl<'s> Agent<'s> {
    fn new(service: &'s Service, subject: &str) -> Self {
        let token = service.token_of(subject);
        let mut agent = Self { service, token, session: None };
        let client = json!({ "name": "t", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let (answer, message) = agent.rpc("initialize", &hello);
        assert_eq!(message["result"]["serverInfo"]["name"], "surehand", "{}", answer.text());
        agent.session = Some(answer.header("mcp-session-id").unwrap().to_owned());
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(agent.ask("POST", &[], &told).status, 202);
        agent
    }

    fn without_session(service: &'s Service, subject: &str) -> Self {
        Self { service, token: service.token_of(subject), session: None }
    }

    fn ask(&self, method: &str, more: &[(&str, &str)], body: &Value) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        headers.extend(self.session.as_deref().map(|session| ("Mcp-Session-Id", session)));
        headers.extend(more);
        self.service.ask(method, "/mcp", &headers, body.to_string().as_bytes())
    }

    fn rpc(&self, method: &str, params: &Value) -> (Answer, Value) {
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let tool = params["name"].as_str().unwrap_or_default();
        let newest = [("MCP-Protocol-Version", NEWEST), ("Mcp-Method", method), ("Mcp-Name", tool)];
        let more: &[_] = if params["_meta"].is_object() { &newest } else { &[] };
        let answer = self.ask("POST", more, &request);
        let text = answer.text();
        let lines = text.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let message = messages.into_iter().find(|message| message["id"] == 7).unwrap_or_default();
        (answer, message)
    }

    /// The result of a tool; over and above that everything is as it should be.
    #[track_caller]
    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if self.session.is_none() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": NEWEST,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let (answer, message) = self.rpc("tools/call", &params);
        assert!(message["result"]["content"].is_array(), "{tool}: {}", answer.text());
        message["result"].clone()
    }

    /// The same of one that succeeds: its text.
    #[track_caller]
    fn ok(&self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The same of one that fails.
    #[track_caller]
    fn fails(&self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn leave(self) {
        let ended = self.ask("DELETE", &[], &Value::Null);
        assert!(ended.status < 300, "{}", ended.text());
    }
}

#[test]
fn agents_come_in_at_the_same_port_with_a_token_for_it() {
    let (service, site) = (shared(), pages(&[("/", "<title>T</title><p>x</p>")]));
    assert_eq!(service.ask("POST", "/mcp", &[], b"{}").status, 401);
    let wrong = service.mint(&["--sub", "agent", "--scope", "packs:*"]);
    let stranger = Agent { service: &service, token: wrong, session: None };
    stranger.rpc("initialize", &json!({})).0.must_be(403, "insufficient_scope");

    let mut agent = Agent::new(&service, "agent");
    let (_, listed) = agent.rpc("tools/list", &json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for name in ["navigate", "browser_interact", "web_scrape"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let tools = listed["result"]["tools"].as_array().unwrap();
    let pack = tools.iter().find(|tool| tool["name"] == "browser_interact").unwrap();
    let described = service.get("/api/v1/packs/browser.interact").ok();
    assert_eq!(pack["outputSchema"], described["output_schema"]);
    let actions = json!([{ "action": "extract", "selector": "p" }, { "action": "screenshot" }]);
    let called = agent.call("browser_interact", &json!({ "url": site.url("/"), "actions": actions }));
    let content = called["content"].as_array().unwrap_or_else(|| panic!("{called}"));
    let output: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&output["extractions"]["p"], &output["steps_completed"]), (&json!("x"), &json!(2)));
    assert!(content.iter().any(|one| one["type"] == "image" && one["mimeType"] == "image/png"));
    // The guard holds here as well.
    let refused = agent.fails("navigate", &json!({ "url": "http://10.1.2.3/" }));
    assert!(refused.contains("egress"), "{refused}");
    // What a token does not allow over HTTP it does not allow here.
    agent.token = service.mint(&["--sub", "agent", "--scope", "mcp:use,packs:browser.interact"]);
    let refused = agent.fails("web_scrape", &json!({ "url": site.url("/") }));
    assert!(refused.contains("packs:web.scrape"), "{refused}");
    agent.leave();
}

#[test]
fn an_agent_has_a_place_among_the_sessions_until_it_leaves() {
    let service = Service::start(&["--max-sessions", "1", "--queue-timeout", "300"]);
    let site = pages(&[("/", "<p>x</p>")]);
    let read = json!([{ "action": "extract", "selector": "p" }]);
    let agent = Agent::new(&service, "agent");
    service.wait_for_load(0, 0);
    agent.ok("navigate", &json!({ "url": site.url("/") }));
    service.wait_for_load(1, 0);
    service.interact(&site.url("/"), &read).must_be(503, "overloaded");
    // Its own errands need a place as well.
    let full = agent.fails("browser_interact", &json!({ "url": site.url("/"), "actions": read }));
    assert!(full.contains("overloaded") && full.contains("retry_after"), "{full}");
    let late = Agent::new(&service, "late");
    assert!(late.fails("navigate", &json!({ "url": site.url("/") })).contains("overloaded"));
    agent.ok("read_page", &json!({}));
    agent.leave();
    service.wait_for_load(0, 0);
    service.interact(&site.url("/"), &read).ok();
    late.ok("navigate", &json!({ "url": site.url("/") }));
}

#[test]
fn an_agent_that_does_nothing_gives_its_place_to_others() {
    let service = Service::start(&["--max-sessions", "1", "--session-timeout", "6000"]);
    let site = pages(&[("/", "<p>x</p>")]);
    let agent = Agent::new(&service, "agent");
    agent.ok("navigate", &json!({ "url": site.url("/") }));
    service.wait_for_load(1, 0);
    service.wait_for_load(0, 0);
    // It may go on, from the beginning.
    agent.ok("navigate", &json!({ "url": site.url("/") }));
}

#[test]
fn an_agent_whose_browser_dies_keeps_its_place() {
    let service = Service::start(&["--max-sessions", "1"]);
    let site = pages(&[("/", "<p>x</p>")]);
    let agent = Agent::new(&service, "agent");
    agent.ok("navigate", &json!({ "url": site.url("/") }));
    surehand_testkit::processes::kill(service.browser().unwrap());
    let again = || agent.call("navigate", &json!({ "url": site.url("/") }))["isError"] != true;
    assert!(wait_until(SOON, again), "it does not recover");
    assert_eq!(service.load(), (1, 0));
    agent.leave();
    service.wait_for_load(0, 0);
}

#[test]
fn what_an_agent_does_is_written_down_with_its_name() {
    let (service, site) = (Service::start(&[]), pages(&[("/", "<p>x</p>")]));
    let agent = Agent::new(&service, "agent");
    agent.ok("navigate", &json!({ "url": site.url("/?token=telling") }));
    agent.fails("navigate", &json!({ "url": "http://10.1.2.3/" }));
    let image = "document.body.append(Object.assign(new Image(), { src: 'http://10.1.2.3/i.png' })); 1";
    agent.ok("javascript_tool", &json!({ "code": image }));
    let rows = || service.audit("actor_subject=agent");
    let told = |event: &str| rows().into_iter().filter(|row| row["event_type"] == event).collect::<Vec<_>>();
    assert!(wait_until(SOON, || told("action").len() == 3), "{:?}", rows());
    let actions = told("action");
    assert_eq!(actions[2]["payload"]["action"], "navigate");
    let to = actions[2]["payload"]["to"].as_str().unwrap();
    assert!(to.starts_with(&site.url("/")) && !to.contains("telling"), "{to}");
    assert_eq!((&actions[2]["outcome"], &actions[1]["outcome"]), (&json!("ok"), &json!("failed")));
    assert_eq!(actions[1]["code"], "egress-denied", "{}", actions[1]);
    assert!(actions[0]["session_id"].is_string() && actions[0]["request_id"].is_string(), "{}", actions[0]);
    assert!(
        !service.audit("").iter().any(|row| row.to_string().contains("i.png'")),
        "a script was written down"
    );
}

#[test]
fn an_agent_uses_what_was_granted_to_it_and_leaves_files_as_others_do() {
    let service = shared();
    let site = pages(&[("/", "<form><label>Code <input id=code></label></form>")]);
    let name = "agents-code";
    let made = json!({ "name": name, "type": "api_key", "plaintext_b64": "c3dvcmRmaXNoLTQ3MTE=" });
    assert_eq!(service.post("/api/v1/vault/credentials", &made).status, 201);
    let grant = json!({ "subject": "trusted" });
    let grants = format!("/api/v1/vault/credentials/{name}/grants");
    assert_eq!(service.post(&grants, &grant).status, 201);
    let fill = json!({ "fields": { "Code": format!("${{SECRET:{name}}}") } });
    for agent in [Agent::new(&service, "trusted"), Agent::without_session(&service, "trusted")] {
        agent.ok("navigate", &json!({ "url": site.url("/") }));
        agent.ok("fill_form", &fill);
        let length =
            agent.ok("javascript_tool", &json!({ "code": "document.querySelector('#code').value.length" }));
        assert!(length.contains("14"), "{length}");
        let value = agent.ok("javascript_tool", &json!({ "code": "document.querySelector('#code').value" }));
        assert!(!value.contains("swordfish"), "{value}");
    }
    let other = Agent::new(&service, "other");
    other.ok("navigate", &json!({ "url": site.url("/") }));
    let refused = other.fails("fill_form", &fill);
    assert!(refused.contains("credential-denied"), "{refused}");
    let kept = other.ok("browser_screenshot_url", &json!({ "url": site.url("/") }));
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert!(kept["artifact_url"].as_str().is_some_and(|url| url.contains("/api/v1/artifacts/")), "{kept}");
}

#[test]
fn nobody_goes_on_with_what_somebody_else_began() {
    let (service, site) = (shared(), pages(&[("/", "<title>Hers</title><p>hers</p>")]));
    let hers = Agent::new(&service, "ann");
    hers.ok("navigate", &json!({ "url": site.url("/") }));
    let thief = Agent { session: hers.session.clone(), ..Agent::new(&service, "bob") };
    for (method, body) in [
        ("POST", json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" })),
        ("GET", Value::Null),
        ("DELETE", Value::Null),
    ] {
        thief.ask(method, &[], &body).must_be(404, "not_found");
    }
    assert!(hers.ok("read_page", &json!({})).contains("hers"));
    // Without sessions of MCP each caller has one session of the browser.
    let hers = Agent::without_session(&service, "ann");
    hers.ok("navigate", &json!({ "url": site.url("/") }));
    assert!(hers.ok("read_page", &json!({})).contains("hers"));
    let his = Agent::without_session(&service, "bob");
    assert!(!his.call("read_page", &json!({})).to_string().contains("hers"));
}

#[test]
fn files_of_the_server_are_not_for_agents() {
    let (service, site) = (shared(), pages(&[("/", "<label>File <input type=file></label>")]));
    let agent = Agent::new(&service, "agent");
    agent.ok("navigate", &json!({ "url": site.url("/") }));
    let home = service.cli.home().path().to_owned();
    for path in [home.join("keys/mine.png"), "mine.png".into(), "~/mine.png".into(), "../mine.png".into()] {
        let refused = agent.fails("page_screenshot", &json!({ "path": path }));
        assert!(refused.contains("file of the server"), "{refused}");
    }
    assert!(!home.join("keys/mine.png").exists());
    for path in [home.join("surehand.db"), "/etc/passwd".into()] {
        let refused = agent.fails("fill_form", &json!({ "fields": { "File": path } }));
        assert!(refused.contains("file of the server"), "{refused}");
    }
    agent.ok("page_screenshot", &json!({}));
}

#[test]
fn no_agent_has_all_connections() {
    let service = Service::start(&["--max-connections", "8"]);
    let agent = Agent::new(&service, "agent");
    let bearer = format!("Bearer {}", agent.token);
    let session = agent.session.unwrap();
    let headers =
        [("Authorization", bearer.as_str()), ("Mcp-Session-Id", &session), ("Accept", "text/event-stream")];
    let listen = || crate::serving::http::send(&service.host, "GET", "/mcp", &headers, b"");
    let open = |stream: &mut std::net::TcpStream| {
        use std::io::Read;
        let mut start = [0; 12];
        stream.read_exact(&mut start).map(|()| start == *b"HTTP/1.1 200").unwrap_or(false)
    };
    let mut first = listen();
    assert!(open(&mut first));
    let more: Vec<_> =
        (0..3).map(|_| listen()).map(|mut stream| open(&mut stream).then_some(stream)).collect();
    assert!(more.iter().any(Option::is_none), "one of a quarter of 8 is too many");
    assert_eq!(service.ask("GET", "/healthz", &[], b"").status, 200);
}

#[test]
fn what_the_transport_refuses_has_the_envelope_of_the_service() {
    let service = shared();
    let bearer = format!("Bearer {}", service.token_of("agent"));
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Mcp-Session-Id", "nobody-began-this"),
    ];
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    service.ask("POST", "/mcp", &headers, list.as_bytes()).must_be(404, "not_found");
    let plain = [headers[0], ("Content-Type", "text/plain"), headers[2]];
    let refused = service.ask("POST", "/mcp", &plain, list.as_bytes());
    refused.must_be(refused.status, "invalid_input");
    let put = service.ask("PUT", "/mcp", &headers[..3], list.as_bytes());
    assert_eq!(put.must_be(405, "method_not_allowed").header("allow"), Some("DELETE,GET,POST"));
}
