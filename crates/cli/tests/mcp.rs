//! The MCP server at its public edge: the built binary, real pipes and sockets, a real browser.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use common::{BINARY, SOON, fresh_cli};
use serde_json::{Value, json};
use surehand_testkit::{Cli, Response, Site, processes, wait_until};

/// A client over standard input and output.
struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: u64,
    /// Notifications that came between answers.
    heard: Vec<Value>,
}

impl Client {
    fn start(cli: &Cli, arguments: &[&str]) -> Self {
        let mut command = cli.command();
        command.arg("mcp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect(BINARY);
        let (to, from) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        Self { server, to, from, asked: 0, heard: Vec::new() }
    }

    /// A client that has introduced itself.
    fn new(cli: &Cli, arguments: &[&str]) -> Self {
        let mut client = Self::start(cli, arguments);
        let answer = client.initialize("2025-06-18");
        assert_eq!(answer["result"]["serverInfo"]["name"], "surehand", "{answer}");
        client
    }

    fn initialize(&mut self, version: &str) -> Value {
        let who = json!({ "name": "test", "version": "1" });
        let answer = self
            .ask("initialize", json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": who }));
        self.tell("notifications/initialized", json!({}));
        answer
    }

    fn write(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
        to.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let id = self.asked;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The next message of the server.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the server hung up");
        serde_json::from_str(&line).expect(&line)
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear();
            if message["id"] == id {
                return message;
            }
            self.heard.push(message);
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer["result"].clone()
    }

    /// What a call that works answers.
    fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        body(&result)
    }

    /// The error of a call that does not.
    fn fails(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        body(&result)["error"].clone()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.to.take());
        if !wait_until(SOON, || self.server.try_wait().is_ok_and(|ended| ended.is_some())) {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

/// The JSON in the first text of a result.
fn body(result: &Value) -> Value {
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

fn site() -> Site {
    let form = "<title>Form</title><h1>Sign up</h1><form onsubmit=\"event.preventDefault();out.textContent=name.value+' '+color.value+' '+news.checked\">\
        <label>Full name <input id=name></label><label>Colour <select id=color><option>Red<option>Green</select></label>\
        <label><input type=checkbox id=news> Newsletter</label><button>Continue…</button></form><p id=out></p><a href=/next>Next page</a>";
    Site::builder()
        .page("/", form)
        .page("/next", "<title>Next</title><h1>Next</h1><script>document.cookie='seen=1'</script>")
        .start()
        .unwrap()
}

#[test]
fn every_revision_is_spoken() {
    let cli = fresh_cli();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start(&cli, &[]);
        assert_eq!(client.initialize(version)["result"]["protocolVersion"], version);
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        assert_eq!(tools.as_array().unwrap().len(), 9);
    }
}

#[test]
fn the_default_list_is_small_and_annotated() {
    let mut client = Client::new(&fresh_cli(), &[]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let nine = [
        "navigate",
        "interact",
        "act",
        "fill_form",
        "wait_for",
        "page_screenshot",
        "read_page",
        "javascript_tool",
        "oc_assert",
    ];
    assert_eq!(names, nine);
    assert!(tools.to_string().len() <= 12 * 1024, "{} bytes", tools.to_string().len());
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], true, "{tool}");
    }
}

#[test]
fn a_form_is_read_filled_sent_and_judged() {
    let site = site();
    let mut client = Client::new(&fresh_cli(), &[]);
    let arrived = client.done("navigate", json!({ "url": site.url("/") }));
    assert_eq!((arrived["title"].as_str(), arrived["tabId"].as_str()), (Some("Form"), Some("t1")));
    let read = client.done("read_page", json!({ "mode": "ax", "filter": "interactive" }));
    assert!(read["content"].as_str().unwrap().contains("textbox \"Full name\""), "{read}");
    let fields = json!({ "Full name": "Ada", "Colour": "Green", "Newsletter": true });
    let filled = client.done("fill_form", json!({ "fields": fields }));
    assert_eq!(filled["filled"].as_array().unwrap().len(), 3);
    client.done("interact", json!({ "ref": "Continue...", "tabId": "t1" }));
    let verdict = client.done(
        "oc_assert",
        json!({ "contract": { "kind": "and", "children": [
            { "kind": "dom_text", "selector": "#out", "pattern": "Ada Green true" },
            { "kind": "url", "pattern": "/$" },
        ] } }),
    );
    assert_eq!(verdict["verdict"], "pass", "{verdict}");
    let acted = client.done("act", json!({ "action": "click Next page, then wait for the page to load" }));
    assert!(acted["url"].as_str().unwrap().ends_with("/next"), "{acted}");
    client.done("wait_for", json!({ "condition": "navigation" }));
    let value = client.done("javascript_tool", json!({ "code": "return document.title" }));
    assert_eq!(value["result"], "Next");
}

#[test]
fn structure_and_text_say_the_same_and_large_ones_only_once() {
    let site = site();
    let mut client = Client::new(&fresh_cli(), &[]);
    let result = client.call("navigate", json!({ "url": site.url("/") }));
    assert_eq!(result["structuredContent"], body(&result));
    let large = client.call("javascript_tool", json!({ "code": "'x'.repeat(100000)" }));
    assert!(large["structuredContent"].is_null());
    assert!(large.to_string().len() < 101_000);
    let picture = client.call("page_screenshot", json!({}));
    assert_eq!(picture["content"][1]["type"], "image");
    assert_eq!(picture["content"][1]["mimeType"], "image/png");
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let site = site();
    let mut client = Client::new(&fresh_cli(), &[]);
    client.done("navigate", json!({ "url": site.url("/") }));
    for (tool, arguments, named) in [
        ("navigate", json!({ "url": site.url("/"), "stealth": true }), "stealth"),
        ("interact", json!({ "ref": "Next page", "workerId": "w" }), "workerId"),
        ("interact", json!({ "ref": 5 }), "string"),
        ("interact", json!({}), "ref"),
        (
            "fill_form",
            json!({ "fields": { "Full name": "x", "Shoe size": "44" }, "timeout": 4000 }),
            "Shoe size",
        ),
        ("wait_for", json!({ "condition": "selector", "value": "#never", "timeout": 200 }), "#never"),
        ("wait_for", json!({ "type": "function", "value": "false", "timeout": 200 }), "false"),
        ("act", json!({ "action": "dance a little" }), "dance a little"),
        ("read_page", json!({ "tabId": "t9" }), "t9"),
    ] {
        let error = client.fails(tool, arguments.clone());
        assert!(error["message"].as_str().unwrap().contains(named), "{tool} {arguments}: {error}");
        assert!(!error["hints"].as_array().unwrap().is_empty(), "{tool} {arguments}: {error}");
    }
    let error =
        client.fails("fill_form", json!({ "fields": { "Full name": "x", "Zip": "1" }, "timeout": 4000 }));
    assert!(error["message"].as_str().unwrap().contains("filled so far: Full name"), "{error}");
    let unknown = client.ask("tools/call", json!({ "name": "dance", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(client.ask("no/such/method", json!({}))["error"]["code"], -32601);
}

#[test]
fn garbage_on_the_line_is_answered() {
    let mut client = Client::new(&fresh_cli(), &[]);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let deep = format!(r#"{{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{{"a":{deep}}}}}"#);
    for (line, code, id) in [
        ("this is no JSON", -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1,"method":"#, -32700, Value::Null),
        (r#"{"jsonrpc":"2.0"}"#, -32600, Value::Null),
        ("[]", -32600, Value::Null),
        ("null", -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":77,"method":5}"#, -32600, json!(77)),
        (&deep, -32600, json!(78)),
        (r#"{"jsonrpc":"2.0","id":79,"method":"tools/call"}"#, -32602, json!(79)),
        (r#"{"jsonrpc":"2.0","id":80,"method":"tools/call","params":{"name":5}}"#, -32602, json!(80)),
        (
            r#"{"jsonrpc":"2.0","id":81,"method":"tools/call","params":{"name":"navigate","arguments":"x"}}"#,
            -32602,
            json!(81),
        ),
    ] {
        client.write(line);
        let answer = client.hear();
        assert_eq!(
            (&answer["error"]["code"], answer.get("id")),
            (&json!(code), Some(&id)),
            "{line}: {answer}"
        );
    }
    client.to.as_mut().unwrap().write_all(b"\xff\xfe{}\n").unwrap();
    assert_eq!(client.hear()["error"]["code"], -32700);
    let tools = client.ask("tools/list", json!({}));
    assert!(tools["result"]["tools"].is_array(), "{tools}");
}

#[test]
fn a_message_that_is_too_large_is_answered_by_its_id() {
    let mut client = Client::new(&fresh_cli(), &[]);
    let large = "x".repeat(17 * 1024 * 1024);
    let answer = client.ask("tools/call", json!({ "name": "act", "arguments": { "action": large } }));
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(client.ask("ping", json!({}))["result"].is_object());
}

#[test]
fn the_revision_that_has_batches_gets_them_answered() {
    let mut client = Client::start(&fresh_cli(), &[]);
    client.initialize("2025-03-26");
    let ask = |id: u64, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    client.write(&json!([ask(11, "ping"), told, 5, ask(12, "tools/list"), ask(13, "no/such")]).to_string());
    let answers = client.hear();
    let by_id = |id: Value| answers.as_array().unwrap().iter().find(|one| one["id"] == id).unwrap().clone();
    assert_eq!(answers.as_array().unwrap().len(), 4, "{answers}");
    assert!(by_id(json!(11))["result"].is_object() && by_id(json!(12))["result"]["tools"].is_array());
    assert_eq!(by_id(json!(13))["error"]["code"], -32601);
    assert_eq!(by_id(Value::Null)["error"]["code"], -32600);
    // Nobody asked anything: the next answer is that of the next request.
    client.write(&json!([told]).to_string());
    let id = client.send("ping", json!({}));
    assert_eq!(client.hear()["id"], id);
}

#[test]
fn a_call_that_is_cancelled_stops_its_work() {
    let site = site();
    let mut client = Client::new(&fresh_cli(), &[]);
    client.done("navigate", json!({ "url": site.url("/") }));
    let wait =
        json!({ "condition": "function", "value": "window.go && (window.went = true)", "timeout": 60_000 });
    let id = client.send("tools/call", json!({ "name": "wait_for", "arguments": wait }));
    client.tell("notifications/cancelled", json!({ "requestId": id, "reason": "changed my mind" }));
    let began = Instant::now();
    let value = client.done("javascript_tool", json!({ "code": "1" }));
    assert_eq!(value["result"], 1);
    // Half of the time that the call has which was cancelled.
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_script_and_a_navigation_that_are_cancelled_are_over() {
    // It comes when the navigation is known to be cancelled, however long that takes.
    let (let_go, held) = mpsc::channel();
    let held = Mutex::new(held);
    let site = Site::builder()
        .page("/", "<title>Here</title>")
        .route("/late", move |_| {
            let _ = held.lock().unwrap().recv_timeout(SOON);
            Response::html("<title>Late</title>")
        })
        .start()
        .unwrap();
    let mut client = Client::new(&fresh_cli(), &[]);
    client.done("navigate", json!({ "url": site.url("/") }));
    let endless =
        "const asked = new XMLHttpRequest(); asked.open('GET', '/begun', false); asked.send(); while (true);";
    for (tool, arguments, begun) in [
        ("javascript_tool", json!({ "code": endless }), "/begun"),
        ("navigate", json!({ "url": site.url("/late") }), "/late"),
    ] {
        let id = client.send("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(wait_until(SOON, || !site.requests_to(begun).is_empty()), "{tool}");
        client.tell("notifications/cancelled", json!({ "requestId": id }));
        let value = client.done("javascript_tool", json!({ "code": "1" }));
        assert_eq!(value["result"], 1);
    }
    let_go.send(()).unwrap();
    client.fails("wait_for", json!({ "condition": "url", "value": "**/late", "timeout": 3000 }));
    assert_eq!(client.done("javascript_tool", json!({ "code": "document.title" }))["result"], "Here");
}

#[test]
fn clients_that_approve_by_annotations_are_told_the_truth() {
    let mut client = Client::new(&fresh_cli(), &["--toolsets", "page,direct,verbs"]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let reading: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["annotations"]["readOnlyHint"] == true)
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    // Whoever adds one here has made sure that no argument of it changes, runs or writes anything.
    let harmless =
        ["read_page", "oc_assert", "browser_list", "browser_snapshot", "snapshot", "get", "is", "session"];
    assert_eq!(reading, harmless);
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert!(!tool["inputSchema"].to_string().contains("null"), "{tool}");
    }
}

#[test]
fn long_calls_tell_that_they_are_under_way() {
    let site = site();
    let mut client = Client::new(&fresh_cli(), &[]);
    client.done("navigate", json!({ "url": site.url("/") }));
    // A sign of life comes every two seconds.
    let arguments = json!({ "condition": "selector", "value": "#never", "timeout": 6000 });
    let params = json!({ "name": "wait_for", "arguments": arguments, "_meta": { "progressToken": "p1" } });
    client.ask("tools/call", params);
    let told = client.heard.iter().filter(|message| message["method"] == "notifications/progress");
    let told: Vec<&Value> = told.collect();
    assert!(!told.is_empty());
    assert_eq!(told[0]["params"]["progressToken"], "p1");
}

#[test]
fn a_client_that_vanishes_leaves_nothing_running() {
    let site = site();
    let cli = fresh_cli();
    let mut client = Client::new(&cli, &[]);
    client.done("navigate", json!({ "url": site.url("/") }));
    let browsers = processes::descendants(client.server.id());
    assert!(!browsers.is_empty());
    client.send(
        "tools/call",
        json!({ "name": "wait_for", "arguments": { "condition": "selector", "value": "#never" } }),
    );
    drop(client.to.take());
    assert!(wait_until(SOON, || client.server.try_wait().unwrap().is_some()));
    assert!(wait_until(SOON, || browsers.iter().all(|pid| !processes::alive(*pid))));
    let journals = cli.home().root().read_dir().unwrap().count();
    assert!(journals > 0);
}

#[test]
fn clients_do_not_see_each_other() {
    let site = site();
    let cli = fresh_cli();
    let (mut one, mut two) = (Client::new(&cli, &[]), Client::new(&cli, &[]));
    one.done("navigate", json!({ "url": site.url("/next") }));
    two.done("navigate", json!({ "url": site.url("/") }));
    let cookie = json!({ "code": "document.cookie" });
    assert_eq!(one.done("javascript_tool", cookie.clone())["result"], "seen=1");
    assert_eq!(two.done("javascript_tool", cookie)["result"], "");
}

#[test]
fn a_named_session_is_shared_with_the_command_line() {
    let site = site();
    let cli = fresh_cli();
    let shared = cli.session("shop");
    shared.json(&["open", &site.url("/next")]).unwrap();
    {
        let mut client = Client::new(&cli, &["--session", "shop"]);
        let read = client.done("javascript_tool", json!({ "code": "document.title" }));
        assert_eq!(read["result"], "Next");
        client.done("navigate", json!({ "url": site.url("/") }));
    }
    // The client is gone; what it shared is not.
    assert_eq!(shared.json(&["get", "title"]).unwrap().data()["title"], "Form");
    cli.shut_down().unwrap();
}

#[test]
fn tool_sets_are_chosen() {
    let cli = fresh_cli();
    let names = |sets: &str| {
        let mut client = Client::new(&cli, &["--toolsets", sets]);
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        tools
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let seven = [
        "browser_list",
        "browser_navigate",
        "browser_snapshot",
        "browser_click",
        "browser_fill",
        "browser_eval",
        "browser_screenshot",
    ];
    assert_eq!(names("direct"), seven);
    assert!(names("page,verbs").len() > 50);
}

#[test]
fn a_client_chooses_its_tools_and_hears_that_the_list_changed() {
    let mut client = Client::start(&fresh_cli(), &["--toolsets", "page,dynamic"]);
    let introduced = client.initialize("2025-06-18");
    assert_eq!(introduced["result"]["capabilities"]["tools"]["listChanged"], true, "{introduced}");
    let count = |client: &mut Client| {
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        tools.as_array().unwrap().len()
    };
    assert_eq!(count(&mut client), 10);
    let chosen = client.done("toolsets", json!({ "enable": ["direct"], "disable": ["page"] }));
    assert_eq!(chosen["offered"], json!(["dynamic", "direct"]));
    assert_eq!(count(&mut client), 8);
    let changes =
        client.heard.iter().filter(|message| message["method"] == "notifications/tools/list_changed").count();
    assert_eq!(changes, 1);
    let gone = client.ask("tools/call", json!({ "name": "navigate", "arguments": { "url": "about:blank" } }));
    assert_eq!(gone["error"]["code"], -32602, "{gone}");
    assert!(
        client.fails("toolsets", json!({ "enable": ["all"] }))["message"].as_str().unwrap().contains("all")
    );
}

#[test]
fn ten_thousand_calls_leave_nothing_behind() {
    let site = site();
    let mut client = Client::new(&fresh_cli(), &[]);
    client.done("navigate", json!({ "url": site.url("/") }));
    let code =
        |number: u64| json!({ "name": "javascript_tool", "arguments": { "code": number.to_string() } });
    let files = |client: &Client| {
        std::fs::read_dir(format!("/proc/{}/fd", client.server.id())).map_or(0, Iterator::count)
    };
    let mut settled = None;
    // Many at a time, as a busy client sends them; the first hundred warm everything up.
    for batch in 0..100_u64 {
        let ids: Vec<u64> =
            (0..100).map(|number| client.send("tools/call", code(batch * 100 + number))).collect();
        let mut wanted: std::collections::HashMap<u64, u64> = ids.into_iter().zip(batch * 100..).collect();
        while !wanted.is_empty() {
            let answer = client.hear();
            let number = wanted.remove(&answer["id"].as_u64().unwrap()).unwrap();
            assert_eq!(body(&answer["result"])["result"], number, "{answer}");
        }
        settled.get_or_insert_with(|| {
            (files(&client), processes::resident_bytes(client.server.id()).unwrap_or_default())
        });
    }
    let (files_then, memory_then) = settled.unwrap();
    assert!(files(&client) <= files_then + 4, "{} files, then {files_then}", files(&client));
    let memory_now = processes::resident_bytes(client.server.id()).unwrap_or_default();
    assert!(memory_now < memory_then + 20_000_000, "{memory_now} bytes, then {memory_then}");
}
