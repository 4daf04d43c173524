//! A server that nobody may reach, and a client of `surehand mcp`.
#![allow(dead_code, reason = "each test file uses another part of this")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use surehand_testkit::Cli;

/// A server on loopback, IPv4 and IPv6, that answers everything, and counts who connected.
pub struct Trap {
    pub port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Trap {
    pub fn set() -> Self {
        let four = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port on loopback");
        let port = four.local_addr().unwrap().port();
        let seen = Arc::<Mutex<Vec<String>>>::default();
        for listener in
            [Some(four), TcpListener::bind((Ipv6Addr::LOCALHOST, port)).ok()].into_iter().flatten()
        {
            let seen = seen.clone();
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    seen.lock().unwrap().push("connected".to_owned());
                    answer(stream, &seen);
                }
            });
        }
        Self { port, seen }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Nobody came, not even to say nothing.
    #[track_caller]
    pub fn is_untouched(&self, after: &str) {
        let seen = self.seen.lock().unwrap();
        assert!(seen.is_empty(), "after {after}: {seen:?}");
    }

    pub fn visits(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

fn answer(mut stream: TcpStream, seen: &Mutex<Vec<String>>) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
    let mut first = [0; 512];
    let read = stream.read(&mut first).unwrap_or(0);
    let line = String::from_utf8_lossy(&first[..read]).lines().next().unwrap_or_default().to_owned();
    seen.lock().unwrap().push(line);
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 20\r\nConnection: close\r\n\r\n<title>Forbidden</ti>";
    let _ = stream.write_all(page.as_bytes());
}

/// A client of `surehand mcp` over standard input and output.
pub struct Mcp {
    child: Child,
    from: BufReader<std::process::ChildStdout>,
    id: u64,
    /// Everything that the server said.
    pub said: String,
}

impl Mcp {
    pub fn start(cli: &Cli, arguments: &[&str]) -> Self {
        let mut command = cli.command();
        command.arg("mcp").args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a server");
        let from = BufReader::new(child.stdout.take().unwrap());
        let mut mcp = Self { child, from, id: 0, said: String::new() };
        let client = json!({ "name": "test", "version": "1" });
        mcp.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        );
        mcp.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        mcp
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").expect("a server that reads");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the server ended");
            self.said.push_str(&line);
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer["result"].clone();
            }
        }
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    #[track_caller]
    pub fn text(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.call(tool, arguments);
        assert_ne!(answer["isError"], true, "{tool}: {answer}");
        answer["content"][0]["text"].as_str().expect("a text").to_owned()
    }

    #[track_caller]
    pub fn error(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["isError"], true, "{tool}: {answer}");
        answer["structuredContent"]["error"].clone()
    }

    /// Hangs up; everything that it ever said.
    pub fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let output = self.child.wait_with_output().expect("an end");
        format!("{}{}", self.said, String::from_utf8_lossy(&output.stderr))
    }
}
