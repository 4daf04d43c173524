//! The MCP server over HTTP: who may talk to it, sessions of its clients, and what is left when they go.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use common::{BINARY, SOON, fresh_cli};
use serde_json::{Value, json};
use surehand_testkit::{Cli, Site, processes, wait_until};

/// Far longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server on a port that the system chose.
struct Server {
    process: Child,
    host: String,
}

struct Response {
    status: u16,
    session: Option<String>,
    body: String,
}

impl Server {
    fn start(cli: &Cli) -> Self {
        Self::start_at(cli, &["--http", "127.0.0.1:0"])
    }

    fn start_at(cli: &Cli, arguments: &[&str]) -> Self {
        let mut command = cli.command();
        command.arg("mcp").args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect(BINARY);
        let mut said = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut said).unwrap();
        let host = said.trim().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        Self { process, host }
    }

    fn request(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let has_host = headers.iter().any(|(name, _)| *name == "Host");
        let host = if has_host { String::new() } else { format!("Host: {}\r\n", self.host) };
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        // Who is refused in the middle of a large body may see the end before all of it was written, and a reset behind the
        // answer.
        let _ = write!(
            stream,
            "{method} /mcp HTTP/1.1\r\n{host}{more}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut bytes = Vec::new();
        let ended = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{ended:?}: {text:?}"));
        let header = |name: &str| {
            head.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Response { status, session: header("mcp-session-id:"), body: body.to_owned() }
    }

    fn rpc(&self, session: Option<&str>, id: u64, method: &str, params: &Value) -> (Response, Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let mut headers = vec![("MCP-Protocol-Version", "2025-06-18")];
        headers.extend(session.map(|session| ("Mcp-Session-Id", session)));
        let response = self.request("POST", &headers, &request);
        let message = response
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter_map(|data| serde_json::from_str::<Value>(data).ok())
            .find(|message| message["id"] == id)
            .unwrap_or_default();
        (response, message)
    }

    /// A client that has introduced itself: its session.
    fn join(&self) -> String {
        let who = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let (response, message) = self.rpc(None, 1, "initialize", &who);
        assert_eq!(message["result"]["serverInfo"]["name"], "surehand", "{}", response.body);
        let session = response.session.unwrap();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        assert_eq!(self.request("POST", &[("Mcp-Session-Id", &session)], &initialized).status, 202);
        session
    }

    fn call(&self, session: &str, id: u64, tool: &str, arguments: Value) -> Value {
        let (_, message) =
            self.rpc(Some(session), id, "tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = message["result"]["content"][0]["text"].as_str().unwrap_or_default();
        serde_json::from_str(text).unwrap_or(message)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        processes::end(self.process.id(), Duration::from_secs(10));
        let _ = self.process.wait();
    }
}

#[test]
fn other_hosts_and_origins_are_turned_away() {
    let server = Server::start(&fresh_cli());
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    assert_eq!(server.request("POST", &[("Host", "evil.example")], &ping).status, 403);
    assert_eq!(server.request("POST", &[("Origin", "http://evil.example")], &ping).status, 403);
    assert_eq!(server.request("POST", &[("Origin", "null")], &ping).status, 403);
    let own = format!("http://{}", server.host);
    assert_ne!(server.request("POST", &[("Origin", &own)], &ping).status, 403);
}

#[test]
fn a_token_is_wanted_where_one_is_set() {
    let cli = fresh_cli().env("SUREHAND_MCP_TOKEN", "s3cret-token");
    let server = Server::start(&cli);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    for headers in [&[][..], &[("Authorization", "Bearer wrong-token")], &[("Authorization", "s3cret-token")]]
    {
        assert_eq!(server.request("POST", headers, &ping).status, 401);
    }
    for scheme in ["Bearer", "bearer"] {
        let shown = format!("{scheme} s3cret-token");
        assert_ne!(server.request("POST", &[("Authorization", &shown)], &ping).status, 401, "{scheme}");
    }
}

#[test]
fn who_others_can_reach_needs_a_token() {
    let run = fresh_cli().run(&["mcp", "--http", "0.0.0.0:0"]).unwrap();
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("token"), "{run:?}");
    for (token, why) in [("short", "16 characters"), ("                    ", "blank")] {
        let cli = fresh_cli().env("SUREHAND_MCP_TOKEN", token);
        let run = cli.run(&["mcp", "--http", "0.0.0.0:0", "--allow-host", "me.example"]).unwrap();
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(why), "{run:?}");
    }
}

#[test]
fn clients_come_in_under_the_names_that_were_allowed() {
    let token = "0123456789abcdef0123";
    let cli = fresh_cli().env("SUREHAND_MCP_TOKEN", token);
    let nameless = cli.run(&["mcp", "--http", "0.0.0.0:0"]).unwrap();
    assert_eq!(nameless.code, Some(2), "{nameless:?}");
    assert!(nameless.stderr.contains("--allow-host"), "{nameless:?}");
    let arguments = ["--http", "0.0.0.0:0", "--allow-host", "me.example", "--allow-host", "10.1.2.3"];
    let mut server = Server::start_at(&cli, &arguments);
    server.host = server.host.replace("0.0.0.0", "127.0.0.1");
    let port = server.host.rsplit(':').next().unwrap().to_owned();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let shown = format!("Bearer {token}");
    let status =
        |host: &str| server.request("POST", &[("Host", host), ("Authorization", &shown)], &ping).status;
    for host in [format!("me.example:{port}"), format!("10.1.2.3:{port}"), format!("localhost:{port}")] {
        assert_ne!(status(&host), 403, "{host}");
    }
    assert_eq!(status(&format!("other.example:{port}")), 403);
}

#[test]
fn bodies_that_are_no_messages_are_answered_as_such() {
    let server = Server::start(&fresh_cli());
    for (body, code) in
        [("xx", -32700), ("", -32700), ("{\"jsonrpc\":\"2.0\"}", -32600), ("[]", -32600), ("5", -32600)]
    {
        let response = server.request("POST", &[], body);
        assert_eq!(response.status, 400, "{body}: {}", response.body);
        let error: Value = serde_json::from_str(&response.body).expect(&response.body);
        assert_eq!((&error["error"]["code"], error.get("id")), (&json!(code), Some(&Value::Null)), "{body}");
    }
    let large = format!("\"{}\"", "x".repeat(17 * 1024 * 1024));
    assert_eq!(server.request("POST", &[], &large).status, 413);
    // Who may not come in is not told what is wrong.
    assert_eq!(server.request("POST", &[("Host", "evil.example")], "xx").status, 403);
    let session = server.join();
    for params in [json!(null), json!({ "name": 5 }), json!({ "name": "navigate", "arguments": "x" })] {
        let (response, message) = server.rpc(Some(&session), 5, "tools/call", &params);
        assert_eq!(message["error"]["code"], -32602, "{params}: {}", response.body);
    }
}

#[test]
fn the_revision_that_has_batches_gets_them_answered() {
    let server = Server::start(&fresh_cli());
    let who = json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let introduction =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": who }).to_string();
    let session = server.request("POST", &[], &introduction).session.unwrap();
    let ask = |id: u64, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let here = [("Mcp-Session-Id", session.as_str())];
    assert_eq!(server.request("POST", &here, &json!([told]).to_string()).status, 202);
    let batch = json!([ask(2, "ping"), 5, ask(3, "tools/list")]).to_string();
    let response = server.request("POST", &here, &batch);
    let answers: Vec<Value> = serde_json::from_str(&response.body).expect(&response.body);
    assert_eq!(answers.len(), 3, "{}", response.body);
    assert!(answers.iter().any(|one| one["id"] == 3 && one["result"]["tools"].is_array()));
    assert!(answers.iter().any(|one| one["id"] == Value::Null && one["error"]["code"] == -32600));
    // Neither strangers nor other revisions get that far.
    assert_eq!(server.request("POST", &[("Host", "evil.example"), here[0]], &batch).status, 403);
    assert_eq!(server.request("POST", &[("Mcp-Session-Id", "none")], &batch).status, 404);
    assert_eq!(
        server.request("POST", &[here[0], ("MCP-Protocol-Version", "2025-06-18")], &batch).status,
        400
    );
}

#[test]
fn clients_have_sessions_of_their_own_that_end_with_them() {
    let site = Site::builder()
        .page("/a", "<title>A</title><script>document.cookie='who=a'</script>")
        .page("/b", "<title>B</title>")
        .start()
        .unwrap();
    let server = Server::start(&fresh_cli());
    let (one, two) = (server.join(), server.join());
    assert_eq!(server.call(&one, 2, "navigate", json!({ "url": site.url("/a") }))["title"], "A");
    assert_eq!(server.call(&two, 2, "navigate", json!({ "url": site.url("/b") }))["title"], "B");
    let cookie = json!({ "code": "document.cookie" });
    assert_eq!(server.call(&one, 3, "javascript_tool", cookie.clone())["result"], "who=a");
    assert_eq!(server.call(&two, 3, "javascript_tool", cookie)["result"], "");
    // The browser goes with its last session.
    let browsers = || processes::descendants(server.process.id()).len();
    assert!(browsers() > 0);
    for session in [&one, &two] {
        let ended = server.request("DELETE", &[("Mcp-Session-Id", session)], "");
        assert!(ended.status < 300, "{}", ended.status);
    }
    assert!(wait_until(SOON, || browsers() == 0));
    let (gone, _) = server.rpc(Some(&one), 4, "tools/list", &json!({}));
    assert_eq!(gone.status, 404);
}

#[test]
fn eight_clients_do_not_wait_for_one_that_is_stuck() {
    let site = Site::builder().page("/", "<title>Here</title><p>Read me</p>").start().unwrap();
    let server = Server::start(&fresh_cli());
    let stuck = server.join();
    server.call(&stuck, 2, "navigate", json!({ "url": site.url("/") }));
    std::thread::scope(|threads| {
        // Its page runs a loop without end; the call is given up after its own time.
        let waiting = threads.spawn(|| {
            server.call(&stuck, 3, "javascript_tool", json!({ "code": "for (;;);", "timeout": 60_000 }))
        });
        let others: Vec<_> = (0..7)
            .map(|_| {
                threads.spawn(|| {
                    let client = server.join();
                    let opened = server.call(&client, 2, "navigate", json!({ "url": site.url("/") }));
                    assert_eq!(opened["url"], site.url("/"));
                    let read = server.call(&client, 3, "read_page", json!({ "mode": "text" }));
                    assert!(read["tabId"].is_string() && read.to_string().contains("Read me"), "{read}");
                })
            })
            .collect();
        for other in others {
            other.join().unwrap();
        }
        assert!(!waiting.is_finished(), "the others waited for it");
        let ended = server.request("DELETE", &[("Mcp-Session-Id", &stuck)], "");
        assert!(ended.status < 300, "{}", ended.status);
        let _ = waiting.join();
    });
}
