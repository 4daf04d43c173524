//! What a page can do by itself: every kind of request, in documents, frames, workers and service workers.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use surehand_testkit::{Response, Site, wait_until};

use crate::guarded::Trap;
use crate::serving::{SOON, Service};
use crate::{Fenced, common, site};

/// Tries everything; `#done` is there when all of it has come to its end.
const EVERYTHING: &str = r#"<title>Everything</title><body><script>
const trap = '{{TRAP}}', socket = trap.replace('http', 'ws');
const ended = (make, ...events) => new Promise(done => {
  const thing = make();
  events.forEach(event => thing.addEventListener(event, () => done(event)));
});
const element = (name, attributes) => () => {
  const made = Object.assign(document.createElement(name), attributes);
  document.head.append(made);
  return made;
};
const xhr = () => { const x = new XMLHttpRequest(); x.open('POST', trap + '/xhr'); x.send('x'); return x; };
const said = (make) => new Promise(done => make(event => done(event.data)));
const frame = async inside => { const f = document.createElement('iframe'); f.src = inside; document.body.append(f);
  await new Promise(done => f.onload = done); };
(async () => {
  const all = [
    fetch(trap + '/fetch').catch(() => 0),
    fetch(trap + '/nocors', { mode: 'no-cors' }).catch(() => 0),
    ended(xhr, 'loadend'),
    ended(() => Object.assign(new Image(), { src: trap + '/img' }), 'error', 'load'),
    ended(element('script', { src: trap + '/script' }), 'error', 'load'),
    ended(element('script', { src: trap + '/module', type: 'module' }), 'error', 'load'),
    ended(element('link', { rel: 'stylesheet', href: trap + '/css' }), 'error', 'load'),
    ended(element('link', { rel: 'stylesheet', href: '/import.css' }), 'error', 'load'),
    ended(element('link', { rel: 'prefetch', href: trap + '/prefetch' }), 'error', 'load'),
    ended(element('link', { rel: 'preload', as: 'image', href: trap + '/preload' }), 'error', 'load'),
    ended(() => Object.assign(document.createElement('video'), { src: trap + '/video' }), 'error', 'loadeddata'),
    ended(() => new WebSocket(socket + '/socket'), 'close', 'open'),
    ended(() => new EventSource(trap + '/events'), 'error', 'open'),
    fetch('/redirect').catch(() => 0),
    frame(trap + '/frame'), frame('/frame-redirect'),
    fetch(trap + '/keepalive', { keepalive: true, method: 'POST', body: 'x', mode: 'no-cors' }).catch(() => 0),
    said(done => { const w = new Worker('/worker.js'); w.onmessage = done; }),
    said(done => { const w = new SharedWorker('/shared.js'); w.port.onmessage = done; }),
    said(async done => {
      navigator.serviceWorker.onmessage = done;
      await navigator.serviceWorker.register('/sw.js');
      (await navigator.serviceWorker.ready).active.postMessage('go');
    }),
  ];
  element('link', { rel: 'preconnect', href: trap })();
  element('link', { rel: 'dns-prefetch', href: trap })();
  navigator.sendBeacon(trap + '/beacon', 'x');
  await Promise.all(all);
  document.body.insertAdjacentHTML('beforeend', '<p id=done>done</p>');
})();
</script>"#;

/// Paths that must have been asked for, and refused.
const REFUSED: [&str; 20] = [
    "fetch",
    "nocors",
    "xhr",
    "img",
    "script",
    "module",
    "css",
    "imported",
    "prefetch",
    "preload",
    "video",
    "events",
    "redirected",
    "frame",
    "framed",
    "worker",
    "shared",
    "service",
    "beacon",
    "keepalive",
];

fn everything(trap: &Trap) -> Site {
    let origin = trap.url("");
    let script = |text: &str| {
        let text = text.replace("TRAP", &origin);
        move |_: &surehand_testkit::Request| Response::bytes("text/javascript", text.clone())
    };
    let css = format!("@import url('{origin}/imported');");
    site(&EVERYTHING.replace("{{TRAP}}", &origin), |site| {
        site.redirect("/redirect", &format!("{origin}/redirected"))
            .redirect("/frame-redirect", &format!("{origin}/framed"))
            .file("/import.css", "text/css", css)
            .route("/worker.js", script("fetch('TRAP/worker').catch(() => 0).then(() => postMessage('x'))"))
            .route(
                "/shared.js",
                script("onconnect = e => fetch('TRAP/shared').catch(() => 0).then(() => e.ports[0].postMessage('x'))"),
            )
            .route(
                "/sw.js",
                script(
                    "onmessage = e => e.waitUntil(fetch('TRAP/service').catch(() => 0).then(() => e.source.postMessage('x')))",
                ),
            )
    })
}

#[test]
fn nothing_that_a_page_can_ask_for_gets_out() {
    let trap = Trap::set();
    let site = everything(&trap);
    let service =
        Service::start_in(&common::fresh_cli(), &["--egress-allow", &site.url("").replace("http://", "")]);
    let token = service.token("ada", "admin");
    // Of a beacon nobody hears: it is waited for, far longer than it takes.
    let actions = json!([{ "action": "extract", "selector": "#done" }, { "action": "wait", "ms": 3000 }]);
    let done = service.interact_with(&token, &site.url("/"), &actions).ok();
    assert_eq!(done["extractions"]["#done"], "done");
    trap.is_untouched("everything");

    let blocked = done["blocked_requests"].as_array().unwrap();
    let reason = |one: &Value| one["reason"].as_str().unwrap().starts_with("egress denied: 127.0.0.1:");
    assert!(!blocked.is_empty() && blocked.iter().all(reason), "{blocked:?}");
    let urls: BTreeSet<&str> = blocked.iter().map(|one| one["url"].as_str().unwrap()).collect();
    for path in REFUSED {
        assert!(urls.contains(trap.url(&format!("/{path}")).as_str()), "{path} is not told: {urls:?}");
    }
    assert!(urls.contains(format!("127.0.0.1:{}", trap.port).as_str()), "the socket is not told: {urls:?}");

    // The same is in the audit, and counted.
    let rows = service.ask_with(&token, "GET", "/api/v1/audit?event_type=egress&limit=1000", None).ok();
    let rows = rows["entries"].as_array().unwrap();
    assert_eq!(rows.len(), blocked.len());
    assert!(rows.iter().all(|row| row["actor_subject"] == "ada" && row["severity"] == "warning"), "{rows:?}");
    let metrics = service.ask("GET", "/metrics", &[], b"").text();
    assert!(!metrics.contains("surehand_egress_blocked_total 0\n"), "{metrics}");
}

/// What a person can do on a page: links, forms, new windows, downloads.
const LEAVING: &str = "<title>Leaving</title>
<a id=link href='TRAP/link'>link</a> <a id=blank target=_blank href='TRAP/blank'>blank</a>
<a id=file download=x href='TRAP/file'>file</a> <a id=sent href='/file'>sent</a>
<a id=script href='javascript:location=\"TRAP/script\"'>script</a>
<form method=post action='TRAP/post'><input name=a value=b><button id=post>post</button></form>
<form action='TRAP/get'><button id=get>get</button></form>
<button id=popup onclick='window.open(\"TRAP/popup\")'>popup</button>
<button id=file-url onclick='location=\"file:///etc/passwd\"'>file url</button>";

#[test]
fn what_is_clicked_leads_nowhere() {
    let trap = Trap::set();
    let page = LEAVING.replace("TRAP", &trap.url(""));
    let away = trap.url("/attachment");
    let site = site(&page, |site| site.redirect("/file", &away));
    let fenced = Fenced::with_site(&site);
    for id in ["link", "post", "get", "script"] {
        fenced.ok(&["open", &site.url("/")]);
        fenced.ok(&["click", &format!("#{id}")]);
        let shown = || {
            let text = fenced.ok(&["eval", "document.body?.innerText ?? ''"]);
            text["result"].as_str().is_some_and(|text| text.starts_with("egress denied: "))
        };
        assert!(wait_until(SOON, shown), "{id}");
        trap.is_untouched(id);
    }
    fenced.ok(&["open", &site.url("/")]);
    for id in ["blank", "popup"] {
        let tabs = fenced.ok(&["tab", "list"])["tabs"].as_array().unwrap().len();
        fenced.ok(&["click", &format!("#{id}")]);
        let opened = || fenced.ok(&["tab", "list"])["tabs"].as_array().unwrap().len() > tabs;
        assert!(wait_until(SOON, opened), "{id}");
        fenced.ok(&["tab", "t1"]);
    }
    for id in ["file", "sent"] {
        let arguments =
            ["--egress-allow", &fenced.rules[1], "--timeout", "3000", "download", &format!("#{id}"), "."];
        let run = common::json(&fenced.cli, &arguments);
        assert!(!run.success(), "{id}: {}", run.value);
        fenced.ok(&["open", &site.url("/")]);
    }
    fenced.ok(&["click", "#file-url"]);
    assert_eq!(fenced.ok(&["get", "url"])["url"], site.url("/"));
    trap.is_untouched("clicks");
}

/// `#done` is there when the browser has asked everybody for a way to itself.
const CALLS: &str = r#"<title>Calls</title><body><script>
const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:{{PLACE}}' }, { urls: 'turn:{{PLACE}}', username: 'u', credential: 'c' }] });
peer.createDataChannel('x');
const over = () => document.body.insertAdjacentHTML('beforeend', '<p id=done>done</p>');
peer.onicegatheringstatechange = () => { if (peer.iceGatheringState === 'complete') over(); };
peer.createOffer().then(offer => peer.setLocalDescription(offer));
</script>"#;

#[test]
fn calls_between_browsers_do_not_go_past_the_guard() {
    let trap = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let place = trap.local_addr().unwrap().to_string();
    let site = site(&CALLS.replace("{{PLACE}}", &place), |site| site);
    let fenced = Fenced::with_site(&site);
    fenced.ok(&["open", &site.url("/")]);
    fenced.ok(&["wait", "#done"]);
    let heard = trap.recv_from(&mut [0; 100]);
    assert!(heard.is_err(), "{heard:?}");
}
