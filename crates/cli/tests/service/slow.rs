//! Callers who take their time: each has a limit, and the others do not notice.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::fixture::Service;
use crate::serving::http::{self, Answer};

const INTERACT: &str = "/api/v1/packs/browser.interact";

/// How long they may take.
const LIMIT: Duration = Duration::from_secs(1);

fn impatient(more: &[&str]) -> Service {
    Service::start(&[&["--request-timeout", "1000"], more].concat())
}

/// Sends the bytes one by one, with the call of somebody else in between, until there is an answer or an end. `began` is
/// before the service heard of it.
#[track_caller]
fn drip(service: &Service, stream: &mut TcpStream, began: Instant, bytes: impl Iterator<Item = u8>) {
    stream.set_nonblocking(true).unwrap();
    for byte in bytes {
        // Who was cut off may not be able to write any more.
        let _ = stream.write_all(&[byte]);
        let ready = service.ask("GET", "/healthz", &[], b"");
        assert_eq!(ready.status, 200, "somebody else noticed");
        if stream.peek(&mut [0]).map_err(|error| error.kind()) != Err(std::io::ErrorKind::WouldBlock) {
            break;
        }
        assert!(began.elapsed() < 20 * LIMIT, "nobody minds");
    }
    assert!(began.elapsed() >= LIMIT / 2, "it was cut off too early");
    stream.set_nonblocking(false).unwrap();
}

#[test]
fn who_does_not_come_to_the_end_of_a_head_is_cut_off() {
    let service = impatient(&[]);
    let began = Instant::now();
    let mut stream = http::connect(&service.host);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nX-Slow: ").unwrap();
    drip(&service, &mut stream, began, std::iter::repeat(b'x'));
    assert!(Answer::read(&mut stream).is_none(), "a head that is none has no answer");
    // So is who sends nothing at all.
    assert!(Answer::read(&mut http::connect(&service.host)).is_none());
}

#[test]
fn who_does_not_come_to_the_end_of_a_body_is_told_so() {
    let service = impatient(&[]);
    let bearer = format!("Bearer {}", service.token_of("slow"));
    for path in [INTERACT, "/api/v1/sessions", "/mcp"] {
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Length", "1000000"),
        ];
        let began = Instant::now();
        let mut stream = http::send(&service.host, "POST", path, &headers, b"{");
        drip(&service, &mut stream, began, std::iter::repeat(b' '));
        let answer = Answer::read(&mut stream).unwrap_or_else(|| panic!("{path}: no answer"));
        answer.must_be(408, "request_timeout").must_say("1000 ms");
        assert_eq!(answer.header("connection"), Some("close"), "{path}");
    }
    let rows = service.audit("actor_subject=slow");
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows.iter().all(|row| row["status"] == 408 && row["code"] == "request_timeout"), "{rows:?}");
    // A call may take longer than its body.
    let site = crate::fixture::pages(&[("/", "<p>x</p>")]);
    let long = json!([{ "action": "wait", "ms": 2 * LIMIT.as_millis() as u64 }]);
    service.interact(&site.url("/"), &long).ok();
}

#[test]
fn a_body_that_is_none_is_not_called_too_large() {
    let service = crate::fixture::shared();
    let bearer = format!("Bearer {}", service.token_of("tester"));
    let headers = [("Authorization", bearer.as_str()), ("Transfer-Encoding", "chunked")];
    service.ask("POST", INTERACT, &headers, b"no length\r\n").must_be(400, "invalid_input");
}

#[test]
fn a_connection_that_nobody_uses_is_closed_and_its_place_given_to_the_next() {
    let service = impatient(&["--max-connections", "1"]);
    let began = Instant::now();
    let mut idle = http::connect(&service.host);
    write!(idle, "GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", service.host).unwrap();
    // There is room for one: who comes next waits in the system's queue, and has an answer all the same.
    let next = service.ask("GET", "/metrics", &[], b"");
    assert!(began.elapsed() >= LIMIT / 2, "there was more than one");
    assert!(next.text().contains("\nsurehand_connections_open 1\n"), "{}", next.text());
    // It had its answer, and then an end.
    assert_eq!(Answer::read(&mut idle).unwrap().status, 200);
}

#[test]
fn who_waits_for_a_connection_does_not_keep_the_service_from_ending() {
    let service = Service::start(&["--max-connections", "1"]);
    let _silent = http::connect(&service.host);
    let _waiting = http::send(&service.host, "GET", "/healthz", &[], b"");
    service.terminate();
    let ended = service.ended().expect("it ends");
    assert_eq!(ended.code(), Some(0), "{}", service.said());
}
