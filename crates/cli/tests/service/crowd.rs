//! Many callers at once: places, the line for them, turns between callers, and those who hang up.

use std::net::TcpStream;

use serde_json::{Value, json};
use surehand_testkit::{Response, Site, wait_until};

use crate::fixture::{SOON, Service, pages};
use crate::serving::Answer;

/// Keeps a place until it is hung up or the page lets it go.
fn long() -> Value {
    json!([{ "action": "wait", "ms": 120_000 }])
}

fn read() -> Value {
    json!([{ "action": "extract", "selector": "p" }])
}

fn answer(mut stream: TcpStream) -> Answer {
    Answer::read(&mut stream).expect("an answer")
}

#[test]
fn who_finds_no_place_waits_and_who_finds_no_room_in_line_is_told_when_to_come_back() {
    let service = Service::start(&["--max-sessions", "1", "--queue", "1"]);
    let site = pages(&[("/", "<p>x</p>")]);
    let url = site.url("/");
    let working = service.begin("ann", &url, &long());
    service.wait_for_load(1, 0);
    assert!(wait_until(SOON, || !site.requests().is_empty()), "she has a session");
    let waiting = service.begin("bob", &url, &read());
    service.wait_for_load(1, 1);
    // Bob has the whole line: that is his share. For Cid the line is full.
    let own_fault = answer(service.begin("bob", &url, &read()));
    own_fault.must_be(429, "too_many_requests");
    let full = answer(service.begin("cid", &url, &read()));
    full.must_be(503, "overloaded");
    for refused in [own_fault, full] {
        let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
    }
    let ready = service.ask("GET", "/readyz", &[], b"");
    assert_eq!((ready.status, &ready.json()["reasons"][0]), (503, &json!("the line is full")));
    assert_eq!(service.ask("GET", "/healthz", &[], b"").status, 200);
    // What needs no session is not kept waiting, nor is what makes no sense.
    service.get("/api/v1/packs").ok();
    service.interact("x", &json!([])).must_be(400, "invalid_input");
    // Who works hangs up: the next has the place.
    drop(working);
    assert_eq!(answer(waiting).ok()["extractions"]["p"], "x");
    service.wait_for_load(0, 0);
    let gone =
        wait_until(SOON, || service.audit("event_type=pack_call").iter().any(|row| row["status"] == 499));
    assert!(gone, "{:?}", service.audit("event_type=pack_call"));
    let rows = service.audit("actor_subject=ann");
    let call = rows.iter().find(|row| row["event_type"] == "pack_call").unwrap();
    assert_eq!((&call["status"], &call["outcome"]), (&json!(499), &json!("client gone")), "{call}");
    assert!(call["session_id"].is_string(), "{call}");
    let is_cut = |row: &Value| row["event_type"] == "action" && row["outcome"] == "failed";
    assert!(rows.iter().any(is_cut), "the action that was cut off is not told: {rows:?}");
    assert!(wait_until(SOON, || service.metric("surehand_sessions_open") <= 1.0), "a session is left");
}

#[test]
fn who_waits_and_hangs_up_leaves_the_line() {
    let service = Service::start(&["--max-sessions", "1", "--queue", "1", "--queue-timeout", "2000"]);
    let site = pages(&[("/", "<p>x</p>")]);
    let url = site.url("/");
    let working = service.begin("ann", &url, &long());
    service.wait_for_load(1, 0);
    drop(service.begin("bob", &url, &read()));
    service.wait_for_load(1, 0);
    // Who waits too long is told so.
    let late = answer(service.begin("cid", &url, &read()));
    late.must_be(503, "overloaded");
    assert!(late.header("retry-after").is_some());
    drop(working);
    service.wait_for_load(0, 0);
    assert_eq!(answer(service.begin("cid", &url, &read())).status, 200);
}

#[test]
fn one_with_many_requests_does_not_keep_out_one_with_a_single_one() {
    let service = Service::start(&["--max-sessions", "1", "--queue", "5"]);
    let site = Site::builder()
        .page("/", "<p>x</p>")
        .page("/many", "<p>m</p>")
        .page("/one", "<p>o</p>")
        .start()
        .unwrap();
    let working = service.begin("ann", &site.url("/"), &long());
    service.wait_for_load(1, 0);
    let join = |waiting: u64| {
        let stream = service.begin("ann", &site.url("/many"), &read());
        service.wait_for_load(1, waiting);
        stream
    };
    let many: Vec<_> = (1..=4).map(join).collect();
    let one = service.begin("bob", &site.url("/one"), &read());
    service.wait_for_load(1, 5);
    answer(service.begin("ann", &site.url("/many"), &read())).must_be(429, "too_many_requests");
    // Who has nothing of a full line gets a place of who has the most.
    let another = service.begin("cid", &site.url("/one"), &read());
    let mut many = many.into_iter();
    answer(many.next_back().unwrap()).must_be(429, "too_many_requests");
    service.wait_for_load(1, 5);
    drop(working);
    answer(one).ok();
    answer(another).ok();
    many.for_each(|stream| _ = answer(stream).ok());
    let pages: Vec<String> = site
        .requests()
        .iter()
        .map(|request| request.path.clone())
        .filter(|path| path == "/one" || path == "/many")
        .collect();
    let turn = pages.iter().position(|path| path == "/one").unwrap();
    assert!(turn <= 1, "Bob had to wait for {turn} of Ann's: {pages:?}");
}

#[test]
fn sixteen_at_once_all_get_their_own_answer() {
    let service = Service::start(&["--max-sessions", "4"]);
    let site = Site::builder()
        .route("/*", |request| Response::html(format!("<!doctype html><p>{}</p>", request.query)))
        .start()
        .unwrap();
    let calls: Vec<_> = (0..16)
        .map(|n| service.begin(&format!("s{}", n % 3), &site.url(&format!("/?{n}")), &read()))
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(answer(call).ok()["extractions"]["p"], n.to_string());
    }
    service.wait_for_load(0, 0);
    assert!(wait_until(SOON, || service.metric("surehand_sessions_open") <= 1.0), "a session is left");
}

#[test]
fn what_is_under_way_comes_to_its_end_before_the_service_does() {
    let service = Service::start(&["--max-sessions", "1"]);
    let site = pages(&[("/", "<p>x</p>"), ("/kept", "<p>k</p>")]);
    let short = json!([{ "action": "wait", "ms": 1500 }, { "action": "extract", "selector": "p" }]);
    let working = service.begin("ann", &site.url("/"), &short);
    assert!(wait_until(SOON, || !site.requests_to("/").is_empty()));
    service.terminate();
    // Nobody new comes in.
    let refused = wait_until(SOON, || TcpStream::connect(&service.host).is_err());
    assert!(refused, "it still listens");
    assert_eq!(answer(working).ok()["extractions"]["p"], "x");
    let ended = service.ended().expect("it ends");
    assert_eq!(ended.code(), Some(0), "{}", service.said());
    // The record is whole.
    let verified = service.cli.run(&["audit", "verify"]).unwrap();
    assert!(verified.ok(), "{verified:?}");
}

#[test]
fn what_does_not_end_in_time_is_cut_off() {
    let service = Service::start(&["--drain-timeout", "300"]);
    let site = pages(&[("/", "<p>x</p>")]);
    let working = service.begin("ann", &site.url("/"), &long());
    assert!(wait_until(SOON, || !site.requests().is_empty()));
    assert_eq!(service.post("/api/v1/sessions", &json!({})).status, 201);
    service.terminate();
    let ended = service.ended().expect("it ends");
    assert_eq!(ended.code(), Some(0), "{}", service.said());
    drop(working);
    // What was cut off is written down, too.
    let rows = service.cli.run(&["audit", "list", "--actor", "ann"]).unwrap();
    assert!(rows.stdout.contains("pack_call"), "{rows:?}");
}

#[test]
fn who_waits_when_the_end_is_announced_is_told() {
    let service = Service::start(&["--max-sessions", "1"]);
    let site = pages(&[("/", "<p>x</p>")]);
    let short = json!([{ "action": "wait", "ms": 1500 }, { "action": "extract", "selector": "p" }]);
    let working = service.begin("ann", &site.url("/"), &short);
    assert!(wait_until(SOON, || !site.requests_to("/").is_empty()));
    let waiting = service.begin("bob", &site.url("/"), &read());
    service.wait_for_load(1, 1);
    service.terminate();
    answer(waiting).must_be(503, "draining");
    assert_eq!(answer(working).ok()["extractions"]["p"], "x");
    assert_eq!(service.ended().expect("it ends").code(), Some(0), "{}", service.said());
}

#[test]
fn nobody_keeps_all_the_places() {
    let service = Service::start(&["--max-sessions", "2", "--queue-timeout", "500"]);
    let site = pages(&[("/", "<p>x</p>")]);
    let keep = |subject: &str| service.ask_with(&service.token_of(subject), "POST", "/api/v1/sessions", None);
    assert_eq!(keep("ann").status, 201);
    let refused = keep("ann");
    refused.must_be(429, "too_many_sessions");
    assert!(refused.header("retry-after").is_some());
    answer(service.begin("bob", &site.url("/"), &read())).ok();
    assert_eq!(keep("bob").status, 201);
    let late = answer(service.begin("cid", &site.url("/"), &read()));
    late.must_be(503, "overloaded").must_say("within 500 ms");
}
