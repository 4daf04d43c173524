//! Secrets over MCP: the page gets the value, the client never does, however the page echoes it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use surehand_testkit::{Cli, Response, Site, TempHome, processes};

const BINARY: &str = env!("CARGO_BIN_EXE_surehand");

/// With everything that needs escaping somewhere.
const PASSWORD: &str = r#"hün"ter & <2>/é+\50% o'k"#;
/// Of letters that no address, time or name has in a row by chance: parts of it are looked for.
const PIN: &str = "kvqzjxwp";
/// A number where code is; longer than a port, and not the start of a time.
const NUMBER: &str = "7351926480";
const FILE: &str = "# test\nPASSWORD='hün\"ter & <2>/é+\\50% o\\'k'\n";

const PAGE: &str = r#"<!doctype html><title>Log in</title>
<form onsubmit="echo(event)"><label>Password <input id=pw type=password></label><label>Note <input id=note></label><button>Log in</button></form>
<pre id=out></pre><div id=html></div>
<script>
const bytes = text => String.fromCharCode(...new TextEncoder().encode(text));
function echo(event) {
  event.preventDefault();
  const pw = document.getElementById('pw').value;
  const b64 = ['', 'u', 'us'].map(before => btoa(bytes(before + pw + ':x')));
  const all = [pw, ...b64, ...b64.map(b => b.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
    encodeURIComponent(pw), encodeURIComponent(pw).toLowerCase(), new URLSearchParams({ p: pw }).toString(), JSON.stringify({ p: pw }),
    JSON.stringify(JSON.stringify({ p: pw }))];
  document.getElementById('out').textContent = all.join('\n');
  document.getElementById('html').innerHTML = '<input aria-label=Echo>';
  document.querySelector('#html input').value = pw;
  document.title = 'Hello ' + pw;
  console.log(pw);
}
</script>"#;

struct Server {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    id: u64,
    /// Everything that the server said.
    said: String,
}

impl Server {
    fn start(cli: &Cli, arguments: &[&str]) -> Self {
        let mut child = cli
            .command()
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a server");
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().expect("its output"));
        let mut server = Self { child, to, from, id: 0, said: String::new() };
        server.ask(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
        );
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().expect("open"), "{message}").expect("a server that reads");
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).expect("a line"), 0, "the server ended");
            self.said.push_str(&line);
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == id {
                return answer["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let meta = json!({ "progressToken": "t" });
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }))
    }

    fn text(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert_ne!(answer["isError"], true, "{tool}: {answer}");
        answer["content"][0]["text"].as_str().expect("a text").to_owned()
    }

    fn error(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["isError"], true, "{tool}: {answer}");
        answer["structuredContent"]["error"].clone()
    }

    /// Hangs up; everything that it ever said.
    fn end(mut self) -> String {
        drop(self.to.take());
        let output = self.child.wait_with_output().expect("an end");
        format!("{}{}", self.said, String::from_utf8_lossy(&output.stderr))
    }
}

fn fixture() -> (Cli, Site, std::path::PathBuf) {
    let home = TempHome::new().expect("a temporary folder");
    // One byte each, so that characters are counted easily: the PIN stands across the end of the first part.
    let long = format!("<title>Long</title><pre>{}{PIN} and more</pre>", "y".repeat(49_996));
    let short = format!("<title>Short</title><pre id=text>{}{PIN} and more</pre>", "y".repeat(236));
    let site = Site::builder()
        .route("/", |_| Response::html(PAGE))
        .page("/long", &long)
        .page("/short", &short)
        .start()
        .expect("a port on loopback");
    let file = home.work().join("secrets.env");
    let quoted = PASSWORD.replace('\\', "\\\\").replace('"', "\\\"");
    fs_err::write(&file, format!("# for the test\nPASSWORD=\"{quoted}\"\nPIN={PIN}\nNUMBER={NUMBER}\n"))
        .expect("a file");
    (Cli::new(BINARY, &home), site, file)
}

/// No form of the password is in there.
fn assert_masked(text: &str) {
    let in_json = Value::from(PASSWORD).to_string();
    let twice = Value::from(in_json.as_str()).to_string();
    let mut forms = vec![PASSWORD.to_owned(), in_json, twice[3..twice.len() - 3].to_owned()];
    for before in ["", "u", "us"] {
        let length = (before.len() + PASSWORD.len()) / 3 * 4;
        let whole = format!("{before}{PASSWORD}:x");
        forms.push(STANDARD.encode(&whole)[4..length].to_owned());
        forms.push(URL_SAFE_NO_PAD.encode(&whole)[4..length].to_owned());
    }
    // Whatever the encoding, these stay as they are.
    forms.extend(["h%C3%BCn", "h%c3%bcn", "50%25", "hün"].map(str::to_owned));
    for form in forms {
        assert!(!text.contains(&form), "{form:?} is in {text}");
    }
}

#[test]
fn a_secret_reaches_the_page_and_appears_nowhere() {
    let (cli, site, file) = fixture();
    let mut server = Server::start(&cli, &["--secrets", file.to_str().expect("text")]);
    server.text("navigate", json!({ "url": site.url("/") }));
    server.text("fill_form", json!({ "fields": { "Password": "${SECRET:PASSWORD}" }, "submit": "Log in" }));
    // Only the page can know: it is compared there with a value that is built from numbers.
    let codes: Vec<String> = PASSWORD.encode_utf16().map(|unit| unit.to_string()).collect();
    let code = format!("document.getElementById('pw').value === String.fromCharCode({})", codes.join(","));
    assert!(server.text("javascript_tool", json!({ "code": code })).contains("true"));
    for quote in ["'", "\"", "`"] {
        let code = format!("document.getElementById('pw').value === {quote}${{SECRET:PASSWORD}}{quote}");
        assert!(server.text("javascript_tool", json!({ "code": code })).contains("true"), "{quote}");
    }
    let echoed =
        server.text("javascript_tool", json!({ "code": "document.getElementById('out').textContent" }));
    assert!(echoed.matches("${SECRET:PASSWORD}").count() >= 12, "{echoed}");
    serde_json::from_str::<Value>(&echoed).expect("what was JSON is JSON");
    for mode in ["ax", "dom"] {
        let page = server.text("read_page", json!({ "mode": mode }));
        assert!(page.contains("${SECRET:PASSWORD}"), "{page}");
    }
    server.text("javascript_tool", json!({ "code": "document.documentElement.outerHTML" }));
    server.text("javascript_tool", json!({ "code": "document.getElementById('pw').value" }));
    let thrown = server.error("javascript_tool", json!({ "code": "throw new Error(document.title)" }));
    assert!(thrown["message"].as_str().unwrap().contains("${SECRET:PASSWORD}"), "{thrown}");
    server.error("interact", json!({ "ref": format!("No {PASSWORD}") }));
    assert!(
        server
            .text("javascript_tool", json!({ "code": "${SECRET:NUMBER} + 0" }))
            .contains("\"${SECRET:NUMBER}\"")
    );
    server.text("act", json!({ "action": "type ${SECRET:PIN} into Note" }));
    assert!(
        server
            .text("javascript_tool", json!({ "code": "document.getElementById('note').value.length" }))
            .contains('8')
    );
    let said = server.end();
    assert_masked(&said);
    assert!(!said.contains(PIN) && !said.contains(NUMBER), "{said}");

    let journals = cli.home().path().join("journals");
    let journal: String = journals
        .read_dir()
        .expect("journals")
        .map(|entry| fs_err::read_to_string(entry.expect("a journal").path()).expect("text"))
        .collect();
    assert!(journal.contains("${SECRET:PASSWORD}") && journal.contains("javascript_tool"), "{journal}");
    assert_masked(&journal);
}

#[test]
fn a_secret_goes_nowhere_else() {
    let (cli, _site, file) = fixture();
    let mut server = Server::start(&cli, &["--secrets", file.to_str().expect("text")]);
    let refused = server.error("navigate", json!({ "url": "http://127.0.0.1/?p=${SECRET:PASSWORD}" }));
    assert_eq!(refused["code"], "usage");
    assert!(refused["message"].as_str().unwrap().contains("navigate.url"), "{refused}");
    let missing = server.error("fill_form", json!({ "fields": { "Password": "${SECRET:PASSWORT}" } }));
    assert_eq!(missing["code"], "missing-secret");
    assert!(missing["message"].as_str().unwrap().contains("PASSWORT"), "{missing}");
    assert!(missing["hints"][0].as_str().unwrap().contains("PASSWORD, PIN, NUMBER"), "{missing}");
    let said = server.end();
    assert_masked(&said);
    #[cfg(unix)]
    assert!(said.contains("chmod 600"), "others may read the file: {said}");
}

#[test]
fn a_bad_file_is_told_without_its_contents() {
    let (cli, _site, file) = fixture();
    fs_err::write(&file, FILE).expect("a file");
    let file = file.to_str().expect("text");
    for command in [vec!["mcp", "--secrets", file], vec!["tool", "--secrets", file, "navigate", "{}"]] {
        let run = cli.json(&command).expect("an answer");
        assert_eq!((run.error_code(), run.code), ("bad-file", Some(2)), "{}", run.value);
        assert!(run.value["error"]["message"].as_str().unwrap().contains("line 2"), "{}", run.value);
        assert_masked(&run.value.to_string());
    }
    assert_eq!(
        cli.json(&["mcp", "--secrets", "nowhere.env"]).expect("an answer").error_code(),
        "missing-file"
    );
}

#[test]
fn the_shell_and_shared_sessions_keep_secrets_too() {
    let (cli, site, file) = fixture();
    let file = file.to_str().expect("text");
    let tool = |name: &str, arguments: Value| {
        let run = cli.json(&["tool", "--secrets", file, name, &arguments.to_string()]).expect("an answer");
        assert_masked(&run.value.to_string());
        run
    };
    assert!(tool("navigate", json!({ "url": site.url("/") })).success());
    assert!(
        tool("fill_form", json!({ "fields": { "Password": "${SECRET:PASSWORD}" }, "submit": "Log in" }))
            .success()
    );
    let echoed = tool("read_page", json!({ "mode": "dom" }));
    assert!(echoed.data()["text"].as_str().unwrap().contains("${SECRET:PASSWORD}"), "{}", echoed.value);
    assert_eq!(tool("fill_form", json!({ "fields": { "a": "${SECRET:X}" } })).error_code(), "missing-secret");

    // The same session, from an MCP server that shares it.
    let shared = cli.session("default");
    let mut server = Server::start(&shared, &["--secrets", file]);
    let value = server.text("javascript_tool", json!({ "code": "document.getElementById('pw').value" }));
    assert!(value.contains("${SECRET:PASSWORD}"), "{value}");
    server.text("fill_form", json!({ "fields": { "Note": "${SECRET:PASSWORD}" } }));
    assert_masked(&server.end());
}

/// Not even a part of the PIN is in there.
fn assert_no_part(text: &str) {
    for start in 0..PIN.len() - 3 {
        assert!(!text.contains(&PIN[start..start + 4]), "{} is in {text}", &PIN[start..start + 4]);
    }
}

#[test]
fn what_is_cut_was_masked_before() {
    let (cli, site, file) = fixture();
    let file = file.to_str().expect("text");
    let shared = cli.session("default");
    // With an engine of its own, and with that of the daemon.
    for (cli, session) in [(&cli, None), (&shared, Some("default"))] {
        let mut server = Server::start(cli, &["--secrets", file]);
        server.text("navigate", json!({ "url": site.url("/long") }));
        for mode in ["text", "html"] {
            for offset in [0, 49_900, 49_997, 49_999, 50_000, 50_001, 50_003, 50_020] {
                let part = server.text("read_page", json!({ "mode": mode, "offset": offset }));
                assert_no_part(&part);
            }
        }
        let first = server.text("read_page", json!({ "mode": "text" }));
        let next = serde_json::from_str::<Value>(&first).expect("JSON")["nextOffset"].clone();
        let rest = server.text("read_page", json!({ "mode": "text", "offset": next }));
        assert!(rest.contains("and more"), "{session:?}: {rest}");
        server.text("navigate", json!({ "url": site.url("/short") }));
        let contract = json!({ "kind": "dom_text", "selector": "#text", "contains": "nothing" });
        let judged = server.text("oc_assert", json!({ "contract": contract }));
        assert!(judged.contains("text_preview"), "{judged}");
        assert_no_part(&server.end());
    }
    cli.shut_down().expect("a daemon that ends");
}

#[test]
fn what_a_field_cut_off_is_not_told() {
    let (cli, site, file) = fixture();
    let mut server = Server::start(&cli, &["--secrets", file.to_str().expect("text")]);
    server.text("navigate", json!({ "url": site.url("/") }));
    server.text("javascript_tool", json!({ "code": "document.getElementById('note').maxLength = 5; 1" }));
    let error = server.error("fill_form", json!({ "fields": { "Note": "${SECRET:PIN}" }, "timeout": 5000 }));
    assert!(error["message"].as_str().expect("a text").contains("${SECRET:PIN}"), "{error}");
    assert_no_part(&server.end());
}

#[test]
fn the_log_shows_no_secrets() {
    let (cli, site, file) = fixture();
    let file = file.to_str().expect("text");
    cli.json(&["open", &site.url("/")]).expect("an answer");
    let talkative = cli.env("SUREHAND_LOG", "cdp=trace");
    let code = json!({ "code": "document.title = 'is ${SECRET:PIN}'" }).to_string();
    let run = talkative.run(&["tool", "--secrets", file, "javascript_tool", &code]).expect("an answer");
    assert!(run.stderr.contains("${SECRET:PIN}"), "{run:?}");
    assert_no_part(&run.stderr);
    // Nobody brought the secret along this time, but the daemon remembers it.
    let run = talkative.run(&["get", "title"]).expect("an answer");
    assert!(run.stderr.contains("${SECRET:PIN}"), "{run:?}");
    assert_no_part(&run.stderr);
    talkative.shut_down().expect("a daemon that ends");
}

/// Pictures go into reports, too.
#[test]
fn a_picture_does_not_show_a_field_that_holds_a_secret() {
    let (cli, site, file) = fixture();
    let mut server = Server::start(&cli, &["--secrets", file.to_str().expect("text")]);
    server.text("navigate", json!({ "url": site.url("/") }));
    let mut picture_of = |value: &str| {
        server.text("fill_form", json!({ "fields": { "Note": value } }));
        let taken = server.call("page_screenshot", json!({ "ref": "#note" }));
        let told = taken["content"][0]["text"].as_str().expect("a text").to_owned();
        (told.contains("\"covered\":1"), taken["content"][1]["data"].clone())
    };
    let (pin, password) = (picture_of("${SECRET:PIN}"), picture_of("is ${SECRET:PASSWORD}"));
    assert!(pin.0 && password.0, "both are covered");
    assert_eq!(pin.1, password.1, "one cover is like another");
    let (plain, other) = (picture_of("plain"), picture_of("other"));
    assert!(!plain.0 && !other.0 && plain.1 != other.1 && plain.1 != pin.1, "what is no secret is shown");
    let last = json!({ "code": "document.documentElement.lastElementChild.tagName" });
    assert!(server.text("javascript_tool", last).contains("BODY"), "the cover is gone");
    server.end();
}

/// Everything that was written down in this home.
fn journals(cli: &Cli) -> String {
    let folder = cli.home().path().join("journals");
    let files = folder.read_dir().expect("journals").map(|entry| entry.expect("a journal").path());
    files.map(|path| fs_err::read_to_string(path).expect("text")).collect()
}

/// A server that gets values instead of placeholders is told that they are secret.
#[test]
fn a_playbook_leaves_no_secret_in_the_journal_wherever_it_runs() {
    let (cli, site, file) = fixture();
    let playbook = "steps:\n\
        - navigate: { url: '${base}' }\n\
        - fill_form: { fields: { Note: '${SECRET:PASSWORD}' } }\n\
        - act: { action: 'type ${SECRET:PIN} into Password' }\n\
        - javascript_tool: { code: \"document.title = btoa('${SECRET:PIN}') + ' ${SECRET:PIN}'\" }\n\
        - get: { what: title }\n";
    fs_err::write(cli.home().work().join("p.yaml"), playbook).expect("a file");
    let base = format!("base={}", site.url("/"));
    let file = file.to_str().expect("text");
    let run = |place: &[&str]| {
        let mut line = vec!["playbook", "run", "p.yaml", "--vars", &base, "--secrets", file, "--json"];
        line.extend(place);
        let ran = cli.run(&line).expect("an answer");
        assert!(ran.ok(), "{place:?}: {ran:?}");
        assert_masked(&ran.stdout);
        assert_no_part(&ran.stdout);
        let journals = journals(&cli);
        assert!(journals.contains("${SECRET:PASSWORD}"), "{place:?}: {journals}");
        assert_masked(&journals);
        assert_no_part(&journals);
        fs_err::remove_dir_all(cli.home().path().join("journals")).expect("journals");
    };
    run(&[]);
    run(&["--server", &format!("{BINARY} mcp --toolsets page,verbs")]);
    run(&["--server", &format!("{BINARY} mcp --toolsets page,verbs --session shared")]);
    cli.json(&["session", "list"]).expect("a daemon");
    run(&["--reuse"]);
    let mut server = cli.command();
    server.args(["mcp", "--toolsets", "page,verbs", "--http", "127.0.0.1:0"]).stdin(Stdio::null());
    let mut server = server.stderr(Stdio::piped()).spawn().expect("a server");
    let mut address = String::new();
    BufReader::new(server.stderr.take().expect("its words")).read_line(&mut address).expect("its address");
    run(&["--server", address.trim()]);
    processes::end(server.id(), std::time::Duration::from_secs(10));
    let _ = server.wait();
    cli.shut_down().expect("a daemon that ends");
}
