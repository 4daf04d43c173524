//! Sessions that are kept across calls: whose they are, when they end, and what happens to those without a browser.

use serde_json::{Value, json};
use surehand_testkit::{processes, wait_until};

use crate::common::keys;
use crate::fixture::{SOON, Service, pages, shared};
use crate::serving::Answer;

const SESSIONS: &str = "/api/v1/sessions";

/// Tells its server when an action was done to it.
const BUSY: &str = "<button onclick=\"fetch('/clicked')\">x</button>";

#[track_caller]
fn open(service: &Service, body: &Value) -> String {
    let made = service.post(SESSIONS, body);
    assert_eq!(made.status, 201, "{}", made.text());
    made.json()["session_id"].as_str().unwrap().to_owned()
}

fn interact(service: &Service, session: &str, url: &str, actions: &Value) -> Answer {
    service.pack("browser.interact", &json!({ "url": url, "actions": actions, "session_id": session }))
}

#[test]
fn what_a_page_keeps_is_there_in_the_next_call() {
    let service = shared();
    let site = pages(&[(
        "/",
        "<p id=p></p><script>p.textContent = document.cookie; document.cookie = 'seen=1'</script>",
    )]);
    let read = json!([{ "action": "extract", "selector": "#p" }]);
    let session = open(&service, &json!({}));
    assert_eq!(interact(&service, &session, &site.url("/"), &read).ok()["extractions"]["#p"], "");
    assert_eq!(interact(&service, &session, &site.url("/"), &read).ok()["extractions"]["#p"], "seen=1");
    let scraped = json!({ "url": site.url("/"), "session_id": session });
    assert_eq!(service.pack("web.scrape", &scraped).ok()["markdown"], "seen=1");
    // As it is called elsewhere.
    let underscored = json!({ "url": site.url("/"), "_session_id": session });
    assert_eq!(service.pack("web.scrape", &underscored).ok()["markdown"], "seen=1");
    let one = service.get(&format!("{SESSIONS}/{session}")).ok();
    assert_eq!(keys(&one), ["created_at", "expires_at", "expires_in_ms", "session_id", "url"]);
    assert_eq!(one["url"], site.url("/"));
    let listed = service.get(SESSIONS).ok();
    assert!(listed["sessions"].as_array().unwrap().iter().any(|one| one["session_id"] == session.as_str()));
    // Somebody else's is none.
    let other = service.token_of("stranger");
    let path = format!("{SESSIONS}/{session}");
    for method in ["GET", "DELETE"] {
        service.ask_with(&other, method, &path, None).must_be(404, "not_found");
    }
    assert_eq!(service.ask_with(&other, "GET", SESSIONS, None).ok()["sessions"], json!([]));
    service.pack_as("stranger", "web.scrape", &scraped).must_be(404, "not_found");
    // Its calls are in the audit under its name.
    assert!(service.audit(&format!("session_id={session}")).len() >= 4);
    assert_eq!(service.delete(&path).ok(), json!({ "session_id": session, "ended": true }));
    service.get(&path).must_be(404, "not_found");
    service.delete(&path).must_be(404, "not_found");
    interact(&service, &session, &site.url("/"), &read).must_be(404, "not_found").must_say(&session);
}

#[test]
fn a_session_is_made_only_of_what_makes_sense() {
    let service = shared();
    for wrong in [
        json!([]),
        json!({ "timeout": 5 }),
        json!({ "timeout_ms": "x" }),
        json!({ "timeout_ms": 999 }),
        json!({ "timeout_ms": 300_001 }),
        json!({ "timeout_ms": -1 }),
    ] {
        let answer = service.post(SESSIONS, &wrong);
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.text());
        answer.must_be(400, "invalid_input");
    }
    // Nothing at all means the usual.
    let made = service.ask_with(&service.token_of("brief"), "POST", SESSIONS, None);
    assert_eq!(made.status, 201, "{}", made.text());
    let left = made.json()["expires_in_ms"].as_u64().unwrap();
    assert!((290_000..=300_000).contains(&left), "{left}");
    let path = format!("{SESSIONS}/{}", made.json()["session_id"].as_str().unwrap());
    service.ask_with(&service.token_of("brief"), "DELETE", &path, None).ok();
}

#[test]
fn one_call_at_a_time_works_in_a_session() {
    let service = shared();
    let site = pages(&[("/", "<p>x</p>"), ("/busy", BUSY)]);
    let session = open(&service, &json!({}));
    let (url, long) = (
        site.url("/busy"),
        json!([{ "action": "click", "selector": "button" }, { "action": "wait", "ms": 60_000 }]),
    );
    std::thread::scope(|threads| {
        let working = threads.spawn(|| interact(&service, &session, &url, &long));
        assert!(wait_until(SOON, || !site.requests_to("/clicked").is_empty()));
        let busy = interact(&service, &session, &site.url("/"), &json!([{ "action": "screenshot" }]));
        busy.must_be(409, "session_busy");
        assert_eq!(busy.header("retry-after"), Some("1"));
        // Who ends the session ends what works in it.
        assert_eq!(service.delete(&format!("{SESSIONS}/{session}")).status, 200);
        let ended = working.join().unwrap();
        assert!([502, 503].contains(&ended.status), "{}: {}", ended.status, ended.text());
    });
}

#[test]
fn a_session_ends_when_its_time_is_over() {
    let service = Service::start(&["--max-sessions", "1", "--queue", "0"]);
    let site = pages(&[("/", "<p>x</p>")]);
    let session = open(&service, &json!({ "timeout_ms": 10_000 }));
    // It has the only place.
    let full = service.interact(&site.url("/"), &json!([{ "action": "screenshot" }]));
    assert!([429, 503].contains(&full.status), "{}", full.text());
    assert!(full.header("retry-after").is_some());
    // A call that works in it has no longer than it has.
    let cut = interact(
        &service,
        &session,
        &site.url("/"),
        &json!([{ "action": "extract", "selector": "p" }, { "action": "wait", "ms": 60_000 }]),
    );
    assert!([502, 504].contains(&cut.status), "{}", cut.text());
    assert_eq!(cut.json()["steps_completed"], 1, "{}", cut.text());
    service.wait_for_load(0, 0);
    service.get(&format!("{SESSIONS}/{session}")).must_be(404, "not_found");
    assert_eq!(service.interact(&site.url("/"), &json!([{ "action": "screenshot" }])).status, 200);
    // Deleting one frees its place at once.
    let session = open(&service, &json!({}));
    assert_eq!(service.load(), (1, 0));
    service.delete(&format!("{SESSIONS}/{session}")).ok();
    service.wait_for_load(0, 0);
    assert!(wait_until(SOON, || service.metric("surehand_sessions_open") <= 1.0), "only the warm one stays");
}

#[test]
fn a_browser_that_was_killed_is_replaced() {
    let service = Service::start(&[]);
    let site = pages(&[("/", "<p>x</p>"), ("/long", BUSY)]);
    let read = json!([{ "action": "extract", "selector": "p" }]);
    let session = open(&service, &json!({}));
    let (url, long) = (
        site.url("/long"),
        json!([{ "action": "click", "selector": "button" }, { "action": "wait", "ms": 60_000 }]),
    );
    std::thread::scope(|threads| {
        let working = threads.spawn(|| service.interact(&url, &long));
        assert!(wait_until(SOON, || !site.requests_to("/clicked").is_empty()));
        let browser = service.browser().expect("a browser");
        processes::kill(browser);
        // Who worked in it is told at once; it is not the caller's mistake.
        let failed = working.join().unwrap();
        assert!([502, 503].contains(&failed.status), "{}: {}", failed.status, failed.text());
    });
    let gone = interact(&service, &session, &site.url("/"), &read);
    gone.must_be(503, "session_unavailable");
    assert!(gone.header("retry-after").is_some());
    interact(&service, &session, &site.url("/"), &read).must_be(404, "not_found");
    assert_eq!(service.interact(&site.url("/"), &read).ok()["extractions"]["p"], "x");
    service.wait_for_load(0, 0);
}

#[test]
fn a_page_that_crashes_is_told_and_the_next_one_is_well() {
    let service = Service::start(&[]);
    // That it is clicked says that it is loaded, and that the next action has begun.
    let site = pages(&[("/", "<p>x</p><button onclick='fetch(`/clicked`)'>b</button>")]);
    let id = service.post("/api/v1/sessions", &json!({})).ok()["session_id"].clone();
    let call = |actions: Value| {
        let input = json!({ "url": site.url("/"), "actions": actions, "session_id": id });
        service.pack("browser.interact", &input)
    };
    let crash = || {
        // Those that a zygote made have all their arguments in one.
        let is_renderer = |pid: &u32| processes::args(*pid).iter().any(|arg| arg.contains("--type=renderer"));
        let all: Vec<u32> = processes::descendants(service.pid).into_iter().filter(is_renderer).collect();
        all.iter().for_each(|pid| _ = processes::kill(*pid));
        assert!(wait_until(SOON, || !all.iter().any(|pid| processes::alive(*pid))), "{all:?}");
    };
    let read = json!([{ "action": "extract", "selector": "p" }]);
    call(read.clone()).ok();
    crash();
    assert_eq!(call(read.clone()).ok()["extractions"]["p"], "x");
    std::thread::scope(|threads| {
        let actions =
            json!([{ "action": "click", "selector": "button" }, { "action": "wait", "ms": 60_000 }]);
        let waiting = threads.spawn(|| call(actions));
        assert!(wait_until(SOON, || !site.requests_to("/clicked").is_empty()));
        crash();
        let failed = waiting.join().unwrap();
        failed.must_be(502, "handler_failed").must_say("crashed");
    });
    call(read).ok();
}

#[test]
fn a_page_that_never_stops_asking_is_left_behind() {
    let service = Service::start(&["--action-timeout", "3000"]);
    let asking = "<p>x</p><script>setTimeout(() => { while (true) confirm('Again?'); })</script>";
    let site = pages(&[
        ("/", "<p>x</p>"),
        ("/asks", asking),
        ("/hangs", "<p>x</p><script>setTimeout(() => { while (true); })</script>"),
    ]);
    let session = open(&service, &json!({}));
    let read = json!([{ "action": "extract", "selector": "p" }]);
    for path in ["/asks", "/hangs"] {
        // What it does to the call that opens it is its own affair.
        interact(&service, &session, &site.url(path), &json!([{ "action": "wait", "ms": 1 }]));
        let next = interact(&service, &session, &site.url("/"), &read);
        assert_eq!(next.ok()["extractions"]["p"], "x", "{path}");
    }
}
