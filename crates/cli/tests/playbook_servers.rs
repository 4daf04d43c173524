//! Where playbooks run: any MCP server, or the daemon; the same file, the same result. And many of them as tests.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "common/tls.rs"]
mod tls;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use common::{BINARY, SOON, fresh_cli};
use serde_json::{Value, json};
use surehand_testkit::{Cli, Run, Site, processes, wait_until};
use tls::TlsFront;

const STEPS: &str = "steps:\n- navigate: { url: '${url}' }\n- interact: { ref: Count }\n- assert: { kind: dom_text, selector: '#n', pattern: '^1$' }\n- assert: { kind: dom_text, selector: '#n', pattern: '^2$' }\n- interact: { ref: Count }\n";

fn site() -> Site {
    Site::builder()
        .page("/", "<button onclick='n.textContent++'>Count</button><b id=n>0</b>")
        .start()
        .unwrap()
}

fn write(cli: &Cli, name: &str, text: &str) {
    let path = cli.home().work().join(name);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

fn run(cli: &Cli, site: &Site, more: &[&str]) -> Run {
    let url = format!("url={}", site.url("/"));
    cli.run(&[&["playbook", "run", "p.yaml", "--vars", &url], more].concat()).unwrap()
}

/// What must be the same wherever it runs: everything but times and results.
fn essence(run: &Run) -> Value {
    let mut report: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    for step in report["steps"].as_array_mut().unwrap() {
        let step = step.as_object_mut().unwrap();
        step.remove("durationMs");
        step.remove("result");
    }
    report
}

/// `mcp --http`, which ends with this.
struct HttpServer {
    child: Child,
    url: String,
}

impl HttpServer {
    fn start(cli: &Cli) -> Self {
        let mut command = cli.command();
        command.args(["mcp", "--http", "127.0.0.1:0"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        processes::end(self.child.id(), Duration::from_secs(10));
        let _ = self.child.wait();
    }
}

#[test]
fn the_same_file_gives_the_same_result_everywhere() {
    let (cli, site) = (fresh_cli(), site());
    write(&cli, "p.yaml", STEPS);
    let here = run(&cli, &site, &["--json"]);
    assert_eq!(here.code, Some(1), "{here:?}");
    let wanted = essence(&here);
    assert_eq!(wanted["steps"][3]["error"], "Step 3 (assert): assert verdict=\"fail\"");

    let command = format!("{BINARY} mcp");
    let child = run(&cli, &site, &["--json", "--server", &command]);
    assert_eq!((essence(&child), child.code), (wanted.clone(), Some(1)));
    // Who was told to go may need a moment for it.
    let left = || processes::with_env("SUREHAND_HOME", &cli.home().path().to_string_lossy());
    assert!(wait_until(SOON, || left().is_empty()), "the child is gone: {:?}", left());

    let server = HttpServer::start(&cli);
    let remote = run(&cli, &site, &["--json", "--server", &server.url]);
    drop(server);
    assert_eq!((essence(&remote), remote.code), (wanted.clone(), Some(1)));

    cli.run(&["session", "list"]).unwrap();
    let daemon = run(&cli, &site, &["--json", "--reuse"]);
    assert_eq!((essence(&daemon), daemon.code), (wanted, Some(1)));
    let sessions = cli.json(&["session", "list"]).unwrap();
    assert_eq!(sessions.data()["sessions"], json!([]), "a fresh session ends with the run");
}

#[test]
fn a_server_behind_tls_is_reached_if_its_certificate_is_trusted() {
    let (cli, site) = (fresh_cli(), site());
    write(&cli, "p.yaml", "steps:\n- navigate: { url: '${url}' }\n- interact: { ref: Count }\n");
    let server = HttpServer::start(&cli);
    let behind = server.url.split('/').nth(2).unwrap().parse().unwrap();
    let believing = |front: &TlsFront| {
        write(&cli, "own.pem", &front.certificate);
        cli.env("SSL_CERT_FILE", cli.home().work().join("own.pem"))
    };
    let front = TlsFront::start("127.0.0.1", behind);
    let url = format!("https://{}/mcp", front.address);
    let reached = run(&believing(&front), &site, &["--server", &url]);
    assert!(reached.ok(), "{reached:?}");
    assert_eq!(site.requests_to("/").len(), 1);

    let unknown = run(&cli, &site, &["--server", &url]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
    for words in [&url, "nobody whom this machine trusts vouches for its certificate", "SSL_CERT_FILE"] {
        assert!(unknown.stderr.contains(words), "{words}: {unknown:?}");
    }

    let other = TlsFront::start("other.example", behind);
    let url = format!("https://{}/mcp", other.address);
    let misnamed = run(&believing(&other), &site, &["--server", &url]);
    assert_eq!(misnamed.code, Some(3), "{misnamed:?}");
    assert!(misnamed.stderr.contains("its certificate is for another name"), "{misnamed:?}");
    assert_eq!(site.requests_to("/").len(), 1, "no other run got as far as a page");
}

#[test]
fn reuse_needs_a_daemon_and_may_use_a_session_of_it() {
    let (cli, site) = (fresh_cli(), site());
    write(&cli, "p.yaml", "steps:\n- javascript_tool: { code: location.href }\n");
    let none = run(&cli, &site, &["--reuse"]);
    assert_eq!(none.code, Some(3), "{none:?}");
    assert!(!cli.home().path().join("daemon.pid").exists(), "none was started");
    cli.session("shop").run(&["open", &site.url("/")]).unwrap();
    let shared = cli.session("shop").run(&["playbook", "run", "p.yaml", "--reuse", "--json"]).unwrap();
    assert!(shared.stdout.contains(&site.url("/")), "{shared:?}");
    assert!(cli.session("shop").run(&["get", "url"]).unwrap().ok(), "somebody's session stays");
}

#[test]
fn tools_that_a_server_lacks_are_found_before_the_run() {
    let (cli, site) = (fresh_cli(), site());
    write(&cli, "p.yaml", "steps:\n- navigate: { url: '${url}' }\n- click: button\n");
    let lacking = run(&cli, &site, &["--server", &format!("{BINARY} mcp")]);
    assert_eq!(lacking.code, Some(2), "{lacking:?}");
    assert!(lacking.stderr.contains("p.yaml:3:3: step 1: the server has no tool \"click\""), "{lacking:?}");
    assert!(site.requests_to("/").is_empty());
    let both = run(&cli, &site, &["--server", &format!("{BINARY} mcp --toolsets page,verbs")]);
    assert!(both.ok(), "{both:?}");
}

#[test]
fn a_server_that_dies_leaves_a_report_of_what_ran() {
    let (cli, site) = (fresh_cli(), site());
    write(
        &cli,
        "dying.py",
        r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "dying", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("navigate", "interact", "oc_assert")]}
    elif method == "tools/call" and message["params"]["name"] == "navigate":
        result = {"content": [{"type": "text", "text": "{\"tabId\": \"x9\"}"}]}
    elif method == "tools/call":
        sys.exit(1)
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#,
    );
    write(&cli, "p.yaml", STEPS);
    let cut = run(&cli, &site, &["--json", "--out", "r.md", "--server", "python3 dying.py"]);
    assert_eq!(cut.code, Some(3), "{cut:?}");
    let report: Value = serde_json::from_str(&cut.stdout).unwrap();
    let statuses: Vec<_> =
        report["steps"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["ok", "failed", "skipped", "skipped", "skipped"]);
    assert_eq!(report["steps"][1]["args"], json!({ "ref": "Count", "tabId": "x9" }));
    assert!(cli.home().work().join("r.md").exists());
    for gone in ["no-such-program", "python3 -c pass"] {
        assert_eq!(run(&cli, &site, &["--server", gone]).code, Some(3), "{gone}");
    }
    assert_eq!(run(&cli, &site, &["--server", "http://127.0.0.1:9/mcp"]).code, Some(3));
}

#[test]
fn playbooks_are_tests() {
    let (cli, site) = (fresh_cli(), site());
    let url = site.url("/");
    let begin = format!("steps:\n- navigate: {{ url: '{url}' }}\n");
    write(&cli, "t/good.playbook.yaml", &format!("name: Good\n{begin}- interact: {{ ref: Count }}\n"));
    write(
        &cli,
        "t/deep/bad.playbook.yaml",
        &format!(
            "name: Bad\n{begin}- javascript_tool: {{ code: \"console.error('oh no')\" }}\n- interact: {{ ref: Nothing, timeout: 100 }}\n"
        ),
    );
    write(&cli, "t/wrong.playbook.yaml", "steps: 5\n");
    write(&cli, "t/other.yaml", "not: a test\n");
    let line = [
        "playbook",
        "test",
        "t",
        "--json",
        "--workers",
        "2",
        "--retries",
        "1",
        "--junit",
        "j.xml",
        "--html",
        "page",
    ];
    let run = cli.run(&line).unwrap();
    assert_eq!(run.code, Some(1), "{run:?}");
    let suite: Value = serde_json::from_str(&run.stdout).unwrap();
    let outcomes: Vec<_> =
        suite["tests"].as_array().unwrap().iter().map(|test| test["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["failed", "passed", "broken"], "{suite:#}");
    assert_eq!((&suite["tests"][0]["attempt"], &suite["workers"]), (&json!(2), &json!(2)));
    let kept = |name: &str| {
        fs_err::read_to_string(cli.home().work().join("playbook-results/t-deep-bad-1-2").join(name)).unwrap()
    };
    assert!(kept("console.txt").contains("oh no") && kept("snapshot.txt").contains("button \"Count\""));
    assert!(cli.home().work().join("playbook-results/t-deep-bad-1-1/screenshot.png").exists());
    let junit = fs_err::read_to_string(cli.home().work().join("j.xml")).unwrap();
    assert!(
        junit.contains("tests=\"3\"") && junit.contains("failures=\"1\"") && junit.contains("errors=\"1\""),
        "{junit}"
    );
    let page = fs_err::read_to_string(cli.home().work().join("page/index.html")).unwrap();
    assert!(page.contains("data:image/jpeg;base64,") && page.contains("oh no"));

    let one = cli.run(&["playbook", "test", "t", "--grep", "good", "--repeat-each", "2"]).unwrap();
    assert!(one.ok() && one.stdout.contains("2 of 2 tests passed"), "{one:?}");
    assert_eq!(cli.run(&["playbook", "test", "t", "--grep", "zzz"]).unwrap().code, Some(2));
    assert_eq!(cli.run(&["playbook", "test", "t", "--shard", "4/3"]).unwrap().code, Some(2));
    let annotated = cli.env("GITHUB_ACTIONS", "true").run(&["playbook", "test", "t/deep"]).unwrap();
    assert!(annotated.stdout.contains("::error file=t/deep/bad.playbook.yaml,line=5"), "{annotated:?}");
}
