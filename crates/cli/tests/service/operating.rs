//! Operating it: numbers and logs.

use serde_json::json;

use crate::common::fresh_cli;
use crate::fixture::{Service, pages, shared};

#[test]
fn numbers_are_what_prometheus_reads() {
    let (service, site) = (shared(), pages(&[("/", "<p>x</p>")]));
    let ok = "surehand_packs_total{pack=\"browser.interact\",code=\"ok\"}";
    let (calls, actions) = (service.metric(ok), service.metric("surehand_actions_total"));
    service.interact(&site.url("/"), &json!([{ "action": "screenshot" }])).ok();
    assert!(service.metric(ok) >= calls + 1.0 && service.metric("surehand_actions_total") >= actions + 2.0);
    let answer = service.ask("GET", "/metrics", &[], b"");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = answer.text();
    assert!(text.ends_with('\n'));
    let mut known = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(kind != "counter" || name.ends_with("_total"), "{line}");
            known = name.to_owned();
        } else if !line.starts_with("# HELP ") {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let name = sample.split('{').next().unwrap();
            assert!(name.starts_with(&known) && !known.is_empty(), "{line} is not of {known}");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            assert_eq!(sample.contains('{'), sample.ends_with('}'), "{line}");
        }
    }
    // Addresses that nobody knows are one row, however many there are.
    for n in 0..3 {
        service.get(&format!("/nothing/{n}"));
    }
    let text = service.ask("GET", "/metrics", &[], b"").text();
    assert!(!text.contains("/nothing/") && text.contains("route=\"none\""), "{text}");
    assert!(!text.contains("tester"), "it names callers");
}

#[test]
fn every_request_is_a_line_in_the_log() {
    let service = Service::start_allowed(&fresh_cli().env("SUREHAND_LOG", "info"), &[]);
    let token = service.token_of("tester");
    let bearer = format!("Bearer {token}");
    service
        .ask("GET", "/api/v1/packs?secret=1", &[("Authorization", &bearer), ("X-Request-Id", "line-1")], b"")
        .ok();
    assert!(
        surehand_testkit::wait_until(crate::fixture::SOON, || service.said().contains("line-1")),
        "{}",
        service.said()
    );
    let said = service.said();
    let line = said.lines().find(|line| line.contains("line-1")).unwrap();
    for part in ["request", "GET", "/api/v1/packs", "200", "tester"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!said.contains(&token) && !said.contains("secret=1"), "{said}");
}

#[test]
fn it_is_not_ready_without_a_browser_and_does_not_tell_callers_why() {
    let nowhere = "/nowhere/chromium";
    let service = Service::start(&["--executable-path", nowhere]);
    let ready = service.ask("GET", "/readyz", &[], b"");
    assert_eq!((ready.status, &ready.json()["ready"]), (503, &json!(false)));
    let failed = service.interact("http://127.0.0.1/", &json!([{ "action": "screenshot" }]));
    failed.must_be(503, "session_unavailable");
    assert!(!failed.text().contains(nowhere) && service.said().contains(nowhere), "{}", failed.text());
}

#[test]
fn options_that_no_call_could_work_with_are_refused_at_the_start() {
    let cli = fresh_cli();
    for wrong in [["--proxy", "http://127.0.0.1:1"], ["--args", "--proxy-server=127.0.0.1:1"]] {
        let run = cli.run(&["serve", "--listen", "127.0.0.1:0", wrong[0], wrong[1]]).unwrap();
        assert_eq!(run.code, Some(2), "{run:?}");
    }
}
