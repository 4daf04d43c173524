//! Surroundings: what is set holds in every page of the session, from its first script on, and in no other session.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Case, SOON, Shared, fresh_cli, ok};
use serde_json::{Value, json};
use surehand_testkit::{Listener, Logged, Response, Site, wait_for};

/// What a page sees of the world: `first` when its first script ran, `look()` now.
const PROBE: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Probe</title>
    <meta name=viewport content='width=device-width'>
    <script>
    const look = () => ({
        zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        locale: Intl.NumberFormat().resolvedOptions().locale,
        language: navigator.language,
        dark: matchMedia('(prefers-color-scheme: dark)').matches,
        still: matchMedia('(prefers-reduced-motion: reduce)').matches,
        print: matchMedia('print').matches,
        agent: navigator.userAgent,
        mobile: navigator.userAgentData.mobile,
        fingers: navigator.maxTouchPoints,
        // A frame in another process is not told of the screen's (Chromium 156).
        ratio: top === window ? devicePixelRatio : 2.625,
        online: navigator.onLine,
    });
    const where = () => new Promise(done => navigator.geolocation.getCurrentPosition(
        ({ coords }) => done([coords.latitude, coords.longitude, coords.accuracy]), error => done(error.code)));
    window.first = look();
    window.firstWidth = innerWidth;
    </script>";

static SHARED: Shared = Shared::new(|site| {
    let outer = "<iframe id=inside src='{{cross}}/inner' allow=geolocation></iframe>
        <button id=near onclick=\"window.open('/inner')\">Near</button>
        <button id=far onclick=\"window.open('{{cross}}/inner')\">Far</button>
        <a id=alone href='{{cross}}/inner' target=_blank rel=noopener>Alone</a>";
    site.page("/probe", format!("{PROBE}{outer}"))
        .page("/inner", PROBE)
        .page("/carrier", "<script src=/part.js></script><img src=/part.png><iframe src='{{cross}}/within'></iframe><script>fetch('/part.json')</script>")
        .page("/within", "<script src=/within.js></script>")
        .page("/pop", "<button onclick=\"window.open('{{cross}}/popped')\">Pop</button>")
        .page("/popped", "<title>Popped</title>")
        .redirect("/moved", "/plain")
        .page("/plain", "<title>Plain</title><h1>Plain</h1>")
        .file("/part.js", "text/javascript", "'part'")
        .file("/within.js", "text/javascript", "'within'")
        .file("/part.json", "application/json", "{}")
        .basic_auth("/locked", "ada", "p:ss wörd")
        .page("/locked/room", "<title>Room</title><img src=/locked/picture><p>inside</p>")
        .page("/around", "<iframe id=f src='/locked/hall'></iframe><a id=pop href='{{cross}}/locked/hall' target=_blank>Pop</a>")
        .file("/worker.js", "text/javascript", "const world = { zone: Intl.DateTimeFormat().resolvedOptions().timeZone, locale: Intl.NumberFormat().resolvedOptions().locale, language: navigator.language, agent: navigator.userAgent };
            fetch('/from-worker').then(() => postMessage(world), () => postMessage('off line'))")
        .file("/shared.js", "text/javascript", "onconnect = event => event.ports[0].postMessage('shared')")
        .file("/service.js", "text/javascript", "onfetch = event => { if (event.request.url.endsWith('/of-service')) event.respondWith(new Response('service')) }; onactivate = event => event.waitUntil(clients.claim())")
        .file("/from-worker", "text/plain", "x")
        .page("/locked/hall", "<title>Hall</title>")
        .file("/locked/picture", "text/plain", "x")
        .file("/locked/sent", "text/plain", "got it")
});

const PHONE: &str = "Pixel 7";

/// All that can be set and that `look` sees.
const WORLD: [&[&str]; 5] = [
    &["set", "device", PHONE],
    &["set", "timezone", "Asia/Tokyo"],
    &["set", "locale", "de-CH"],
    &["set", "media", "dark", "reduced-motion", "print"],
    &["set", "geo", "47.37", "8.54", "--accuracy", "12"],
];

fn set_world(case: &Case) {
    for command in WORLD {
        case.ok(command);
    }
}

/// Is this what `WORLD` says?
#[track_caller]
fn must_be_world(seen: &Value, place: &str) {
    let agent = seen["agent"].as_str().expect("a text");
    assert!(agent.contains("Android") && agent.contains("Mobile"), "{place}: {seen}");
    let wanted = json!({
        "zone": "Asia/Tokyo", "locale": "de-CH", "language": "de-CH", "dark": true, "still": true, "print": true,
        "agent": agent, "mobile": true, "fingers": 5, "ratio": 2.625, "online": true,
    });
    assert_eq!(*seen, wanted, "{place}");
}

/// In the tab that is active: its first script, now, and where on earth.
#[track_caller]
fn must_see_world(case: &Case, place: &str) {
    case.ok(&["wait", "--load", "load"]);
    must_be_world(&case.eval("first"), &format!("{place}, at first"));
    must_be_world(&case.eval("look()"), place);
    assert_eq!(case.eval("where()"), json!([47.37, 8.54, 12]), "{place}");
}

#[test]
fn what_is_set_holds_everywhere_from_the_first_script_on() {
    let (case, stranger) = (SHARED.case("world"), SHARED.case("stranger"));
    let url = case.site().url("/probe");
    stranger.ok(&["open", &url]);
    let plain = stranger.eval("look()");
    set_world(&case);

    case.ok(&["open", &url]);
    must_see_world(&case, "the first page");
    case.ok(&["reload"]);
    must_see_world(&case, "after a reload");
    case.ok(&["frame", "#inside"]);
    must_see_world(&case, "a frame of another origin");
    case.ok(&["frame", "main"]);
    case.ok(&["open", &case.site().cross_url("/inner")]);
    must_see_world(&case, "another origin");
    case.ok(&["back"]);
    must_see_world(&case, "back again");

    for (button, place) in [
        ("#near", "a popup"),
        ("#far", "a popup of another origin"),
        ("#alone", "one that does not know its opener"),
    ] {
        case.ok(&["tab", "t1"]);
        let opened = case.ok(&["click", button])["opened"].clone();
        case.ok(&["tab", opened[0].as_str().expect("a tab that opened")]);
        case.ok(&["wait", "--fn", "window.first"]);
        must_see_world(&case, place);
        assert_eq!(case.eval("firstWidth"), case.eval("innerWidth"), "{place}");
    }
    for verb in ["tab", "window"] {
        case.ok(&[verb, "new", &url]);
        must_see_world(&case, &format!("{verb} new"));
    }

    stranger.ok(&["reload"]);
    assert_eq!(stranger.eval("first"), plain, "another session must not notice");
    assert_eq!(stranger.eval("look()"), plain);
    assert_eq!(stranger.eval("innerWidth"), 1280);
}

#[test]
fn what_is_set_holds_at_once_in_pages_that_are_open() {
    let case = SHARED.case("live");
    case.ok(&["open", &case.site().url("/probe")]);
    case.ok(&["tab", "new", &case.site().url("/probe")]);
    set_world(&case);
    let now = |place: &str| {
        let mut seen = case.eval("look()");
        // A page keeps the user agent that it was loaded with.
        for (name, value) in [("agent", json!("Android Mobile")), ("mobile", json!(true))] {
            seen[name] = value;
        }
        must_be_world(&seen, place);
        assert_eq!(case.eval("where()"), json!([47.37, 8.54, 12]), "{place}");
    };
    now("the active tab");
    case.ok(&["frame", "#inside"]);
    now("its frame");
    case.ok(&["tab", "t1"]);
    now("the tab in the background");
    case.ok(&["frame", "#inside"]);
    now("the frame in the background");
    case.ok(&["reload"]);
    must_see_world(&case, "after a reload");
}

#[test]
fn reset_puts_back_all_or_one() {
    let case = SHARED.case("reset");
    let url = case.site().url("/probe");
    case.ok(&["open", &url]);
    let (plain, width) = (case.eval("look()"), case.eval("innerWidth"));
    set_world(&case);
    case.ok(&["set", "headers", "{\"X-Reset\": \"1\"}"]);
    case.ok(&["set", "offline", "on"]);
    assert_eq!(case.ok(&["set", "reset", "timezone", "offline"])["reset"], json!(["timezone", "offline"]));
    let seen = case.eval("look()");
    assert_eq!((&seen["zone"], &seen["online"]), (&plain["zone"], &plain["online"]));
    assert_eq!((&seen["locale"], &seen["dark"]), (&json!("de-CH"), &json!(true)), "the others stay");

    case.ok(&["set", "reset"]);
    case.ok(&["reload"]);
    for place in ["the same tab", "a new tab"] {
        assert_eq!(case.eval("first"), plain, "{place}");
        assert_eq!(case.eval("look()"), plain, "{place}");
        assert_eq!(case.eval("innerWidth"), width, "{place}");
        case.ok(&["frame", "#inside"]);
        assert_eq!(case.eval("({...first, ratio: 1})"), plain, "the frame in {place}");
        case.ok(&["frame", "main"]);
        case.ok(&["tab", "new", &url]);
    }
    let denied =
        case.eval("Promise.race([where(), new Promise(done => setTimeout(done, 300, 'nobody answers'))])");
    assert!(!denied.is_array(), "the place is not told any more: {denied}");
    let last = case.site().requests_to("/probe").pop().expect("a request");
    assert_eq!(last.header("x-reset"), None);
}

#[test]
fn a_device_is_the_same_for_scripts_style_sheets_and_servers() {
    let case = SHARED.case("device");
    case.ok(&["set", "device", "iphone 14"]);
    let html =
        format!("{PROBE}<style>@media (pointer: coarse) {{ p {{ color: rgb(1, 2, 3) }} }}</style><p>x</p>");
    let url = case.show(&html);
    let agent = case.eval("navigator.userAgent");
    assert!(agent.as_str().unwrap().contains("iPhone"), "{agent}");
    let path = url.rsplit_once("/p/").map(|(_, rest)| format!("/p/{rest}")).unwrap();
    let request = case.site().requests_to(&path).pop().expect("a request");
    assert_eq!(request.header("user-agent"), agent.as_str());
    assert_eq!(
        case.eval(
            "[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints, 'ontouchstart' in window]"
        ),
        json!([390, 664, 3, 5, true])
    );
    assert_eq!(case.eval("getComputedStyle(document.querySelector('p')).color"), "rgb(1, 2, 3)");
    assert_eq!(case.eval("[screen.orientation.type, userAgentDataOf()]; function userAgentDataOf() { return navigator.userAgentData.mobile }"), json!(["portrait-primary", true]));
    // A phone that is turned stays a phone.
    case.ok(&["set", "viewport", "664", "390", "3"]);
    assert_eq!(
        case.eval("[innerWidth, innerHeight, navigator.maxTouchPoints, screen.orientation.type]"),
        json!([664, 390, 5, "landscape-primary"])
    );
    case.ok(&["set", "device", "Desktop Chrome"]);
    case.ok(&["reload"]);
    assert_eq!(case.eval("[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints, navigator.userAgentData.mobile]"), json!([1280, 720, 1, 0, false]));
    let names = case.ok(&["set", "device"])["devices"].clone();
    assert!(names.as_array().unwrap().len() > 100, "{names}");
}

#[test]
fn bad_values_say_what_to_do_and_leave_the_old_ones() {
    let case = SHARED.case("bad");
    let url = case.site().url("/probe");
    case.ok(&["open", &url]);
    set_world(&case);
    case.ok(&["set", "headers", "{\"X-Old\": \"1\"}"]);
    for (command, code, said) in [
        (&["set", "timezone", "Mars/Base"][..], "bad-setting", "Mars/Base"),
        (&["set", "timezone", ""], "bad-setting", "Europe/Zurich"),
        (&["set", "locale", "no language at all"], "bad-setting", "de-CH"),
        (&["set", "geo", "91", "0"], "bad-number", "-90 to 90"),
        (&["set", "geo", "0", "-181"], "bad-number", "-180 to 180"),
        (&["set", "geo", "NaN", "0"], "bad-number", "a plain number"),
        (&["set", "geo", "0", "0", "--accuracy", "inf"], "bad-number", "a plain number"),
        (&["set", "geo", "0", "0", "--accuracy=-1"], "bad-number", "0 or more"),
        (&["set", "viewport", "800", "600", "NaN"], "bad-number", "a plain number"),
        (&["set", "device", "Pixel 7000"], "bad-setting", "Pixel 7"),
        (&["set", "device", "toaster"], "bad-setting", "surehand set device"),
        (&["set", "viewport", "800", "600", "0"], "bad-number", "0.1 to 10"),
        (&["set", "viewport", "0", "600"], "bad-number", "1..=10000"),
        (&["set", "media", "purple"], "usage", "dark"),
        (&["set", "offline", "maybe"], "usage", "off"),
        (&["set", "headers", "[]"], "bad-setting", "JSON object"),
        (&["set", "headers", "X-New: 1"], "bad-setting", "JSON object"),
        (&["set", "headers", "{\"X New\": \"1\"}"], "bad-setting", "X New"),
        (&["set", "headers", "{\"X-New\": 1}"], "bad-setting", "JSON object"),
        (&["set", "headers", "{\"X-New\": \"1\\r\\nX-Evil: 1\"}"], "bad-setting", "X-New"),
        (&["set", "reset", "everything"], "usage", "timezone"),
        (
            &["set", "credentials", "ada", "x", "--origin", "not an origin"],
            "bad-setting",
            "https://example.com",
        ),
    ] {
        case.fails(command).must_be(code, 2).must_say(said);
    }
    case.ok(&["tab", "new", &url]);
    must_see_world(&case, "a new tab");
    case.ok(&["tab", "t1"]);
    case.ok(&["reload"]);
    must_see_world(&case, "the old tab");
    let last = case.site().requests_to("/probe").pop().expect("a request");
    assert_eq!((last.header("x-old"), last.header("x-new")), (Some("1"), None));
}

#[test]
fn offline_fails_and_comes_back() {
    let (case, stranger) = (SHARED.case("offline"), SHARED.case("online"));
    let (url, plain) = (case.site().url("/probe"), case.site().url("/plain"));
    case.ok(&["open", &url]);
    stranger.ok(&["open", &url]);
    let reaches = "fetch('/plain').then(() => true, () => false)";
    assert_eq!(case.ok(&["set", "offline"])["offline"], true);
    assert_eq!(case.eval("[navigator.onLine]"), json!([false]));
    assert_eq!(case.eval(reaches), false);
    case.ok(&["frame", "#inside"]);
    assert_eq!(case.eval(reaches), false, "nor does a frame of another origin");
    case.ok(&["frame", "main"]);
    case.fails(&["open", &plain]).must_be("unreachable-host", 1).must_say("set offline off");
    case.fails(&["tab", "new", &plain]).must_be("unreachable-host", 1);
    assert_eq!(stranger.eval(reaches), true, "another session goes on");
    case.ok(&["set", "offline", "off"]);
    assert_eq!(case.ok(&["open", &plain])["title"], "Plain");
    assert_eq!(case.eval("navigator.onLine"), true);
    case.ok(&["tab", "t1"]);
    case.ok(&["open", &url]);
    assert_eq!(case.eval(reaches), true);
    case.ok(&["frame", "#inside"]);
    assert_eq!(case.eval(reaches), true);
}

fn traced(case: &Case, path: &str, value: &str) -> Option<Logged> {
    let with = |each: &Logged| each.header("x-trace") == Some(value);
    wait_for(SOON, || case.site().requests_to(path).into_iter().find(with))
}

#[test]
fn headers_reach_the_server_with_every_request() {
    let (case, stranger) = (SHARED.case("headers"), SHARED.case("no-headers"));
    case.ok(&["open", &case.site().url("/plain")]);
    let answer = case.ok(&["set", "headers", "{\"X-Trace\": \"seven\", \"X-Key\": \"hidden\"}"]);
    assert_eq!(answer, json!({ "headers": ["X-Key", "X-Trace"] }), "names, no values");
    case.ok(&["open", &case.site().url("/carrier")]);
    for path in ["/carrier", "/part.js", "/part.png", "/part.json", "/within", "/within.js"] {
        let request = traced(&case, path, "seven").unwrap_or_else(|| panic!("{path} came without"));
        let want = if path.starts_with("/within") && path != "/within.js" {
            Listener::Cross
        } else {
            request.listener
        };
        assert_eq!(request.listener, want, "{path}");
    }
    case.ok(&["open", &case.site().url("/moved")]);
    assert!(traced(&case, "/moved", "seven").is_some(), "a redirect");
    assert!(traced(&case, "/plain", "seven").is_some(), "where it leads to");
    case.ok(&["open", &case.site().url("/pop")]);
    case.ok(&["click", "text=Pop"]);
    assert!(traced(&case, "/popped", "seven").is_some(), "the first request of a popup");

    stranger.ok(&["open", &case.site().url("/plain?stranger")]);
    case.ok(&["set", "headers", "{}"]);
    case.ok(&["open", &case.site().url("/plain?bare")]);
    for query in ["stranger", "bare"] {
        let requests = case.site().requests_to("/plain");
        let request = requests.iter().find(|each| each.query == query).expect("a request");
        assert_eq!(request.header("x-trace"), None, "{query}");
    }
}

/// Requests for a path that came since a number of them had come.
fn since(case: &Case, path: &str, count: usize) -> Vec<Logged> {
    case.site().requests_to(path).split_off(count)
}

#[test]
fn credentials_are_given_when_asked_and_never_in_a_loop() {
    let case = SHARED.case("login");
    let (room, plain) = (case.site().url("/locked/room"), case.site().url("/plain"));
    case.fails(&["open", &room]).must_be("login-needed", 1).must_say("surehand set credentials");
    for wrong in ["nobody", "ada"] {
        let before = case.site().requests_to("/locked/room").len();
        case.ok(&["set", "credentials", wrong, "wrong"]);
        case.fails_early(&["open", &room]).must_be("login-needed", 1);
        let asked = since(&case, "/locked/room", before);
        assert!(asked.len() <= 2, "asked {} times", asked.len());
    }
    let answer = case.ok(&["set", "credentials", "ada", "p:ss wörd"]);
    assert_eq!(answer, json!({ "credentials": { "user": "ada", "origin": null } }), "no password");
    case.ok(&["open", &plain]);
    assert_eq!(
        case.site().requests_to("/plain").pop().unwrap().header("authorization"),
        None,
        "nobody asked"
    );
    let opened = case.ok(&["open", &room]);
    assert_eq!((&opened["status"], &opened["title"]), (&json!(200), &json!("Room")));
    let pictures = case.site().requests_to("/locked/picture");
    assert!(pictures.last().unwrap().header("authorization").is_some(), "parts of the page, too");
    let sent = "fetch('/locked/sent', {method: 'POST', body: 'all of it'}).then(answer => answer.text())";
    assert_eq!(case.eval(sent), "got it");
    assert_eq!(case.site().requests_to("/locked/sent").pop().unwrap().body, b"all of it");
    case.ok(&["tab", "new", &case.site().cross_url("/locked/room")]);
    assert_eq!(case.ok(&["get", "title"])["title"], "Room", "any server, in any tab");
    assert!(!case.text(&["network", "requests"]).contains("p:ss"));
}

#[test]
fn credentials_may_be_for_one_origin_only() {
    let case = SHARED.case("one-origin");
    let (main, cross) = (case.site().url("/locked/hall"), case.site().cross_url("/locked/hall"));
    let origin = case.site().cross_url("/");
    let run = case
        .cli
        .run_with_input(&["set", "credentials", "ada", "--origin", &origin], "p:ss wörd\n".as_bytes())
        .expect("it runs");
    assert!(run.ok(), "{run:?}");
    case.fails(&["open", &main]).must_be("login-needed", 1);
    let seen = case.site().requests_to("/locked/hall");
    let last = seen.iter().rfind(|each| each.listener == Listener::Main).expect("a request");
    assert_eq!(last.header("authorization"), None, "not for this one");
    assert_eq!(case.ok(&["open", &cross])["status"], 200);
    case.ok(&["set", "reset", "credentials"]);
    case.fails(&["open", &main]).must_be("login-needed", 1);
}

#[test]
fn frames_and_popups_log_in_too() {
    let case = SHARED.case("login-frames");
    case.ok(&["set", "credentials", "ada", "p:ss wörd"]);
    case.ok(&["open", &case.site().url("/around")]);
    case.ok(&["frame", "#f"]);
    assert_eq!(case.eval("document.title"), "Hall");
    case.ok(&["frame", "main"]);
    let opened = case.ok(&["click", "#pop"])["opened"].clone();
    case.ok(&["tab", opened[0].as_str().expect("a tab that opened")]);
    case.ok(&["wait", "--load", "load"]);
    assert_eq!(case.ok(&["get", "title"])["title"], "Hall");
}

#[test]
fn workers_live_in_the_same_world() {
    let case = SHARED.case("worker");
    set_world(&case);
    case.ok(&["set", "headers", "{\"X-Trace\": \"worker\"}"]);
    case.ok(&["open", &case.site().url("/probe")]);
    let world =
        case.eval("new Promise(done => new Worker('/worker.js').onmessage = event => done(event.data))");
    assert_eq!(
        (&world["zone"], &world["locale"], &world["language"]),
        (&json!("Asia/Tokyo"), &json!("de-CH"), &json!("de-CH"))
    );
    assert_eq!(world["agent"], case.eval("navigator.userAgent"));
    assert!(traced(&case, "/worker.js", "worker").is_some());
    assert!(traced(&case, "/from-worker", "worker").is_some());
}

/// What is held at its start must be let go by somebody.
#[test]
fn workers_of_every_kind_run() {
    let case = SHARED.case("workers");
    case.ok(&["open", &case.site().url("/plain")]);
    let said = "new Promise(done => new Worker('/worker.js').onmessage = event => done(typeof event.data))";
    assert_eq!(case.eval(said), "object");
    let nested = "new Promise(done => new Worker(URL.createObjectURL(new Blob([`new Worker('${location.origin}/worker.js').onmessage = event => postMessage(typeof event.data)`]))).onmessage = event => done(event.data))";
    assert_eq!(case.eval(nested), "object", "a worker of a worker");
    let said =
        "new Promise(done => new SharedWorker('/shared.js').port.onmessage = event => done(event.data))";
    assert_eq!(case.eval(said), "shared");
    case.eval("navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then(() => 1)");
    case.ok(&["wait", "--fn", "navigator.serviceWorker.controller !== null"]);
    assert_eq!(case.eval("fetch('/of-service').then(answer => answer.text())"), "service");
    let list = case.ok(&["network", "requests", "--filter", "/from-worker"])["requests"].clone();
    assert_eq!(list[0]["status"], 200, "what a worker asks for is listed: {list}");
}

/// A proxy that wants to know who asks, and answers everything itself.
fn proxy(login: &'static str) -> Site {
    Site::builder()
        .route("http*", move |request| {
            if request.header("proxy-authorization") == Some(login) {
                Response::html("<title>Through</title>")
            } else {
                Response::text("who is it?").status(407).header("Proxy-Authenticate", "Basic realm=\"gate\"")
            }
        })
        .start()
        .expect("a port on loopback")
}

#[test]
fn a_proxys_login_is_used_and_a_wrong_one_is_told() {
    // "me:p@ss"
    let (cli, gate) = (fresh_cli(), proxy("Basic bWU6cEBzcw=="));
    let address = |login: &str| gate.url("").replace("http://", &format!("http://{login}@"));
    let good = cli.session("good").env("SUREHAND_PROXY", address("me:p%40ss"));
    let opened = ok(&good, &["open", "http://example.test/"]);
    assert_eq!((&opened["status"], &opened["title"]), (&json!(200), &json!("Through")));
    ok(&good, &["set", "credentials", "other", "login"]);
    ok(&good, &["tab", "new", "http://second.test/"]);
    assert_eq!(ok(&good, &["get", "title"])["title"], "Through", "credentials for servers do not replace it");
    assert!(gate.requests().iter().all(|each| each.header("authorization").is_none()));
    ok(&good, &["close"]);

    gate.clear_requests();
    let bad = cli.session("bad").env("SUREHAND_PROXY", address("me:wrong"));
    assert_eq!(ok(&bad, &["open", "http://example.test/"])["status"], 407, "what the proxy said");
    let asked = gate.requests().iter().filter(|each| each.path == "http://example.test/").count();
    assert!(asked <= 2, "asked {asked} times");
}
