//! Looking: what can be read of elements, requests and pictures, and what waits and actions tell.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use common::{Case, Shared, fresh_cli, ok, reference};
use serde_json::{Value, json};
use surehand_testkit::Response;

/// One pixel.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0,
    1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 13, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0, 1, 0,
    0, 5, 0, 1, 0x0d, 0x0a, 0x2d, 0xb4, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

static SHARED: Shared = Shared::new(|site| {
    site.file("/pixel.png", "image/png", PNG)
        .route("/echo", |request| {
            let mut body = b"heard: ".to_vec();
            body.extend_from_slice(&request.body);
            Response::bytes("text/plain; charset=utf-8", body).header("Set-Cookie", "sid=response-secret").header("X-Plain", "shown")
        })
        .redirect("/moved", "/echo")
        .fixed("/gone", Response::hang_up())
        .fixed("/late", Response::text("late").delay(Duration::from_millis(300)))
        .page("/hop", "<p id=hop>Hop</p><script>onmessage = () => setTimeout(() => location.href = '/landed', 300)</script>")
        .page("/landed", "<p id=landed>Landed</p>")
        .page("/next", "<title>Next</title><h1>Next</h1>")
        .page("/inner", "<body style='margin:0'><button id=in onclick=\"this.textContent = 'Hit in'; top.postMessage('in', '*')\">In</button>
            <div style='height:1000px'></div><button id=below>Below</button>")
});

#[test]
fn styles_and_boxes_are_those_that_are_computed() {
    let case = SHARED.case("styles");
    case.show("<style>p { color: rgb(1, 2, 3); --own: 7px } p::before { content: 'x' }</style><p id=p style='margin-left: 10px'>Text</p>
        <b id=none style='display:none'>x</b><span id=shell style='display:contents'><i id=child style='position:absolute;left:5px;top:6px;width:7px;height:8px'></i></span>");
    let styles = case.ok(&["get", "styles", "#p", "color", "margin-left", "--", "--own"])["styles"].clone();
    assert_eq!(styles, json!({ "color": "rgb(1, 2, 3)", "margin-left": "10px", "--own": "7px" }));
    let usual = case.ok(&["get", "styles", "#p"])["styles"].clone();
    assert_eq!(usual["color"], "rgb(1, 2, 3)");
    assert!(usual.as_object().unwrap().len() > 3, "{usual}");
    assert!(case.text(&["get", "styles", "#p", "color"]).contains("color: rgb(1, 2, 3)"));
    assert_eq!(
        case.ok(&["get", "styles", "#none", "display"])["styles"]["display"],
        "none",
        "also of what is hidden"
    );
    case.fails(&["get", "styles", "#p", "colour"])
        .must_be("bad-setting", 2)
        .must_say("colour")
        .must_say("get styles");
    case.fails(&["get", "box", "#none"]).must_be("not-visible", 1).must_say("none");
    case.fails(&["get", "box", "#nowhere"]).must_be("not-found", 1);
}

#[test]
fn a_browser_tells_its_address_if_it_has_one() {
    let case = SHARED.case("no-port");
    case.show("<p>x</p>");
    case.fails(&["get", "cdp-url"]).must_be("no-port", 1).must_say("--remote-debugging-port=0");
    let cli = fresh_cli();
    ok(&cli, &["--args=--remote-debugging-port=0", "open", "about:blank"]);
    let url = ok(&cli, &["get", "cdp-url"])["cdpUrl"].as_str().expect("an address").to_owned();
    let host = url.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).expect("ws://HOST:PORT/…");
    let mut stream = TcpStream::connect(host).expect("somebody listens there");
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET /json/version HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    // The browser may keep the connection open: what came until then counts.
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.contains(&url), "{answer}");
}

/// The id of the request to a path.
fn request(case: &Case, path: &str) -> Value {
    let list = case.ok(&["network", "requests", "--filter", path])["requests"].clone();
    let id =
        list[0]["requestId"].as_str().unwrap_or_else(|| panic!("no request to {path}: {list}")).to_owned();
    case.ok(&["network", "request", &id])
}

#[test]
fn a_request_is_shown_whole_but_for_its_secrets() {
    let case = SHARED.case("request");
    case.show("<img src=/pixel.png><script>
        const send = () => fetch('/echo', { method: 'POST', body: 'name=Ädä', headers: { Authorization: 'Bearer hush', 'X-Api-Key': 'hush', 'X-Mine': 'open' } }).then(answer => answer.text()).then(() => 1);
        </script>");
    case.ok(&["cookies", "set", "sid", "hush"]);
    assert_eq!(case.eval("send()"), 1);
    let sent = request(&case, "/echo");
    assert_eq!(
        (&sent["method"], &sent["status"], &sent["postData"]),
        (&json!("POST"), &json!(200), &json!("name=Ädä"))
    );
    assert_eq!(sent["body"], "heard: name=Ädä");
    let header = |side: &str, name: &str| {
        let headers = sent[side].as_object().expect("headers");
        let found = headers.iter().find(|(each, _)| each.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str().unwrap().to_owned())
    };
    assert_eq!(header("requestHeaders", "x-mine").as_deref(), Some("open"));
    assert_eq!(header("requestHeaders", "authorization").as_deref(), Some("[REDACTED]"));
    assert_eq!(header("requestHeaders", "x-api-key").as_deref(), Some("[REDACTED]"));
    assert_eq!(header("responseHeaders", "x-plain").as_deref(), Some("shown"));
    assert!(!sent.to_string().contains("hush") && !sent.to_string().contains("response-secret"), "{sent}");
    let text = case.text(&["network", "request", sent["requestId"].as_str().unwrap()]);
    assert!(
        text.contains("name=Ädä") && text.contains("heard: name=Ädä") && !text.contains("hush"),
        "{text}"
    );

    let picture = request(&case, "/pixel.png");
    assert_eq!((&picture["bodyIsBase64"], &picture["mimeType"]), (&json!(true), &json!("image/png")));
    assert!(picture["body"].as_str().unwrap().starts_with("iVBORw0KGgo"), "{picture}");
    assert_eq!(case.eval("fetch('/gone').then(() => 'answered', () => 'failed')"), "failed");
    let failed = request(&case, "/gone");
    assert_eq!(
        (&failed["failed"], &failed["status"], &failed["body"]),
        (&json!(true), &Value::Null, &Value::Null)
    );
    assert!(failed["error"].as_str().unwrap().contains("ERR_"), "{failed}");
    case.fails(&["network", "request", "1.1.1"]).must_be("no-request", 1).must_say("network requests");
}

#[test]
fn secrets_in_addresses_and_forms_are_masked() {
    let case = SHARED.case("masked");
    case.show("<a id=a href='/next?token=abc123&p=1'>Go</a><script>
        const send = () => fetch('/echo?token=abc123', { method: 'POST', body: new URLSearchParams({ password: 'hunter2', name: 'Ada' }) }).then(() => 1);
        </script>");
    assert_eq!(case.eval("send()"), 1);
    let links = case.text(&["snapshot", "-u"]);
    assert!(links.contains("token=[REDACTED]&p=1") && !links.contains("abc123"), "{links}");
    let listed = case.text(&["network", "requests"]);
    assert!(listed.contains("/echo?token=[REDACTED]") && !listed.contains("abc123"), "{listed}");
    let mut sent = request(&case, "/echo");
    assert_eq!(sent["postData"], "password=[REDACTED]&name=Ada");
    let text = case.text(&["network", "request", sent["requestId"].as_str().unwrap()]);
    // The answer is the site's own, and what was asked for.
    sent["body"] = Value::Null;
    assert!(!sent.to_string().contains("abc123") && !sent.to_string().contains("hunter2"), "{sent}");
    assert!(text.contains("password=[REDACTED]") && !text.contains("abc123"), "{text}");
    let clicked = case.ok(&["click", "#a"])["navigated"].clone();
    assert!(clicked.as_str().unwrap().ends_with("/next?token=[REDACTED]&p=1"), "{clicked}");
    assert!(case.text(&["get", "url"]).ends_with("/next?token=abc123&p=1"), "asked for, it is told");
}

#[test]
fn the_console_shows_every_argument() {
    let case = SHARED.case("console");
    case.show("<script>console.log('a', { b: 1 }, [1, 2], null, undefined, Symbol('q'))</script>");
    let whole = "a {b: 1} [1, 2] null undefined Symbol(q)";
    assert_eq!(case.ok(&["console"])["messages"][0]["text"], whole);
    assert!(case.text(&["console"]).contains(whole));
}

#[test]
fn a_request_of_a_frame_is_shown_with_its_body() {
    let case = SHARED.case("frame-request");
    case.show("<div style='height:2000px'></div><iframe id=f src='{{cross}}/inner' style='border:0'></iframe><div style='position:fixed;inset:0'></div>");
    case.ok(&["frame", "#f"]);
    assert_eq!(
        case.eval("fetch('/echo', { method: 'POST', body: 'of a frame' }).then(answer => answer.text())"),
        "heard: of a frame"
    );
    let sent = request(&case, "/echo");
    assert_eq!((&sent["postData"], &sent["body"]), (&json!("of a frame"), &json!("heard: of a frame")));
    // A place is told whether or not a click would arrive there.
    let (frame, button) = (case.ok(&["get", "box", "body"]), case.ok(&["get", "box", "#in"]));
    assert!(button["y"].as_f64().unwrap() >= 2000.0, "{button} in {frame}");
}

#[test]
fn a_redirect_is_told_with_where_it_led() {
    let case = SHARED.case("redirect");
    case.ok(&["open", &case.site().url("/moved")]);
    let list = case.ok(&["network", "requests", "--type", "document"])["requests"].clone();
    let seen: Vec<_> =
        list.as_array().unwrap().iter().map(|one| (one["url"].clone(), one["status"].clone())).collect();
    assert_eq!(
        seen,
        [(json!(case.site().url("/moved")), json!(302)), (json!(case.site().url("/echo")), json!(200))]
    );
    assert_eq!(list[0]["redirectedTo"], case.site().url("/echo"));
    let id = list[1]["requestId"].as_str().unwrap();
    let last = case.ok(&["network", "request", id]);
    assert_eq!(
        (&last["url"], &last["status"], &last["body"]),
        (&json!(case.site().url("/echo")), &json!(200), &json!("heard: "))
    );
}

#[test]
fn a_request_is_waited_for_from_the_last_action_on() {
    let case = SHARED.case("wait-request");
    case.show("<button id=now onclick=\"fetch('/echo?now')\">Now</button><button id=late onclick=\"fetch('/late')\">Late</button>
        <button id=after onclick=\"setTimeout(() => fetch('/echo?after'), 300)\">After</button><button id=none>None</button>
        <button id=lost onclick=\"fetch('/gone').catch(() => {})\">Lost</button>");
    // Sent and answered before anybody waits, as long as nothing else was done.
    case.ok(&["click", "#now"]);
    case.ok(&["wait", "--load", "networkidle"]);
    let waited = case.ok(&["wait", "--request", "**/echo?now"]);
    assert_eq!(waited["waited"], "request");
    assert_eq!(
        (&waited["request"]["url"], &waited["request"]["status"]),
        (&json!(case.site().url("/echo?now")), &json!(200))
    );
    assert!(case.text(&["wait", "--request", "echo?now"]).contains("200 GET"), "reading does not use it up");
    case.ok(&["click", "#none"]);
    let failure = case.fails(&["wait", "--request", "echo?now", "--timeout", "300"]);
    failure
        .must_be("timeout", 1)
        .must_say("nothing was requested since the last action")
        .must_say("echo?now");

    case.ok(&["click", "#late"]);
    assert_eq!(
        case.ok(&["wait", "--request", "/\\/late$/"])["request"]["status"],
        200,
        "until the answer is there"
    );
    case.fails(&["wait", "--request", "**/never", "--timeout", "300"])
        .must_be("timeout", 1)
        .must_say("/late");
    case.ok(&["click", "#after"]);
    assert_eq!(case.ok(&["wait", "--request", "?after"])["request"]["status"], 200);
    case.ok(&["click", "#lost"]);
    assert_eq!(case.ok(&["wait", "--request", "/gone"])["request"]["failed"], true);
    case.fails(&["wait", "--request", "/(/"]).must_be("usage", 2).must_say("regex");
}

#[test]
fn a_wait_that_fails_says_what_it_saw() {
    let case = SHARED.case("wait-says");
    let url = case.show("<p id=p>Here</p><i id=hidden style='display:none'>x</i>");
    for (wait, said) in [
        (&["--url", "**/never"][..], url.as_str()),
        (&["--download"], url.as_str()),
        (&["--fn", "window.never"], url.as_str()),
        (&["#hidden"], "display is none"),
        (&["#p", "--state", "hidden"], "visible"),
        (&["#never"], "#never"),
        (&["--text", "never there"], "never there"),
    ] {
        let failure = case.fails_early(&[&["wait"], wait, &["--timeout", "300"]].concat());
        failure.must_be("timeout", 1).must_say(said);
        assert!(failure.elapsed >= Duration::from_millis(300), "{wait:?} gave up early: {failure:?}");
    }
}

/// A frame that goes on to another page takes with it whoever waited there.
#[test]
fn a_wait_goes_on_when_a_frame_goes_on() {
    let case = SHARED.case("wait-frames");
    for (frame, scope, command) in [
        ("{{origin}}/hop", "main", &["wait", "--text", "Landed"][..]),
        ("{{cross}}/hop", "main", &["wait", "#landed"]),
        ("{{origin}}/hop", "#f", &["wait", "#hop", "--state", "detached"]),
        ("{{cross}}/hop", "#f", &["wait", "--text", "Landed"]),
        ("{{cross}}/hop", "main", &["click", "#landed"]),
    ] {
        case.show(&format!("<p>Outside</p><iframe id=f src='{frame}'></iframe>"));
        case.ok(&["frame", scope]);
        case.eval("(self === top ? f.contentWindow : self).postMessage('hop', '*')");
        case.ok(command);
    }
}

/// Width and height of a PNG, from its header.
fn size(case: &Case, command: &[&str]) -> (u32, u32) {
    let path = case.ok(command)["path"].as_str().expect("a path").to_owned();
    let bytes = fs_err::read(path).expect("a picture");
    let number = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    (number(16), number(20))
}

#[test]
fn a_part_of_a_picture_has_exactly_that_size() {
    let case = SHARED.case("clip");
    case.show(
        "<body style='margin:0'><div style='height:3000px;background:linear-gradient(red, blue)'></div>",
    );
    assert_eq!(size(&case, &["screenshot", "--clip", "10,20,300,200", "clip.png"]), (300, 200));
    assert_eq!(size(&case, &["screenshot", "--clip", "0,0,1,1", "dot.png"]), (1, 1));
    assert_eq!(size(&case, &["screenshot", "--full", "--clip", "0,2900,50,100", "foot.png"]), (50, 100));
    assert_eq!(
        size(&case, &["screenshot", "--clip", "1270,710,300,200", "corner.png"]),
        (10, 10),
        "what there is of it"
    );
    case.eval("scrollTo(0, 1000)");
    size(&case, &["screenshot", "--clip", "0,0,50,60", "scrolled.png"]);
    size(&case, &["screenshot", "--full", "--clip", "0,1000,50,60", "same.png"]);
    let read = |name: &str| fs_err::read(case.cli.home().work().join(name)).unwrap();
    assert!(read("scrolled.png") == read("same.png"), "without --full it is from what is in view");
    for outside in ["1281,0,10,10", "0,721,10,10"] {
        case.fails(&["screenshot", "--clip", outside, "x.png"]).must_be("out-of-view", 1).must_say("720");
    }
    case.fails(&["screenshot", "--full", "--clip", "0,3001,1,1", "x.png"])
        .must_be("out-of-view", 1)
        .must_say("3000");
    for bad in ["1,2,3", "a,b,c,d", "-1,0,5,5", "0,0,0,5", "0,0,NaN,5", ""] {
        case.fails(&["screenshot", "--clip", bad, "x.png"]).must_be("bad-number", 2).must_say("0,0,300,200");
    }
    assert!(!case.cli.home().work().join("x.png").exists());
    case.ok(&["set", "viewport", "800", "600", "2"]);
    assert_eq!(
        size(&case, &["screenshot", "--clip", "10,20,30,40", "double.png"]),
        (60, 80),
        "in the screen's own pixels"
    );
}

const MAP: &str = "<body style='margin:0'><script>
    window.hits = []; addEventListener('message', event => hits.push(event.data));
    window.noise = []; new MutationObserver(list => noise.push(...list.map(one => one.type))).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const type of ['toggle', 'beforetoggle', 'focus', 'blur', 'scroll', 'resize', 'pointermove', 'mousemove', 'DOMNodeInserted']) addEventListener(type, event => noise.push(type), true);
    </script>
    <button id=a onclick=\"hits.push('a')\" style='position:absolute;left:100px;top:50px'>A</button>
    <a id=b href='#none' onclick=\"hits.push('b')\" style='position:absolute;left:300px;top:50px'>B</a>
    <div style='position:absolute;left:100px;top:120px;width:200px;height:60px;overflow:auto'><div style='height:40px'></div><button id=c onclick=\"hits.push('c')\">C</button><div style='height:400px'></div></div>
    <iframe id=near srcdoc=\"<body style='margin:0'><button onclick='parent.hits.push(`near`)'>Near</button>\" style='position:absolute;left:400px;top:200px;width:200px;height:80px'></iframe>
    <iframe id=far src='{{cross}}/inner' style='position:absolute;left:100px;top:300px;width:200px;height:80px;border:5px solid;padding:3px'></iframe>
    <iframe id=deep srcdoc='<button>Deep</button>' style='position:absolute;left:400px;top:1500px;width:200px;height:80px'></iframe>
    <button id=d onclick=\"hits.push('d')\" style='position:absolute;left:100px;top:2500px'>D</button>";

#[test]
fn every_label_in_a_picture_is_where_its_reference_clicks() {
    let case = SHARED.case("annotate");
    case.show(MAP);
    case.ok(&["wait", "--load", "networkidle"]);
    case.eval("noise.length = 0");
    let before = case.eval("document.documentElement.outerHTML");
    let taken = case.ok(&["screenshot", "--annotate", "map.png"]);
    let noise = case.eval("new Promise(done => requestAnimationFrame(() => setTimeout(() => done(noise))))");
    assert_eq!(case.eval("document.documentElement.outerHTML"), before, "nothing is left");
    // An observer sees that something came and went; there is no event.
    assert_eq!(noise, json!(["childList", "childList"]), "the page noticed");

    let mut labels = taken["annotations"].as_array().expect("labels").clone();
    labels.retain(|label| label["role"] != "iframe");
    let names: Vec<&str> = labels.iter().map(|label| label["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["A", "B", "C", "Near", "In"], "what is in view, in the order of the document");
    let snapshot = case.snapshot(&["-i"]);
    for label in &labels {
        let name = label["name"].as_str().unwrap();
        assert_eq!(
            reference(&snapshot, &format!("\"{name}\"")),
            label["ref"].as_str().unwrap(),
            "{snapshot}"
        );
    }
    for label in &labels {
        let (reference, place) = (label["ref"].as_str().unwrap(), &label["box"]);
        let side = |name: &str| place[name].as_f64().expect("a number");
        let real = case.ok(&["get", "box", reference]);
        for name in ["x", "y", "width", "height"] {
            let off = (side(name) - real[name].as_f64().unwrap()).abs();
            assert!(off <= 1.0, "{label} is at {real}");
        }
        case.eval("hits.length = 0");
        let (x, y) = (side("x") + side("width") / 2.0, side("y") + side("height") / 2.0);
        case.ok(&["mouse", "move", &x.to_string(), &y.to_string()]);
        case.ok(&["mouse", "down"]);
        case.ok(&["mouse", "up"]);
        case.ok(&["wait", "--fn", "hits.length === 1"]);
        case.ok(&["click", reference]);
        case.ok(&["wait", "--fn", "hits.length === 2"]);
        let name = label["name"].as_str().unwrap().to_lowercase();
        assert_eq!(case.eval("hits"), json!([name, name]), "the middle of the box, and the reference");
    }
}

#[test]
fn a_whole_page_is_labelled_too_and_the_picture_shows_it() {
    let case = SHARED.case("annotate-full");
    case.show(MAP);
    case.eval("scrollTo(0, 700)");
    let taken = case.ok(&["screenshot", "--annotate", "--full", "whole.png"]);
    let labels = taken["annotations"].as_array().expect("labels").clone();
    let place = |name: &str| {
        let label =
            labels.iter().find(|label| label["name"] == name).unwrap_or_else(|| panic!("{name}: {taken}"));
        (label["box"]["x"].as_f64().unwrap(), label["box"]["y"].as_f64().unwrap())
    };
    assert_eq!(place("D"), (100.0, 2500.0), "where it is in the picture");
    assert_eq!(place("A"), (100.0, 50.0));
    case.ok(&["screenshot", "--full", "bare.png"]);
    let read = |name: &str| fs_err::read(case.cli.home().work().join(name)).unwrap();
    assert!(read("whole.png") != read("bare.png"), "the labels are in the picture");
    assert!(case.text(&["screenshot", "--annotate", "text.png"]).contains("text.png"));
    assert_eq!(case.eval("scrollY"), 700, "and the page stays where it was");
    case.fails(&["screenshot", "--annotate", "--clip", "0,0,5,5", "x.png"]).must_be("usage", 2);
    // A dialog of the page is in the top layer, and its button is labelled.
    case.show(
        "<dialog id=d><button>Yes</button></dialog><button>Under</button><script>d.showModal()</script>",
    );
    let taken = case.ok(&["screenshot", "--annotate", "dialog.png"]);
    assert!(taken["annotations"].to_string().contains("Yes"), "{taken}");
    case.ok(&["screenshot", "plain.png"]);
    assert!(read("dialog.png") != read("plain.png"));
}

#[test]
fn only_what_the_picture_shows_is_labelled() {
    let case = SHARED.case("annotate-part");
    case.show(
        "<body style='margin:0'><select id=s><option>One</option><option>Two</option></select>
        <div style='height:60px;overflow:auto'><button>In</button><div style='height:300px'></div><button>Out</button></div>
        <div style='height:2000px'></div><div id=part style='padding:20px'><button id=low>Low</button></div>",
    );
    let labels = |args: &[&str]| {
        let taken = case.ok(&[&["screenshot", "--annotate"], args].concat());
        let label = |one: &Value| {
            let side = |name: &str| one["box"][name].as_f64().unwrap().round();
            (
                one["role"].as_str().unwrap().to_owned(),
                one["name"].as_str().unwrap().to_owned(),
                side("x"),
                side("y"),
            )
        };
        taken["annotations"]
            .as_array()
            .map(|all| all.iter().map(label).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    let names =
        |args: &[&str]| labels(args).into_iter().map(|(role, name, ..)| role + &name).collect::<Vec<_>>();
    assert_eq!(names(&["view.png"]), ["combobox", "buttonIn"]);
    assert_eq!(
        names(&["--full", "whole.png"]),
        ["combobox", "buttonIn", "buttonLow"],
        "what is cut off is not there"
    );
    assert_eq!(labels(&["#part", "part.png"]), [("button".to_owned(), "Low".to_owned(), 20.0, 20.0)]);
    assert_eq!(labels(&["#low", "low.png"]), [("button".to_owned(), "Low".to_owned(), 0.0, 0.0)]);
}

#[test]
fn labels_and_pictures_of_a_scaled_frame_are_where_it_is_seen() {
    let case = SHARED.case("annotate-scaled");
    case.show(
        "<body style='margin:0'><div style='transform:scale(.5);transform-origin:0 0'><iframe style='width:800px;height:400px;border:0'
        srcdoc=\"<body style='margin:0'><button id=b style='width:400px;height:100px'>B</button>\"></iframe></div>",
    );
    case.ok(&["wait", "#b"]);
    let taken = case.ok(&["screenshot", "--annotate", "map.png"]);
    let button = taken["annotations"].as_array().unwrap().iter().find(|one| one["name"] == "B").cloned();
    let place = json!({ "x": 0.0, "y": 0.0, "width": 200.0, "height": 50.0 });
    assert_eq!(button.unwrap()["box"], place, "{taken}");
    case.ok(&["screenshot", "#b", "b.png"]);
    let picture = fs_err::read(case.cli.home().work().join("b.png")).unwrap();
    // Width and height stand right at the beginning of a PNG.
    assert_eq!(&picture[16..24], &[0, 0, 0, 200, 0, 0, 0, 50]);
}

#[test]
fn actions_tell_what_followed() {
    let case = SHARED.case("followed");
    let page = "<button id=say onclick=\"alert('one'); alert('two')\">Say</button><button id=ask onclick=\"window.answer = confirm('sure?')\">Ask</button>
        <a id=go href=/next>Go</a><a id=jump href='#here'>Jump</a><button id=pop onclick=\"window.open('/next')\">Pop</button>
        <button id=none>None</button><button id=push onclick=\"history.pushState(0, '', '/pushed')\">Push</button>";
    let url = case.show(page);
    let quiet = case.ok(&["click", "#none"]);
    for name in ["navigated", "dialog", "accepted", "opened", "downloads", "tabClosed"] {
        assert_eq!(quiet.get(name), None, "{quiet}");
    }
    for verb in ["click", "tap", "dblclick"] {
        let said = case.ok(&[verb, "#say"])["accepted"].clone();
        let messages: Vec<&str> = said
            .as_array()
            .unwrap_or_else(|| panic!("{verb}: {said}"))
            .iter()
            .map(|one| one["message"].as_str().unwrap())
            .collect();
        assert_eq!(messages[..2], ["one", "two"], "{verb}");
    }
    assert!(case.text(&["click", "#say"]).contains("the page said (alert): \"one\""));
    assert_eq!(case.ok(&["click", "#ask"])["dialog"]["message"], "sure?");
    case.ok(&["dialog", "accept"]);
    assert_eq!(case.eval("answer"), true);
    assert_eq!(case.ok(&["tap", "#ask"])["dialog"]["message"], "sure?");
    case.ok(&["dialog", "dismiss"]);
    assert_eq!(case.eval("answer"), false);
    assert_eq!(case.ok(&["tap", "#pop"])["opened"], json!(["t2"]));
    assert_eq!(case.ok(&["click", "#jump"])["navigated"], format!("{url}#here"));
    assert_eq!(case.ok(&["click", "#push"])["navigated"], case.site().url("/pushed"));
    assert_eq!(case.ok(&["tap", "#go"])["navigated"], case.site().url("/next"));
    assert_eq!(case.ok(&["get", "title"])["title"], "Next");
}

#[test]
fn an_address_is_pushed_and_a_window_opened() {
    let case = SHARED.case("push");
    case.show("<title>App</title><script>window.kept = 1; window.heard = []; addEventListener('popstate', () => heard.push(location.pathname))</script>");
    assert_eq!(case.ok(&["pushstate", "/settings?tab=1"])["url"], case.site().url("/settings?tab=1"));
    assert_eq!(
        case.eval("[location.pathname + location.search, window.kept, heard]"),
        json!(["/settings?tab=1", 1, ["/settings"]]),
        "the application hears of it"
    );
    assert_eq!(case.ok(&["get", "url"])["url"], case.site().url("/settings?tab=1"));
    case.ok(&["back"]);
    assert_eq!(case.eval("window.kept"), 1);
    case.fails(&["pushstate", &case.site().cross_url("/x")]).must_be("script-error", 1);
    let opened = case.ok(&["window", "new", &case.site().url("/next"), "--label", "second"]);
    assert_eq!(
        opened,
        json!({ "tabId": "t2", "label": "second", "url": case.site().url("/next"), "total": 2 })
    );
    assert_eq!(case.ok(&["get", "title"])["title"], "Next", "commands go there");
    case.ok(&["tab", "t1"]);
    assert_eq!(case.ok(&["get", "title"])["title"], "App");
}

#[test]
fn a_picture_of_a_tool_is_in_a_file() {
    let case = SHARED.case("tool-picture");
    case.show("<h1>Look</h1>");
    let taken = case.ok(&["tool", "page_screenshot", "{}"]);
    let path = taken["image"]["path"].as_str().unwrap();
    assert!(fs_err::read(path).unwrap().starts_with(b"\x89PNG"), "{taken}");
    assert!(case.text(&["tool", "page_screenshot", "{\"format\": \"jpeg\"}"]).contains("picture: "));
    fs_err::remove_file(path).unwrap();
}
