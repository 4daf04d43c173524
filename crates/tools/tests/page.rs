//! The page tools in a real browser: what is dropped stops, what is claimed happened, and what means nothing is refused.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use surehand_browser::Machine;
use surehand_session::{Places, Sessions};
use surehand_testkit::{Response, Site};
use surehand_tools::{Answer, ToolContext, Toolset, call};
use surehand_verbs::{Context, Settings};

/// A site and a browser that end with the test.
struct Stage {
    site: Site,
    cx: ToolContext,
    _home: tempfile::TempDir,
}

const FORM: &str = "<!doctype html><title>Form</title><label>Name <input id=name></label>
<label>Pin <input id=pin maxlength=4></label><label>Card <input id=card oninput=\"this.value = this.value.replace(/-/g, '').replace(/(....)(?=.)/g, '$1-')\"></label>
<label>Secret <input type=password id=secret maxlength=3></label>
<label>Zone <select id=zone onchange='area.disabled = false'><option>South<option>North</select></label>
<label>Area <input id=area disabled></label>
<button onclick=\"out.textContent = confirm('Sure?')\">Delete</button>
<button onclick=\"out.textContent = prompt('Who?')\">Ask</button>
<button onclick='out.textContent += 1'>Check out</button><button onclick='out.textContent += 2'>Go to cart</button><p id=out></p>";

impl Stage {
    async fn new() -> Self {
        let site = Site::builder()
            .page("/", FORM)
            .page("/other", "<title>Other</title>")
            .slow("/late", Duration::from_secs(4), "<title>Late</title>")
            .fixed("/never", Response::silence())
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
        let stage = Self {
            site,
            cx: ToolContext {
                verbs,
                borrowed: Arc::default(),
                secrets: Arc::default(),
                lender: Default::default(),
            },
            _home: home,
        };
        stage.go("/").await;
        stage
    }

    async fn call(&self, tool: &str, arguments: Value) -> Answer {
        call(&[Toolset::Page, Toolset::Verbs], tool, arguments, &self.cx).await.unwrap()
    }

    async fn done(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments.clone()).await;
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
        serde_json::from_str(&answer.text).unwrap_or_default()
    }

    async fn fails(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments.clone()).await;
        assert!(answer.is_error, "{tool} {arguments}: {}", answer.text);
        answer.structured.unwrap()["error"].clone()
    }

    /// Calls a tool and drops the call, as a cancellation does, when it is under way.
    async fn cancels(&self, tool: &str, arguments: Value) {
        let limit = Duration::from_millis(1500);
        let called = tokio::time::timeout(limit, self.call(tool, arguments)).await;
        assert!(called.is_err(), "{tool} ended by itself: {called:?}");
    }

    /// The same, as soon as the page that it goes to was asked for.
    async fn cancels_on_its_way(&self, tool: &str, arguments: Value, path: &str) {
        let before = self.site.requests_to(path).len();
        let asked = async {
            while self.site.requests_to(path).len() == before {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            answer = self.call(tool, arguments) => panic!("{tool} ended by itself: {answer:?}"),
            () = asked => {}
        }
    }

    async fn go(&self, path: &str) {
        self.done("navigate", json!({ "url": self.site.url(path) })).await;
    }

    async fn js(&self, code: &str) -> Value {
        self.done("javascript_tool", json!({ "code": code })).await["result"].clone()
    }

    async fn end(self) {
        self.cx.verbs.sessions.close_all().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_nobody_waits_for_is_ended() {
    let stage = Stage::new().await;
    let endless = [
        "while (true);",
        "(async () => { while (true) await 0 })()",
        "new Promise(() => setTimeout(() => { while (true); }))",
    ];
    for code in endless {
        stage.cancels("javascript_tool", json!({ "code": code })).await;
        let began = Instant::now();
        assert_eq!(stage.js("1 + 1").await, 2, "{code}");
        assert!(began.elapsed() < Duration::from_secs(10), "{code}: {:?}", began.elapsed());
        let late = stage.fails("javascript_tool", json!({ "code": code, "timeout": 1500 })).await;
        assert_eq!(late["code"], "timeout", "{late}");
        assert_eq!(stage.js("2 + 2").await, 4, "{code}");
    }
    stage.cancels("eval", json!({ "script": "while (true);" })).await;
    assert_eq!(stage.js("1").await, 1);
    stage
        .cancels("wait_for", json!({ "condition": "function", "value": "(() => { while (true); })()" }))
        .await;
    assert_eq!(stage.js("1").await, 1);
    // A promise holds up nobody, and what comes after it is not hit.
    for _ in 0..5 {
        stage.cancels("javascript_tool", json!({ "code": "new Promise(() => {})" })).await;
        assert_eq!(stage.js("3").await, 3);
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_busy_by_itself_is_left_alone() {
    let stage = Stage::new().await;
    let busy = "setTimeout(() => { const end = Date.now() + 3000; while (Date.now() < end); window.through = true })";
    stage.js(&format!("{busy}; 0")).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    stage.cancels("javascript_tool", json!({ "code": "while (true);" })).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    // Its own work was done, and the script whose turn came then was ended.
    assert_eq!(stage.js("window.through").await, true);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_navigation_that_nobody_waits_for_stops() {
    let stage = Stage::new().await;
    let late = stage.site.url("/late");
    stage.cancels_on_its_way("navigate", json!({ "url": late }), "/late").await;
    stage.cancels_on_its_way("act", json!({ "action": format!("go to {late}") }), "/late").await;
    stage.cancels_on_its_way("open", json!({ "url": late }), "/late").await;
    // Until it would have come.
    tokio::time::sleep(Duration::from_millis(4500)).await;
    assert_eq!(stage.js("document.title").await, "Form");
    stage.go("/other").await;
    assert_eq!(stage.js("document.title").await, "Other");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_are_filled_in_the_order_given() {
    let stage = Stage::new().await;
    let arguments = r#"{"fields": {"Zone": "North", "Area": "x", "Name": "Ada"}, "timeout": 15000}"#;
    let filled = stage.done("fill_form", serde_json::from_str(arguments).unwrap()).await;
    assert_eq!(filled["filled"], json!(["Zone", "Area", "Name"]));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_is_answered_in_words() {
    let stage = Stage::new().await;
    stage.done("act", json!({ "action": "click Delete" })).await;
    let blocked = stage.fails("read_page", json!({})).await;
    assert_eq!(blocked["code"], "dialog-open");
    assert!(blocked["hints"].to_string().contains("accept the dialog"), "{blocked}");
    stage.done("act", json!({ "action": "accept the dialog" })).await;
    assert_eq!(stage.js("out.textContent").await, "true");
    stage.done("act", json!({ "action": "click Delete, then dismiss the dialog, then click Ask" })).await;
    assert_eq!(stage.fails("act", json!({ "action": "click Ask" })).await["code"], "dialog-open");
    stage.done("act", json!({ "action": "answer the dialog with \"Ada L\"" })).await;
    assert_eq!(stage.js("out.textContent").await, "Ada L");
    assert_eq!(stage.fails("act", json!({ "action": "accept the dialog" })).await["code"], "no-dialog");
    stage.done("act", json!({ "action": "click Delete" })).await;
    let no_prompt = stage.fails("act", json!({ "action": "answer the dialog with x" })).await;
    assert_eq!(no_prompt["code"], "wrong-element", "{no_prompt}");
    stage.done("act", json!({ "action": "dismiss the dialog" })).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_to_be_typed_is_there() {
    let stage = Stage::new().await;
    let nowhere = stage.fails("act", json!({ "action": "type bob" })).await;
    assert_eq!(nowhere["code"], "not-editable", "{nowhere}");
    assert_eq!(stage.fails("act", json!({ "action": "type in Name" })).await["code"], "usage");
    let pin = stage.fails("act", json!({ "action": "type 98765432 into Pin" })).await;
    assert_eq!(pin["code"], "value-differs", "{pin}");
    let secret = stage.fails("act", json!({ "action": "type qwertz into Secret" })).await;
    assert_eq!(secret["code"], "value-differs", "{secret}");
    assert!(!secret.to_string().contains("qwe"), "{secret}");
    // A field that puts its own signs between the characters has taken them.
    stage.done("act", json!({ "action": "type 12345678 into Card" })).await;
    stage.done("act", json!({ "action": "click Name, then type bob" })).await;
    assert_eq!(stage.js("name.value || document.getElementById('name').value").await, "bob");
    stage.done("act", json!({ "action": "click Check out, and click Go to cart" })).await;
    assert_eq!(stage.js("out.textContent").await, "12");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_web_pages_are_opened() {
    let stage = Stage::new().await;
    for url in [
        "file:///etc/passwd",
        "/etc/passwd",
        "./x",
        "chrome://version",
        "data:text/html,x",
        "about:version",
        "view-source:http://127.0.0.1/",
        "FILE:///etc/passwd",
    ] {
        assert_eq!(stage.fails("navigate", json!({ "url": url })).await["code"], "bad-url", "{url}");
        let act = json!({ "action": format!("go to {url}") });
        assert_eq!(stage.fails("act", act).await["code"], "bad-url", "{url}");
    }
    stage.done("navigate", json!({ "url": "about:blank" })).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_would_do_nothing_are_refused_by_name() {
    let stage = Stage::new().await;
    for (tool, arguments, named) in [
        ("wait_for", json!({ "condition": "text", "value": "Name", "visible": false }), "`visible`"),
        ("wait_for", json!({ "condition": "load", "value": "xx" }), "`value`"),
        ("wait_for", json!({ "condition": "load", "visible": true }), "`visible`"),
        ("wait_for", json!({ "condition": "selector_hidden", "value": "#x", "visible": true }), "`visible`"),
        ("wait_for", json!({ "condition": "timeout", "value": 900, "timeout": 200 }), "`timeout`"),
        ("wait_for", json!({ "condition": "selector" }), "`value`"),
        ("read_page", json!({ "mode": "html", "filter": "interactive" }), "`filter`"),
        ("read_page", json!({ "mode": "text", "depth": 1 }), "`depth`"),
        ("page_screenshot", json!({ "quality": 10 }), "`quality`"),
        ("page_screenshot", json!({ "path": "x.png", "quality": 10 }), "`quality`"),
        ("page_screenshot", json!({ "format": "jpeg", "quality": 101 }), "`quality`"),
        ("page_screenshot", json!({ "ref": "Name", "fullPage": true }), "`fullPage`"),
        (
            "oc_assert",
            json!({ "contract": { "kind": "no_dialog" }, "evidence": { "snapshot": {} }, "tabId": "t1" }),
            "`tabId`",
        ),
        (
            "oc_assert",
            json!({ "contract": { "kind": "no_dialog" }, "evidence": { "snapshot": {} }, "timeout_ms": 5 }),
            "`timeout_ms`",
        ),
        (
            "oc_assert",
            json!({ "contract": { "kind": "no_dialog" }, "evidence": { "snapshot": { "urll": "x" } } }),
            "`urll`",
        ),
        ("oc_assert", json!({ "contract": { "kind": "no_dialog" }, "evidence": { "url": "x" } }), "`url`"),
        ("click", json!({ "selector": "button", "tabId": "t1" }), "`tabId`"),
        ("cookies", json!({ "action": "set", "name": "k", "value": "v" }), "{\"set\": {name, value"),
    ] {
        let error = stage.fails(tool, arguments.clone()).await;
        assert_eq!(error["code"], "usage", "{tool} {arguments}: {error}");
        assert!(error["message"].as_str().unwrap().contains(named), "{tool} {arguments}: {error}");
        let misfits = surehand_tools::check(&[Toolset::Page, Toolset::Verbs], tool, arguments.clone());
        assert!(!misfits.is_empty(), "{tool} {arguments}");
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_tell_their_size() {
    let stage = Stage::new().await;
    for format in ["png", "jpeg", "webp"] {
        let taken = stage.done("page_screenshot", json!({ "format": format })).await;
        assert_eq!(taken["dimensions"], json!({ "width": 1280, "height": 720 }), "{taken}");
    }
    let clip = json!({ "x": 0, "y": 0, "width": 30, "height": 20.0 });
    let taken =
        stage.done("page_screenshot", json!({ "clip": clip, "format": "webp", "quality": 50.0 })).await;
    assert_eq!(taken["dimensions"], json!({ "width": 30, "height": 20 }), "{taken}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_speak_of_tools() {
    let stage = Stage::new().await;
    for (tool, arguments) in [
        ("interact", json!({ "ref": "#none", "timeout": 1500 })),
        ("interact", json!({ "ref": "e999" })),
        ("wait_for", json!({ "condition": "selector", "value": "#none", "timeout": 1500 })),
        ("read_page", json!({ "tabId": "t9" })),
        ("read_page", json!({ "selector": "a[" })),
        ("navigate", json!({ "url": "forward" })),
        ("interact", json!({ "ref": "Area", "timeout": 1500 })),
        ("click", json!({ "selector": "@e999" })),
        ("tab", json!({ "action": { "close": { "tab": "t9" } } })),
        ("javascript_tool", json!({ "code": "nothing.here" })),
        ("navigate", json!({})),
    ] {
        let error = stage.fails(tool, arguments.clone()).await;
        let hints = error["hints"].to_string();
        assert!(hints.len() > 4, "{tool} {arguments}: {error}");
        assert!(!hints.contains("surehand") && !hints.contains("--"), "{tool} {arguments}: {error}");
    }
    stage.end().await;
}
