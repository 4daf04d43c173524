//! What goes wrong on the way and must not be the end: crashes, many at once, silence, a full disk.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{SOON, fails, fails_early, fresh_cli, json, ok};
use surehand_testkit::{Cli, Site, processes, wait_until};

fn site() -> Site {
    Site::builder()
        .page("/", "<title>Small</title><p>x")
        .page("/next", "<title>Next</title>")
        .start()
        .unwrap()
}

#[test]
fn a_crashed_tab_is_led_elsewhere() {
    let (cli, site) = (fresh_cli(), site());
    ok(&cli, &["open", &site.url("/")]);
    for next in ["/next", "/"] {
        crash(&cli);
        let title = if next == "/" { "Small" } else { "Next" };
        assert_eq!(ok(&cli, &["open", &site.url(next)])["title"], title);
    }
    crash(&cli);
    ok(&cli, &["reload"]);
    assert_eq!(ok(&cli, &["get", "title"])["title"], "Small");
}

/// Lets the page's process die, and waits until that is known.
fn crash(cli: &Cli) {
    fails(cli, &["open", "chrome://crash"]);
    let crashed = || json(cli, &["get", "title"]).error_code() == "page-crashed";
    assert!(wait_until(SOON, crashed));
}

#[test]
fn many_opens_at_once_share_the_first_tab() {
    let (cli, site) = (fresh_cli(), site());
    let url = site.url("/");
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let (cli, url) = (cli.clone(), url.clone());
            std::thread::spawn(move || ok(&cli, &["open", &url])["title"].clone())
        })
        .collect();
    for call in calls {
        assert_eq!(call.join().unwrap(), "Small");
    }
    assert_eq!(ok(&cli, &["tab", "list"])["tabs"].as_array().unwrap().len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_a_failure() {
    let (cli, site) = (fresh_cli(), site());
    ok(&cli, &["open", &site.url("/")]);
    let full = fs_err::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = cli.command().args(["get", "title"]).stdout(full.into_file()).status().unwrap();
    assert_eq!(status.code(), Some(3));
}

#[cfg(unix)]
#[test]
fn a_daemon_that_is_silent_is_told() {
    let cli = fresh_cli();
    let socket = cli.home().path().join("daemon.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    fails_early(&cli, &["session", "list"]).must_be("daemon-unreachable", 3);
    drop(listener);
    fs_err::remove_file(socket).unwrap();
}

/// Only root can give a socket away, so for others there is nothing to test.
#[cfg(target_os = "linux")]
#[test]
fn a_socket_of_another_user_is_refused() {
    let cli = fresh_cli();
    let socket = cli.home().path().join("daemon.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    if std::os::unix::fs::chown(&socket, Some(12_345), None).is_ok() {
        fails(&cli, &["session", "list"]).must_be("foreign-socket", 3).must_say("SUREHAND_HOME");
    }
    fs_err::remove_file(socket).unwrap();
}

/// A client of another version is refused while there are sessions, and replaces a daemon that has none.
#[cfg(unix)]
#[test]
fn another_version_never_ends_sessions_by_itself() {
    let (cli, site) = (fresh_cli(), site());
    ok(&cli, &["open", &site.url("/")]);
    let daemon = cli.daemon_pid().expect("it runs");
    let answer = say_as_another_version(&cli);
    assert!(answer.contains("version-mismatch") && answer.contains("surehand close --all"), "{answer}");
    assert_eq!(ok(&cli, &["get", "title"])["title"], "Small");
    ok(&cli, &["close"]);
    assert_eq!(say_as_another_version(&cli), "\"replaced\"\n");
    assert!(wait_until(SOON, || !processes::alive(daemon)));
    assert_eq!(ok(&cli, &["open", &site.url("/")])["title"], "Small");
}

#[cfg(unix)]
fn say_as_another_version(cli: &Cli) -> String {
    use std::io::{BufRead, BufReader, Write};
    let mut stream = std::os::unix::net::UnixStream::connect(cli.home().path().join("daemon.sock")).unwrap();
    stream.write_all(b"{\"version\":\"99.0.0\",\"task\":\"status\",\"unknown\":[]}\n").unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    answer
}
