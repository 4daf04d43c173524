//! Bad input: each has a code of its own, says what to do next, and takes a bounded time. Nothing panics, nothing hangs.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStringExt;
use std::thread;
use std::time::Duration;

use common::{Case, Shared, UnusedPort, fails, fresh_cli, keys};
use surehand_testkit::Response;

static SHARED: Shared = Shared::new(|site| {
    site.page("/plain", "<title>Plain</title><button>Go</button>")
        .fixed("/missing", Response::html("<title>Not here</title><h1>404</h1>").status(404))
        .fixed("/broken", Response::html("<title>Broken</title>").status(500))
        .fixed("/empty", Response::text("").status(204))
        .fixed("/hangup", Response::hang_up())
        .fixed("/silent", Response::silence())
        .redirect("/round", "/round")
        .attachment("/file", "file.bin", vec![0; 10])
});

fn plain(session: &str) -> Case {
    let case = SHARED.case(session);
    case.ok(&["open", &case.site().url("/plain")]);
    case
}

#[test]
fn selectors_that_make_no_sense() {
    let case = plain("selectors");
    for selector in ["button[", "a >> b", "xpath=//[", "//*[", "", ":nope()"] {
        for command in [
            &["click", selector][..],
            &["get", "text", selector],
            &["wait", selector],
            &["snapshot", "-s", selector],
        ] {
            case.fails_early(command).must_be("bad-selector", 2).must_say("xpath=");
        }
    }
}

#[test]
fn nothing_matches() {
    let case = plain("nothing");
    for command in [
        &["click", "#none"][..],
        &["fill", "#none", "x"],
        &["type", "#none", "x"],
        &["screenshot", "#none", "a.png"],
    ] {
        let failure = case.fails_early(&[command, &["--timeout", "500"]].concat());
        failure.must_be("not-found", 1).must_say("#none").must_say("snapshot");
    }
    case.fails_early(&["get", "text", "#none", "--timeout", "500"]).must_be("not-found", 1);
    case.fails(&["get", "attr", "#none", "id", "--timeout", "500"]).must_be("not-found", 1);
    assert!(!case.cli.home().work().join("a.png").exists());
}

#[test]
fn references_that_never_were() {
    let case = plain("unknown-ref");
    for reference in ["@e999", "@e0", "@e4294967295", "ref=e77"] {
        case.fails_early(&["click", reference]).must_be("stale-ref", 1).must_say("snapshot");
    }
    case.fails_early(&["click", "@e99999999999999999999"]);
}

#[test]
fn files_that_are_not_there() {
    let case = SHARED.case("files");
    for path in ["./nope.html", "/nope/nope.html", "../nope.html"] {
        case.fails_early(&["open", path]).must_be("missing-file", 2).must_say("nope.html");
    }
    fs_err::write(case.cli.home().work().join("a b#c.html"), "<title>From a file</title>").unwrap();
    assert_eq!(case.ok(&["open", "./a b#c.html"])["title"], "From a file");
}

#[test]
fn paths_that_cannot_be_written() {
    let case = plain("unwritable");
    let work = case.cli.home().work();
    fs_err::create_dir(work.join("folder.png")).unwrap();
    fs_err::write(work.join("file"), "x").unwrap();
    for path in ["/proc/x.png", "folder.png", "./file/x.png", "/dev/null/x.png"] {
        case.fails_early(&["screenshot", path]).must_be("unwritable-path", 3).must_say("path");
    }
    assert_eq!(fs_err::read_to_string(work.join("file")).unwrap(), "x");
}

#[test]
fn addresses_that_cannot_be_read() {
    let case = SHARED.case("addresses");
    for address in ["", "  ", "http://a b", "?q", "http://", "http://[::1", "http://a:99999/"] {
        case.fails_early(&["open", address]).must_be("bad-url", 2);
    }
}

#[test]
fn hosts_that_do_not_answer() {
    let case = plain("hosts");
    let closed = UnusedPort::hold();
    let nobody = format!("http://127.0.0.1:{}/", closed.number);
    case.fails_early(&["open", &nobody]).must_be("unreachable-host", 1).must_say(&nobody);
    case.fails(&["open", "http://no-such-host.invalid/"])
        .must_be("unknown-host", 1)
        .must_say("no-such-host")
        .must_take_less_than(Duration::from_secs(50));
    case.fails_early(&["open", &case.site().url("/hangup")]).must_be("unreachable-host", 1);
    let silent = case.fails_early(&["open", &case.site().url("/silent"), "--timeout", "400"]);
    silent.must_be("timeout", 1).must_say("--timeout");
    case.fails_early(&["open", &case.site().url("/round")])
        .must_be("navigation-failed", 1)
        .must_say("REDIRECT");
    let tls = case.site().url("/plain").replace("http://", "https://");
    case.fails_early(&["open", &tls]).must_be("tls-error", 1).must_say("--ignore-https-errors");
    // After all that the session still works.
    assert_eq!(case.ok(&["open", &case.site().url("/plain")])["title"], "Plain");
}

#[test]
fn what_is_no_page_is_told() {
    let case = plain("nopage");
    for path in ["/empty", "/file"] {
        case.fails_early(&["open", &case.site().url(path)])
            .must_be("navigation-aborted", 1)
            .must_say("download");
    }
    assert_eq!(case.ok(&["get", "title"])["title"], "Plain", "the page before is still there");
}

#[test]
fn error_pages_are_pages() {
    let case = SHARED.case("status");
    let missing = case.ok(&["open", &case.site().url("/missing")]);
    assert_eq!(
        (&missing["status"], &missing["title"]),
        (&serde_json::json!(404), &serde_json::json!("Not here"))
    );
    assert_eq!(case.ok(&["get", "text", "h1"])["text"], "404");
    let broken = case.run(&["open", &case.site().url("/broken")]);
    assert_eq!(broken.code, Some(0));
    assert!(broken.stdout.contains("status 500"), "{broken:?}");
}

#[test]
fn tabs_that_are_closed() {
    let case = plain("closed");
    case.ok(&["tab", "new"]);
    case.ok(&["tab", "close", "t1"]);
    case.fails(&["tab", "t1"]).must_be("no-tab", 1).must_say("tab list");
    case.fails(&["tab", "close", "t1"]).must_be("no-tab", 1);
    case.ok(&["tab", "close"]);
    for command in [&["click", "button"][..], &["get", "url"], &["snapshot"], &["tab", "close"], &["console"]]
    {
        case.fails_early(command).must_be("tab-closed", 1).must_say("surehand open");
    }
    assert_eq!(case.ok(&["open", &case.site().url("/plain")])["title"], "Plain");
}

#[test]
fn numbers_that_are_absurd() {
    let case = plain("numbers");
    for number in ["-1", "99999999999999999999", "1e9", "1.5"] {
        case.fails_early(&["wait", "--", number]).must_be("bad-number", 2);
    }
    for flag in ["--timeout", "--idle-timeout"] {
        for number in ["-1", "99999999999999999999", "abc", "1.5", ""] {
            case.fails(&[&format!("{flag}={number}"), "get", "url"]).must_be("bad-number", 2).must_say(flag);
        }
    }
    case.fails(&["screenshot", "--quality", "101", "a.jpg"]).must_be("bad-number", 2);
    case.fails(&["snapshot", "-d=-3"]).must_be("bad-number", 2);
    case.ok(&["snapshot", "-d", "4294967295"]);
    case.fails(&["snapshot", "-d", "0"]).must_be("bad-number", 2);
    case.fails_early(&["wait", "--text", "x", "--timeout", "0"]).must_be("timeout", 1);
}

#[test]
fn bytes_that_are_no_text() {
    let case = plain("bytes");
    let noise = || OsString::from_vec(vec![b'a', 0xff, b'b']);
    let word = |text: &str| OsString::from(text);
    for command in [
        vec![word("open"), noise()],
        vec![word("click"), noise()],
        vec![word("fill"), word("#a"), noise()],
        vec![word("--proxy"), noise(), word("get"), word("url")],
        vec![word("screenshot"), noise()],
    ] {
        case.fails_early(&command).must_be("not-utf8", 2).must_say("UTF-8");
    }
    case.fails(&[noise()]);
    let run = case.cli.run_with_input(&["eval", "--stdin"], b"\xff\xfe").unwrap();
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.starts_with("error[usage]: ") && run.stderr.contains("UTF-8"), "{run:?}");
    let run = case.cli.env("SUREHAND_SESSION", noise()).run(&["config"]).unwrap();
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[test]
fn words_that_nobody_knows_suggest_the_nearest() {
    let cli = fresh_cli();
    for (words, near) in [
        (&["opne", "x"][..], "open"),
        (&["snapshot", "--intractive"], "--interactive"),
        (&["get", "txt", "h1"], "text"),
        (&["--sesion", "a", "get", "url"], "--session"),
        (&["network", "request"], "ID"),
        (&["wait", "--load", "networkidel"], "networkidle"),
    ] {
        fails(&cli, words).must_be("usage", 2).must_say(near);
    }
}

#[test]
fn an_unknown_session_is_not_made_by_looking() {
    let case = SHARED.case("unheard-of");
    for command in [
        &["get", "url"][..],
        &["click", "a"],
        &["snapshot"],
        &["session", "info"],
        &["tab", "list"],
        &["back"],
        &["console"],
    ] {
        case.fails_early(command).must_be("no-session", 1).must_say("surehand open");
    }
    let sessions = case.ok(&["session", "list"])["sessions"].clone();
    assert!(sessions.as_array().unwrap().iter().all(|each| each["name"] != "unheard-of"), "{sessions}");
}

#[test]
fn endpoints_that_are_no_browser() {
    let case = SHARED.case("endpoints");
    let closed = UnusedPort::hold();
    case.fails_early(&["connect", &closed.number.to_string()])
        .must_be("endpoint-unreachable", 3)
        .must_say("--remote-debugging-port");
    let site = case.site().url("");
    for endpoint in
        [site.clone(), site.replace("http://", ""), site.replace("http://", "ws://") + "/devtools/browser/x"]
    {
        case.fails_early(&["connect", &endpoint])
            .must_be("not-a-browser", 3)
            .must_say("--remote-debugging-port");
    }
    let garbage = Noise::start(b"220 mail.example ESMTP\r\n\x00\xff\xfe");
    case.fails_early(&["connect", &garbage.port.to_string()]).must_be("not-a-browser", 3);
    let mute = Noise::start(b"");
    case.fails_early(&["connect", &mute.port.to_string()]).must_be("endpoint-unreachable", 3);
    case.fails_early(&["connect", "no-such-host.invalid:9222"]).must_be("endpoint-unreachable", 3);
    for nonsense in ["", "99999", "0", "ftp://a", "not an endpoint"] {
        case.fails_early(&["connect", nonsense]).must_be("usage", 2);
    }
    // A failed attempt leaves no half session behind.
    let sessions = case.ok(&["session", "list"])["sessions"].clone();
    assert!(sessions.as_array().unwrap().iter().all(|each| each["name"] != "endpoints"), "{sessions}");
}

#[test]
fn a_browser_that_is_none() {
    let case = SHARED.case("nobrowser");
    let text = case.cli.home().work().join("text");
    fs_err::write(&text, "no program").unwrap();
    for (path, code) in [
        ("/nowhere/chrome", "no-browser"),
        ("/bin/false", "browser-failed"),
        (text.to_str().unwrap(), "no-browser"),
    ] {
        let failure = case.fails(&["--executable-path", path, "open", "about:blank"]);
        assert_eq!(failure.exit, 3, "{failure:?}");
        failure.must_be(code, 3).must_say("doctor").must_take_less_than(Duration::from_secs(45));
    }
    let data = case.ok(&["session", "list"]);
    assert_eq!(keys(&data), ["sessions"]);
}

/// A server that says something of its own to whoever comes, and keeps the connection until it is dropped.
struct Noise {
    port: u16,
    thread: Option<thread::JoinHandle<()>>,
}

impl Noise {
    fn start(words: &'static [u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = thread::spawn(move || {
            let mut kept = vec![];
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut first = [0; 4];
                stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
                if stream.read(&mut first).is_ok_and(|read| first[..read] == *b"stop") {
                    return;
                }
                let _ = stream.write_all(words);
                kept.push(stream);
            }
        });
        Self { port, thread: Some(thread) }
    }
}

impl Drop for Noise {
    fn drop(&mut self) {
        let asked =
            TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut stream| stream.write_all(b"stop"));
        if let (Ok(()), Some(thread)) = (asked, self.thread.take()) {
            let _ = thread.join();
        }
    }
}
