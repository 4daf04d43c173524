//! Faults: browsers and daemons that are killed, pages that hang, many callers at once, and what is left behind.
//! What kills has a home of its own; the rest shares one.
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{Case, EARLY, Failure, SOON, Shared, fails, fails_early, fresh_cli, keys, ok, reference};
use serde_json::{Value, json};
use surehand_testkit::{Cli, JsonRun, Site, processes, wait_until};

static SHARED: Shared = Shared::new(|site| {
    site.page("/plain", "<title>Plain</title><button>Go</button>")
        .page("/echo*", "<title>Echo</title><script>document.title = location.search.slice(1)</script>")
});

/// Less than the ten seconds of silence after which a client gives up, and than the time that the commands themselves have.
const AT_ONCE: Duration = Duration::from_secs(8);

fn small_site() -> Site {
    Site::builder().page("/", "<title>Small</title><button>Go</button>").start().unwrap()
}

/// A command under way in another process.
struct Running {
    child: Child,
    started: Instant,
}

impl Running {
    fn start(cli: &Cli, arguments: &[&str]) -> Self {
        let mut command = cli.command();
        command
            .arg("--json")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { child: command.spawn().unwrap(), started: Instant::now() }
    }

    /// Does it hold a socket?
    fn is_connected(&self) -> bool {
        let files = fs_err::read_dir(format!("/proc/{}/fd", self.child.id())).into_iter().flatten().flatten();
        let mut targets = files.filter_map(|file| fs_err::read_link(file.path()).ok());
        targets.any(|target| target.to_string_lossy().starts_with("socket:"))
    }

    fn finish(mut self) -> JsonRun {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let status = self.child.wait().unwrap();
        let value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
        JsonRun { value, code: status.code(), elapsed: self.started.elapsed() }
    }
}

/// Two commands that never end by themselves: one waits, and one is a script of the page, whose request shows that it runs.
/// It is started when the first has reached the daemon.
fn endless(cli: &Cli, site: &Site) -> [Running; 2] {
    let before = site.requests_to("/started").len();
    let wait = Running::start(cli, &["wait", "--text", "never", "--timeout", "20000"]);
    assert!(wait_until(SOON, || wait.is_connected()));
    let script =
        format!("fetch('{}', {{mode: 'no-cors'}}); await new Promise(() => 0)", site.url("/started"));
    let eval = Running::start(cli, &["eval", &script, "--timeout", "20000"]);
    assert!(wait_until(SOON, || site.requests_to("/started").len() > before));
    [wait, eval]
}

fn browser_pid(cli: &Cli) -> u32 {
    ok(cli, &["session", "info"])["browserPid"]
        .as_u64()
        .and_then(|pid| u32::try_from(pid).ok())
        .expect("a process")
}

/// Live processes that use this home: its daemon and its browsers with all their helpers.
fn users_of(cli: &Cli) -> Vec<u32> {
    processes::with_env("SUREHAND_HOME", &cli.home().path().to_string_lossy())
}

fn profiles(home: &Path) -> Vec<String> {
    let entries = fs_err::read_dir(home.join("profiles"))
        .map(|list| list.flatten().collect::<Vec<_>>())
        .unwrap_or_default();
    entries
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("profile"))
        .collect()
}

#[test]
fn a_browser_killed_in_mid_command() {
    let (cli, site) = (fresh_cli(), small_site());
    ok(&cli, &["open", &site.url("/")]);
    let old = reference(ok(&cli, &["snapshot", "-i"])["snapshot"].as_str().unwrap(), "Go");
    let browser = browser_pid(&cli);
    let commands = endless(&cli, &site);
    let killed = Instant::now();
    assert!(processes::kill(browser));
    for command in commands {
        let failure = Failure::from(&command.finish());
        assert!(killed.elapsed() < AT_ONCE, "it took {:?}: {failure:?}", killed.elapsed());
        failure.must_be("browser-gone", 3).must_say("surehand open");
    }

    fails_early(&cli, &["get", "title"]).must_be("browser-gone", 3);
    fails(&cli, &["click", &old]).must_be("browser-gone", 3);
    assert_eq!(ok(&cli, &["session", "list"])["sessions"][0]["alive"], false);
    assert_eq!(ok(&cli, &["open", &site.url("/")])["title"], "Small");
    assert_ne!(browser_pid(&cli), browser);
    fails(&cli, &["click", &old]).must_be("stale-ref", 1);
    let new = reference(ok(&cli, &["snapshot", "-i"])["snapshot"].as_str().unwrap(), "Go");
    assert_ne!(new, old, "a number is never used again");
    ok(&cli, &["click", &new]);
    assert_eq!(profiles(cli.home().path()).len(), 1, "the dead browser's profile is gone");
}

#[test]
fn waiting_for_time_ends_with_the_browser() {
    let (cli, site) = (fresh_cli(), small_site());
    ok(&cli, &["open", &site.url("/")]);
    let wait = Running::start(&cli, &["wait", "30000"]);
    assert!(wait_until(SOON, || wait.is_connected()));
    assert!(processes::kill(browser_pid(&cli)));
    Failure::from(&wait.finish()).must_be("browser-gone", 3).must_take_less_than(EARLY);
}

#[test]
fn a_daemon_killed() {
    let (cli, site) = (fresh_cli(), small_site());
    ok(&cli, &["open", &site.url("/")]);
    let daemon = cli.daemon_pid().expect("it runs");
    assert!(users_of(&cli).len() > 2, "daemon and browser");
    assert_eq!(profiles(cli.home().path()).len(), 1);
    let commands = endless(&cli, &site);
    let killed = Instant::now();
    assert!(processes::kill(daemon));
    for command in commands {
        Failure::from(&command.finish()).must_be("daemon-unreachable", 3);
        assert!(killed.elapsed() < AT_ONCE, "it took {:?}", killed.elapsed());
    }
    assert!(wait_until(SOON, || users_of(&cli).is_empty()), "still there: {:?}", users_of(&cli));

    fails(&cli, &["get", "url"]).must_be("no-session", 1);
    assert_eq!(profiles(cli.home().path()), Vec::<String>::new(), "the next command sweeps");
    assert_eq!(ok(&cli, &["open", &site.url("/")])["title"], "Small");
    assert_ne!(cli.daemon_pid(), Some(daemon));
}

#[test]
fn a_daemon_asked_to_end_leaves_nothing() {
    let (cli, site) = (fresh_cli(), small_site());
    ok(&cli, &["open", &site.url("/")]);
    assert!(processes::terminate(cli.daemon_pid().expect("it runs")));
    assert!(wait_until(SOON, || users_of(&cli).is_empty()), "still there: {:?}", users_of(&cli));
    assert_eq!(profiles(cli.home().path()), Vec::<String>::new());
    assert!(!cli.home().path().join("daemon.sock").exists());
}

#[test]
fn close_leaves_no_browser_and_no_profile() {
    let (cli, site) = (fresh_cli(), small_site());
    ok(&cli, &["open", &site.url("/")]);
    ok(&cli.session("b"), &["open", &site.url("/")]);
    let own = cli.session("own");
    ok(&own, &["--user-agent", "Mine/1", "open", &site.url("/")]);
    assert_eq!(ok(&own, &["eval", "navigator.userAgent"])["result"], "Mine/1");
    assert_ne!(browser_pid(&own), browser_pid(&cli), "another user agent means another browser");
    ok(&cli, &["close"]);
    assert_eq!(ok(&cli.session("b"), &["get", "title"])["title"], "Small");
    assert_eq!(ok(&cli, &["close", "--all"])["closed"], serde_json::json!(["b", "own"]));
    let daemon = cli.daemon_pid();
    let others = || users_of(&cli).into_iter().filter(|pid| Some(*pid) != daemon).collect::<Vec<_>>();
    assert!(wait_until(SOON, || others().is_empty()), "still there: {:?}", others());
    assert_eq!(profiles(cli.home().path()), Vec::<String>::new());
}

#[test]
fn an_endless_loop_stalls_only_its_own_tab() {
    let case = SHARED.case("looping");
    case.show("<title>Loop</title><button onclick='for (;;);'>Hang</button>");
    case.fails_early(&["click", "button", "--timeout", "500"]);
    let waiting = Running::start(&case.cli, &["eval", "1", "--timeout", "3000"]);
    // In the tab that hangs, which is the active one until there is another.
    assert!(wait_until(SOON, || waiting.is_connected()));
    let other = SHARED.case("lively");
    assert_eq!(other.ok(&["open", &other.site().cross_url("/plain")])["title"], "Plain");
    other.ok(&["click", "button"]);
    let new = case.ok(&["tab", "new", &case.site().cross_url("/plain"), "--label", "fine"]);
    assert_eq!(new["label"], "fine");
    case.ok(&["click", "button"]);
    case.snapshot(&["-i"]);
    case.ok(&["tab", "list"]);
    Failure::from(&waiting.finish()).must_be("page-unresponsive", 1);
    assert_eq!(case.ok(&["tab", "close", "t1"])["closed"], "t1", "a tab that hangs can be closed");
}

#[test]
fn thirty_calls_at_once_on_ten_sessions() {
    let case = SHARED.case("many");
    let cases: Vec<Case> = (0..10).map(|number| SHARED.case(&format!("many-{number}"))).collect();
    let address = |number: usize| case.site().url(&format!("/echo?{number}"));
    thread::scope(|scope| {
        for (number, each) in cases.iter().enumerate() {
            let url = address(number);
            // The title may be missing: of ten at once one may not tell it in the second that it has for that.
            scope.spawn(move || assert_eq!(each.ok(&["open", &url])["url"], url));
        }
    });
    thread::scope(|scope| {
        for (number, each) in cases.iter().enumerate() {
            let url = address(number);
            scope.spawn(move || assert_eq!(each.ok(&["get", "url"])["url"], url));
            scope.spawn(move || assert_eq!(each.eval("document.title + '!'"), format!("{number}!")));
            scope.spawn(move || assert_eq!(each.ok(&["get", "title"])["title"], number.to_string()));
        }
    });
}

#[test]
fn thirty_first_calls_start_one_daemon() {
    let cli = fresh_cli();
    let pids: Vec<Value> = thread::scope(|scope| {
        let calls: Vec<_> = (0..30)
            .map(|number| {
                scope.spawn({
                    let cli = cli.session(&format!("s{}", number % 10));
                    move || {
                        ok(&cli, &["open"]);
                        ok(&cli, &["session", "info"])["daemonPid"].clone()
                    }
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    assert_eq!(ok(&cli, &["session", "list"])["sessions"].as_array().map(Vec::len), Some(10));
    let daemons = users_of(&cli)
        .into_iter()
        .filter(|pid| processes::args(*pid).get(1).is_some_and(|word| word == "daemon"));
    assert_eq!(daemons.count(), 1);
}

#[test]
fn an_idle_session_closes_and_its_browser_with_it() {
    let (cli, site) = (fresh_cli(), small_site());
    ok(&cli, &["--idle-timeout", "4000", "open", &site.url("/")]);
    let browser = browser_pid(&cli);
    // A command that runs longer than that keeps it.
    ok(&cli, &["wait", "4300"]);
    assert!(processes::alive(browser));
    assert!(wait_until(SOON, || !processes::alive(browser)), "the browser goes with its only session");
    assert_eq!(ok(&cli, &["session", "list"])["sessions"], serde_json::json!([]));
    fails(&cli, &["get", "url"]).must_be("no-session", 1);
}

#[test]
fn an_option_that_differs_is_refused() {
    let case = SHARED.case("options");
    case.ok(&["open", &case.site().url("/plain")]);
    for (flag, value) in [
        ("--proxy", "http://127.0.0.1:1"),
        ("--user-agent", "x"),
        ("--args", "--lang=de"),
        ("--profile", "p"),
        ("--executable-path", "/x"),
    ] {
        let failure = case.fails(&[flag, value, "get", "url"]);
        failure.must_be("option-conflict", 2).must_say(flag).must_say("--session options close");
    }
    case.fails(&["--headed", "open", "about:blank"]).must_be("option-conflict", 2);
    assert_eq!(case.ok(&["--headed=false", "get", "title"])["title"], "Plain", "as it is already");
}

#[test]
fn a_kept_profile_remembers() {
    let (cli, site) = (fresh_cli(), small_site());
    let profile = cli.home().work().join("kept");
    let open = || ok(&cli, &["--profile", "kept", "open", &site.url("/")]);
    open();
    ok(&cli, &["eval", "localStorage.mark = 'here'; document.cookie = 'a=1; max-age=9999'; 0"]);
    ok(&cli, &["close"]);
    open();
    assert_eq!(ok(&cli, &["eval", "localStorage.mark + document.cookie"])["result"], "herea=1");
    ok(&cli, &["close"]);
    assert!(profile.is_dir());
}

/// A browser that the test started: it must outlive the session that was connected to it.
struct Foreign {
    child: Child,
    url: String,
    _profile: surehand_testkit::TempHome,
}

impl Foreign {
    fn start() -> Self {
        let home = surehand_testkit::TempHome::new().unwrap();
        let browser = std::env::var("SUREHAND_BROWSER").unwrap_or_else(|_| "/usr/bin/chromium".into());
        let profile = format!("--user-data-dir={}", home.work().display());
        let mut child = Command::new(browser)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--no-first-run",
                "--disable-gpu",
                "--remote-debugging-port=0",
                &profile,
                "about:blank",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut urls = lines
            .map_while(Result::ok)
            .filter_map(|line| Some(line.split_once("listening on ")?.1.to_owned()));
        let url = urls.next().expect("the browser says where it listens");
        // Whatever else it says must have somewhere to go, or it gets stuck.
        thread::spawn(move || urls.for_each(drop));
        Self { child, url, _profile: home }
    }

    fn port(&self) -> &str {
        self.url.trim_start_matches("ws://127.0.0.1:").split('/').next().unwrap()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        for pid in processes::descendants(self.child.id()) {
            processes::kill(pid);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_browser_of_somebody_else_is_used_and_left_alone() {
    let (cli, site, foreign) = (fresh_cli(), small_site(), Foreign::start());
    let connected = ok(&cli, &["connect", foreign.port()]);
    assert_eq!(keys(&connected), ["connected", "tabs"]);
    assert_eq!(connected["tabs"][0]["url"], "about:blank");
    assert_eq!(ok(&cli, &["open", &site.url("/")])["title"], "Small");
    let snapshot = ok(&cli, &["snapshot", "-i"])["snapshot"].as_str().unwrap().to_owned();
    assert!(snapshot.contains("- button \"Go\" ["), "names of our own: {snapshot}");
    ok(&cli, &["click", &reference(&snapshot, "Go")]);
    let info = ok(&cli, &["session", "info"]);
    assert_eq!((&info["browserPid"], &info["shared"]), (&Value::Null, &Value::Bool(false)));
    ok(&cli, &["close"]);

    let again = cli.session("again");
    assert_eq!(
        ok(&again, &["connect", &foreign.url])["tabs"][0]["title"],
        "Small",
        "it lives, and its tab is still there"
    );
    ok(&again, &["close"]);
    assert!(processes::alive(foreign.child.id()));
}

#[test]
fn a_foreign_browser_that_dies_is_told() {
    let (cli, site, foreign) = (fresh_cli(), small_site(), Foreign::start());
    ok(&cli, &["connect", foreign.port()]);
    let commands = endless(&cli, &site);
    let killed = Instant::now();
    drop(foreign);
    for command in commands {
        Failure::from(&command.finish()).must_be("browser-gone", 3);
        assert!(killed.elapsed() < AT_ONCE, "it took {:?}", killed.elapsed());
    }
}

#[test]
fn garbage_on_the_socket() {
    let case = SHARED.case("garbage");
    case.ok(&["open", &case.site().url("/plain")]);
    let socket = case.cli.home().path().join("daemon.sock");
    let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(case.cli.home().path())), (0o600, 0o700));
    for garbage in [
        &b"hello\n"[..],
        b"\xff\xfe\x00\n",
        b"{}\n",
        b"{\"version\":1}\n",
        b"[[[[[[\n",
        b"\n",
        &[b'x'; 100_000],
        b"GET / HTTP/1.1\r\n\r\n",
    ] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        if answer.is_empty() {
            continue; // It may hang up, but not hang.
        }
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(
            (&answer["success"], &answer["error"]["code"]),
            (&Value::Bool(false), &Value::from("bad-request")),
            "{answer}"
        );
        assert!(!answer["error"]["hints"].as_array().unwrap().is_empty());
    }
    assert_eq!(case.ok(&["get", "title"])["title"], "Plain", "nobody else noticed");
}

/// Our own client asks one thing at a time; whoever asks for more at once gets everything answered.
#[test]
fn requests_that_come_together_are_answered_one_after_the_other() {
    let (cli, site) = (fresh_cli(), small_site());
    ok(&cli, &["open", &site.url("/")]);
    let connect = || {
        let stream = UnixStream::connect(cli.home().path().join("daemon.sock")).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream
    };
    // A daemon of another version says which one it is.
    let mut stream = connect();
    stream.write_all(b"{\"version\":\"other\",\"task\":\"status\"}\n").unwrap();
    let said = BufReader::new(stream).lines().next().unwrap().unwrap();
    let version =
        said.split("the daemon is version ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let mut stream = connect();
    // The first is under way when the second is there.
    let slow = json!({ "code": "new Promise(done => setTimeout(done, 500, 'slow'))" });
    let settings = json!({ "session": "default" });
    let tool =
        json!({ "name": "javascript_tool", "arguments": slow, "toolsets": ["page"], "settings": settings });
    let (first, second) = (json!({ "tool": tool }), json!("status"));
    for task in [first, second] {
        writeln!(stream, "{}", json!({ "version": version, "task": task })).unwrap();
    }
    let answers = BufReader::new(stream).lines().map_while(Result::ok);
    let answers: Vec<String> = answers.filter(|line| line.contains("\"success\"")).take(2).collect();
    assert!(answers[0].contains("slow") && answers[1].contains("sessions"), "{answers:?}");
    assert_eq!(ok(&cli, &["get", "title"])["title"], "Small");
    cli.shut_down().unwrap();
}

#[test]
fn a_socket_that_is_a_file() {
    let cli = fresh_cli();
    fs_err::write(cli.home().path().join("daemon.sock"), "not a socket").unwrap();
    let run = common::json(&cli, &["session", "list"]);
    assert!(run.elapsed < EARLY, "{:?}", run.elapsed);
    if run.success() {
        assert_eq!(run.data()["sessions"], serde_json::json!([]), "it was replaced");
    } else {
        Failure::from(&run).must_be("daemon-unreachable", 3).must_say("daemon.sock");
    }
}

#[test]
fn a_home_that_cannot_be_used() {
    let cli = fresh_cli();
    let file = cli.home().work().join("file");
    fs_err::write(&file, "x").unwrap();
    for home in [file.join("home"), Path::new("/proc/home").to_owned()] {
        let failure = fails_early(&cli.env("SUREHAND_HOME", home), &["session", "list"]);
        assert_eq!(failure.exit, 3, "{failure:?}");
        failure.must_say("SUREHAND_HOME");
    }
}

/// A session is idle only when none of its commands runs, so one that closes in time shows that the command was cancelled.
#[test]
fn a_caller_that_goes_away_cancels_its_command() {
    let (case, observer) = (SHARED.case("cancelled"), SHARED.case("observer"));
    case.ok(&["--idle-timeout", "4000", "open", &case.site().url("/plain")]);
    let is_there = || {
        let sessions = observer.ok(&["session", "list"])["sessions"].clone();
        sessions.as_array().expect("a list").iter().any(|each| each["name"] == "cancelled")
    };
    let commands = endless(&case.cli, case.site());
    assert!(is_there());
    for mut command in commands {
        command.child.kill().unwrap();
        command.child.wait().unwrap();
    }
    // Commands that go on would keep it for the 20 s that they have, and 4 s more.
    assert!(wait_until(Duration::from_secs(16), || !is_there()), "its commands are still under way");
}
