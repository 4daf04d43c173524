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

/// Records the session `shop` and plays it again.
fn replay(shop: &Cli, secrets: &str) -> String {
    let recorded = shop.run(&["playbook", "record", "--out", "again.playbook.yaml"]).unwrap();
    assert!(recorded.ok(), "{recorded:?}");
    let text = fs_err::read_to_string(shop.home().work().join("again.playbook.yaml")).unwrap();
    fs_err::write(shop.home().work().join("again.env"), secrets).unwrap();
    let line = ["playbook", "run", "again.playbook.yaml", "--secrets", "again.env"];
    let replayed = shop.without_session().run(&line).unwrap();
    assert!(replayed.ok(), "{replayed:?}\n{text}");
    text
}

fn ok(cli: &Cli, line: &[&str]) -> Value {
    let run = cli.json(line).unwrap();
    assert!(run.success(), "{line:?}: {}", run.value);
    run.data().clone()
}

/// Equal buttons, one of them in a frame: each is itself again, and not the one that has its number in the snapshot.
#[test]
fn elements_in_frames_are_told_apart() {
    const FRAMES: &str = "<title>Frames</title><button onclick=\"o.textContent='main'\">Go</button>\
        <iframe srcdoc=\"<button onclick='parent.document.getElementById(`o`).textContent=`frame`'>Go</button>\"></iframe>\
        <iframe srcdoc=\"<iframe srcdoc='<button onclick=top.o.textContent=name>Go</button><button onclick=top.o.textContent=`deep`>Go</button>'></iframe>\"></iframe>\
        <button onclick=\"o.textContent='last'\">Go</button><p id=o></p>";
    let (cli, site) = (fresh_cli(), Site::builder().page("/", FRAMES).start().unwrap());
    let shop = cli.session("frames");
    ok(&shop, &["open", &site.url("/")]);
    for (place, wanted) in [(1, "frame"), (4, "last"), (3, "deep"), (0, "main")] {
        let button = reference(&shop, "button", "Go", place);
        ok(&shop, &["click", &button]);
        assert_eq!(ok(&shop, &["get", "text", "#o"])["text"], wanted);
    }
    // A frame that somebody chose stays the one that selectors are looked for in.
    ok(&shop, &["frame", "iframe >> nth=0"]);
    ok(&shop, &["click", &reference(&shop, "button", "Go", 0)]);
    ok(&shop, &["frame", "main"]);
    assert_eq!(ok(&shop, &["get", "text", "#o"])["text"], "frame");
    let text = replay(&shop, "");
    assert!(!text.contains("@e") && text.contains("- frame:"), "{text}");
}

/// What is in a closed shadow root is found, and counted, only after a snapshot.
#[test]
fn closed_shadow_roots_are_opened_again() {
    const CLOSED: &str = "<title>Closed</title><div id=h></div><button onclick=\"o.textContent='light'\">Go</button><p id=o></p>\
        <script>const r=h.attachShadow({mode:'closed'});r.innerHTML='<button>Go</button>';r.firstChild.onclick=()=>o.textContent='shut'</script>";
    let (cli, site) = (fresh_cli(), Site::builder().page("/", CLOSED).start().unwrap());
    let shop = cli.session("closed");
    ok(&shop, &["open", &site.url("/")]);
    let snapshot = ok(&shop, &["snapshot"])["snapshot"].as_str().unwrap().to_owned();
    let refs: Vec<String> = snapshot.split("ref=e").skip(1).map(|rest| format!("@e{}", &rest[..1])).collect();
    for (button, wanted) in refs.iter().zip(["shut", "light"]) {
        ok(&shop, &["click", button]);
        assert_eq!(ok(&shop, &["get", "text", "#o"])["text"], wanted);
    }
    let text = replay(&shop, "");
    assert!(text.contains("- snapshot: {}") && text.contains("nth=1"), "{text}");
}

/// What was the only one when it was seen, and one of several when it was clicked.
#[test]
fn an_element_is_named_when_it_is_used() {
    const LIST: &str = "<title>List</title><button onclick=\"l.insertAdjacentHTML('afterbegin','<li>New <button>Remove</button></li>')\">Prepend</button>\
        <ul id=l><li>A <button>Remove</button></li></ul><p id=o></p><div onclick=\"o.textContent='plain'\"><i></i></div><script>l.onclick=e=>{if(e.target.tagName=='BUTTON'){o.textContent='removed '+e.target.parentNode.firstChild.data}}</script>";
    let (cli, site) = (fresh_cli(), Site::builder().page("/", LIST).start().unwrap());
    let shop = cli.session("list");
    ok(&shop, &["open", &site.url("/")]);
    let (prepend, remove) =
        (reference(&shop, "button", "Prepend", 0), reference(&shop, "button", "Remove", 0));
    ok(&shop, &["click", &prepend]);
    ok(&shop, &["click", &remove]);
    assert_eq!(ok(&shop, &["get", "text", "#o"])["text"], "removed A");
    ok(
        &shop,
        &["tool", "act", &json!({ "action": format!("click {remove} then click {prepend}") }).to_string()],
    );
    ok(&shop, &["tool", "interact", &json!({ "ref": remove }).to_string()]);
    assert_eq!(ok(&shop, &["get", "text", "#o"])["text"], "removed A");
    let text = replay(&shop, "");
    assert!(text.contains("role=button[name=\\\"Remove\\\"] >> nth=1"), "{text}");
    assert!(text.contains("role=button[name=\\\"Remove\\\"] >> nth=2"), "{text}");
}

/// Each password is itself again, and no assertion asks for one.
#[test]
fn passwords_have_names_of_their_own() {
    const LOG_IN: &str = "<title>Log in</title><form onsubmit=\"event.preventDefault();o.textContent=(({ada:'aaaa1',bob:'bbbb2'})[u.value]===p.value?'hi '+u.value:'wrong')+' '+p.value+' is your password'\">\
        <label>User <input id=u></label><label>Password <input id=p type=password></label><button>Log in</button></form><p id=o></p>";
    let (cli, site) = (fresh_cli(), Site::builder().page("/", LOG_IN).start().unwrap());
    let shop = cli.session("two");
    ok(&shop, &["open", &site.url("/")]);
    for (user, password) in [("ada", "aaaa1"), ("bob", "bbbb2"), ("ada", "aaaa1")] {
        ok(&shop, &["fill", "#u", user]);
        ok(&shop, &["fill", "#p", password]);
        ok(&shop, &["press", "Enter"]);
        ok(&shop, &["wait", "--text", &format!("hi {user}")]);
        ok(&shop, &["get", "text", "#o"]);
    }
    assert!(!journals(&cli).contains("aaaa1") && !journals(&cli).contains("bbbb2"));
    let text = replay(&shop, "PASSWORD=aaaa1\nPASSWORD_2=bbbb2\n");
    assert_eq!(text.matches("${SECRET:PASSWORD}").count(), 2, "{text}");
    assert_eq!(text.matches("${SECRET:PASSWORD_2}").count(), 1, "{text}");
    assert!(text.contains("contains: \"is your password\""), "{text}");
}

/// A password before the host is told nowhere, and is a secret of the recording.
#[test]
fn a_password_in_an_address_is_a_secret() {
    const IN: &str = "<title>In</title><h1>Hello</h1><a href=/in?more>More</a>";
    let site = Site::builder().page("/in", IN).basic_auth("/in", "ada", "leaky1").start().unwrap();
    let cli = fresh_cli();
    let shop = cli.session("login");
    let address = site.url("/in").replacen("://", "://ada:leaky1@", 1);
    let mut told = ok(&shop, &["open", &address]).to_string();
    for line in
        [&["get", "url"][..], &["session", "list"], &["tab"], &["network", "requests"], &["click", "a"]]
    {
        told.push_str(&ok(&shop, line).to_string());
    }
    told.push_str(&shop.json(&["open", "http://ada:leaky1@127.0.0.1:1/"]).unwrap().value.to_string());
    assert!(!told.contains("leaky1"), "{told}");
    ok(&shop, &["open", &address]);
    ok(&shop, &["get", "text", "h1"]);
    assert!(!journals(&cli).contains("leaky1"), "{}", journals(&cli));
    let text = replay(&shop, "PASSWORD=leaky1\n");
    assert!(text.contains("${SECRET:PASSWORD}") && !text.contains("leaky1"), "{text}");
}

/// What scripts did to a page may be what the rest needs.
#[test]
fn scripts_are_part_of_a_recording() {
    let (cli, site) = (fresh_cli(), site());
    let shop = cli.session("scripts");
    ok(&shop, &["open", &site.url("/")]);
    ok(
        &shop,
        &[
            "eval",
            "document.body.insertAdjacentHTML('beforeend', `<button id=new onclick=\"out.textContent='${1 + 1} new'\">New</button>`)",
        ],
    );
    ok(&shop, &["click", "#new"]);
    ok(&shop, &["get", "text", "#out"]);
    ok(&shop, &["tool", "javascript_tool", &json!({ "code": "document.title = 'Set'" }).to_string()]);
    let text = replay(&shop, "");
    assert!(
        text.contains("- eval:") && text.contains("- javascript_tool:") && text.contains("2 new"),
        "{text}"
    );
}

/// Fields of text whose content is secret by what they are called, and one that only looks like them.
const SECRET_FIELDS: &str = "<title>Keys</title>\
    <label>Client secret <input id=a></label><input id=b placeholder='API key'><input id=c name=access_token>\
    <input id=pin-field aria-label=PIN><label>Passphrase <textarea id=e></textarea></label><label>Passwort <input id=f></label>\
    <input id=g autocomplete=one-time-code><label>Token <input id=h></label><label>CVV <input id=i></label>\
    <label>Password <input id=j type=password></label><label>Secretary <input id=k></label><label>Pinboard <input id=l></label>\
    <button onclick=\"o.textContent=[...document.querySelectorAll('input,textarea')].map(e=>e.value).join('|')\">Show</button><p id=o></p>";

/// However a secret gets into a field, it is neither on disk nor in the recording; whoever owns the page still sees it.
#[test]
fn fields_that_are_called_secret_are() {
    let (cli, site) = (fresh_cli(), Site::builder().page("/", SECRET_FIELDS).start().unwrap());
    let shop = cli.session("keys");
    ok(&shop, &["open", &site.url("/")]);
    ok(&shop, &["fill", "#a", "cs-filled-1"]);
    ok(&shop, &["type", "placeholder=API key", "ak-typed-2"]);
    ok(&shop, &["fill", "[name=access_token]", "at-filled-3"]);
    ok(&shop, &["fill", &reference(&shop, "textbox", "PIN", 0), "9137"]);
    ok(&shop, &["find", "label", "Passphrase", "fill", "pp found 5"]);
    ok(&shop, &["tool", "act", &json!({ "action": "type pw-acted-6 into Passwort" }).to_string()]);
    ok(&shop, &["tool", "fill_form", &json!({ "fields": { "css=#g": "otp-form-7" } }).to_string()]);
    ok(&shop, &["focus", "#h"]);
    ok(&shop, &["keyboard", "type", "tk-keys-8"]);
    ok(&shop, &["fill", "role=textbox[name=\"CVV\"]", "417"]);
    ok(&shop, &["focus", "#j"]);
    for key in ["z", "Shift+q", "7", "x"] {
        ok(&shop, &["press", key]);
    }
    ok(&shop, &["fill", "label=Secretary", "Grace"]);
    ok(&shop, &["fill", "label=Pinboard", "Plans"]);
    assert_eq!(ok(&shop, &["get", "value", "#a"])["value"], "cs-filled-1");
    ok(&shop, &["click", "text=Show"]);
    let shown = ok(&shop, &["get", "text", "#o"])["text"].as_str().unwrap().to_owned();
    let all = "cs-filled-1|ak-typed-2|at-filled-3|9137|pp found 5|pw-acted-6|otp-form-7|tk-keys-8|417|zQ7x|Grace|Plans";
    assert_eq!(shown, all);

    let (secrets, plain) = all.rsplit_once("|Grace").unwrap();
    let journals = journals(&cli);
    for secret in secrets.split('|').chain(["\"z\"", "\"Shift+q\"", "\"7\"", "\"x\""]) {
        assert!(!journals.contains(secret), "{secret} in {journals}");
    }
    assert!(journals.contains("Grace") && plain == "|Plans" && journals.contains("Plans"), "{journals}");
    let recorded = shop.json(&["playbook", "record"]).unwrap();
    let needed = recorded.data()["secrets"].as_array().unwrap().clone();
    let text = recorded.data()["playbook"].as_str().unwrap().to_owned();
    assert_eq!(needed.len(), 10, "{needed:?}\n{text}");
    assert_eq!(text.matches("- keyboard:").count(), 2, "the presses are one step:\n{text}");

    fs_err::write(shop.home().work().join("keys.yaml"), &text).unwrap();
    let file = "CLIENT_SECRET=cs-filled-1\nAPI_KEY=ak-typed-2\nACCESS_TOKEN=at-filled-3\nPIN=9137\nPASSPHRASE=pp found 5\n\
        PASSWORT=pw-acted-6\nPASSWORD=otp-form-7\nTOKEN=tk-keys-8\nPASSWORD_2=zQ7x\n";
    fs_err::write(shop.home().work().join("keys.env"), file).unwrap();
    let line = ["playbook", "run", "keys.yaml", "--secrets", "keys.env", "--vars", "SECRET:CVV=417"];
    let replayed = shop.without_session().run(&line).unwrap();
    assert!(replayed.ok(), "{replayed:?}\n{text}");
    assert_eq!(ok(&shop, &["get", "text", "#o"])["text"], all,);
}

/// Where a Tab leads is a field as well, and nobody asks about it when Enter has sent the form.
#[test]
fn what_is_typed_behind_a_tab_is_a_secret_too() {
    let (cli, site) = (fresh_cli(), site());
    let shop = cli.session("tabbed");
    ok(&shop, &["open", &site.url("/")]);
    ok(&shop, &["type", "label=User", "Ada\tfirst-word"]);
    ok(&shop, &["fill", "label=User", ""]);
    ok(&shop, &["focus", "label=User"]);
    ok(&shop, &["keyboard", "type", "Ada\tsecond-word\n"]);
    ok(&shop, &["wait", "--text", "Welcome, Ada"]);
    let journals = journals(&cli);
    assert!(!journals.contains("first-word") && !journals.contains("second-word"), "{journals}");
    assert!(journals.contains("Ada\\t${SECRET:PASSWORD}"), "{journals}");
}

/// The check of a playbook takes every selector that the recorder writes, and the engine finds the same element by it.
#[test]
fn names_with_anything_in_them_play_again() {
    const NAMES: &str = "<title>Names</title><p id=o></p><script>for (const n of ['He said \"hi\" [x] >> nth=2','a\\\\b','x\"] >> nth=0','it\\'s [name=\"q\"]','two\\nlines']) {\
        for (const k of [1,2]) { const b=document.createElement('button');b.textContent=n;b.onclick=()=>o.textContent+=n.length+'-'+k+' ';document.body.append(b) } }</script>";
    let (cli, site) = (fresh_cli(), Site::builder().page("/", NAMES).start().unwrap());
    let shop = cli.session("names");
    ok(&shop, &["open", &site.url("/")]);
    let snapshot = ok(&shop, &["snapshot", "-i"]);
    let mut numbers: Vec<u32> =
        snapshot["refs"].as_object().unwrap().keys().map(|key| key[1..].parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers.len(), 10, "{snapshot}");
    for number in numbers {
        ok(&shop, &["click", &format!("@e{number}")]);
    }
    let pressed = ok(&shop, &["get", "text", "#o"])["text"].as_str().unwrap().to_owned();
    assert_eq!(pressed.split_whitespace().count(), 10, "{pressed}");
    let text = replay(&shop, "");
    assert_eq!(text.matches("role=button[name=").count(), 10, "{text}");
    let checked = shop.run(&["playbook", "check", "again.playbook.yaml"]).unwrap();
    assert!(checked.ok(), "{checked:?}");
}

/// A recording is one object with `--json`, has no step that only looked, and finds its files from everywhere.
#[test]
fn a_recording_plays_in_another_folder() {
    const FILES: &str = "<title>Files</title><input type=file id=f><a href=/data download>Get</a><p id=o></p><script>f.onchange=()=>o.textContent=f.files[0].name</script>";
    let site = Site::builder().page("/", FILES).page("/data", "some data").start().unwrap();
    let cli = fresh_cli();
    let shop = cli.session("files");
    for file in ["hello.txt", "other.txt"] {
        fs_err::write(shop.home().work().join(file), "hello").unwrap();
    }
    ok(&shop, &["open", &site.url("/")]);
    ok(&shop, &["tab"]);
    ok(&shop, &["tab", "list"]);
    ok(&shop, &["upload", "#f", "hello.txt"]);
    ok(&shop, &["get", "text", "#o"]);
    ok(&shop, &["tool", "fill_form", &json!({ "fields": { "css=#f": "other.txt" } }).to_string()]);
    ok(&shop, &["get", "text", "#o"]);
    ok(&shop, &["download", "a", "kept.txt"]);
    let recorded = shop.json(&["playbook", "record"]).unwrap();
    assert!(recorded.success(), "{}", recorded.value);
    let text = recorded.data()["playbook"].as_str().unwrap();
    assert!(!text.contains("- tab"), "{text}");
    let elsewhere = shop.home().work().join("elsewhere");
    fs_err::create_dir(&elsewhere).unwrap();
    fs_err::write(elsewhere.join("files.yaml"), text).unwrap();
    fs_err::remove_file(shop.home().work().join("kept.txt")).unwrap();
    let mut run = cli.command();
    let replayed = run.args(["playbook", "run", "files.yaml"]).current_dir(&elsewhere).output().unwrap();
    assert!(replayed.status.success(), "{replayed:?}\n{text}");
    assert!(shop.home().work().join("kept.txt").exists() && !elsewhere.join("kept.txt").exists());
}

/// What is another one next time is in no assertion.
#[test]
fn what_changes_is_not_asked_for() {
    const ORDER: &str = "<title>Order</title><button onclick=\"const n=String(performance.timeOrigin*1000|0).replace('-','')+Date.now();\
        history.pushState(0,'','/orders/'+n);o.textContent='Order '+n+' was placed'\">Order</button><p id=o></p>";
    let (cli, site) = (fresh_cli(), Site::builder().page("/", ORDER).start().unwrap());
    let shop = cli.session("order");
    ok(&shop, &["open", &site.url("/")]);
    ok(&shop, &["click", "text=Order"]);
    ok(&shop, &["get", "text", "#o"]);
    let text = replay(&shop, "");
    assert!(text.contains("contains: \"was placed\""), "{text}");
}
