//! How playbooks end when something goes wrong around them: signals, servers and browsers that go, files that cannot be
//! written. What ran is told in every form, what cleans up runs, and nothing is left behind.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{BINARY, fresh_cli};
use serde_json::{Value, json};
use surehand_testkit::{Cli, Run, Site, processes, wait_until};

const LONG: Duration = Duration::from_secs(30);

/// Tells the site what it is called, and never ends.
const HANGS: &str = "javascript_tool: { code: 'fetch(\"/sent?hangs\").then(() => new Promise(() => {}))' }";

struct Desk {
    cli: Cli,
    site: Site,
}

impl Desk {
    fn new() -> Self {
        let site =
            Site::builder().page("/", "<h1>Here</h1><b id=out>hello</b>").file("/sent", "text/plain", "ok");
        Self { cli: fresh_cli(), site: site.start().unwrap() }
    }

    /// A file whose steps begin at the site.
    fn write(&self, name: &str, steps: &str) {
        let text = format!("steps:\n- navigate: {{ url: '{}' }}\n{steps}", self.site.url("/"));
        self.write_file(name, &text);
    }

    fn write_file(&self, name: &str, text: &str) {
        let path = self.cli.home().work().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn has(&self, name: &str) -> bool {
        self.cli.home().work().join(name).exists()
    }

    fn run(&self, line: &str) -> Run {
        self.cli.run(&line.split_whitespace().collect::<Vec<_>>()).unwrap()
    }

    fn start(&self, line: &str) -> Child {
        let mut command = self.cli.command();
        command.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn wait_for_request(&self, query: &str) {
        let asked =
            || self.site.requests_to("/sent").iter().any(|request| format!("{request:?}").contains(query));
        assert!(wait_until(LONG, asked), "nobody asked for {query}");
    }

    fn nothing_is_left(&self) {
        let home = self.cli.home().path().to_string_lossy().into_owned();
        let left = || processes::with_env("SUREHAND_HOME", &home);
        assert!(wait_until(LONG, || left().is_empty()), "{:?}", left());
    }
}

fn signal(name: &str, child: &Child) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// Were the tests started with `nohup`? Then what they start was, too.
fn ignores_hangup() -> bool {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0").trim();
    u64::from_str_radix(ignored, 16).unwrap_or(0) & 1 == 1
}

/// The one document that was printed.
fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn parsed(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

fn statuses(report: &Value) -> Vec<&str> {
    report["steps"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap()).collect()
}

const TEARDOWN: &str =
    "- get: [title]\nteardown:\n- javascript_tool: { code: 'fetch(\"/sent?torn\").then(() => 1)' }\n";

#[test]
fn an_interrupted_run_cleans_up_and_tells_what_ran() {
    for name in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        if name == "-HUP" && ignores_hangup() {
            continue;
        }
        let desk = Desk::new();
        desk.write("p.yaml", &format!("- {HANGS}\n{TEARDOWN}"));
        let child = desk.start("playbook run p.yaml --json --out r.md --html page");
        desk.wait_for_request("hangs");
        signal(name, &child);
        let output = child.wait_with_output().unwrap();
        let report = document(&output);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert_eq!(statuses(&report), ["ok", "failed", "skipped", "ok"], "{report:#}");
        assert_eq!(report["steps"][1]["error"], "Step 1 (javascript_tool): interrupted");
        assert_eq!(report["error"]["code"], "interrupted", "{report:#}");
        assert!(desk.has("r.md") && desk.has("page/index.html"));
        desk.wait_for_request("torn");
        desk.nothing_is_left();
    }
}

#[test]
fn a_closed_terminal_ends_a_run_in_order() {
    let desk = Desk::new();
    desk.write("p.yaml", &format!("- {HANGS}\n{TEARDOWN}"));
    // Ends with the last descriptor of its terminal, which nobody reads any more then.
    let script = "import os, pty, signal, sys\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)\npid, fd = pty.fork()\n\
                  if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])\n\
                  sys.stdin.readline()\nos.close(fd)\nos.waitpid(pid, 0)\n";
    let mut command = Command::new("python3");
    command.args(["-c", script, BINARY, "playbook", "run", "p.yaml", "--out", "r.md"]);
    for (name, value) in desk.cli.command().get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let mut child = command.current_dir(desk.cli.home().work()).stdin(Stdio::piped()).spawn().unwrap();
    desk.wait_for_request("hangs");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    desk.wait_for_request("torn");
    assert!(desk.has("r.md"), "the report was written");
    desk.nothing_is_left();
}

#[test]
fn asked_twice_it_ends_at_once_and_still_tells() {
    let desk = Desk::new();
    let cleaning = HANGS.replace("hangs", "cleans");
    desk.write("p.yaml", &format!("- {HANGS}\nteardown:\n- {cleaning}\n- get: [title]\n"));
    let child = desk.start("playbook run p.yaml");
    desk.wait_for_request("hangs");
    signal("-INT", &child);
    desk.wait_for_request("cleans");
    signal("-INT", &child);
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    // Less than the 30 s that the call has.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(text.contains("[FAIL] step 2: javascript_tool") && text.contains("[SKIP] step 3: get"), "{text}");
    assert!(text.contains("FAIL: 1 of 4 steps passed, 2 failed, 1 skipped"), "{text}");
    desk.nothing_is_left();
}

#[test]
fn interrupted_tests_keep_those_that_ended() {
    let desk = Desk::new();
    desk.write("t/a.playbook.yaml", "");
    desk.write("t/b.playbook.yaml", &format!("- {HANGS}\n"));
    desk.write("t/c.playbook.yaml", "");
    let child = desk.start("playbook test t --workers 1 --retries 2 --json --junit j.xml --html page");
    desk.wait_for_request("hangs");
    signal("-INT", &child);
    let output = child.wait_with_output().unwrap();
    let suite = document(&output);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let outcomes: Vec<_> =
        suite["tests"].as_array().unwrap().iter().map(|test| test["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["passed", "broken"], "{suite:#}");
    assert_eq!((&suite["summary"]["notRun"], &suite["error"]["code"]), (&json!(1), &json!("interrupted")));
    assert!(desk.has("j.xml") && desk.has("page/index.html"));
    desk.nothing_is_left();
}

#[test]
fn a_server_that_dies_in_a_call_is_noticed() {
    let desk = Desk::new();
    desk.write("p.yaml", &format!("- {HANGS}\n- read_page: {{ mode: text }}\n"));
    let mut server = desk.cli.command();
    server.args(["mcp", "--http", "127.0.0.1:0"]).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let mut address = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut address).unwrap();
    let child = desk.start(&format!("playbook run p.yaml --json --server {}", address.trim()));
    desk.wait_for_request("hangs");
    assert!(processes::kill(server.id()));
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    let _ = server.wait();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let report = document(&output);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(statuses(&report), ["ok", "failed", "skipped"], "{report:#}");
    assert_eq!(report["error"]["code"], "server-unreachable");
    let told = format!("{report}{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        !told.contains("::") && !told.contains("rmcp"),
        "names of our types are nobody's business: {told}"
    );
}

#[test]
fn without_a_browser_the_run_is_out_of_reach() {
    let desk = Desk::new();
    desk.write("p.yaml", TEARDOWN);
    desk.write_file("ends-at-once", "#!/bin/sh\nexit 1\n");
    let program = desk.cli.home().work().join("ends-at-once");
    Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    for path in ["/nope", &program.to_string_lossy()] {
        let run = desk.run(&format!("playbook run p.yaml --json --out r.md --executable-path {path}"));
        let report = parsed(&run);
        assert_eq!(run.code, Some(3), "{run:?}");
        assert_eq!(statuses(&report), ["failed", "skipped", "failed"], "teardown is tried: {report:#}");
        let code = report["error"]["code"].as_str().unwrap();
        assert!(matches!(code, "no-browser" | "browser-failed"), "{report:#}");
        assert!(desk.has("r.md"));
        let suite = desk.run(&format!("playbook test p.yaml --json --executable-path {path}"));
        assert_eq!((suite.code, &parsed(&suite)["error"]["code"]), (Some(3), &json!(code)), "{suite:?}");
    }
}

#[test]
fn a_browser_that_dies_ends_the_run() {
    let desk = Desk::new();
    desk.write("p.yaml", &format!("- {HANGS}\n{TEARDOWN}"));
    let child = desk.start("playbook run p.yaml --json --html page");
    desk.wait_for_request("hangs");
    let is_browser = |pid: &u32| {
        let args = processes::args(*pid);
        args.iter().any(|arg| arg.starts_with("--user-data-dir"))
            && !args.iter().any(|arg| arg.starts_with("--type="))
    };
    let browser = processes::descendants(child.id()).into_iter().find(is_browser).expect("a browser");
    assert!(processes::kill(browser));
    let output = child.wait_with_output().unwrap();
    let report = document(&output);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(statuses(&report)[..3], ["ok", "failed", "skipped"], "{report:#}");
    assert_eq!(report["error"]["code"], "browser-gone", "{report:#}");
    assert!(desk.has("page/index.html"));
    desk.nothing_is_left();
}

#[test]
fn what_serves_and_does_not_answer_is_out_of_reach() {
    let desk = Desk::new();
    // A time that nobody else on this machine sleeps.
    let command = format!("sleep 60.{}", std::process::id());
    let text = format!(
        "serve: {{ command: '{command}', url: 'http://127.0.0.1:9', timeout: 200 }}\nsteps:\n- get: [title]\n"
    );
    desk.write_file("p.playbook.yaml", &text);
    for line in ["playbook run p.playbook.yaml --json", "playbook test p.playbook.yaml --json"] {
        let run = desk.run(line);
        assert_eq!(
            (run.code, &parsed(&run)["error"]["code"]),
            (Some(3), &json!("endpoint-unreachable")),
            "{run:?}"
        );
    }
    assert!(wait_until(LONG, || processes::with_arg(&command).is_empty()));
}

#[test]
fn a_report_that_cannot_be_written_loses_nothing() {
    let desk = Desk::new();
    desk.write("p.playbook.yaml", "");
    for option in ["--out /proc/no/x.md", "--html /proc/no/page", "--out /proc/no/x.md --html /proc/no/page"]
    {
        let run = desk.run(&format!("playbook run p.playbook.yaml --json {option}"));
        let report = parsed(&run);
        assert_eq!((run.code, statuses(&report)), (Some(3), vec!["ok"]), "{run:?}");
        assert_eq!(report["error"]["code"], "unwritable-path", "{report:#}");
    }
    let text = desk.run("playbook run p.playbook.yaml --out /proc/no/x.md --html page");
    assert!(
        text.stdout.contains("PASS: 1 of 1")
            && text.stderr.contains("/proc/no")
            && desk.has("page/index.html")
    );
    for option in ["--junit /proc/no.xml", "--html /proc/no/page"] {
        let run = desk.run(&format!("playbook test p.playbook.yaml --json {option}"));
        let suite = parsed(&run);
        assert_eq!((run.code, &suite["tests"][0]["outcome"]), (Some(3), &json!("passed")), "{run:?}");
        assert_eq!(suite["error"]["code"], "unwritable-path", "{suite:#}");
    }
}

#[test]
fn one_browser_does_for_all_tests() {
    let desk = Desk::new();
    let real = desk.cli.json(&["install"]).unwrap().data()["path"].as_str().unwrap().to_owned();
    desk.write_file(
        "browser",
        &format!("#!/bin/sh\ncase \"$*\" in *--user-data-dir*) echo start >> \"$0.log\";; esac\nexec {real} \"$@\"\n"),
    );
    let program = desk.cli.home().work().join("browser");
    Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    let cli = desk.cli.env("SUREHAND_BROWSER", program.as_os_str());
    let starts = || fs_err::read_to_string(program.with_extension("log")).unwrap_or_default().lines().count();
    for name in ["a", "b", "c"] {
        desk.write(&format!("t/{name}.playbook.yaml"), "");
    }
    desk.write("t/d.playbook.yaml", "- assert: { kind: url, pattern: zzz }\n");
    let line = ["playbook", "test", "t", "--workers", "1", "--retries", "1"];
    let here = cli.run(&line).unwrap();
    assert_eq!((here.code, starts()), (Some(1), 1), "{here:?}");
    desk.nothing_is_left();
    cli.run(&["session", "list"]).unwrap();
    let daemon = cli.run(&[&line[..], &["--reuse"]].concat()).unwrap();
    assert_eq!((daemon.code, starts()), (Some(1), 2), "{daemon:?}");
    let sessions = cli.json(&["session", "list"]).unwrap();
    assert_eq!(sessions.data()["sessions"], json!([]));
    let is_gone =
        || processes::with_arg(&desk.cli.home().path().join("profiles").to_string_lossy()).is_empty();
    assert!(wait_until(LONG, is_gone), "no browser is left in the daemon");
}

#[test]
fn the_server_is_a_child_that_goes_with_an_interrupted_run() {
    let desk = Desk::new();
    desk.write("p.yaml", &format!("- {HANGS}\n{TEARDOWN}").replace("- get: [title]\n", ""));
    let mut command = desk.cli.command();
    command.args(["playbook", "run", "p.yaml", "--json", "--server", &format!("{BINARY} mcp")]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    desk.wait_for_request("hangs");
    signal("-INT", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), statuses(&document(&output))), (Some(3), vec!["ok", "failed", "ok"]));
    desk.nothing_is_left();
}
