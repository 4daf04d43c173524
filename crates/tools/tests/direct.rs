//! The seven tools on a real browser that somebody else started: the whole way of a user, what other tools of this kind
//! get wrong, and browsers, tabs and ports that are not there.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod borrowed;

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use borrowed::{Browser, Caller, uid};
use serde_json::json;
use surehand_testkit::{ClosedPort, Response, Site, SiteBuilder, wait_until};
use surehand_tools::direct::Endpoints;
use surehand_tools::{Toolset, specs};

const FORM: &str = r#"<!doctype html><title>Sign in</title><h1>Welcome</h1>
<form onsubmit="event.preventDefault(); document.title = 'Hello ' + user.value; out.textContent = pass.value.length">
<label>Name <input id=user value=old></label><label>Password <input id=pass type=password></label>
<label>Town <select id=town><option value=1>Bern<option value=2>Basel</select></label>
<button>Sign in</button></form><p id=out></p>"#;

const FAR: &str = r#"<!doctype html><title>Far</title><div style="height:5000px">top</div>
<button id=far>Far away</button><div style="height:3000px"></div><script>
let moved = false, trusted = true;
far.onmousemove = (e) => moved = e.isTrusted;
for (const kind of ['pointerdown', 'mousedown', 'mouseup', 'click']) far.addEventListener(kind, (e) => trusted &&= e.isTrusted);
far.onclick = () => document.title = `moved ${moved} trusted ${trusted}`;
</script>"#;

const EDITOR: &str = r#"<!doctype html><title>Editor</title><div id=ed contenteditable aria-label=Note>old <b>text</b></div>
<input id=keys aria-label=Keys><script>
let events = [];
for (const kind of ['beforeinput', 'input', 'change']) keys.addEventListener(kind, (e) => events.push(kind + e.isTrusted));
</script>"#;

fn site() -> Site {
    routes().start().unwrap()
}

fn routes() -> SiteBuilder {
    let slow_image = Response::bytes("image/png", vec![]).delay(Duration::from_millis(700));
    Site::builder()
        .page("/form", FORM)
        .page("/far", FAR)
        .page("/editor", EDITOR)
        .page("/outer", "<title>Outer</title><h1>Outer</h1><iframe src={{cross}}/middle width=600 height=300></iframe>
            <script>onload = () => fetch('/loaded')</script>")
        .fixed("/loaded", Response::text(""))
        .page("/middle", "<button onclick=\"this.textContent='done'\">In the frame</button><iframe src=/inner></iframe>")
        .page("/inner", "<input aria-label=Deep>")
        .page("/again", r#"<title>Again</title><div id=box><button>One</button></div><script>
            function again() { box.innerHTML = '<button onclick="document.title=`hit`">Two</button>' }</script>"#)
        .page("/loads", "<title>Loads</title><img src=/image>")
        .fixed("/image", slow_image)
        .page("/hangs", "<title>Hangs</title><p>here</p><img src=/silence>")
        .fixed("/silence", Response::silence())
        .fixed("/missing", Response::html("<title>Nope</title>").status(404))
        .page("/bare", "<title>Bare</title><body aria-hidden=true>only text here</body>")
        .page("/asks", r#"<title>Asks</title><button onclick="document.title = confirm('Sure?')">Ask</button>
            <button onclick="alert('hi')">Tell</button><button onclick="setTimeout(late, 2500)">Later</button><script>
            function late() { ask('/asking'); confirm('Late?') }
            function ask(path) { const request = new XMLHttpRequest(); request.open('GET', path, false); request.send() }</script>"#)
        .fixed("/asking", Response::text(""))
        .slow("/tardy", Duration::from_secs(20), "<title>Tardy</title>")
        .page("/frozen", "<title>Frozen</title><button>x</button>")
}

/// Waits until the site was asked for a path.
fn is_asked(site: &Site, path: &str) -> bool {
    wait_until(Duration::from_secs(20), || !site.requests_to(path).is_empty())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_way_of_a_user() {
    let (browser, site) = (Browser::start(), site());
    let mut caller = Caller::new(&browser.url());

    let listed = caller.text("browser_list", json!({})).await;
    let id = listed.strip_prefix('[').unwrap().split(']').next().unwrap().to_owned();
    assert_eq!(listed, format!("[{id}]\n  about:blank"));

    let url = site.url("/form");
    let went = caller.text("browser_navigate", json!({ "target_id": id, "url": url })).await;
    assert_eq!(went, format!("Navigated to: {url}\nTitle: Sign in"));

    let snapshot = caller.snapshot().await;
    assert!(snapshot.contains("[2] textbox \"Name\" value=\"old\""), "{snapshot}");
    assert!(!snapshot.contains("[0]"));

    caller.secret = Some("hunter2secret".to_owned());
    let name = uid(&snapshot, "textbox \"Name\"");
    assert_eq!(caller.fill(name, "Ada").await, format!("Filled [{name}] \"Name\""));
    // However the endpoint and the target are written, they are the same ones.
    let password = uid(&snapshot, "\"Password\"");
    let arguments = json!({
        "browser_url": format!("{}/", browser.url()), "target_id": id, "uid": password, "value": "hunter2secret",
    });
    caller.text("browser_fill", arguments).await;
    let town = uid(&snapshot, "combobox \"Town\"");
    caller.fill(town, "Basel").await;
    assert_eq!(caller.eval("town.value").await, "2");

    let option = uid(&snapshot, "option \"Bern\"");
    let (answer, took) = caller.answer("browser_click", json!({ "uid": option })).await;
    assert!(answer.is_error && answer.text.contains("a list takes the label"), "{}", answer.text);
    assert!(took < Duration::from_millis(4500), "it does not wait until it gives up: {took:?}");

    let button = uid(&snapshot, "button \"Sign in\"");
    let clicked = caller.click(button).await;
    assert!(clicked.starts_with(&format!("Clicked [{button}] \"Sign in\" at (")), "{clicked}");
    assert_eq!(caller.eval("document.title").await, "Hello Ada");
    assert_eq!(caller.eval("out.textContent").await, "13");
    let snapshot = caller.snapshot().await;
    assert!(snapshot.contains("value=\"Ada\"") && snapshot.contains("Password"), "{snapshot}");

    let saved = caller.text("browser_screenshot", json!({})).await;
    let path = saved.strip_prefix("Screenshot saved to: ").unwrap().split(" (").next().unwrap();
    assert!(fs_err::read(path).unwrap().starts_with(b"\x89PNG") && saved.ends_with(" KB)"), "{saved}");
    fs_err::remove_file(path).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_clicked_is_scrolled_to_and_feels_a_real_mouse() {
    let (browser, site) = (Browser::start(), site());
    let caller = Caller::new(&browser.url());
    caller.go(&site.url("/far")).await;
    caller.click(uid(&caller.snapshot().await, "Far away")).await;
    assert_eq!(caller.eval("document.title").await, "moved true trusted true");

    caller.go(&site.url("/editor")).await;
    let snapshot = caller.snapshot().await;
    caller.fill(uid(&snapshot, "\"Note\""), "brand new").await;
    assert_eq!(caller.eval("ed.textContent").await, "brand new");
    caller.fill(uid(&snapshot, "\"Keys\""), "abc").await;
    assert_eq!(caller.eval("events.join()").await, "beforeinputtrue,inputtrue");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_are_part_of_the_page() {
    let (browser, site) = (Browser::start(), site());
    // The tab is there with all its frames before we are.
    let id = browser.open_tab(&site.url("/outer")).await;
    assert!(is_asked(&site, "/loaded"));
    let caller = Caller::new(&browser.url());
    let on = |more: serde_json::Value| {
        let mut arguments = json!({ "target_id": id });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let snapshot = caller.text("browser_snapshot", on(json!({}))).await;
    let (button, deep) = (uid(&snapshot, "In the frame"), uid(&snapshot, "\"Deep\""));
    caller.text("browser_click", on(json!({ "uid": button }))).await;
    caller.text("browser_fill", on(json!({ "uid": deep, "value": "far down" }))).await;
    let snapshot = caller.text("browser_snapshot", on(json!({}))).await;
    assert!(snapshot.contains("button \"done\"") && snapshot.contains("value=\"far down\""), "{snapshot}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_uid_never_means_something_else() {
    let (browser, site) = (Browser::start(), site());
    let caller = Caller::new(&browser.url());
    let error = caller.error("browser_click", json!({ "uid": 1 })).await;
    assert!(error.contains("call browser_snapshot first"), "{error}");
    caller.go(&site.url("/again")).await;
    let error = caller.error("browser_fill", json!({ "uid": 1, "value": "x" })).await;
    assert!(error.contains("call browser_snapshot first"), "{error}");
    let one = uid(&caller.snapshot().await, "\"One\"");
    for unknown in [0, 99] {
        let error = caller.error("browser_click", json!({ "uid": unknown })).await;
        assert!(error.contains(&format!("UID {unknown} is not in the latest snapshot")), "{error}");
    }
    // Written anew by its page.
    caller.eval("again()").await;
    let error = caller.error("browser_click", json!({ "uid": one })).await;
    assert!(
        error.contains("[1] \"One\" is not on the page any more") && error.contains("browser_snapshot"),
        "{error}"
    );
    assert_eq!(caller.eval("document.title").await, "Again");
    // Led elsewhere, to the same address and back.
    assert_eq!(uid(&caller.snapshot().await, "\"Two\""), 1);
    caller.go(&site.url("/again")).await;
    let error = caller.error("browser_click", json!({ "uid": 1 })).await;
    assert!(error.contains("not on the page any more"), "{error}");
    let error = caller.error("browser_fill", json!({ "uid": 1, "value": "x" })).await;
    assert!(error.contains("not on the page any more"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_waited_for_but_not_for_ever() {
    let (browser, site) = (Browser::start(), site());
    let caller = Caller::new(&browser.url());
    let go = async |path: &str| {
        let (answer, took) = caller.answer("browser_navigate", json!({ "url": site.url(path) })).await;
        (answer.text, answer.is_error, took)
    };
    for _ in 0..5 {
        let (_, _, took) = go("/form").await;
        assert!(took < Duration::from_secs(9), "the load was missed: {took:?}");
    }
    let (_, _, took) = go("/loads").await;
    assert!(took > Duration::from_millis(600) && took < Duration::from_secs(9), "{took:?}");
    let (text, is_error, took) = go("/hangs").await;
    assert!(!is_error && text.ends_with("Title: Hangs"), "{text}");
    assert!(took > Duration::from_secs(9) && took < Duration::from_secs(25), "{took:?}");
    let (text, is_error, _) = go("/missing").await;
    assert!(!is_error && text.contains("Title: Nope\nNote: the server answered with status 404."), "{text}");
    caller.go(&site.url("/bare")).await;
    assert_eq!(caller.snapshot().await, "Page text:\nonly text here");

    let closed = ClosedPort::new().unwrap();
    let url = format!("http://{}/", closed.address());
    let error = caller.error("browser_navigate", json!({ "url": url })).await;
    assert!(error.contains("ERR_CONNECTION_REFUSED"), "{error}");
    let error = caller.error("browser_navigate", json!({ "url": "http://no-such-host.invalid/" })).await;
    assert!(error.contains("no-such-host.invalid"), "{error}");
    let error = caller.error("browser_navigate", json!({ "url": "javascript:alert(1)" })).await;
    assert!(error.contains("no address"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_answer_as_they_should() {
    let (browser, site) = (Browser::start(), site());
    let caller = Caller::new(&browser.url());
    caller.go(&site.url("/form")).await;
    for (expression, expected) in [
        ("'a\\nb'", "a\nb"),
        ("undefined", "undefined"),
        ("null", "null"),
        ("({ b: 1, a: [1, 2], c: {} })", "{\n  \"b\": 1,\n  \"a\": [\n    1,\n    2\n  ],\n  \"c\": {}\n}"),
        ("Promise.resolve(7)", "7"),
        ("await Promise.resolve(8)", "8"),
        ("new Promise(() => {}), true", "true"),
    ] {
        assert_eq!(caller.eval(expression).await, expected, "{expression}");
    }
    for (expression, expected) in [
        ("throw new Error('boom')", "Error: boom"),
        ("nothing.at.all", "Error: ReferenceError: nothing is not defined"),
        ("Promise.reject(new TypeError('no'))", "Error: TypeError: no"),
        ("confirm('Really?')", "Error: A confirm dialog said \"Really?\"; it was dismissed."),
    ] {
        let error = caller.error("browser_eval", json!({ "expression": expression })).await;
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!(caller.eval("1").await, "1");
    let error = caller.error("browser_eval", json!({ "expression": "1", "targetId": "x" })).await;
    assert!(error.contains("`targetId`"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dialogs_do_not_hold_up_anything() {
    let (browser, site) = (Browser::start(), site());
    let caller = Caller::new(&browser.url());
    caller.go(&site.url("/asks")).await;
    let snapshot = caller.snapshot().await;
    let asked = caller.click(uid(&snapshot, "\"Ask\"")).await;
    assert!(asked.contains("A confirm dialog said \"Sure?\"; it was dismissed."), "{asked}");
    assert_eq!(caller.eval("document.title").await, "false");
    let told = caller.click(uid(&snapshot, "\"Tell\"")).await;
    assert!(told.contains("An alert dialog said \"hi\" and was accepted."), "{told}");
    caller.eval("window.confirm = () => true").await;
    caller.click(uid(&snapshot, "\"Ask\"")).await;
    assert_eq!(caller.eval("document.title").await, "true");
    // One that comes by itself waits for a person; going elsewhere dismisses it.
    caller.go(&site.url("/asks")).await;
    caller.click(uid(&caller.snapshot().await, "\"Later\"")).await;
    assert!(is_asked(&site, "/asking"));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let error = caller.error("browser_snapshot", json!({})).await;
    assert!(error.contains("Late?") && error.contains("browser_navigate"), "{error}");
    let went = caller.text("browser_navigate", json!({ "url": site.url("/form") })).await;
    assert!(went.contains("Title: Sign in") && went.contains("Late?"), "{went}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_tabs_are_left_alone_and_ours_is_given_back() {
    let (browser, site) = (Browser::start(), site());
    let (mine, other) =
        (browser.open_tab(&site.url("/form")).await, browser.open_tab(&site.url("/far")).await);
    let caller = Caller::with(&browser.url(), Endpoints::with_idle(Duration::from_secs(4)));
    let listed = caller.text("browser_list", json!({})).await;
    assert!(listed.contains(&mine) && listed.contains(&other));
    assert!(browser.attached().await.is_empty(), "a listing attaches to nothing");
    let snapshot = caller.text("browser_snapshot", json!({ "target_id": mine })).await;
    assert_eq!(browser.attached().await, std::slice::from_ref(&mine));
    let given_back = async || {
        let started = Instant::now();
        while !browser.attached().await.is_empty() {
            assert!(started.elapsed() < Duration::from_secs(30), "it is not given back");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    given_back().await;
    // The numbers outlive that, as long as the page does.
    let name = uid(&snapshot, "textbox \"Name\"");
    caller.text("browser_fill", json!({ "target_id": mine, "uid": name, "value": "Ada" })).await;
    let value = caller.text("browser_eval", json!({ "target_id": mine, "expression": "user.value" })).await;
    assert_eq!(value, "Ada");
    given_back().await;
    let client = browser.other_client().await;
    assert!(client.browser().call(&surehand_cdp::protocol::target::GetTargets::default()).await.is_ok());
    // Nor do they survive a new document.
    caller.text("browser_navigate", json!({ "target_id": mine, "url": site.url("/form") })).await;
    let error = caller.error("browser_fill", json!({ "target_id": mine, "uid": name, "value": "x" })).await;
    assert!(error.contains("not on the page any more"), "{error}");
    given_back().await;
    let error = caller.error("browser_fill", json!({ "target_id": mine, "uid": name, "value": "x" })).await;
    assert!(error.contains("not on the page any more"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_or_a_browser_that_is_gone_is_told_quickly() {
    let (mut browser, site) = (Browser::start(), site());
    let caller = Caller::new(&browser.url());
    let error = caller.error("browser_snapshot", json!({ "target_id": "NOSUCH" })).await;
    assert!(error.contains("no target \"NOSUCH\"; its page targets are "), "{error}");
    let id = browser.open_tab(&site.url("/form")).await;
    let snapshot = caller.text("browser_snapshot", json!({ "target_id": id })).await;
    let unseen = browser.open_tab(&site.url("/form")).await;
    browser.close_tab(&id).await;
    browser.close_tab(&unseen).await;
    let uid = uid(&snapshot, "Sign in");
    for gone in [&id, &unseen] {
        let error = caller.error("browser_click", json!({ "target_id": gone, "uid": uid })).await;
        assert!(error.contains("target \"") && error.contains(gone.as_str()), "{error}");
    }
    browser.kill();
    let error = caller.error("browser_snapshot", json!({})).await;
    assert!(error.contains("nothing listens on 127.0.0.1"), "{error}");
    let error = caller.error("browser_snapshot", json!({ "target_id": "X" })).await;
    assert!(error.contains("nothing listens on 127.0.0.1"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ports_without_a_browser_are_told_quickly() {
    let site = Site::builder()
        .fixed("/json/list", Response::json(&json!([{ "id": "w", "type": "service_worker" }])))
        .start()
        .unwrap();
    let other = Site::builder().start().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    let closed = ClosedPort::new().unwrap();
    let closed_url = format!("http://{}", closed.address());
    let caller = Caller::new(&closed_url);
    for (browser_url, expected) in [
        (closed_url.as_str(), "nothing listens on 127.0.0.1"),
        (&other.url(""), "is a web server, not a browser's debugging port"),
        (&silent, "did not answer within"),
        ("http://no-such-host.invalid:9222", "no-such-host.invalid"),
        ("nonsense", "is no address to attach to"),
        ("", "is no address to attach to"),
    ] {
        for tool in ["browser_list", "browser_snapshot", "browser_screenshot"] {
            let error = caller.error(tool, json!({ "browser_url": browser_url })).await;
            assert!(error.contains(expected), "{error}");
        }
    }
    let none = json!({ "browser_url": site.url("/") });
    assert_eq!(caller.text("browser_list", none.clone()).await, "No page targets found.");
    let error = caller.error("browser_snapshot", none).await;
    assert!(error.contains("no page target"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_is_stuck_can_be_led_elsewhere() {
    let (browser, site) = (Browser::start(), site());
    let (stuck, other) =
        (browser.open_tab(&site.url("/frozen")).await, browser.open_tab(&site.cross_url("/form")).await);
    let script = "setTimeout(() => { document.title = 'stuck'; while (true); }, 200)";
    let caller = Caller::new(&browser.url());
    caller.text("browser_eval", json!({ "target_id": stuck, "expression": script })).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    caller.text("browser_snapshot", json!({ "target_id": other })).await;
    let went = caller.text("browser_navigate", json!({ "target_id": stuck, "url": site.url("/form") })).await;
    assert!(went.ends_with("Title: Sign in"), "{went}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_server_is_not_waited_for_longer_than_10_s_and_its_page_comes_all_the_same() {
    let (browser, site) = (Browser::start(), site());
    let caller = Caller::new(&browser.url());
    let url = site.url("/tardy");
    let (answer, took) = caller.answer("browser_navigate", json!({ "url": url })).await;
    assert!(!answer.is_error, "{}", answer.text);
    assert!(took < Duration::from_secs(18), "{took:?}");
    assert!(answer.text.starts_with(&format!("Navigated to: {url}\nTitle: ")), "{}", answer.text);
    let started = Instant::now();
    // The page may change in the middle of a question.
    while caller.answer("browser_eval", json!({ "expression": "document.title" })).await.0.text != "Tardy" {
        assert!(started.elapsed() < Duration::from_secs(40), "the page does not come");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_nobody_waits_for_is_ended() {
    let (browser, site) = (Browser::start(), site());
    let caller = Caller::new(&browser.url());
    caller.go(&site.url("/form")).await;
    let endless = caller.answer("browser_eval", json!({ "expression": "while (true);" }));
    assert!(tokio::time::timeout(Duration::from_millis(500), endless).await.is_err());
    assert_eq!(caller.eval("1 + 1").await, "2");
    let button = f64::from(uid(&caller.snapshot().await, "button \"Sign in\""));
    caller.text("browser_click", json!({ "uid": button })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_do_not_wait_for_each_other() {
    let is_done = Arc::new(AtomicBool::new(false));
    let seen = is_done.clone();
    let held = routes().route("/held", move |_| {
        let _ = wait_until(Duration::from_secs(60), || seen.load(Ordering::SeqCst));
        Response::text("late")
    });
    let (browser, site) = (Browser::start(), held.start().unwrap());
    let (one, two) = (browser.open_tab(&site.url("/form")).await, browser.open_tab(&site.url("/far")).await);
    let caller = Caller::new(&browser.url());
    // It ends after the other calls, or not at all.
    let busy = "fetch('/held').then(answer => answer.text())";
    let late = caller.text("browser_eval", json!({ "target_id": one, "expression": busy }));
    let quick = async {
        while site.requests_to("/held").is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        caller.text("browser_snapshot", json!({ "target_id": two })).await;
        let shot = || caller.text("browser_screenshot", json!({ "target_id": two }));
        let (a, b) = tokio::join!(shot(), shot());
        assert_ne!(a, b);
        for saved in [a, b] {
            fs_err::remove_file(
                saved.trim_start_matches("Screenshot saved to: ").split(" (").next().unwrap(),
            )
            .unwrap();
        }
        is_done.store(true, Ordering::SeqCst);
    };
    let (late, ()) = tokio::join!(late, quick);
    assert_eq!(late, "late");
}

const APP: &str = r#"const { app, BrowserWindow } = require('electron');
app.whenReady().then(() => {
  new BrowserWindow({ width: 800, height: 600 }).loadFile('index.html');
  new BrowserWindow({ width: 400, height: 300 }).loadURL('data:text/html,<title>Second</title><p>second');
});"#;

/// Where SUREHAND_TEST_ELECTRON names an Electron program (and DISPLAY a screen), an app of ours is driven in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs an Electron program, named by SUREHAND_TEST_ELECTRON"]
async fn an_app_made_with_electron() {
    let program = std::env::var("SUREHAND_TEST_ELECTRON").expect("SUREHAND_TEST_ELECTRON names no program");
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in
        [("package.json", r#"{"name":"app","main":"main.js"}"#), ("main.js", APP), ("index.html", FORM)]
    {
        fs_err::write(folder.path().join(name), text).unwrap();
    }
    let (app, site) = (Browser::start_app(Path::new(&program), folder.path()), site());
    let caller = Caller::new(&app.url());
    let started = Instant::now();
    let listed = loop {
        let listed = caller.text("browser_list", json!({})).await;
        if (listed.contains("Sign in") && listed.contains("Second"))
            || started.elapsed() > Duration::from_secs(20)
        {
            break listed;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    let entry = listed.split("\n\n").find(|entry| entry.contains("Sign in")).unwrap();
    let id = entry.trim_start_matches('[').split(']').next().unwrap();
    let snapshot = caller.text("browser_snapshot", json!({ "target_id": id })).await;
    let (name, button) = (uid(&snapshot, "textbox \"Name\""), uid(&snapshot, "button \"Sign in\""));
    caller.text("browser_fill", json!({ "target_id": id, "uid": name, "value": "Ada" })).await;
    caller.text("browser_click", json!({ "target_id": id, "uid": button })).await;
    let title = caller.text("browser_eval", json!({ "target_id": id, "expression": "document.title" })).await;
    assert_eq!(title, "Hello Ada");
    let saved = caller.text("browser_screenshot", json!({ "target_id": id })).await;
    fs_err::remove_file(saved.trim_start_matches("Screenshot saved to: ").split(" (").next().unwrap())
        .unwrap();
    caller.text("browser_navigate", json!({ "target_id": id, "url": site.url("/outer") })).await;
    let snapshot = caller.text("browser_snapshot", json!({ "target_id": id })).await;
    caller.text("browser_click", json!({ "target_id": id, "uid": uid(&snapshot, "In the frame") })).await;
    let error = caller.error("browser_click", json!({ "target_id": id, "uid": 99 })).await;
    assert!(error.contains("UID 99"), "{error}");
}

#[test]
fn there_are_exactly_seven_tools_with_these_arguments() {
    let names: Vec<_> = specs(&[Toolset::Direct])
        .into_iter()
        .map(|spec| {
            let schema = &spec.input_schema;
            assert_eq!(schema["additionalProperties"], false, "{}", spec.name);
            let required: Vec<_> =
                schema["required"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
            (spec.name.to_string(), required.join(" "), schema["properties"].as_object().unwrap().len())
        })
        .collect();
    let expected = [
        ("browser_list", "browser_url", 1),
        ("browser_navigate", "browser_url url", 3),
        ("browser_snapshot", "browser_url", 2),
        ("browser_click", "browser_url uid", 3),
        ("browser_fill", "browser_url uid value", 4),
        ("browser_eval", "browser_url expression", 3),
        ("browser_screenshot", "browser_url", 2),
    ];
    assert_eq!(names, expected.map(|(name, required, count)| (name.to_owned(), required.to_owned(), count)));
}
