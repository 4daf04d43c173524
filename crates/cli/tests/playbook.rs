//! Playbooks at the public edge: files, the built binary, a real browser, exit codes, reports.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::PathBuf;

use common::{SOON, UnusedPort, fresh_cli};
use serde_json::{Value, json};
use surehand_testkit::{Cli, Run, Site, processes, wait_until};

/// The example of the document, with nothing changed.
const FULL: &str = r#"
name: example.com sanity
vars:
  url: https://example.com
  heading: Example
steps:
  - navigate:
      url: ${url}
  - assert:
      kind: dom_text
      selector: h1
      pattern: ${heading}
  - interact:
      ref: "More information…"
  - wait_for:
      condition: "navigation"
  - assert:
      kind: url
      pattern: "iana\\.org"
  - page_screenshot:
      path: sanity.png
  - read_page:
      mode: ax
  - javascript_tool:
      code: "document.title"
  - act:
      action: "scroll down"
"#;

fn site() -> Site {
    Site::builder()
        .page("/", "<title>Example</title><h1>Example Domain</h1><a href='/iana.org'>More information...</a>\
            <form onsubmit='event.preventDefault();out.textContent=\"hello \"+who.value;fetch(\"/sent?\"+who.value)'>\
            <label>Who <input id=who></label><label>Secret <input id=pw type=password></label><button>Go</button></form><p id=out></p>")
        .page("/iana.org", "<title>IANA</title><h1>IANA</h1><p style='height:3000px'>")
        .file("/sent", "text/plain", "ok")
        .start()
        .unwrap()
}

/// A directory with playbooks, and the program in it.
struct Desk {
    cli: Cli,
    site: Site,
}

impl Desk {
    fn new() -> Self {
        Self { cli: fresh_cli(), site: site() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.cli.home().work().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).unwrap()
    }

    /// `playbook run` with the address of the site as `url`.
    fn run(&self, file: &str, more: &[&str]) -> Run {
        let url = format!("url={}", self.site.url("/"));
        let line = [&["playbook", "run", file, "--vars", &url], more].concat();
        self.cli.run(&line).unwrap()
    }

    fn report(&self, file: &str, more: &[&str]) -> (Value, Run) {
        let run = self.run(file, &[&["--json"], more].concat());
        (serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}")), run)
    }
}

fn statuses(report: &Value) -> Vec<&str> {
    report["steps"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap()).collect()
}

#[test]
fn the_example_of_the_document_runs() {
    let desk = Desk::new();
    desk.write("sanity.yaml", FULL);
    let (report, run) = desk.report("sanity.yaml", &["--out", "deep/er/report.md"]);
    assert!(run.ok(), "{run:?}");
    assert_eq!(report["summary"], json!({ "ok": true, "total": 9, "passed": 9, "failed": 0, "skipped": 0 }));
    let tools: Vec<_> =
        report["steps"].as_array().unwrap().iter().map(|step| step["tool"].as_str().unwrap()).collect();
    assert_eq!(tools[..5], ["navigate", "oc_assert", "interact", "wait_for", "oc_assert"]);
    assert_eq!(
        report["steps"][1]["args"],
        json!({ "contract": { "kind": "dom_text", "selector": "h1", "pattern": "Example" } })
    );
    // The tab of the first step goes on in those that take one; an assertion is not among them.
    assert_eq!(report["steps"][2]["args"], json!({ "ref": "More information…", "tabId": "t1" }));
    assert!(report["steps"][7]["result"][0]["text"].as_str().unwrap().contains("IANA"));
    assert!(desk.path("sanity.png").exists());
    let markdown = desk.read("deep/er/report.md");
    assert!(
        markdown.starts_with("# Playbook: example.com sanity\n")
            && markdown.contains("| 8 | act | act | ok |"),
        "{markdown}"
    );
    let text = desk.run("sanity.yaml", &[]);
    assert!(
        text.stdout.contains("[PASS] step 2: interact (")
            && text.stdout.contains("PASS: 9 of 9 steps passed"),
        "{text:?}"
    );
}

#[test]
fn json_playbooks_have_the_same_shape() {
    let desk = Desk::new();
    let steps = json!({ "steps": [{ "navigate": { "url": "${url}" } }, { "assert": { "kind": "dom_text", "selector": "h1", "pattern": "^Example D" } }] });
    desk.write("same.json", &steps.to_string());
    assert!(desk.run("same.json", &[]).ok());
    desk.write("same.txt", &steps.to_string());
    assert_eq!(desk.run("same.txt", &[]).code, Some(2), "only the ending tells the format");
}

#[test]
fn the_first_failure_ends_it_and_the_rest_is_not_called() {
    let desk = Desk::new();
    desk.write(
        "fail.yaml",
        "name: fail-fast fixture\nsteps:\n- navigate: { url: '${url}' }\n- assert: { kind: dom_text, selector: h1, pattern: Nothing }\n\
         - fill_form: { fields: { Who: skipped }, submit: Go }\nteardown:\n- javascript_tool: { code: 'fetch(\"/sent?torn\").then(() => 1)' }\n",
    );
    let (report, run) = desk.report("fail.yaml", &[]);
    assert_eq!(run.code, Some(1));
    assert_eq!(statuses(&report), ["ok", "failed", "skipped", "ok"]);
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(steps[1]["error"], "Step 1 (assert): assert verdict=\"fail\"");
    assert_eq!((&steps[2]["tool"], &steps[2]["durationMs"]), (&json!("fill_form"), &json!(0)));
    assert_eq!(steps[2]["args"], json!({ "fields": { "Who": "skipped" }, "submit": "Go", "tabId": "t1" }));
    assert_eq!((&steps[3]["phase"], &report["summary"]["ok"]), (&json!("teardown"), &json!(false)));
    let sent: Vec<_> = desk.site.requests_to("/sent").iter().map(|request| request.query.clone()).collect();
    assert_eq!(sent.len(), 1, "only teardown reached the server: {sent:?}");

    let (report, _) = desk.report("fail.yaml", &["--continue-on-error"]);
    assert_eq!(statuses(&report), ["ok", "failed", "ok", "ok"]);
}

#[test]
fn a_verdict_that_is_not_pass_fails() {
    let desk = Desk::new();
    desk.write(
        "doubt.yaml",
        "steps:\n- navigate: { url: '${url}' }\n- assert: { contract: { kind: url, pattern: x }, evidence: { snapshot: {} } }\n",
    );
    let (report, run) = desk.report("doubt.yaml", &[]);
    assert_eq!(run.code, Some(1));
    assert_eq!(report["steps"][1]["error"], "Step 1 (assert): assert verdict=\"inconclusive\"");
}

#[test]
fn everything_that_is_wrong_is_found_before_a_browser_starts() {
    let desk = Desk::new();
    desk.write(
        "bad.yaml",
        "steps:\n  - navigate: { url: \"${urn}/x\", stealth: true }\n  - click: '#a'\n    hover: '#b'\n  - navgate: {}\n  - assert: { kind: dom_txt }\nstepz: []\n",
    );
    let run = desk.run("bad.yaml", &[]);
    assert_eq!(run.code, Some(2), "{run:?}");
    for wanted in [
        "bad.yaml:2:23: unknown variable \"urn\" in step 0; did you mean \"url\"?",
        "unknown argument `stealth`",
        "step 1 has two verbs",
        "bad.yaml:5:5: unknown verb \"navgate\"",
        "did you mean \"dom_text\"?",
        "bad.yaml:7:1: unknown key \"stepz\"",
        "  2 |   - navigate: { url: \"${urn}/x\", stealth: true }",
    ] {
        assert!(run.stderr.contains(wanted), "{wanted:?} is missing:\n{}", run.stderr);
    }
    assert!(desk.site.requests_to("/").is_empty());
    let checked = desk.cli.run(&["playbook", "check", "bad.yaml", "--json"]).unwrap();
    let checked_body: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!((checked.code, &checked_body["error"]["code"]), (Some(2), &json!("bad-playbook")));
    assert!(checked_body["data"]["problems"].as_array().unwrap().len() >= 6, "{checked_body}");
    assert_eq!(desk.run("none.yaml", &[]).code, Some(2));
    assert_eq!(desk.cli.run(&["playbook", "run", "bad.yaml", "--vars", "novalue"]).unwrap().code, Some(2));
}

#[test]
fn what_a_browser_would_refuse_is_found_without_one() {
    let desk = Desk::new();
    desk.write("secrets.env", "PW=hunter2-hunter2\n");
    desk.write(
        "bad.yaml",
        "device: Pixl 7\nserve: ./none\nsteps:\n- navigate: { url: 'ftp://x' }\n- press: Entr\n- set: [viewport, 800, tall]\n\
         - click: 'role=button['\n- eval: '${SECRET:PW}'\n- repeat: 10000\n  steps: [{ repeat: 10000, steps: [{ reload: }] }]\n",
    );
    let run = desk.run("bad.yaml", &["--secrets", "secrets.env"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    for wanted in [
        "bad.yaml:1:9: `device`: there is no device called \"Pixl 7\"; did you mean Pixel 7",
        "bad.yaml:2:8: `serve` is a directory, and \"./none\" is none",
        "bad.yaml:4:20: step 0: navigate url: \"ftp://x\" is no address",
        "bad.yaml:5:10: step 1: press key: unknown key \"Entr\", did you mean \"Enter\"?",
        "bad.yaml:6:24: step 2: invalid value 'tall'",
        "bad.yaml:7:10: step 3: click selector: \"role=button[\" is no selector",
        "bad.yaml:8:10: step 4: eval script takes no secret, so ${SECRET:PW} is not put in there",
        "bad.yaml:10:36: these are more than 200000 steps in all",
    ] {
        assert!(run.stderr.contains(wanted), "{wanted:?} is missing:\n{}", run.stderr);
    }
    for flag in ["--workers", "--repeat-each"] {
        let run = desk.cli.run(&["playbook", "test", ".", flag, "0"]).unwrap();
        assert_eq!(run.code, Some(2), "{run:?}");
    }
}

#[test]
fn texts_arrive_as_they_are_written() {
    let desk = Desk::new();
    desk.write(
        "spelling.yaml",
        "vars: { a: A }\nsteps:\n- navigate: { url: '${url}' }\n- for_each: { x: ['$${a} $$${a} $$'] }\n  steps:\n\
         \x20 - fill: ['#who', '${x}']\n  - wait_for: { condition: function, value: \"who.value === '$' + '{a} $A $$'\", timeout: 10000 }\n\
         - fill: ['#who', 01234]\n- wait_for: { condition: function, value: \"who.value === '01234'\", timeout: 10000 }\n\
         - fill_form: { fields: { Who: 1.50 } }\n- wait_for: { condition: function, value: \"who.value === '1.50'\", timeout: 10000 }\n",
    );
    let (report, run) = desk.report("spelling.yaml", &[]);
    assert!(run.ok(), "{report:#}");
}

#[test]
fn constructs_do_what_they_say() {
    let desk = Desk::new();
    desk.write(
        "login.yaml",
        "vars: { user: nobody }\nsteps:\n- fill: ['#who', '${user}']\n- click: text=Go\n",
    );
    desk.write(
        "all.yaml",
        r##"
setup:
  - navigate: { url: "${url}" }
steps:
  - id: title
    capture: { title: /result }
    javascript_tool: { code: document.title }
  - assert: { kind: dom_text, selector: h1, contains: "${title}" }
  - for_each: { who: [ada, bob] }
    steps:
      - fill: ["#who", "${who}"]
      - click: text=Go
      - assert: { kind: dom_text, selector: "#out", contains: "hello ${who}" }
  - if: { kind: dom_text, selector: "#out", contains: bob }
    then: [{ press: Tab }]
    else: [{ press: Escape }]
  - if: { kind: dom_text, selector: "#out", contains: eve }
    then: [{ press: Escape }]
  - repeat: 2
    steps: [{ eval: "window.count = (window.count || 0) + 1" }]
  - repeat: { until: { kind: dom_text, selector: "#out", contains: "hello 4" }, max: 5 }
    steps:
      - eval: "window.count += 1; document.querySelector('#out').textContent = 'hello ' + window.count"
  - parallel:
      - - navigate: { url: "${url}" }
        - assert: { kind: dom_text, selector: "#out", pattern: "^$" }
      - name: second
        steps: [{ open: "${url}iana.org" }, { get: [title] }]
  - use: ./login.yaml
    vars: { user: carol }
  - assert: { kind: dom_text, selector: "#out", contains: hello carol }
  - name: again
    retries: 3
    timeout: 5000
    eval: "window.tries = (window.tries || 0) + 1; if (window.tries < 3) throw new Error('not yet'); window.tries"
"##,
    );
    let (report, run) = desk.report("all.yaml", &[]);
    assert!(run.ok(), "{report:#}\n{run:?}");
    let steps = report["steps"].as_array().unwrap();
    let paths: Vec<&str> = steps.iter().filter_map(|step| step["path"].as_str()).collect();
    for wanted in [
        "for_each who=bob",
        "if then",
        "repeat 2/2",
        "repeat 2/5",
        "parallel 1",
        "parallel second",
        "use ./login.yaml",
    ] {
        assert!(paths.contains(&wanted), "{wanted}: {paths:?}");
    }
    assert!(!paths.contains(&"repeat 3/5") && !paths.contains(&"if else"), "{paths:?}");
    let last = steps.last().unwrap();
    assert_eq!((&last["name"], &last["attempts"]), (&json!("again"), &json!(3)));
    let indices: Vec<u64> = steps.iter().map(|step| step["index"].as_u64().unwrap()).collect();
    assert!(indices.iter().copied().eq(0..steps.len() as u64));
}

#[test]
fn what_is_captured_is_what_is_told() {
    let desk = Desk::new();
    desk.write(
        "capture.yaml",
        "steps:\n- navigate: { url: '${url}' }\n- get: [text, h1]\n  capture: heading\n- get: [text, h1]\n  capture: { same: /text }\n\
         - assert: { kind: dom_text, selector: h1, pattern: '^${heading}$' }\n\
         - assert: { kind: dom_text, selector: h1, pattern: '^${same}$' }\n",
    );
    let (report, run) = desk.report("capture.yaml", &[]);
    assert!(run.ok(), "{report:#}");
    assert_eq!(report["steps"][1]["result"][0]["text"], "Example Domain");
    assert_eq!(report["steps"][1]["structuredContent"]["text"], "Example Domain");
    assert!(report["steps"][0]["structuredContent"].is_null(), "its text is its structure");

    desk.write("none.yaml", "steps:\n- navigate: { url: '${url}' }\n- get: [text, h1]\n  capture: { v: /nope }\n- fill: ['#who', '${v}']\n- wait: ['${v}']\n");
    let told = desk.run("none.yaml", &[]).stdout;
    assert_eq!(told.matches("step 1: get").count(), 1, "{told}");
    assert!(
        told.contains("[FAIL] step 1: get") && told.contains("nothing at /nope") && told.contains("/text"),
        "{told}"
    );
    let (report, _) = desk.report("none.yaml", &[]);
    assert_eq!(report["steps"][2]["args"]["selector"], "#who", "{report:#}");
    assert!(report["steps"].as_array().unwrap().iter().all(|step| step["args"].is_object()), "{report:#}");
}

#[test]
fn what_is_repeated_and_skipped_is_told_once() {
    let desk = Desk::new();
    let values: Vec<String> = (0..500).map(|number| format!("'{number}'")).collect();
    desk.write(
        "loops.yaml",
        &format!(
            "steps:\n- for_each: {{ n: [{0}] }}\n  steps:\n  - assert: {{ kind: url, pattern: '${{n}}zzz' }}\n  - get: [title]\n\
             - for_each: {{ n: [{0}] }}\n  steps: [{{ fill: ['#who', '${{n}}'] }}]\n- repeat: 300\n  steps: [{{ get: [url] }}]\n\
             - for_each: {{ n: ['7'] }}\n  steps: [{{ fill: ['#who', '${{n}}'] }}]\n",
            values.join(",")
        ),
    );
    let (report, run) = desk.report("loops.yaml", &[]);
    assert_eq!(run.code, Some(1));
    let told: Vec<String> = report["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            format!(
                "{} {} {}",
                step["status"].as_str().unwrap(),
                step["verb"].as_str().unwrap(),
                step["path"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "failed assert for_each n=0",
            "skipped get for_each n=0",
            "skipped assert for_each n 2-500/500 (499 skipped)",
            "skipped get for_each n 2-500/500 (499 skipped)",
            "skipped fill for_each n 1-500/500 (500 skipped)",
            "skipped get repeat 1-300/300 (300 skipped)",
            "skipped fill for_each n=7",
        ]
    );
    assert_eq!(report["steps"][4]["args"]["value"], "${n}");
    desk.write("until.yaml", "steps:\n- navigate: { url: '${url}' }\n- repeat: { until: { kind: url, pattern: zzz }, max: 2 }\n  steps: [{ get: [url] }]\n");
    let told = desk.run("until.yaml", &[]).stdout;
    assert_eq!(told.matches("step 4: repeat").count(), 1, "{told}");
    assert!(told.contains("[FAIL] step 4: repeat") && told.contains("not reached after 2 times"), "{told}");
}

#[test]
fn the_window_is_as_the_playbook_says_in_every_branch() {
    let desk = Desk::new();
    let width = |width: u32| {
        format!(
            "{{ wait_for: {{ condition: function, value: \"innerWidth === {width}\", timeout: 10000 }} }}"
        )
    };
    let here = "{ navigate: { url: '${url}' } }";
    desk.write("v.yaml", &format!("viewport: 800x600\nsteps: [{here}, {}]\n", width(800)));
    // A page that says nothing about phones is 980 wide on one, whatever the screen is.
    let phone = "screen.width === 500 && screen.height === 700 && /Android/.test(navigator.userAgent)";
    desk.write(
        "d.yaml",
        &format!("device: Pixel 7\nviewport: 500x700\nsteps:\n- {here}\n- wait_for: {{ condition: function, value: '{phone}', timeout: 10000 }}\n"),
    );
    desk.write(
        "p.yaml",
        &format!("viewport: 640x480\nsteps:\n- parallel: [[{here}, {w}], [{here}, {w}]]\n", w = width(640)),
    );
    for file in ["v.yaml", "d.yaml", "p.yaml"] {
        let (report, run) = desk.report(file, &[]);
        assert!(run.ok(), "{file}: {report:#}");
        assert_eq!(report["steps"][0]["verb"], "navigate", "setting the window is no step: {report:#}");
    }
}

#[test]
fn secrets_are_used_and_never_shown() {
    let desk = Desk::new();
    desk.write("secrets.env", "PW=hunter2-hunter2\n");
    desk.write(
        "login.yaml",
        "steps:\n- navigate: { url: '${url}' }\n- fill_form: { fields: { Secret: '${SECRET:PW}' } }\n\
         - javascript_tool: { code: \"document.querySelector('#pw').value\" }\n",
    );
    let (report, run) = desk.report("login.yaml", &["--secrets", "secrets.env", "--out", "r.md"]);
    assert!(run.ok(), "{run:?}");
    let told = format!("{report}{}{}", run.stderr, desk.read("r.md"));
    assert!(!told.contains("hunter2") && told.contains("${SECRET:PW}"), "{told}");
    assert!(!run.stderr.contains("WARNING"), "{run:?}");

    let without = desk.run("login.yaml", &[]);
    assert_eq!(without.code, Some(2), "{without:?}");
    let given = desk.run("login.yaml", &["--vars", "SECRET:PW=as-it-is"]);
    assert!(given.ok(), "{given:?}");
    assert!(given.stderr.contains("[playbook] WARNING: SECRET:PW"), "{given:?}");
}

#[test]
fn what_is_served_has_an_address() {
    let desk = Desk::new();
    desk.write("web/index.html", "<h1>Served</h1>");
    desk.write("dir.yaml", "serve: ./web\nsteps:\n- navigate: { url: '${base_url}' }\n- assert: { kind: dom_text, selector: h1, pattern: Served }\n");
    assert!(desk.run("dir.yaml", &[]).ok());
    let held = UnusedPort::hold();
    let port = held.number;
    desk.write(
        "command.yaml",
        &format!(
            "serve: {{ command: 'python3 -m http.server {port} --bind 127.0.0.1 --directory web', url: 'http://127.0.0.1:{port}', var: here }}\n\
             steps:\n- navigate: {{ url: '${{here}}' }}\n- assert: {{ kind: dom_text, selector: h1, pattern: Served }}\n"
        ),
    );
    let run = desk.run("command.yaml", &[]);
    assert!(run.ok(), "{run:?}");
    let is_free = || std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
    assert!(wait_until(SOON, is_free), "the server went with the run");
}

#[test]
fn nothing_is_left_behind_even_when_it_is_killed() {
    let desk = Desk::new();
    desk.write("wait.yaml", "steps:\n- navigate: { url: '${url}' }\n- wait_for: { condition: selector, value: '#never', timeout: 60000 }\n");
    for signal in [processes::kill as fn(u32) -> bool, processes::terminate] {
        let url = format!("url={}", desk.site.url("/"));
        let before = desk.site.requests_to("/").len();
        let mut child =
            desk.cli.command().args(["playbook", "run", "wait.yaml", "--vars", &url]).spawn().unwrap();
        assert!(wait_until(SOON, || desk.site.requests_to("/").len() > before));
        let browsers = processes::descendants(child.id());
        assert!(!browsers.is_empty());
        assert!(signal(child.id()));
        let _ = child.wait();
        assert!(wait_until(SOON, || browsers.iter().all(|pid| !processes::alive(*pid))));
    }
}

#[test]
fn the_schema_of_the_repository_is_current() {
    let schema = fresh_cli().run(&["playbook", "schema"]).unwrap().stdout;
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/playbook.schema.json");
    let kept = fs_err::read_to_string(kept).unwrap();
    assert!(schema == kept, "run `surehand playbook schema > docs/playbook.schema.json`");
}

#[test]
fn the_demo_is_the_quickstart_and_leaves_a_report() {
    let cli = fresh_cli();
    let run = cli.run(&["demo", "--out", "shown"]).unwrap();
    assert!(run.ok(), "{run:?}");
    let out = cli.home().work().join("shown");
    assert!(run.stderr.starts_with("The report will be") && run.stdout.contains("PASS: 7 of 7"), "{run:?}");
    let page = fs_err::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("Quickstart") && out.join("demo.png").exists());
}
