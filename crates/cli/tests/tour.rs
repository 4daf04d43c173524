//! The first tour of a new user, and what every verb returns: JSON shapes, exit codes, texts.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{AMPLE, Case, EARLY, SOON, Shared, fails, fresh_cli, json, keys, reference, without_refs};
use serde_json::{Value, json};
use surehand_testkit::{Response, wait_for};

static SHARED: Shared = Shared::new(|site| {
    site.page("/", TOUR)
        .route("/welcome", |request| {
            let email = request.query_value("email").unwrap_or_default();
            Response::html(format!("<title>Welcome</title><h1>Welcome, {email}</h1>"))
        })
        .page("/plain", "<title>Plain</title><h1>Plain</h1>")
        .page("/other", "<title>Other</title><h1>Other</h1>")
});

const TOUR: &str = "<!doctype html><html lang=en><title>Sign up</title><h1>Sign up</h1>
    <nav aria-label=Main><a href=/plain>Plain</a> <a href=/other>Other</a></nav>
    <form action=/welcome><label>Email <input name=email type=email required></label>
    <label>Plan <select name=plan><option>Free<option>Paid</select></label>
    <label><input type=checkbox name=news> News</label><button>Join</button></form>";

fn plain(session: &str) -> Case {
    let case = SHARED.case(session);
    case.ok(&["open", &case.site().url("/plain")]);
    case
}

#[test]
fn the_seven_commands_of_the_readme() {
    let case = SHARED.case("tour");
    let address = case.site().url("/").trim_start_matches("http://").to_owned();
    assert_eq!(case.text(&["open", &address]), format!("Sign up\nhttp://{address}"));
    let snapshot = case.text(&["snapshot", "-i"]);
    let email = reference(&snapshot, "textbox \"Email\"");
    let join = reference(&snapshot, "button \"Join\"");
    assert_eq!(case.text(&["fill", &email, "user@example.com"]), format!("filled textbox \"Email\" {email}"));
    let clicked = case.text(&["click", &join]);
    let target = case.site().url("/welcome?email=user%40example.com&plan=Free");
    assert_eq!(clicked, format!("clicked button \"Join\" {join} → {target}"));
    assert_eq!(case.text(&["get", "text", "h1"]), "Welcome, user@example.com");
    let picture = case.cli.home().work().join("page.png");
    assert_eq!(case.text(&["screenshot", "page.png"]), picture.display().to_string());
    assert!(fs_err::read(&picture).unwrap().starts_with(b"\x89PNG\r\n"));
    assert_eq!(case.text(&["close"]), "closed tour");
    assert_eq!(case.text(&["close"]), "nothing to close");
    case.fails(&["get", "url"]).must_be("no-session", 1).must_say("surehand open");
}

#[test]
fn an_interactive_snapshot_reads_like_the_page() {
    let case = SHARED.case("reads");
    case.ok(&["open", &case.site().url("/")]);
    let want = "\
- heading \"Sign up\" [level=1, ref]
- navigation \"Main\" [ref]
  - link \"Plain\" [ref]
  - link \"Other\" [ref]
- textbox \"Email\" [required, ref]
- combobox \"Plan\" [expanded=false, ref]: Free
  - option \"Free\" [selected, ref]
  - option \"Paid\" [ref]
- checkbox \"News\" [checked=false, ref]
- button \"Join\" [ref]
";
    assert_eq!(without_refs(&case.snapshot(&["-i"])), want);
}

#[test]
fn open_and_history() {
    let case = plain("history");
    let (plain, path) = (case.site().url("/plain"), case.page("<title>Other</title>"));
    let other = case.site().url(&path);
    assert_eq!(case.ok(&["open", &other]), json!({ "url": other, "title": "Other", "status": 200 }));
    assert_eq!(case.ok(&["back"])["url"], plain);
    assert_eq!(case.ok(&["forward"])["title"], "Other");
    assert_eq!(keys(&case.ok(&["reload"]))[..2], ["status", "title"]);
    assert!(case.site().requests_to(&path).len() >= 2, "opened once, reloaded once");
    case.fails(&["forward"]).must_be("no-history", 1);
    assert_eq!(case.ok(&["goto", &plain])["title"], "Plain");
    assert_eq!(case.ok(&["navigate", &other])["title"], "Other");
}

#[test]
fn actions() {
    let case = SHARED.case("actions");
    case.show("<title>Act</title><input id=a aria-label=Name><button id=b onclick='n=1'>Go</button><a href=/plain>Away</a>");
    let filled = case.ok(&["fill", "#a", "x"]);
    let name = filled["ref"].as_str().expect("a reference").to_owned();
    assert_eq!(filled, json!({ "filled": "#a", "ref": name, "role": "textbox", "name": "Name" }));
    assert_eq!(
        case.ok(&["type", &name, "yz"]),
        json!({ "typed": name, "ref": name, "role": "textbox", "name": "Name", "value": "xyz" })
    );
    assert_eq!(case.value("#a"), "xyz");
    assert_eq!(case.ok(&["press", "Backspace"]), json!({ "pressed": "Backspace" }));
    assert_eq!(case.value("#a"), "xy");
    let clicked = case.ok(&["click", "#b"]);
    assert_eq!((keys(&clicked), &clicked["clicked"]), (vec!["clicked", "name", "ref", "role"], &json!("#b")));
    assert_eq!(case.eval("n"), 1);
    assert_eq!(case.ok(&["click", "text=Away"])["navigated"], case.site().url("/plain"));
}

#[test]
fn get_reads() {
    let case = SHARED.case("get");
    let url = case.show(
        "<title>Get</title><p id=p class=c>One <b>two</b></p><p>Three</p><input id=i value=v>
         <div id=d style='position:absolute;left:10px;top:20px;width:30px;height:40px'></div>",
    );
    assert_eq!(case.ok(&["get", "text", "#p"]), json!({ "text": "One two", "origin": url }));
    assert_eq!(case.ok(&["get", "html", "#p"]), json!({ "html": "One <b>two</b>" }));
    assert_eq!(case.ok(&["get", "value", "#i"]), json!({ "value": "v" }));
    assert_eq!(case.ok(&["get", "attr", "#p", "class"]), json!({ "value": "c" }));
    assert_eq!(case.ok(&["get", "attr", "#p", "none"]), json!({ "value": null }));
    assert_eq!(case.ok(&["get", "title"]), json!({ "title": "Get" }));
    assert_eq!(case.ok(&["get", "url"]), json!({ "url": url }));
    assert_eq!(case.ok(&["get", "count", "p"]), json!({ "count": 2 }));
    assert_eq!(case.ok(&["get", "count", ".none"]), json!({ "count": 0 }));
    let bounds = case.ok(&["get", "box", "#d"]);
    for (side, want) in [("x", 10.0), ("y", 20.0), ("width", 30.0), ("height", 40.0)] {
        assert_eq!(bounds[side].as_f64(), Some(want), "{bounds}");
    }
    let several = case.run(&["get", "text", "p"]);
    assert_eq!(several.stdout, "One two\n");
    assert_eq!(several.stderr, "note: 2 elements match; this is the first visible one\n");
    assert_eq!(case.ok(&["get", "text", "p"])["matches"], 2);
}

#[test]
fn eval_returns_json() {
    let case = plain("eval");
    let url = case.site().url("/plain");
    assert_eq!(
        case.ok(&["eval", "({a: [1, null, 'x']})"]),
        json!({ "result": { "a": [1, null, "x"] }, "origin": url })
    );
    assert_eq!(case.eval("await new Promise(done => setTimeout(() => done(7), 1))"), 7);
    assert_eq!(case.eval("Promise.resolve(8)"), 8);
    assert_eq!(case.eval("fetch('/plain').then(answer => answer.status)"), 200);
    assert_eq!(case.eval("undefined"), Value::Null);
    assert_eq!(case.text(&["eval", "'bare text'"]), "bare text");
    let run = case.cli.run_with_input(&["eval", "--stdin"], b"document.title").unwrap();
    assert_eq!(run.stdout, "Plain\n");
    case.fails(&["eval", "nowhere()"]).must_be("script-error", 1).must_say("nowhere is not defined");
    case.fails(&["eval", "1 +"]).must_be("script-error", 1).must_say("SyntaxError");
    case.fails(&["eval", "let a = {}; a.a = a; a"]).must_be("not-json", 1);
}

#[test]
fn screenshots() {
    let case = plain("pictures");
    let work = case.cli.home().work().to_owned();
    let path = work.join("new/folder/a.jpg");
    assert_eq!(case.ok(&["screenshot", "new/folder/a.jpg"]), json!({ "path": path }));
    assert!(fs_err::read(&path).unwrap().starts_with(b"\xff\xd8\xff"));
    case.show("<body style='margin:0'><div style='height:3000px'></div><b id=b style='position:absolute;left:7px;top:9px;width:50px;height:20px'>x</b>");
    assert_eq!(size(&case, &["screenshot", "#b", "b.png"]), (50, 20));
    let (_, view) = size(&case, &["screenshot", "view.png"]);
    assert_eq!(size(&case, &["screenshot", "--full", "full.png"]).1, 3000);
    assert!(view < 3000);
    let numbered = case.ok(&["screenshot"])["path"].as_str().unwrap().to_owned();
    assert!(numbered.starts_with(work.to_str().unwrap()) && numbered.ends_with(".png"), "{numbered}");
    case.fails(&["screenshot", "./a.gif"]).must_be("usage", 2).must_say(".png");
}

/// Width and height of a PNG, from its header.
fn size(case: &Case, command: &[&str]) -> (u32, u32) {
    let path = case.ok(command)["path"].as_str().expect("a path").to_owned();
    let bytes = fs_err::read(path).expect("a picture");
    let number = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    (number(16), number(20))
}

#[test]
fn waits() {
    let case = SHARED.case("waits");
    let url = case.show(
        "<p id=out></p><i id=gone>x</i><button onclick=\"setTimeout(() => { out.textContent = 'Thank you'; gone.remove();
         history.pushState(0, '', '#done') }, 30)\">Go</button>",
    );
    case.ok(&["click", "button"]);
    assert_eq!(case.ok(&["wait", "--text", "Thank you"]), json!({ "waited": "text", "text": "Thank you" }));
    assert_eq!(
        case.ok(&["wait", "#out"]),
        json!({ "waited": "selector", "selector": "#out", "state": "visible" })
    );
    case.ok(&["wait", "#gone", "--state", "detached"]);
    case.ok(&["wait", "#gone", "--state", "hidden"]);
    assert_eq!(
        case.ok(&["wait", "--url", "**#done"]),
        json!({ "waited": "url", "url": format!("{url}#done") })
    );
    assert_eq!(case.ok(&["wait", "--load", "load"]), json!({ "waited": "load", "state": "load" }));
    assert_eq!(case.ok(&["wait", "--load", "networkidle"])["state"], "networkidle");
    assert_eq!(case.ok(&["wait", "10"]), json!({ "waited": "timeout", "ms": 10 }));
    assert_eq!(case.text(&["wait", "--text", "Thank"]), "the page shows \"Thank\"");
    for never in [
        &["wait", "--text", "never"][..],
        &["wait", "#never"],
        &["wait", "--url", "**/never"],
        &["wait", "#out", "--state", "hidden"],
    ] {
        let failure = case.fails(&[never, &["--timeout", "500"]].concat());
        failure.must_be("timeout", 1).must_say("--timeout");
        assert!(failure.elapsed.as_millis() >= 500, "it gave up early: {failure:?}");
    }
}

#[test]
fn tabs() {
    let case = plain("tabs");
    let (plain, other) = (case.site().url("/plain"), case.site().url("/other"));
    let first = json!({ "tabId": "t1", "label": null, "title": "Plain", "url": plain, "type": "page", "active": true });
    assert_eq!(case.ok(&["tab", "list"]), json!({ "tabs": [first] }));
    let new = case.ok(&["tab", "new", &other, "--label", "docs"]);
    assert_eq!(new, json!({ "tabId": "t2", "label": "docs", "url": other, "total": 2 }));
    assert_eq!(case.ok(&["get", "title"])["title"], "Other");
    assert_eq!(case.ok(&["tab", "t1"]), json!({ "tabId": "t1", "url": plain, "total": 2 }));
    assert_eq!(case.ok(&["get", "title"])["title"], "Plain");
    assert_eq!(case.text(&["tab"]), format!("* t1 Plain — {plain}\n  t2 [docs] Other — {other}"));
    case.ok(&["tab", "docs"]);
    assert_eq!(case.ok(&["tab", "close"]), json!({ "closed": "t2", "active": "t1", "total": 1 }));
    assert_eq!(case.ok(&["tab", "new"])["tabId"], "t3", "ids are never used again");
    assert_eq!(case.ok(&["tab", "close", "t3"])["closed"], "t3");
    case.fails(&["tab", "t2"]).must_be("no-tab", 1).must_say("t1");
    case.fails(&["tab", "1"]).must_be("no-tab", 1).must_say("t1");
    case.fails(&["tab", "new", "--label", "t9"]).must_be("usage", 2);
}

#[test]
fn a_tab_that_the_page_opens_is_listed() {
    let case = SHARED.case("popup");
    case.show("<title>Opener</title><a href=/other target=_blank>New</a>");
    case.ok(&["click", "text=New"]);
    case.ok(&["tab", "t2"]);
    case.ok(&["wait", "--text", "Other"]);
    assert_eq!(case.ok(&["tab", "list"])["tabs"][1]["title"], "Other");
}

#[test]
fn what_the_page_said() {
    let case = SHARED.case("said");
    // An icon of its own: the usual one would be asked for at some time after everything else.
    let url = case.show(
        "<link rel=icon href='data:,'><script>console.log('one', 2, {a: 3}); console.warn('careful'); setTimeout(() => { nowhere() })</script>
         <img src=/none.png><script>fetch('/plain'); fetch('http://127.0.0.1:1/').catch(() => document.title = 'done')</script>",
    );
    case.ok(&["wait", "--load", "networkidle"]);
    let messages = case.ok(&["console"])["messages"].clone();
    assert_eq!((&messages[0]["type"], &messages[0]["text"]), (&json!("log"), &json!("one 2 {a: 3}")));
    assert_eq!((&messages[1]["type"], &messages[1]["text"]), (&json!("warning"), &json!("careful")));
    assert_eq!((&messages[0]["url"], &messages[0]["line"]), (&json!(url), &json!(1)));
    let errors = case.ok(&["errors"])["errors"].clone();
    assert_eq!(keys(&errors[0]), ["column", "line", "text", "url"]);
    assert!(errors[0]["text"].as_str().unwrap().contains("nowhere is not defined"), "{errors}");
    assert_eq!((&errors[0]["url"], &errors[0]["line"]), (&json!(url), &json!(1)));
    assert!(case.text(&["errors"]).contains(&format!("at {url}:1:")));

    let requests =
        |filter: &[&str]| case.ok(&[&["network", "requests"], filter].concat())["requests"].clone();
    let all = requests(&["--type", "document"]);
    assert_eq!(
        (&all[0]["url"], &all[0]["status"], &all[0]["method"]),
        (&json!(url), &json!(200), &json!("GET"))
    );
    assert_eq!((&all[0]["failed"], &all[0]["mimeType"]), (&json!(false), &json!("text/html")));
    assert_eq!(requests(&["--status", "404"])[0]["url"], case.site().url("/none.png"));
    let fetched = requests(&["--filter", "/plain"]);
    assert_eq!(
        (&fetched[0]["resourceType"], &fetched[0]["initiator"]["url"]),
        (&json!("Fetch"), &json!(url))
    );
    let failed = requests(&["--status", "failed"]);
    assert!(failed[0]["error"].as_str().unwrap().contains("ERR_"), "{failed}");
    assert_eq!(failed.as_array().unwrap().len(), 1, "{failed}");

    for verb in [&["console"][..], &["errors"], &["network", "requests"]] {
        case.ok(&[verb, &["--clear"]].concat());
    }
    assert_eq!(case.text(&["console"]), "(no console messages)");
    assert_eq!(case.text(&["errors"]), "(no errors)");
    assert_eq!(case.text(&["network", "requests"]), "(no requests)");
}

#[test]
fn sessions_are_told_apart() {
    let (one, two) = (plain("one"), plain("two"));
    assert_eq!(one.eval("document.cookie = 'a=1'; document.cookie"), "a=1");
    assert_eq!(two.eval("document.cookie"), "");
    let list = one.ok(&["session", "list"])["sessions"].clone();
    let found: Vec<&Value> = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|each| each["name"] == "one" || each["name"] == "two")
        .collect();
    assert_eq!(found.len(), 2, "{list}");
    assert_eq!(keys(found[0]), ["alive", "browserPid", "idleMs", "name", "shared", "tabs", "url"]);
    assert_eq!(found[0]["browserPid"], found[1]["browserPid"]);
    let info = two.ok(&["session", "info"]);
    assert_eq!(
        (&info["name"], &info["tabs"], &info["alive"], &info["shared"]),
        (&json!("two"), &json!(1), &json!(true), &json!(true))
    );
    assert_eq!(info["daemonPid"].as_u64(), one.cli.daemon_pid().map(u64::from));
    assert!(info["options"].is_object());
    assert_eq!(one.ok(&["close"]), json!({ "closed": ["one"] }));
    assert_eq!(one.ok(&["close"]), json!({ "closed": [] }));
    assert_eq!(two.ok(&["get", "title"])["title"], "Plain", "another session does not notice");
}

#[test]
fn dialogs_have_a_shape() {
    let case = plain("dialog");
    assert_eq!(case.ok(&["dialog", "status"]), json!({ "hasDialog": false }));
    case.fails(&["dialog", "accept"]).must_be("no-dialog", 1);
    case.eval("setTimeout(() => answer = prompt('Name?', 'Ada')), 0");
    let open =
        wait_for(SOON, || Some(case.ok(&["dialog", "status"])).filter(|status| status["hasDialog"] == true));
    assert_eq!(
        open,
        Some(json!({ "hasDialog": true, "type": "prompt", "message": "Name?", "defaultPrompt": "Ada" }))
    );
    let want = json!({ "hasDialog": false, "accepted": true, "type": "prompt", "message": "Name?", "defaultPrompt": "Ada" });
    assert_eq!(case.ok(&["dialog", "accept", "Grace"]), want);
    assert_eq!(case.eval("answer"), "Grace");
}

#[test]
fn a_batch_goes_on_after_a_failure_unless_told_otherwise() {
    let case = plain("batch");
    let good = case.ok(&["batch", "get title", "eval '1 + 1'"]);
    let step = |command: Value, result: Value| json!({ "command": command, "success": true, "result": result, "error": null });
    let title = step(json!(["get", "title"]), json!({ "title": "Plain" }));
    let two = step(json!(["eval", "1 + 1"]), json!({ "result": 2, "origin": case.site().url("/plain") }));
    assert_eq!(good, json!([title, two]));

    let ample = case.cli.env("SUREHAND_TIMEOUT", AMPLE);
    let own = json(&ample, &["batch", "click #none --timeout 200", "wait #none --timeout 200", "get title"]);
    assert_eq!((own.error_code(), own.data().as_array().map(Vec::len)), ("batch-failed", Some(3)));
    assert!(own.elapsed < EARLY, "{:?}", own.elapsed);
    let run = json(&case.cli, &["--timeout", "500", "batch", "click #none", "get title"]);
    assert_eq!((run.code, run.success(), run.error_code()), (Some(1), false, "batch-failed"));
    assert_eq!(
        (&run.data()[0]["success"], &run.data()[0]["error"]["code"]),
        (&json!(false), &json!("not-found"))
    );
    assert_eq!(run.data()[1], title);
}

#[test]
fn a_batch_that_bails_stops() {
    let case = plain("bail");
    let bailed = json(&case.cli, &["--timeout", "500", "batch", "--bail", "click #none", "get title"]);
    assert_eq!((bailed.code, bailed.data().as_array().map(Vec::len)), (Some(1), Some(1)), "{}", bailed.value);
    assert_eq!(bailed.data()[0]["error"]["code"], "not-found");
    let text = case.run(&["--timeout", "500", "batch", "click #none", "get title"]);
    assert_eq!(text.code, Some(1));
    assert!(text.stdout.ends_with("$ get title\nPlain\n"), "{text:?}");
    let from_input = case.cli.run_with_input(&["batch"], b"# a comment\nget title\n").unwrap();
    assert_eq!(from_input.stdout, "$ get title\nPlain\n");
    let from_json = case.cli.run_with_input(&["batch"], br#"[["get","title"]]"#).unwrap();
    assert_eq!(from_json.stdout, "$ get title\nPlain\n");
    case.fails(&["batch", "get title", "clik #a"]).must_be("usage", 2).must_say("click");
    case.fails(&["batch"]).must_be("usage", 2);
}

/// No daemon is started by a command line that cannot be read.
#[test]
fn usage_errors_have_an_envelope_too() {
    let cli = fresh_cli();
    for (words, says) in [
        (&["clik", "#a"][..], "click"),
        (&["snapshot", "--interactiv"], "--interactive"),
        (&["click"], "SELECTOR"),
        (&["click", "#a", "b"], "b"),
        (&["get"], "get"),
        (&["--session", "a/b", "get", "url"], "a/b"),
        (&["wait"], "wait"),
        (&["wait", "#a", "--text", "b"], "--text"),
        (&[], "surehand"),
    ] {
        fails(&cli, words).must_be("usage", 2).must_say(says);
        let text = cli.run(words).unwrap();
        assert_eq!((text.code, text.stdout.as_str()), (Some(2), ""), "{words:?}");
        assert!(text.stderr.starts_with("error[usage]: "), "{words:?}: {}", text.stderr);
    }
    assert_eq!(cli.daemon_pid(), None);
}
