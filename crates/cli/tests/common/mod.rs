//! What the test files share: one daemon and one browser per file, one session and one site per test.
#![allow(dead_code, reason = "each test file uses another part of this")]

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use serde_json::Value;
use surehand_testkit::{Cli, JsonRun, Response, Run, Site, SiteBuilder, TempHome};
use tokio::net::TcpSocket;

/// The program under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_surehand");

/// What a bounded command may take at most; far more than any needs.
const LIMIT: Duration = Duration::from_secs(60);

/// How long something observable may take, far more than it needs.
pub const SOON: Duration = Duration::from_secs(20);

/// Milliseconds that a command has, unless it says otherwise, where it must end long before.
pub const AMPLE: &str = "40000";

/// Long before that, on a slow machine, too.
pub const EARLY: Duration = Duration::from_secs(20);

/// The fixture of one test file. A static is never dropped, so it holds only a weak link: the last test that runs ends
/// daemon and browser, whether it passed or not.
pub struct Shared {
    site: fn(SiteBuilder) -> SiteBuilder,
    running: Mutex<Weak<Cli>>,
}

/// Pages that tests write down where they use them.
#[derive(Default)]
struct Pages {
    html: Mutex<HashMap<String, String>>,
    count: AtomicUsize,
}

/// One test: a session of its own in the shared browser, closed in the end, and a site of its own, so that the requests
/// that it saw are those of this test.
pub struct Case {
    pub cli: Cli,
    pages: Arc<Pages>,
    site: Site,
    _daemon: Arc<Cli>,
}

/// A failure as `--json` tells it.
#[derive(Debug)]
pub struct Failure {
    pub code: String,
    pub message: String,
    pub hints: Vec<String>,
    pub exit: i32,
    pub elapsed: Duration,
}

impl Shared {
    pub const fn new(site: fn(SiteBuilder) -> SiteBuilder) -> Self {
        Self { site, running: Mutex::new(Weak::new()) }
    }

    /// A session of that name.
    pub fn case(&'static self, session: &str) -> Case {
        let pages = Arc::new(Pages::default());
        let served = Arc::clone(&pages);
        let builder = Site::builder().route("/p/*", move |request| {
            served.answer(&request.path, request.origin(), request.cross_origin())
        });
        let site = (self.site)(builder).start().expect("a port on loopback");
        let daemon = self.daemon();
        Case { cli: daemon.session(session), pages, site, _daemon: daemon }
    }

    fn daemon(&self) -> Arc<Cli> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let daemon = Arc::new(fresh_cli());
            *running = Arc::downgrade(&daemon);
            daemon
        })
    }
}

/// A home and a daemon of its own, for tests that kill.
pub fn fresh_cli() -> Cli {
    Cli::new(BINARY, &TempHome::new().expect("a temporary home")).limit(LIMIT)
}

impl Pages {
    fn add(&self, html: &str) -> String {
        let path = format!("/p/{}", self.count.fetch_add(1, Ordering::Relaxed));
        self.html.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), html.to_owned());
        path
    }

    fn answer(&self, path: &str, origin: &str, cross: &str) -> Response {
        let pages = self.html.lock().unwrap_or_else(PoisonError::into_inner);
        match pages.get(path) {
            Some(html) => Response::html(html.replace("{{origin}}", origin).replace("{{cross}}", cross)),
            None => Response::text("no such page").status(404),
        }
    }
}

impl Case {
    /// Serves `html` and returns its path; `{{origin}}` and `{{cross}}` in it become the site's origins.
    pub fn page(&self, html: &str) -> String {
        self.pages.add(&format!("<!doctype html><html lang=en><meta charset=utf-8>{html}"))
    }

    /// Serves `html`, opens it and returns its address.
    pub fn show(&self, html: &str) -> String {
        let url = self.site().url(&self.page(html));
        self.ok(&["open", &url]);
        url
    }

    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The data of a command that must succeed.
    pub fn ok<A: AsRef<OsStr> + std::fmt::Debug>(&self, arguments: &[A]) -> Value {
        ok(&self.cli, arguments)
    }

    /// The error of a command that must fail.
    pub fn fails<A: AsRef<OsStr> + std::fmt::Debug>(&self, arguments: &[A]) -> Failure {
        fails(&self.cli, arguments)
    }

    /// The error of a command that must fail long before its time is over.
    pub fn fails_early<A: AsRef<OsStr> + std::fmt::Debug>(&self, arguments: &[A]) -> Failure {
        fails_early(&self.cli, arguments)
    }

    /// What a command that must succeed prints for people.
    pub fn text(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert!(run.ok(), "{arguments:?}: {run:?}");
        run.stdout.trim_end().to_owned()
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        self.cli.run(arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    }

    /// What a script returns.
    pub fn eval(&self, script: &str) -> Value {
        self.ok(&["eval", script])["result"].clone()
    }

    /// The text of a snapshot with these options.
    pub fn snapshot(&self, options: &[&str]) -> String {
        self.ok(&[&["snapshot"], options].concat())["snapshot"].as_str().expect("a text").to_owned()
    }

    /// The value of a field.
    pub fn value(&self, selector: &str) -> String {
        self.ok(&["get", "value", selector])["value"].as_str().expect("a text").to_owned()
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        let _ = self.cli.run(&["close"]);
    }
}

/// Runs a command with `--json`; whatever comes of it, the envelope must have its three fields and no other.
pub fn json<A: AsRef<OsStr> + std::fmt::Debug>(cli: &Cli, arguments: &[A]) -> JsonRun {
    let run = cli.json(arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    assert_eq!(keys(&run.value), ["data", "error", "success"], "{arguments:?}: {}", run.value);
    run
}

pub fn ok<A: AsRef<OsStr> + std::fmt::Debug>(cli: &Cli, arguments: &[A]) -> Value {
    let run = json(cli, arguments);
    assert!(run.success() && run.value["error"].is_null(), "{arguments:?}: {}", run.value);
    assert_eq!(run.code, Some(0), "{arguments:?}");
    run.data().clone()
}

pub fn fails<A: AsRef<OsStr> + std::fmt::Debug>(cli: &Cli, arguments: &[A]) -> Failure {
    let run = json(cli, arguments);
    assert!(run.value["success"] == false && run.data().is_null(), "{arguments:?}: {}", run.value);
    Failure::from(&run)
}

/// It fails at once, or after the shorter time that it names: how fast the machine is does not matter.
pub fn fails_early<A: AsRef<OsStr> + std::fmt::Debug>(cli: &Cli, arguments: &[A]) -> Failure {
    let failure = fails(&cli.env("SUREHAND_TIMEOUT", AMPLE), arguments);
    failure.must_take_less_than(EARLY);
    failure
}

impl From<&JsonRun> for Failure {
    fn from(run: &JsonRun) -> Self {
        let error = &run.value["error"];
        assert_eq!(keys(error), ["code", "hints", "message"], "{}", run.value);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Self {
            code: text(&error["code"]),
            message: text(&error["message"]),
            hints: error["hints"].as_array().expect("a list").iter().map(text).collect(),
            exit: run.code.expect("no signal ends it"),
            elapsed: run.elapsed,
        }
    }
}

impl Failure {
    /// The code, the exit code, a message, and at least one thing to do next.
    #[track_caller]
    pub fn must_be(&self, code: &str, exit: i32) -> &Self {
        assert_eq!((self.code.as_str(), self.exit), (code, exit), "{self:?}");
        assert!(!self.message.is_empty(), "{self:?}");
        assert!(self.hints.iter().any(|hint| !hint.is_empty()), "no hint: {self:?}");
        self
    }

    /// The message or a hint holds this.
    #[track_caller]
    pub fn must_say(&self, part: &str) -> &Self {
        let all = format!("{}\n{}", self.message, self.hints.join("\n"));
        assert!(all.contains(part), "{part:?} is not said: {self:?}");
        self
    }

    #[track_caller]
    pub fn must_take_less_than(&self, limit: Duration) -> &Self {
        assert!(self.elapsed < limit, "it took {:?}: {self:?}", self.elapsed);
        self
    }
}

/// A port where nobody listens. It is held: one that was let go may be given to the next who asks for any.
pub struct UnusedPort {
    pub number: u16,
    _socket: TcpSocket,
}

impl UnusedPort {
    pub fn hold() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        // Who is told of it may listen there all the same.
        socket.set_reuseaddr(true).unwrap();
        socket.bind((std::net::Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        Self { number: socket.local_addr().unwrap().port(), _socket: socket }
    }
}

/// The names of an object's fields, sorted.
pub fn keys(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default();
    names.sort_unstable();
    names
}

/// `@eN` of the first line of a snapshot that contains `part`.
#[track_caller]
pub fn reference(snapshot: &str, part: &str) -> String {
    let line = snapshot.lines().find(|line| line.contains(part));
    let line = line.unwrap_or_else(|| panic!("{part:?} is not in the snapshot:\n{snapshot}"));
    let (_, rest) = line.split_once("ref=").unwrap_or_else(|| panic!("no reference in {line:?}"));
    let end = rest.find([']', ',']).expect("the bracket is closed");
    format!("@{}", &rest[..end])
}

/// A snapshot without its references, which depend on what the session saw before.
pub fn without_refs(snapshot: &str) -> String {
    snapshot
        .lines()
        .map(|line| {
            let Some(start) = line.find("ref=e") else { return format!("{line}\n") };
            let digits = line[start + 5..].chars().take_while(char::is_ascii_digit).count();
            format!("{}ref{}\n", &line[..start], &line[start + 5 + digits..])
        })
        .collect()
}
