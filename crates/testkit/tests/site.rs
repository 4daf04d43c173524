//! The site, seen from a client that speaks HTTP by hand.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of a test function")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use surehand_testkit::{Listener, Response, Site, wait_until};

fn connect(url: &str) -> (TcpStream, String) {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    (stream, format!("/{path}"))
}

/// One request on a connection of its own, read to its end.
fn get(url: &str, headers: &str) -> String {
    let (mut stream, path) = connect(url);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn serves_pages_under_two_origins_and_logs_them() {
    let site = Site::builder()
        .page("/", "<a href='{{cross}}/x'>{{origin}}</a> {{other}}")
        .file("/a.css", "text/css", "a{}")
        .route("/echo/*", |request| {
            Response::text(format!("{} {:?}", request.path, request.query_value("q")))
        })
        .start()
        .unwrap();

    let page = get(&site.url("/"), "X-Test: 1\r\n");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.ends_with(&format!(
        "<a href='{}'>{}</a> {{{{other}}}}",
        site.cross_url("/x"),
        site.url("")
    )));
    assert!(get(&site.cross_url("/a.css"), "").contains("text/css"));
    assert!(get(&site.url("/echo/deep?q=a%26b"), "").ends_with("/echo/deep Some(\"a&b\")"));
    assert!(get(&site.url("/nowhere"), "").starts_with("HTTP/1.1 404"));

    let log = site.requests();
    let seen: Vec<_> = log.iter().map(|each| (each.listener, each.path.as_str())).collect();
    let main = Listener::Main;
    assert_eq!(seen, [(main, "/"), (Listener::Cross, "/a.css"), (main, "/echo/deep"), (main, "/nowhere")]);
    assert_eq!(log[0].header("x-test"), Some("1"));
    assert_eq!(site.requests_to("/").len(), 1);
    site.clear_requests();
    assert!(site.requests().is_empty());
}

#[test]
fn redirects_attachments_and_passwords() {
    let site = Site::builder()
        .redirect("/old", "/new")
        .attachment("/file", "report.csv", "a,b")
        .page("/secret/page", "inside")
        .basic_auth("/secret/", "user", "pass")
        .route("/gone", |_| Response::hang_up())
        .start()
        .unwrap();
    assert!(get(&site.url("/old"), "").contains("302 Found\r\n"));
    assert!(get(&site.url("/old"), "").contains("Location: /new\r\n"));
    assert!(get(&site.url("/file"), "").contains("attachment; filename=\"report.csv\""));
    assert!(get(&site.url("/secret/page"), "").contains("WWW-Authenticate: Basic"));
    assert!(get(&site.url("/secret/page"), "Authorization: Basic dXNlcjpwYXNz\r\n").ends_with("inside"));
    assert_eq!(get(&site.url("/gone"), ""), "");
}

#[test]
fn a_connection_serves_several_requests() {
    let site = Site::builder().page("/", "hello").start().unwrap();
    let (mut stream, _) = connect(&site.url("/"));
    for _ in 0..3 {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut text = vec![];
        while !text.ends_with(b"hello") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            text.push(byte[0]);
        }
    }
    stream.write_all(b"nonsense\r\n\r\n").unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.starts_with("HTTP/1.1 400"), "{rest}");
}

#[test]
fn slow_chunked_and_endless() {
    let pause = Duration::from_millis(60);
    let site = Site::builder()
        .slow("/slow", pause, "late")
        .fixed("/parts", Response::text("one").chunk(pause, "two").chunk(pause, "three"))
        .endless("/endless", "begun")
        .fixed("/silent", Response::silence())
        .start()
        .unwrap();

    let started = Instant::now();
    assert!(get(&site.url("/slow"), "").ends_with("late"));
    assert!(started.elapsed() >= pause);

    let started = Instant::now();
    assert!(
        get(&site.url("/parts"), "").ends_with("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n")
    );
    assert!(started.elapsed() >= pause * 2);

    let (mut endless, path) = connect(&site.url("/endless"));
    let (mut silent, silent_path) = connect(&site.url("/silent"));
    write!(endless, "GET {path} HTTP/1.1\r\n\r\n").unwrap();
    write!(silent, "GET {silent_path} HTTP/1.1\r\n\r\n").unwrap();
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with("begun\r\n") {
        endless.read_exact(&mut byte).unwrap();
        text.push(byte[0] as char);
    }
    endless.set_read_timeout(Some(pause)).unwrap();
    assert!(endless.read(&mut byte).is_err(), "no end before the site stops");
    assert!(wait_until(Duration::from_secs(10), || site.requests_to("/silent").len() == 1));

    let started = Instant::now();
    drop(site);
    assert!(started.elapsed() < Duration::from_secs(8), "stopping does not wait for endless responses");
    assert_eq!(silent.read(&mut byte).unwrap_or(0), 0);
}

#[test]
fn dropping_it_frees_the_port_and_interrupts_a_delay() {
    let site = Site::builder().slow("/", Duration::from_secs(60), "never").start().unwrap();
    let (mut stream, _) = connect(&site.url("/"));
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(wait_until(Duration::from_secs(10), || !site.requests().is_empty()));
    let address = stream.peer_addr().unwrap();
    let started = Instant::now();
    drop(site);
    assert!(started.elapsed() < Duration::from_secs(8));
    assert!(TcpStream::connect(address).is_err());
}
