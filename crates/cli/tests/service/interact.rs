//! `browser.interact`: the example of the document, every action, and how it fails.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use surehand_testkit::{Site, wait_until};

use crate::common::keys;
use crate::fixture::{SOON, Service, pages, quick, shared};
use crate::serving::Answer;

/// The site that the document's example is written for.
fn example() -> Site {
    pages(&[
        (
            "/",
            "<title>Example</title><button id=login-btn onclick='login.hidden = false'>Log in</button>
             <form id=login hidden action=/welcome><input id=username name=user value=nobody>
             <input id=password type=password name=pass><button id=submit>Go</button></form>",
        ),
        (
            "/welcome",
            "<h1></h1><p id=who></p><script>
             const given = new URLSearchParams(location.search);
             document.querySelector('h1').textContent = `Welcome, ${given.get('user')}`;
             who.textContent = given.get('pass') === 'demo' ? 'known' : 'unknown';</script>",
        ),
    ])
}

/// The body of the document's curl example, character by character but for the address.
const EXAMPLE: &str = r##"{
"url": "https://example.com",
"actions": [
{"action": "click", "selector": "#login-btn"},
{"action": "type", "selector": "#username", "value": "demo"},
{"action": "type", "selector": "#password", "value": "demo"},
{"action": "click", "selector": "#submit"},
{"action": "wait", "ms": 2000},
{"action": "screenshot"},
{"action": "assert_text", "text": "Welcome"},
{"action": "extract", "selector": "h1", "format": "text"}
]
}"##;

/// Width and height, as the header of a PNG tells them.
#[track_caller]
pub fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn the_example_of_the_document_works_as_it_is_written() {
    let (service, site) = (shared(), example());
    let url = site.url("/");
    let body = EXAMPLE.replace("https://example.com", &url);
    let bearer = format!("Bearer {}", service.token_of("tester"));
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let answer = service.ask("POST", "/api/v1/packs/browser.interact", &headers, body.as_bytes());
    let output = answer.ok();
    let names: Vec<&String> = output.as_object().unwrap().keys().collect();
    assert_eq!(names, ["url", "steps_completed", "screenshots", "extractions", "assertions_passed"]);
    assert_eq!(output["url"], url);
    assert_eq!(output["steps_completed"], 8);
    assert_eq!(output["extractions"], json!({ "h1": "Welcome, demo" }));
    assert_eq!(output["assertions_passed"], true);
    let pictures = output["screenshots"].as_array().unwrap();
    assert_eq!(pictures.len(), 1);
    let picture = BASE64_STANDARD.decode(pictures[0].as_str().unwrap()).unwrap();
    assert_eq!(png_size(&picture), (1280, 720));
    assert!(pictures[0].as_str().unwrap().starts_with("iVBORw0KGgo"));
    assert!(answer.header("content-type").unwrap().starts_with("application/json"));
    // Every action is in the audit, with the request's own name.
    let id = answer.header("x-request-id").unwrap();
    let actions = service.audit("event_type=action");
    let mine: Vec<&Value> = actions.iter().filter(|row| row["request_id"] == id).collect();
    assert_eq!(mine.len(), 9, "{mine:?}");
    assert!(mine.iter().all(|row| row["outcome"] == "ok" && row["actor_subject"] == "tester"), "{mine:?}");
}

/// What a row of the table expects.
enum Then {
    /// What is extracted last.
    Reads(&'static str),
    /// Do all assertions hold?
    Passes(bool),
}
use Then::{Passes, Reads};

/// A page, actions on it, and what comes of them.
const ROWS: &[(&str, &str, &str, Then)] = &[
    (
        "type replaces what is in the field, with real keys",
        "<input id=f value=old><p id=log></p><script>let downs = 0, inputs = 0;
         f.onkeydown = (event) => { if (event.isTrusted && event.key.length === 1) downs++; show() };
         f.oninput = (event) => { if (event.isTrusted && event.data) inputs++; show() };
         const show = () => log.textContent = `${f.value} ${downs} ${inputs}`;</script>",
        r##"[{"action":"type","selector":"#f","value":"new"},{"action":"extract","selector":"#log"}]"##,
        Reads("new 3 3"),
    ),
    (
        "an empty value empties the field",
        "<input id=f value=old oninput=\"log.textContent = `<${f.value}>`\"><p id=log></p>",
        r##"[{"action":"type","selector":"#f","value":""},{"action":"extract","selector":"#log"}]"##,
        Reads("<>"),
    ),
    (
        "several lines go into a text area",
        "<textarea id=f>old</textarea><pre id=log></pre><script>f.oninput = () => log.textContent = JSON.stringify(f.value)</script>",
        r##"[{"action":"type","selector":"#f","value":"a\nb ü 😀"},{"action":"extract","selector":"#log"}]"##,
        Reads("\"a\\nb ü 😀\""),
    ),
    (
        "a date is given as it is written",
        "<input id=f type=date value=2001-02-03 onchange='log.textContent = f.value'><p id=log></p>",
        r##"[{"action":"type","selector":"#f","value":"2026-11-16"},{"action":"extract","selector":"#log"}]"##,
        Reads("2026-11-16"),
    ),
    (
        "a list is chosen from, by label",
        "<select id=f onchange='log.textContent = f.value'><option value=1>One<option value=2>Two</select><p id=log></p>",
        r##"[{"action":"type","selector":"#f","value":"Two"},{"action":"extract","selector":"#log"}]"##,
        Reads("2"),
    ),
    (
        "a click is one that the page believes",
        "<button id=b>b</button><p id=log></p><script>b.onclick = (event) => log.textContent = event.isTrusted</script>",
        r##"[{"action":"click","selector":"#b"},{"action":"extract","selector":"#log"}]"##,
        Reads("true"),
    ),
    (
        "an element that comes late is waited for",
        "<body><script>setTimeout(() => document.body.innerHTML = '<p id=late>here</p>', 300)</script>",
        r##"[{"action":"extract","selector":"#late"}]"##,
        Reads("here"),
    ),
    (
        "html is what is inside of the element",
        "<div id=d><b class=x>bold</b> plain</div>",
        r##"[{"action":"extract","selector":"#d","format":"html"}]"##,
        Reads("<b class=\"x\">bold</b> plain"),
    ),
    (
        "of a selector that is read twice the later content counts",
        "<p id=p>1</p><button onclick='p.textContent++'>+</button>",
        r##"[{"action":"extract","selector":"#p"},{"action":"click","selector":"button"},{"action":"extract","selector":"#p"}]"##,
        Reads("2"),
    ),
    (
        "a wait that does not say how long is a second",
        "<p id=p></p><script>const began = performance.now()</script><button onclick='p.textContent = performance.now() - began >= 1000'>b</button>",
        r##"[{"action":"wait"},{"action":"click","selector":"button"},{"action":"extract","selector":"#p"}]"##,
        Reads("true"),
    ),
    (
        "whole numbers may be written with a point",
        "<p>x</p>",
        r##"[{"action":"wait","ms":10.0},{"action":"extract","selector":"p"}]"##,
        Reads("x"),
    ),
    (
        "text that is there passes",
        "<p>one <b>two</b></p>",
        r##"[{"action":"assert_text","text":"one two"}]"##,
        Passes(true),
    ),
    (
        "lines do not matter",
        "<p>one<br>two</p>",
        r##"[{"action":"assert_text","text":"one two"}]"##,
        Passes(true),
    ),
    (
        "text of scripts and of what is hidden does not count",
        "<p hidden>secret</p><script>'secret'</script>",
        r##"[{"action":"assert_text","text":"secret"}]"##,
        Passes(false),
    ),
    (
        "one miss is enough",
        "<p>a</p>",
        r##"[{"action":"assert_text","text":"a"},{"action":"assert_text","text":"b"},{"action":"assert_text","text":"a"}]"##,
        Passes(false),
    ),
    ("case matters", "<p>Welcome</p>", r##"[{"action":"assert_text","text":"welcome"}]"##, Passes(false)),
];

#[test]
fn actions_do_what_the_document_says() {
    let service = shared();
    for (what, html, actions, then) in ROWS {
        let site = pages(&[("/", html)]);
        let actions: Value = serde_json::from_str(actions).unwrap();
        let answer = service.interact(&site.url("/"), &actions);
        assert_eq!(answer.status, 200, "{what}: {}", answer.text());
        let output = answer.json();
        assert_eq!(output["steps_completed"], actions.as_array().unwrap().len(), "{what}");
        match then {
            Reads(text) => {
                let last = actions.as_array().unwrap().last().unwrap()["selector"].as_str().unwrap();
                assert_eq!(output["extractions"][last], *text, "{what}");
            }
            Passes(passes) => assert_eq!(output["assertions_passed"], *passes, "{what}"),
        }
    }
}

#[test]
fn a_miss_goes_on_and_a_failure_stops() {
    let service = shared();
    let site = pages(&[("/", "<p>one</p><input id=i disabled>"), ("/two", "<h1>Two</h1>")]);
    // Nothing that was not asked for is null.
    let output = service.interact(&site.url("/"), &json!([{ "action": "assert_text", "text": "nine" }])).ok();
    assert_eq!((&output["screenshots"], &output["extractions"]), (&json!([]), &json!({})));
    let missed = json!([
        { "action": "assert_text", "text": "nine" },
        { "action": "navigate", "url": site.url("/two") },
        { "action": "screenshot" }, { "action": "screenshot" },
        { "action": "extract", "selector": "h1" },
    ]);
    let output = service.interact(&site.url("/"), &missed).ok();
    assert_eq!((&output["steps_completed"], &output["assertions_passed"]), (&json!(5), &json!(false)));
    assert_eq!(output["screenshots"].as_array().unwrap().len(), 2);
    assert_eq!(output["extractions"]["h1"], "Two");
    site.clear_requests();
    let quick = quick();
    let failing = json!([
        { "action": "assert_text", "text": "nine" },
        { "action": "click", "selector": "#none" },
        { "action": "navigate", "url": site.url("/two") },
    ]);
    let failed = quick.interact(&site.url("/"), &failing);
    failed.must_be(502, "handler_failed").must_say("action[1] click").must_say("#none");
    assert_eq!(failed.json()["steps_completed"], 1);
    assert_eq!(keys(&failed.json()), ["error", "message", "steps_completed"]);
    assert!(site.requests_to("/two").is_empty(), "it went on");
    // The wrapped cause is in the audit.
    let id = failed.header("x-request-id").unwrap().to_owned();
    let rows = quick.audit("severity=error");
    let of =
        |kind: &str| rows.iter().find(|row| row["event_type"] == kind && row["request_id"] == id.as_str());
    let action = of("action").unwrap();
    assert!(action["cause"].as_str().unwrap().contains("#none"), "{action}");
    assert_eq!((&action["payload"]["index"], &action["code"]), (&json!(1), &json!("handler_failed")));
    let call = of("pack_call").unwrap();
    assert_eq!((&call["status"], &call["code"]), (&json!(502), &json!("handler_failed")), "{call}");
    for (what, action) in [
        ("a field that is disabled", json!({ "action": "type", "selector": "#i", "value": "x" })),
        ("a page that is not there", json!({ "action": "navigate", "url": "http://127.0.0.1:1/" })),
        ("what cannot be typed into", json!({ "action": "type", "selector": "p", "value": "x" })),
        ("what is not there to be read", json!({ "action": "extract", "selector": "#none" })),
    ] {
        let failed = quick.interact(&site.url("/"), &json!([action]));
        assert_eq!(
            (failed.status, &failed.json()["steps_completed"]),
            (502, &json!(0)),
            "{what}: {}",
            failed.text()
        );
    }
    let nowhere = quick.interact("http://127.0.0.1:1/", &json!([{ "action": "screenshot" }]));
    nowhere.must_be(502, "handler_failed");
    assert_eq!(nowhere.json()["steps_completed"], 0);
}

#[test]
fn each_call_has_a_session_of_its_own() {
    let (service, site) = (
        shared(),
        pages(&[(
            "/",
            "<p id=p></p><script>p.textContent = document.cookie; document.cookie = 'seen=1'</script>",
        )]),
    );
    for _ in 0..2 {
        let output =
            service.interact(&site.url("/"), &json!([{ "action": "extract", "selector": "#p" }])).ok();
        assert_eq!(output["extractions"]["#p"], "");
    }
}

#[test]
fn requests_that_the_guard_refuses_are_told() {
    let service = shared();
    let site = pages(&[("/", "<img src='http://10.1.2.3/pixel.png'><p>x</p>")]);
    let output = service.interact(&site.url("/"), &json!([{ "action": "assert_text", "text": "x" }])).ok();
    let blocked = &output["blocked_requests"][0];
    assert!(blocked["url"].as_str().unwrap().starts_with("http://10.1.2.3"), "{output}");
    assert!(!blocked["reason"].as_str().unwrap().is_empty(), "{output}");
    assert!(output.as_object().unwrap().keys().next_back().unwrap() == "blocked_requests");
    let refused = service.interact("http://169.254.169.254/latest", &json!([{ "action": "screenshot" }]));
    refused.must_be(400, "invalid_input").must_say("egress denied");
    let later = json!([{ "action": "navigate", "url": "http://[::1]:1/" }]);
    service.interact(&site.url("/"), &later).must_be(400, "invalid_input").must_say("egress denied");
}

#[test]
fn typing_ends_with_the_call_and_harms_nobody() {
    let service = Service::start(&["--session-timeout", "8000"]);
    let slow = "<textarea id=a></textarea><script>a.oninput = () => { const end = Date.now() + 20; while (Date.now() < end); }</script>";
    let site = pages(&[("/", "<p>x</p>"), ("/slow", slow)]);
    let value = "keys ".repeat(10_000);
    let actions = json!([{ "action": "type", "selector": "#a", "value": value }]);
    let began = std::time::Instant::now();
    let typing = service.begin("ann", &site.url("/slow"), &actions);
    assert!(wait_until(SOON, || !site.requests_to("/slow").is_empty()));
    service.interact(&site.url("/"), &json!([{ "action": "extract", "selector": "p" }])).ok();
    let ended = Answer::read(&mut { typing }).unwrap();
    ended.must_be(504, "timeout");
    // All keys would take a quarter of an hour.
    assert!(began.elapsed() < 2 * SOON, "{:?}", began.elapsed());
    service.wait_for_load(0, 0);
}

#[test]
fn a_failure_tells_what_was_blocked_as_well() {
    let service = quick();
    let site = pages(&[("/", "<img src='http://10.1.2.3/i.png'><p>x</p>")]);
    let actions =
        json!([{ "action": "extract", "selector": "p" }, { "action": "click", "selector": "#none" }]);
    let failed = service.interact(&site.url("/"), &actions);
    failed.must_be(502, "handler_failed");
    assert_eq!(failed.json()["blocked_requests"][0]["url"], "http://10.1.2.3:80/i.png", "{}", failed.text());
}

#[test]
fn an_answer_that_nobody_could_read_is_not_made() {
    let service = shared();
    let site = pages(&[(
        "/",
        "<p></p><script>document.querySelector('p').textContent = 'x'.repeat(9 << 20)</script>",
    )]);
    let actions = vec![json!({ "action": "extract", "selector": "p" }); 5];
    let failed = service.interact(&site.url("/"), &json!(actions));
    failed.must_be(502, "handler_failed").must_say("larger than 32 MiB");
    assert_eq!(failed.json()["steps_completed"], 3);
}

#[test]
fn a_text_is_found_in_frames_and_shadow_roots() {
    let site = pages(&[(
        "/",
        "<div id=host></div><iframe srcdoc='<p id=inner>in the frame</p>'></iframe><p hidden>not shown</p>
         <script>host.attachShadow({ mode: 'open' }).innerHTML = '<p id=deep>in the shadow</p>'</script>",
    )]);
    let ask = |text: &str| {
        let actions = json!([
            { "action": "extract", "selector": "#inner" },
            { "action": "assert_text", "text": text },
        ]);
        shared().interact(&site.url("/"), &actions).ok()["assertions_passed"].clone()
    };
    assert_eq!(ask("in the frame"), true);
    assert_eq!(ask("in the shadow"), true);
    assert_eq!(ask("not shown"), false);
}

#[test]
fn a_tab_is_typed_and_does_not_lead_elsewhere() {
    let site = pages(&[("/", "<textarea id=t>old</textarea><input id=n value=kept>")]);
    let actions = json!([
        { "action": "type", "selector": "#t", "value": "col1\tcol2\r\nrow2" },
        { "action": "extract", "selector": "#t" },
        { "action": "extract", "selector": "#n" },
    ]);
    let done = shared().interact(&site.url("/"), &actions).ok();
    assert_eq!(done["extractions"], json!({ "#t": "col1\tcol2\nrow2", "#n": "kept" }));
    // What cannot be held is not said to be typed.
    let one_line = json!([{ "action": "type", "selector": "#n", "value": "a\tb\nc" }]);
    shared().interact(&site.url("/"), &one_line).must_be(502, "handler_failed");
}
