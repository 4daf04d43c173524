//! Recording: what was done in a session becomes a playbook that does it again.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::Write;
use std::process::Stdio;

use common::fresh_cli;
use serde_json::{Value, json};
use surehand_testkit::{Cli, Site};

const PAGE: &str = "<title>Log in</title><h1>Log in</h1><form action=/welcome>\
    <label>User <input name=u></label><label>Password <input type=password name=p></label>\
    <label>Colour <select name=c><option>Red<option>Green</select></label>\
    <label><input type=checkbox name=k> Keep me</label><button>Go</button></form>\
    <ul><li>One <button type=button onclick='out.textContent=1'>Pick</button><li>Two <button type=button onclick='out.textContent=2'>Pick</button></ul><p id=out></p>";

fn site() -> Site {
    Site::builder()
        .page("/", PAGE)
        .page("/welcome", "<title>Welcome</title><h1>Welcome, Ada</h1>")
        .start()
        .unwrap()
}

/// The reference of an element in the last snapshot.
fn reference(cli: &Cli, role: &str, name: &str, place: usize) -> String {
    let snapshot = cli.json(&["snapshot", "-i"]).unwrap();
    let refs = snapshot.data()["refs"].as_object().unwrap().clone();
    let is_it = |facts: &Value| facts["role"] == role && facts["name"] == name;
    let mut numbers: Vec<u32> =
        refs.iter().filter(|(_, facts)| is_it(facts)).map(|(key, _)| key[1..].parse().unwrap()).collect();
    numbers.sort_unstable();
    format!("@e{}", numbers[place])
}

fn journals(cli: &Cli) -> String {
    let folder = cli.home().path().join("journals");
    let files = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| fs_err::read_to_string(path).unwrap()).collect()
}

#[test]
fn a_session_of_the_command_line_plays_again() {
    let (cli, site) = (fresh_cli(), site());
    let shop = cli.session("my-shop");
    let ok = |line: &[&str]| {
        let run = shop.json(line).unwrap();
        assert!(run.success(), "{line:?}: {}", run.value);
    };
    ok(&["open", &site.url("/")]);
    ok(&["click", &reference(&shop, "button", "Pick", 1)]);
    ok(&["get", "text", "#out"]);
    ok(&["fill", &reference(&shop, "textbox", "User", 0), "Ada ${x}"]);
    ok(&["fill", &reference(&shop, "textbox", "Password", 0), "hunter2!"]);
    ok(&["select", "label=Colour", "Green"]);
    ok(&["check", "label=Keep me"]);
    shop.json(&["click", "#nothing", "--timeout", "200"]).unwrap();
    ok(&["batch", "get url", "find role button click --name Go"]);
    ok(&["get", "text", "h1"]);
    ok(&["close"]);

    let recorded = shop.run(&["playbook", "record", "--out", "shop.playbook.yaml"]).unwrap();
    assert!(recorded.ok() && recorded.stderr.contains("PASSWORD"), "{recorded:?}");
    let text = fs_err::read_to_string(shop.home().work().join("shop.playbook.yaml")).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("@e"), "{text}");
    for wanted in [
        "role=button[name=\\\"Pick\\\"] >> nth=1",
        "role=textbox[name=\\\"User\\\"]",
        "\"${SECRET:PASSWORD}\"",
        "Ada $${x}",
        "pattern: \"/welcome\"",
        "Welcome, Ada",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
    }
    assert!(!journals(&cli).contains("hunter2"), "not on disk either");

    fs_err::write(shop.home().work().join("s.env"), "PASSWORD=hunter2!\n").unwrap();
    let before = site.requests_to("/welcome").len();
    let replayed = cli.run(&["playbook", "run", "shop.playbook.yaml", "--secrets", "s.env"]).unwrap();
    assert!(replayed.ok(), "{replayed:?}\n{text}");
    let seen = site.requests_to("/welcome");
    assert_eq!(seen.len(), before + 1);
    assert_eq!(seen[0].query, seen[before].query, "the same form was sent");
}

#[test]
fn a_session_of_an_agent_plays_again() {
    let (cli, site) = (fresh_cli(), site());
    fs_err::write(cli.home().work().join("s.env"), "PW=s3cret-word\n").unwrap();
    let calls = [
        ("navigate", json!({ "url": site.url("/") })),
        ("fill_form", json!({ "fields": { "User": "Ada", "Password": "${SECRET:PW}", "Keep me": true } })),
        ("interact", json!({ "ref": "Go" })),
        ("oc_assert", json!({ "contract": { "kind": "dom_text", "selector": "h1", "contains": "Welcome" } })),
    ];
    let mut child = cli.command();
    child
        .args(["mcp", "--secrets", "s.env", "--session", "agent"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut server = child.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }))
        .unwrap();
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(server.stdout.take().unwrap()));
    answers.next();
    for (id, (tool, arguments)) in calls.iter().enumerate() {
        let params = json!({ "name": tool, "arguments": arguments });
        writeln!(
            input,
            "{}",
            json!({ "jsonrpc": "2.0", "id": id + 1, "method": "tools/call", "params": params })
        )
        .unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.contains("\"isError\":false"), "{tool}: {answer}");
    }
    drop(input);
    server.wait().unwrap();

    let recorded = cli.session("agent").run(&["playbook", "record"]).unwrap();
    assert!(recorded.ok() && !recorded.stdout.contains("s3cret-word"), "{recorded:?}");
    assert!(
        recorded.stdout.contains("${SECRET:PW}") && recorded.stdout.contains("- assert:"),
        "{recorded:?}"
    );
    assert!(!journals(&cli).contains("s3cret-word"));
    fs_err::write(cli.home().work().join("agent.yaml"), &recorded.stdout).unwrap();
    let replayed = cli.run(&["playbook", "run", "agent.yaml", "--secrets", "s.env"]).unwrap();
    assert!(replayed.ok(), "{replayed:?}\n{}", recorded.stdout);
    let unknown = cli.session("nobody").run(&["playbook", "record"]).unwrap();
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
}
