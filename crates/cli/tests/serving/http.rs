//! As much of HTTP/1.1 as these tests need, written by hand: what is sent is what a test says.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Far longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// Reads to the end of the connection. `None` if it ended without an answer.
    pub fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        // Who is refused in the middle of a large body may see a reset behind the answer.
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<(String, String)> = head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Some(Self { status, headers, body: bytes[end + 4..].to_vec() })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.status, self.text()))
    }

    /// The body of an answer that must be good.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert!((200..300).contains(&self.status), "{}: {}", self.status, self.text());
        self.json()
    }

    /// The message of a refusal with this status and code.
    #[track_caller]
    pub fn fails(&self, status: u16, code: &str) -> String {
        let body = self.must_be(status, code).json();
        body["message"].as_str().unwrap_or_default().to_owned()
    }

    /// A refusal: its status, its code, a message.
    #[track_caller]
    pub fn must_be(&self, status: u16, code: &str) -> &Self {
        let body = self.json();
        assert_eq!((self.status, body["error"].as_str()), (status, Some(code)), "{}", self.text());
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
        assert_eq!(self.header("content-type"), Some("application/json"), "{body}");
        self
    }

    /// The message of a refusal holds this.
    #[track_caller]
    pub fn must_say(&self, part: &str) -> &Self {
        let body = self.json();
        assert!(body["message"].as_str().unwrap_or_default().contains(part), "{part:?} is not said: {body}");
        self
    }
}

/// A request as it goes over the wire; a `Host` of its own replaces the usual one.
pub fn written(host: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    let has = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    if !has("host") {
        head += &format!("Host: {host}\r\n");
    }
    if !has("content-length") && !has("transfer-encoding") && (!body.is_empty() || method == "POST") {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

pub fn connect(host: &str) -> TcpStream {
    let stream = TcpStream::connect(host).expect("the service listens");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a request whose answer is read later, or never.
pub fn send(host: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
    let mut stream = connect(host);
    // Who is refused early may have hung up before all of it was written.
    let _ = stream.write_all(&written(host, method, path, headers, body));
    stream
}
