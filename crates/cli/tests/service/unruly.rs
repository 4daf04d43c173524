//! Pages that do not behave: each has a documented answer, and the service lives on.

use std::time::Duration;

use serde_json::json;
use surehand_testkit::{Response, Site, wait_until};

use crate::common::UnusedPort;
use crate::fixture::{SOON, pages, quick, shared};

/// Everything is as it was before.
fn lives_on(service: &crate::fixture::Service) {
    let site = pages(&[("/", "<p>well</p>")]);
    let output = service.interact(&site.url("/"), &json!([{ "action": "extract", "selector": "p" }])).ok();
    assert_eq!(output["extractions"]["p"], "well");
}

#[test]
fn pages_that_never_come_to_an_end_run_out_of_time() {
    let service = quick();
    let site = Site::builder()
        .fixed("/silent", Response::silence())
        .endless("/endless", "<p>begun</p>")
        .page("/loop", "<!doctype html><p>x</p><script>for (;;);</script>")
        .page("/later", "<!doctype html><button onclick='for (;;);'>x</button>")
        .start()
        .unwrap();
    let look = json!([{ "action": "screenshot" }]);
    std::thread::scope(|threads| {
        let calls: Vec<_> = ["/silent", "/endless", "/loop"]
            .map(|path| {
                (
                    path,
                    threads.spawn({
                        let (service, look, url) = (&service, &look, site.url(path));
                        move || service.interact(&url, look)
                    }),
                )
            })
            .into();
        for (path, call) in calls {
            let answer = call.join().unwrap();
            assert_eq!(answer.status, 504, "{path}: {}", answer.text());
            answer.must_be(504, "timeout").must_say("12000 ms");
            assert_eq!(answer.json()["steps_completed"], 0, "{path}");
        }
    });
    let stuck = service.interact(
        &site.url("/later"),
        &json!([{ "action": "click", "selector": "button" }, { "action": "extract", "selector": "button" }]),
    );
    assert!([502, 504].contains(&stuck.status), "{}", stuck.text());
    service.wait_for_load(0, 0);
    lives_on(&service);
}

#[test]
fn a_page_that_hangs_up_is_a_failure() {
    let service = quick();
    let site = Site::builder()
        .fixed("/gone", Response::hang_up())
        .fixed("/torn", Response::html("<p>x").broken_off())
        .redirect("/round", "/round")
        .attachment("/file", "x.bin", vec![0; 1000])
        .start()
        .unwrap();
    for path in ["/gone", "/round"] {
        let failed = service.interact(&site.url(path), &json!([{ "action": "screenshot" }]));
        failed.must_be(502, "handler_failed");
    }
    // Nobody listens there: the guard's own answer is no page either.
    let closed = UnusedPort::hold();
    let address = format!("http://127.0.0.1:{}/", closed.number);
    let nobody = service.interact(&address, &json!([{ "action": "screenshot" }]));
    nobody.must_be(502, "handler_failed").must_say("could not be reached");
    // What is downloaded is no page.
    let file = service.interact(&site.url("/file"), &json!([{ "action": "screenshot" }]));
    assert!(file.status == 502, "{}", file.text());
    // Nobody waits for the other half of a page.
    let torn = service.interact(&site.url("/torn"), &json!([{ "action": "screenshot" }]));
    torn.must_be(502, "handler_failed").must_say("broke off");
    lives_on(&service);
}

#[test]
fn questions_of_a_page_are_answered_with_no() {
    let service = shared();
    let site = pages(&[(
        "/",
        "<body><button onclick=\"document.body.append(String(confirm('Sure?')), String(prompt('Name?')))\">ask</button>
         <script>alert('Hello'); onbeforeunload = (event) => event.preventDefault()</script>",
    ), ("/next", "<p>next</p>")]);
    let actions = json!([
        { "action": "click", "selector": "button" },
        { "action": "assert_text", "text": "falsenull" },
        { "action": "navigate", "url": site.url("/next") },
        { "action": "extract", "selector": "p" },
    ]);
    let output = service.interact(&site.url("/"), &actions).ok();
    assert_eq!(
        (&output["assertions_passed"], &output["extractions"]["p"]),
        (&json!(true), &json!("next")),
        "{output}"
    );
    let asked = output["dismissed_dialogs"].to_string();
    assert!(asked.contains("Sure?") && asked.contains("Name?"), "{asked}");
}

#[test]
fn a_page_that_does_not_stop_asking_is_a_failure() {
    let service = quick();
    let site = pages(&[
        ("/", "<p>x</p><script>for (;;) alert('again');</script>"),
        (
            "/later",
            "<button>x</button><script>document.querySelector('button').onclick = () => { for (;;) confirm('again') }</script>",
        ),
    ]);
    let endless = service.interact(&site.url("/"), &json!([{ "action": "screenshot" }]));
    assert!([502, 504].contains(&endless.status), "{}", endless.text());
    assert_eq!(endless.json()["steps_completed"], 0);
    let later = service.interact(
        &site.url("/later"),
        &json!([{ "action": "click", "selector": "button" }, { "action": "screenshot" }]),
    );
    assert!([502, 504].contains(&later.status), "{}", later.text());
    service.wait_for_load(0, 0);
    lives_on(&service);
}

#[test]
fn a_page_that_opens_a_thousand_others_gets_few_of_them() {
    let service = crate::fixture::Service::start(&["--session-timeout", "30000", "--action-timeout", "3000"]);
    let site = pages(&[
        (
            "/",
            "<button>x</button><p></p><script>
        document.querySelector('button').onclick = () => {
            for (let n = 0; n < 1000; n++) open(`/popup?${n}`);
            document.querySelector('p').textContent = 'opened';
        }</script>",
        ),
        ("/popup", "<p>popup</p>"),
    ]);
    let actions =
        json!([{ "action": "click", "selector": "button" }, { "action": "extract", "selector": "p" }]);
    let before = std::time::Instant::now();
    let output = service.interact(&site.url("/"), &actions);
    assert!([200, 502, 504].contains(&output.status), "{}", output.text());
    // The session has 30 s, and then its tabs are closed.
    assert!(before.elapsed() < Duration::from_secs(50), "{:?}", before.elapsed());
    assert!(site.requests_to("/popup").len() <= 50, "each of them is a process");
    service.wait_for_load(0, 0);
    assert!(wait_until(SOON, || service.metric("surehand_sessions_open") <= 1.0), "a session is left");
    lives_on(&service);
}

#[test]
fn a_page_that_loads_without_end_is_stopped_by_its_budget() {
    let service = crate::fixture::Service::start(&["--max-bytes", "1000000", "--session-timeout", "20000"]);
    let site = Site::builder()
        .page("/", "<!doctype html><p>x</p><script>
            (async () => { for (let n = 0; n < 50; n++) await fetch('/more?' + n).then((r) => { if (!r.ok) document.querySelector('p').id = 'stopped'; return r.arrayBuffer() }) })()</script>")
        .file("/more", "application/octet-stream", vec![0; 100_000])
        .start()
        .unwrap();
    let output =
        service.interact(&site.url("/"), &json!([{ "action": "extract", "selector": "#stopped" }])).ok();
    assert_eq!(output["extractions"]["#stopped"], "x", "{output}");
    assert!(site.requests_to("/more").len() < 20);
    lives_on(&service);
}
