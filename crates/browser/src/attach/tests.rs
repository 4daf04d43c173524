//! Endpoints of every kind: real browsers, silent ports, mail servers, web servers, nothing.

use std::{net::TcpListener, thread};

use surehand_testkit::ClosedPort;

use super::*;

/// What answers at all does so in this time, also on a machine with far more work than cores.
const AMPLE: Duration = Duration::from_secs(4);

fn endpoint(text: &str) -> Option<(String, u16, bool)> {
    parse(text).ok().map(|parsed| (parsed.host, parsed.port, parsed.socket.is_some()))
}

#[test]
fn endpoints_are_read_as_people_write_them() {
    let local = |port| Some(("127.0.0.1".to_owned(), port, false));
    assert_eq!(endpoint("9222"), local(9222));
    assert_eq!(endpoint("127.0.0.1:9222"), local(9222));
    assert_eq!(endpoint("http://127.0.0.1:9222/"), local(9222));
    assert_eq!(endpoint("ws://127.0.0.1:9222"), local(9222));
    assert_eq!(endpoint("http://box"), Some(("box".into(), 80, false)));
    assert_eq!(endpoint("[::1]:9222"), Some(("::1".into(), 9222, false)));
    assert_eq!(endpoint("ws://h:1/devtools/browser/x"), Some(("h".into(), 1, true)));
    for bad in [
        "",
        "0",
        "70000",
        "host",
        "host:",
        "host:x",
        "ftp://h:1",
        "https://h:1",
        "h:1/x",
        ":9222",
        "a b:1",
        "::1",
    ] {
        assert!(matches!(parse(bad), Err(Error::BadEndpoint { .. })), "{bad}");
    }
}

#[test]
fn an_endpoint_has_one_text_however_it_is_written() {
    let one = "http://127.0.0.1:9222";
    for written in
        ["9222", "127.0.0.1:9222", one, "http://127.0.0.1:9222/", " http://127.0.0.1:9222/json/list "]
    {
        assert_eq!(canonical(written).unwrap(), one, "{written}");
    }
    assert_eq!(canonical("http://BOX/a/b/").unwrap(), "http://box:80/a/b");
    assert_eq!(canonical("http://[::1]:1").unwrap(), "http://[::1]:1");
    assert_eq!(canonical("ws://h:1/devtools/browser/x").unwrap(), "ws://h:1/devtools/browser/x");
    assert!(canonical("nonsense").is_err());
}

#[tokio::test]
async fn tabs_are_listed_as_the_browser_tells_them() {
    let body =
        br#"[{"id":"A","type":"page","title":"\u00e4","url":"u","more":1},{"id":"B","type":"worker"}]"#;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length:{}\r\n\r\n", body.len());
    let answer = [head.as_bytes(), body].concat().leak();
    let listed = list(&server(Some(answer)).to_string(), AMPLE).await.unwrap();
    let facts: Vec<_> =
        listed.iter().map(|one| (one.id.as_str(), one.kind.as_str(), one.title.as_str())).collect();
    assert_eq!(facts, [("A", "page", "ä"), ("B", "worker", "")]);
    let error = list(&server(Some(b"HTTP/1.1 500 No\r\nContent-Length:0\r\n\r\n")).to_string(), AMPLE)
        .await
        .unwrap_err();
    assert!(
        matches!(&error, Error::NotDevTools { why, .. } if why.contains("500") && why.contains("/json/list")),
        "{error}"
    );
}

/// A server on loopback that answers each connection with the same bytes, or with silence.
fn server(answer: Option<&'static [u8]>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming().flatten() {
            match answer {
                Some(bytes) => {
                    use std::io::{Read, Write};
                    let mut stream = stream;
                    let _ = stream.read(&mut [0; 1024]);
                    let _ = stream.write_all(bytes);
                }
                None => held.push(stream),
            }
        }
    });
    port
}

async fn failure(endpoint: &str) -> Error {
    let started = Instant::now();
    let error = resolve(endpoint, AMPLE).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    error
}

#[tokio::test]
async fn every_failure_has_its_own_kind() {
    let closed = ClosedPort::new().unwrap();
    let error = failure(&closed.port().to_string()).await;
    assert!(
        matches!(error, Error::Refused { .. }) && error.to_string().contains(&closed.address().to_string()),
        "{error}"
    );
    let error = failure(&server(None).to_string()).await;
    assert!(matches!(error, Error::AttachTimeout { .. }), "{error}");
    let error = failure(&server(Some(b"220 mail.example ESMTP\r\n")).to_string()).await;
    assert!(matches!(&error, Error::NotHttp { said, .. } if said.starts_with("220 mail")), "{error}");
    let error = failure(&server(Some(b"\x15\x03\x01\x00\x02\x02\x46")).to_string()).await;
    assert!(matches!(error, Error::NotHttp { .. }), "{error}");
    let error = failure(&server(Some(b"")).to_string()).await;
    assert!(matches!(error, Error::NotHttp { .. }), "{error}");
    for page in [
        &b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..],
        b"HTTP/1.0 200 OK\r\n\r\n<h1>hello</h1>",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n",
    ] {
        let error = failure(&format!("http://127.0.0.1:{}", server(Some(page)))).await;
        assert!(matches!(error, Error::NotDevTools { .. }), "{error}");
    }
    let error = failure("no-such-host.invalid:9222").await;
    assert!(matches!(error, Error::UnknownHost { .. } | Error::AttachTimeout { .. }), "{error}");
}

#[tokio::test]
async fn a_socket_address_of_a_service_that_knows_no_version_page_is_taken_as_it_is() {
    let port = server(Some(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
    let url = format!("ws://127.0.0.1:{port}/chrome?token=x");
    let target = resolve(&url, AMPLE).await.unwrap();
    assert_eq!(target, AttachTarget { ws_url: url, browser: String::new() });
    let wss = "wss://host/chrome?token=x";
    assert_eq!(resolve(wss, AMPLE).await.unwrap().ws_url, wss);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_real_browser_is_found_by_port_host_and_url() {
    use crate::{
        launch::{LaunchOptions, launch_with_fallback},
        testing::{chromium, until},
    };
    let scratch = tempfile::tempdir().unwrap();
    let mut options = LaunchOptions::new(chromium(), scratch.path().join("unused"));
    options.profile = Some(scratch.path().join("profile"));
    options.args = vec!["--remote-debugging-port=0".into()];
    let browser = launch_with_fallback(options, &()).await.unwrap();
    let file = scratch.path().join("profile/DevToolsActivePort");
    let lines =
        || fs_err::read_to_string(&file).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
    until("it has its port", || lines().len() == 2);
    let [port, path] = [lines().remove(0), lines().remove(1)];
    let url = format!("ws://127.0.0.1:{port}{path}");
    for endpoint in
        [port.clone(), format!("127.0.0.1:{port}"), format!("http://127.0.0.1:{port}/"), url.clone()]
    {
        let target = resolve(&endpoint, Duration::from_secs(5)).await.unwrap();
        assert_eq!(target.ws_url, url);
        assert!(target.browser.contains("Chrome/"), "{target:?}");
    }
    // A name is replaced by its address: the browser refuses names.
    let target = resolve(&format!("localhost:{port}"), Duration::from_secs(5)).await.unwrap();
    assert_eq!(target.ws_url, url);
    browser.process.end(Duration::ZERO).await;
}
