//! The same file gives the same result wherever it runs: here, in the daemon, over MCP; with `--json` and without.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{BINARY, fresh_cli};
use serde_json::{Value, json};
use surehand_testkit::{Cli, Run, Site};

fn desk() -> (Cli, Site) {
    let long = "word ".repeat(2000);
    let page = format!(
        "<title>T</title><label>Who <input id=who></label><input id=pw type=password><p id=long>{long}</p><b id=out>0</b>\
         <script>setTimeout(() => {{ const b = document.createElement('button'); b.textContent = 'Late'; document.body.append(b) }}, 5600)</script>"
    );
    (fresh_cli(), Site::builder().page("/", page).start().unwrap())
}

fn write(cli: &Cli, name: &str, text: &str) {
    fs_err::write(cli.home().work().join(name), text).unwrap();
}

fn run(cli: &Cli, site: &Site, more: &[&str]) -> Run {
    let url = format!("url={}", site.url("/"));
    cli.run(&[&["playbook", "run", "p.yaml", "--vars", &url], more].concat()).unwrap()
}

/// Runs it in every place, as a program and as a person asks for it, and hands each run over.
fn everywhere(cli: &Cli, site: &Site, look: impl Fn(&str, &Run)) {
    cli.run(&["session", "list"]).unwrap();
    let command = format!("{BINARY} mcp --toolsets page,verbs");
    let places: [(&str, &[&str]); 3] =
        [("here", &[]), ("daemon", &["--reuse"]), ("mcp", &["--server", &command])];
    for (name, place) in places {
        for json in [&["--json"][..], &[]] {
            look(&format!("{name} {json:?}"), &run(cli, site, &[place, json].concat()));
        }
    }
}

#[test]
fn what_a_snapshot_answers_does_not_depend_on_the_front() {
    let (cli, site) = desk();
    let steps = "steps:\n- navigate: { url: '${url}' }\n- snapshot:\n  capture: { tree: /snapshot }\n- snapshot:\n  capture: { name: /refs/e2/name }\n";
    write(&cli, "p.yaml", steps);
    everywhere(&cli, &site, |place, run| {
        assert_eq!(run.code, Some(1), "{place}: {run:?}");
        let told =
            run.stdout.contains("nothing at /refs/e2/name for \\\"name\\\"; it has /origin, /snapshot")
                || run.stdout.contains("nothing at /refs/e2/name for \"name\"; it has /origin, /snapshot");
        assert!(told, "{place}: {run:?}");
    });
}

#[test]
fn parts_of_large_results_are_captured() {
    let (cli, site) = desk();
    let steps = "steps:\n- navigate: { url: '${url}' }\n- get: [text, '#long']\n  capture: { text: /text }\n- fill: ['#who', '${text}']\n";
    write(&cli, "p.yaml", steps);
    everywhere(&cli, &site, |place, run| assert!(run.ok(), "{place}: {run:?}"));
}

#[test]
fn the_timeout_of_a_step_is_that_of_its_tool() {
    let (cli, site) = desk();
    let steps = "vars: { ms: '300' }\nsteps:\n- navigate: { url: '${url}' }\n- interact: { ref: Late }\n  timeout: 20000\n\
         - click: '#none'\n  timeout: '${ms}'\n- interact: { ref: Nothing }\n  timeout: 300\n\
         - navigate: { url: '${url}' }\n- act: { action: click Late }\n  timeout: 20000\n";
    write(&cli, "p.yaml", steps);
    let command = format!("{BINARY} mcp --toolsets page,verbs");
    for place in [&[][..], &["--server", &command]] {
        let run = run(&cli, &site, &[place, &["--json", "--continue-on-error"]].concat());
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        for step in [1, 5] {
            assert_eq!(report["steps"][step]["status"], "ok", "more than the 5 s of an action: {report:#}");
        }
        for step in [2, 3] {
            let error = report["steps"][step]["error"].as_str().unwrap();
            assert!(!error.contains("no answer"), "the tool says what it missed: {place:?}: {error}");
            assert!(
                report["steps"][step]["durationMs"].as_u64().unwrap() < 4500,
                "less than those 5 s: {report:#}"
            );
        }
    }
}

#[test]
fn secrets_are_handed_on() {
    let (cli, site) = desk();
    write(&cli, "s.env", "PW=hunter2-hunter2\n");
    write(&cli, "sub.yaml", "vars: { pw: none }\nsteps:\n- fill: ['#pw', '${pw}']\n");
    let check = "- wait_for: { condition: function, value: \"pw.value === 'hunter2' + '-hunter2'\", timeout: 1000 }\n- fill: ['#pw', '']\n";
    let steps = format!(
        "vars: {{ own: '${{SECRET:PW}}' }}\nsteps:\n- navigate: {{ url: '${{url}}' }}\n- use: sub.yaml\n  vars: {{ pw: '${{SECRET:PW}}' }}\n{check}\
         - for_each: {{ pw: ['${{SECRET:PW}}'] }}\n  steps: [{{ fill: ['#pw', '${{pw}}'] }}]\n{check}- fill: ['#pw', '${{own}}']\n{check}"
    );
    write(&cli, "p.yaml", &steps);
    let done = run(&cli, &site, &["--json", "--secrets", "s.env"]);
    assert!(done.ok(), "{done:?}");
    assert!(!done.stdout.replace("'hunter2' + '-hunter2'", "").contains("hunter2"), "{done:?}");
    // What a page says is no reference, by whatever way it comes.
    let smuggled = "steps:\n- navigate: { url: '${url}' }\n- javascript_tool: { code: \"'$' + '{SEC' + 'RET:PW}'\" }\n  capture: { said: /result }\n\
         - use: sub.yaml\n  vars: { pw: '${said}' }\n";
    write(&cli, "p.yaml", smuggled);
    let refused = run(&cli, &site, &["--json", "--secrets", "s.env"]);
    let report: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!((refused.code, &report["steps"][2]["status"]), (Some(1), &json!("failed")), "{report:#}");
}

#[test]
fn tabs_are_gone_on_in_whatever_a_server_calls_them() {
    let (cli, site) = desk();
    let server = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        print(json.dumps(message["params"]["clientInfo"]["name"]), file=sys.stderr)
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "other", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("navigate", "interact", "read_page")]}
    elif method == "tools/call" and message["params"]["name"] == "navigate":
        result = {"content": [{"type": "text", "text": "went there"}, {"type": "text", "text": "{\"tabId\": 7}"}]}
    elif method == "tools/call" and message["params"]["name"] == "interact":
        result = {"content": [{"type": "text", "text": "{\"tabId\": \"x9\"}"}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "read"}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;
    write(&cli, "other.py", server);
    write(
        &cli,
        "p.yaml",
        "steps:\n- navigate: { url: '${url}' }\n- interact: { ref: a }\n- read_page: { mode: ax }\n",
    );
    let done = run(&cli, &site, &["--json", "--server", "python3 other.py"]);
    assert!(done.ok() && done.stderr.contains("\"surehand\""), "{done:?}");
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["steps"][1]["args"]["tabId"], 7);
    assert_eq!(report["steps"][2]["args"]["tabId"], "x9");
}

#[test]
fn options_that_cannot_be_meant_are_refused() {
    let (cli, _) = desk();
    write(&cli, "p.yaml", "steps:\n- navigate: { url: '${url}' }\n");
    for words in [&["run", "p.yaml"][..], &["test", "p.yaml"]] {
        let idle = cli.run(&[&["playbook"], words, &["--session", "shop"]].concat()).unwrap();
        assert!(idle.code == Some(2) && idle.stderr.contains("--reuse"), "{idle:?}");
    }
    let pattern = cli.run(&["playbook", "test", "--grep", "("]).unwrap();
    assert!(
        pattern.code == Some(2) && pattern.stderr.contains("error[usage]: --grep: \"(\" is no regular"),
        "{pattern:?}"
    );
    let none = cli.run(&["playbook", "test", "p.yaml", "--grep", "nomatch"]).unwrap();
    assert!(none.code == Some(2) && none.stderr.contains("no test matches \"nomatch\""), "{none:?}");
}

#[test]
fn a_page_that_is_missing_is_a_page() {
    let (cli, site) = desk();
    fs_err::create_dir(cli.home().work().join("web")).unwrap();
    let steps = "serve: web\nsteps:\n- navigate: { url: '${base_url}/none.html' }\n- assert: { kind: dom_text, selector: h1, contains: 404 Not Found }\n";
    write(&cli, "p.yaml", steps);
    let done = run(&cli, &site, &[]);
    assert!(done.ok(), "{done:?}");
}
