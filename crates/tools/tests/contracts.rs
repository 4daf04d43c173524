//! `oc_assert` on pages of a real browser.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use surehand_browser::Machine;
use surehand_page::{Deadline, LoadState, Page, ScreenshotOptions};
use surehand_session::{Places, Sessions};
use surehand_testkit::{Response, Site};
use surehand_tools::{ToolContext, Toolset, call};
use surehand_verbs::{Context, Settings};

/// A site and a browser that end with the test.
struct Stage {
    site: Site,
    cx: ToolContext,
    home: tempfile::TempDir,
}

/// Its icon is no request of its own, which would come when nobody expects it.
const SHOP: &str = "<!doctype html><meta charset=utf-8><title>Shop</title><link rel=icon href='data:,'>
<h1>Thank you, order 42</h1><p hidden class=note>hidden note</p><p class=note>seen note</p>
<ul><li>one<li>two<li>three</ul><iframe srcdoc='<ul><li>four</ul>'></iframe>";

impl Stage {
    fn new() -> Self {
        let site = Site::builder()
            .page("/shop", SHOP)
            .page("/late", "<h1>wait</h1>")
            .page("/loud", "<script>console.warn('careful 1'); console.error('bad'); setTimeout(() => { throw new Error('boom') })</script>")
            .page("/ask", "<h1>ask</h1><button onclick=\"setTimeout(() => confirm('Really?'))\">ask</button>")
            .page("/stuck", "<h1>stuck</h1>")
            .page("/dark", "<h1>Dark</h1><div style='width:50vw;height:60vh;background:#123'></div><p>below</p>")
            .page("/rows", "<div style='margin:50vh 0 0 60vw;width:20vw;height:40vh;background:#123'></div><h1>Rows</h1>")
            .fixed("/api/ok", Response::text("ok"))
            .fixed("/api/bad", Response::text("bad").status(500))
            .start()
            .unwrap();
        let home = tempfile::tempdir().unwrap();
        let places = Places {
            scratch: home.path().join("profiles"),
            downloads: home.path().join("downloads"),
            journals: home.path().join("journals"),
            machine: Machine::from_env(),
        };
        let verbs = Context {
            sessions: Arc::new(Sessions::new(places)),
            settings: Settings { session: "default".into(), cwd: home.path().into(), ..Default::default() },
            notes: Arc::new(()),
        };
        Self {
            site,
            cx: ToolContext {
                verbs,
                borrowed: Arc::default(),
                secrets: Arc::default(),
                lender: Default::default(),
            },
            home,
        }
    }

    async fn open(&self, path: &str) -> Page {
        let (_, tab) = self.cx.tab(None).await.unwrap();
        tab.page.open(&self.site.url(path), LoadState::Load, &deadline()).await.unwrap();
        tab.page
    }

    async fn assert(&self, arguments: Value) -> Value {
        let answer = call(&[Toolset::Page], "oc_assert", arguments, &self.cx).await.unwrap();
        assert!(!answer.is_error, "{}", answer.text);
        let structured = answer.structured.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&answer.text).unwrap(), structured);
        structured
    }

    async fn judge(&self, contract: Value) -> Value {
        self.assert(json!({ "contract": contract })).await
    }

    async fn expect(&self, verdict: &str, contract: Value) -> Value {
        let answer = self.judge(contract).await;
        assert_eq!(answer["verdict"], verdict, "{answer:#}");
        answer
    }

    async fn end(self) {
        self.cx.verbs.sessions.close_all().await;
    }
}

fn deadline() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_texts_and_counts_of_the_live_tab() {
    let stage = Stage::new();
    stage.open("/shop").await;
    stage.expect("pass", json!({"kind": "url", "pattern": "^http://127\\.0\\.0\\.1:\\d+/shop$"})).await;
    let passed =
        stage.expect("pass", json!({"kind": "dom_text", "selector": "h1", "pattern": "order \\d+$"})).await;
    assert_eq!(passed["evidence"]["details"]["matched_as"], "regex");
    assert!(passed["evidence_handle"].as_str().unwrap().starts_with("ev_"));
    assert_eq!(passed["tabId"], "t1");
    stage.expect("pass", json!({"kind": "dom_text", "contains": "Thank you"})).await;
    stage.expect("fail", json!({"kind": "dom_text", "contains": "order \\d+"})).await;
    // The first visible one is read, and how many there are is told.
    let seen =
        stage.expect("pass", json!({"kind": "dom_text", "selector": ".note", "contains": "seen"})).await;
    assert_eq!(seen["evidence"]["details"]["matches"], 2);
    // Nothing there is an answer, and it comes at once.
    let begun = Instant::now();
    let gone = stage.expect("fail", json!({"kind": "dom_text", "selector": "#gone", "pattern": "x"})).await;
    assert!(begun.elapsed() < Duration::from_millis(4500), "{:?}", begun.elapsed());
    assert_eq!(
        gone["failed_assertions"],
        json!([{"name": "dom_text", "expected": {"selector": "#gone", "pattern": "x"}, "actual": null, "location": "/"}])
    );
    // Frames count, too.
    stage.expect("pass", json!({"kind": "dom_count", "selector": "li", "op": "eq", "value": 4})).await;
    let fewer =
        stage.expect("fail", json!({"kind": "dom_count", "selector": "li", "op": "lte", "value": 2})).await;
    assert_eq!(fewer["failed_assertions"][0]["actual"], json!({"count": 4}));
    stage.expect("pass", json!({"kind": "dom_count", "selector": "#gone", "op": "eq", "value": 0})).await;
    stage.expect("pass", json!({"kind": "no_dialog"})).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn joined_contracts_and_wrong_ones() {
    let stage = Stage::new();
    stage.open("/shop").await;
    let contract = json!({"kind": "and", "children": [
        {"kind": "url", "pattern": "/shop$"},
        {"kind": "or", "children": [
            {"kind": "dom_text", "selector": "h1", "contains": "nope"},
            {"kind": "dom_text", "selector": "h1", "contains": "Thank"},
        ]},
        {"kind": "not", "child": {"kind": "dom_text", "contains": "Error"}},
    ]});
    stage.expect("pass", contract).await;
    let failed =
        stage.expect("fail", json!({"kind": "not", "child": {"kind": "url", "pattern": "shop"}})).await;
    assert_eq!(failed["failed_assertions"][0]["name"], "not");
    // A selector that only the browser can refuse.
    let bad = json!({"kind": "and", "children": [{"kind": "dom_count", "selector": "li[", "op": "eq", "value": 0}]});
    let refused = stage.assert(json!({"contract": bad, "timeout_ms": 20_000})).await;
    assert_eq!(refused["verdict"], "inconclusive");
    assert_eq!(refused["validation_errors"][0]["path"], "/children/0/selector", "{refused:#}");
    let wrong = stage
        .judge(json!({"kind": "and", "children": [{"kind": "urll"}, {"kind": "url", "pattern": "("}]}))
        .await;
    assert_eq!(wrong["verdict"], "inconclusive");
    assert_eq!(wrong["inconclusive_reason"], "the contract has 2 errors");
    assert_eq!(wrong["validation_errors"].as_array().unwrap().len(), 2);
    let missing = stage.assert(json!({})).await;
    assert_eq!(
        (&missing["verdict"], &missing["validation_errors"][0]["path"]),
        (&json!("inconclusive"), &json!("/"))
    );
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_waits_until_the_page_is_there_and_not_longer() {
    let stage = Stage::new();
    let page = stage.open("/late").await;
    let done = json!({"kind": "dom_text", "selector": "h1", "contains": "done"});
    stage.expect("fail", done.clone()).await;
    let change = "setTimeout(() => { document.querySelector('h1').textContent = 'done' }, 1000); 0";
    page.evaluate(change, &deadline()).await.unwrap();
    let begun = Instant::now();
    let waited = stage.assert(json!({"contract": done, "timeout_ms": 30_000})).await;
    assert_eq!(waited["verdict"], "pass");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let begun = Instant::now();
    let never = json!({"kind": "dom_text", "selector": "h1", "contains": "never"});
    let last = stage.assert(json!({"contract": never, "timeout_ms": 2000})).await;
    assert_eq!(last["verdict"], "fail");
    assert_eq!(last["failed_assertions"][0]["actual"]["text_preview"], "done");
    assert!((2000..15_000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_dialog_is_told_at_once_and_blocks_only_what_it_blocks() {
    let stage = Stage::new();
    let page = stage.open("/ask").await;
    page.evaluate("document.querySelector('button').click()", &deadline()).await.unwrap();
    assert!(surehand_testkit::wait_until(Duration::from_secs(10), || page.dialog().is_some()));
    let begun = Instant::now();
    let open = stage.expect("fail", json!({"kind": "no_dialog"})).await;
    assert_eq!(
        open["failed_assertions"][0]["actual"],
        json!({"dialog_open": true, "dialog": "confirm: Really?"})
    );
    stage.expect("pass", json!({"kind": "url", "pattern": "/ask$"})).await;
    let blocked =
        stage.expect("inconclusive", json!({"kind": "dom_text", "selector": "h1", "contains": "ask"})).await;
    let reason = blocked["inconclusive_reason"].as_str().unwrap();
    assert!(reason.contains("confirm dialog") && reason.contains("Really?"), "{reason}");
    // What cannot be seen is not absent.
    let negated =
        json!({"kind": "not", "child": {"kind": "dom_count", "selector": "h1", "op": "eq", "value": 1}});
    let negated = stage.expect("inconclusive", negated).await;
    let reason = negated["inconclusive_reason"].as_str().unwrap();
    assert!(reason.contains("confirm dialog"), "it was not waited for an answer: {reason}");
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    page.answer_dialog(true, None).await.unwrap();
    stage.expect("pass", json!({"kind": "no_dialog"})).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_does_not_answer_is_inconclusive() {
    let stage = Stage::new();
    let page = stage.open("/stuck").await;
    // The site hears when it begins.
    let spin = "setTimeout(() => { const told = new XMLHttpRequest(); told.open('GET', '/api/ok', false); told.send();
        const end = Date.now() + 8000; while (Date.now() < end); }); 0";
    page.evaluate(spin, &deadline()).await.unwrap();
    let has_begun = || !stage.site.requests_to("/api/ok").is_empty();
    assert!(surehand_testkit::wait_until(Duration::from_secs(10), has_begun));
    let contract = json!({"kind": "dom_text", "selector": "h1", "contains": "stuck"});
    let stuck = stage.assert(json!({"contract": contract, "timeout_ms": 500})).await;
    assert_eq!(stuck["verdict"], "inconclusive", "{stuck:#}");
    assert!(stuck["inconclusive_reason"].as_str().unwrap().contains("did not respond"), "{stuck:#}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_since_when() {
    let stage = Stage::new();
    let page = stage.open("/shop").await;
    page.evaluate("fetch('/api/bad?n=1').then(() => 0)", &deadline()).await.unwrap();
    let ok = json!({"kind": "network", "url_pattern": "/api/ok?n=2", "status_in": [200]});
    let bad = |since: Option<&str>| {
        let mut contract = json!({"kind": "network", "url_pattern": "/api/bad", "status_in": [500, 502]});
        if let Some(since) = since {
            contract["since"] = json!(since);
        }
        contract
    };
    stage.expect("pass", bad(None)).await;
    stage.expect("pass", bad(Some("last_tool_call"))).await;
    stage.expect("fail", bad(Some("contract_enter"))).await;
    stage.expect("fail", ok.clone()).await;
    page.begin_action();
    page.evaluate("fetch('/api/ok?n=2').then(() => 0)", &deadline()).await.unwrap();
    stage.expect("pass", ok).await;
    let since = stage.expect("fail", bad(Some("last_tool_call"))).await;
    assert_eq!(since["failed_assertions"][0]["actual"]["scanned_count"], 1);
    // What comes while the contract is judged.
    page.evaluate("setTimeout(() => fetch('/api/bad?n=3'), 2000); 0", &deadline()).await.unwrap();
    let arrived = stage.assert(json!({"contract": bad(Some("contract_enter")), "timeout_ms": 30_000})).await;
    assert_eq!(arrived["verdict"], "pass", "{arrived:#}");
    assert_eq!(arrived["evidence"]["details"]["matched_count"], 1);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn console_and_uncaught_errors() {
    let stage = Stage::new();
    let page = stage.open("/loud").await;
    assert!(surehand_testkit::wait_until(Duration::from_secs(10), || !page.errors().0.is_empty()));
    stage.expect("pass", json!({"kind": "console", "type": "warn", "message_pattern": "careful \\d", "op": "eq", "value": 1})).await;
    stage.expect("pass", json!({"kind": "console", "type": "error", "op": "eq", "value": 2})).await;
    let thrown =
        stage.expect("fail", json!({"kind": "console", "uncaught": true, "op": "eq", "value": 0})).await;
    let message = thrown["failed_assertions"][0]["actual"]["messages"][0]["message"].as_str().unwrap();
    assert!(message.contains("boom"), "{message}");
    stage.expect("pass", json!({"kind": "console", "op": "eq", "value": 3, "max_age_ms": 60_000})).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    stage.expect("pass", json!({"kind": "console", "op": "eq", "value": 0, "max_age_ms": 20})).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_console_that_overflowed_does_not_pretend_to_know() {
    let stage = Stage::new();
    let page = stage.open("/loud").await;
    page.evaluate("for (let i = 0; i < 1500; i++) console.log('line', i)", &deadline()).await.unwrap();
    assert!(surehand_testkit::wait_until(Duration::from_secs(10), || page.console().1 >= 502));
    // Both messages of the page itself are forgotten.
    let none = json!({"kind": "console", "type": "warning", "op": "eq", "value": 0});
    let unsure = stage.expect("inconclusive", none.clone()).await;
    assert!(unsure["inconclusive_reason"].as_str().unwrap().contains("not recorded any more"), "{unsure:#}");
    stage.expect("inconclusive", json!({"kind": "not", "child": none})).await;
    stage.expect("pass", json!({"kind": "console", "type": "log", "op": "gte", "value": 900})).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_the_page() {
    let stage = Stage::new();
    stage.open("/shop").await;
    for (metric, unit, value) in [
        ("load", "seconds", 30.0),
        ("domcontentloaded", "ms", 30_000.0),
        ("first-contentful-paint", "ms", 30_000.0),
        ("largest-contentful-paint", "ms", 30_000.0),
        ("transfer-size", "bytes", 10_000.0),
        ("request-count", "count", 5.0),
        ("dom-nodes", "count", 20.0),
        ("js-heap", "bytes", 1e9),
    ] {
        let contract = |op: &str, value: f64| json!({"kind": "performance", "metric": metric, "unit": unit, "op": op, "value": value});
        let limit = json!({"contract": contract("lte", value), "timeout_ms": 20_000});
        let judged = stage.assert(limit).await;
        assert_eq!(judged["verdict"], "pass", "{judged:#}");
        let more_than_nothing = stage.judge(contract("gte", 0.001)).await;
        assert_eq!(more_than_nothing["verdict"], "pass", "{more_than_nothing:#}");
    }
    let unknown = stage
        .expect(
            "inconclusive",
            json!({"kind": "performance", "metric": "speed", "unit": "ms", "op": "lte", "value": 1}),
        )
        .await;
    assert_eq!(unknown["validation_errors"][0]["path"], "/metric");
    assert!(unknown["validation_errors"][0]["message"].as_str().unwrap().contains("js-heap"));
    let unit = stage
        .expect(
            "inconclusive",
            json!({"kind": "performance", "metric": "load", "unit": "bytes", "op": "lte", "value": 1}),
        )
        .await;
    assert_eq!(unit["validation_errors"][0]["path"], "/unit");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_are_compared_with_reference_pictures() {
    let stage = Stage::new();
    let page = stage.open("/dark").await;
    let contract = json!({"kind": "screenshot_class", "class_id": "dark", "distance_max": 8});
    let none = stage.expect("inconclusive", contract.clone()).await;
    let reason = none["inconclusive_reason"].as_str().unwrap();
    assert!(reason.contains("screenshot-classes/dark.png"), "{reason}");
    let picture = page.screenshot(&ScreenshotOptions::default(), &deadline()).await.unwrap();
    let folder = stage.home.path().join("screenshot-classes");
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::write(folder.join("dark.png"), picture).unwrap();
    stage.expect("pass", contract.clone()).await;
    stage.open("/rows").await;
    let other = stage.expect("fail", contract).await;
    assert!(other["failed_assertions"][0]["actual"]["distance"].as_u64().unwrap() > 8, "{other:#}");
    stage.end().await;
}

#[tokio::test]
async fn evidence_that_is_handed_in_needs_no_browser() {
    let stage = Stage::new();
    let contract = json!({"kind": "and", "children": [
        {"kind": "url", "pattern": "/done$"},
        {"kind": "dom_text", "selector": "h1", "pattern": "Thank"},
    ]});
    let evidence = json!({"snapshot": {"url": "http://a/done", "dom_text": {"h1": "Thank you"}}});
    let judged = stage.assert(json!({"contract": contract, "evidence": evidence})).await;
    assert_eq!((&judged["verdict"], judged.get("tabId")), (&json!("pass"), None));
    let judged =
        stage.assert(json!({"contract": contract, "evidence": {"snapshot": {"url": "http://a/done"}}})).await;
    assert_eq!(judged["verdict"], "inconclusive");
    assert_eq!(judged["inconclusive_reason"], "/children/1 (dom_text): evidence.snapshot has no dom_text");
    let judged = stage.assert(json!({"contract": contract, "evidence": {}})).await;
    assert_eq!(judged["verdict"], "inconclusive");
    assert!(stage.cx.verbs.sessions.is_empty(), "no browser was started");
}

#[tokio::test]
async fn without_a_page_or_with_unknown_arguments_the_tool_fails() {
    let stage = Stage::new();
    for (arguments, code) in [
        (json!({"contract": {"kind": "no_dialog"}}), "no-session"),
        (json!({"contract": {"kind": "no_dialog"}, "timeout": 5}), "usage"),
    ] {
        let answer = call(&[Toolset::Page], "oc_assert", arguments, &stage.cx).await.unwrap();
        assert!(answer.is_error);
        assert_eq!(answer.structured.unwrap()["error"]["code"], code);
    }
}
