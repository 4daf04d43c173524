//! Where a session may go: addresses in all notations, schemes, redirects, and every verb that navigates.

use serde_json::json;
use surehand_testkit::wait_until;

use crate::guarded::{Mcp, Trap};
use crate::serving::SOON;
use crate::{Fenced, common, site};

/// This machine, as people and browsers write it.
fn notations(port: u16) -> Vec<String> {
    [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "foo.localhost",
        "127.1",
        "0x7f.1",
        "0177.0.0.1",
        "2130706433",
        "0x7f000001",
        "127.0.0.2",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "user:word@127.0.0.1",
        "１２７.0.0.1",
    ]
    .iter()
    .map(|host| format!("http://{host}:{port}/"))
    .collect()
}

#[test]
fn this_machine_is_not_reached_however_it_is_written() {
    let (site, trap) = (site("<title>Home</title>", |site| site), Trap::set());
    let fenced = Fenced::with_site(&site);
    fenced.ok(&["open", &site.url("/fine")]);
    for url in notations(trap.port) {
        let said = fenced.denied(&["open", &url]);
        assert!(said.contains(&trap.port.to_string()), "{url}: {said}");
        trap.is_untouched(&url);
    }
    for url in ["http://169.254.169.254/", "http://10.1.2.3/", "http://[fe80::1]/", "http://[fd00:ec2::254]/"]
    {
        fenced.denied(&["open", url]);
    }
    fenced.denied(&["open", &format!("https://localhost:{}/", trap.port)]);
    trap.is_untouched("https");
    fenced.ok(&["open", &site.url("/fine")]);
}

#[test]
fn only_pages_of_the_web_are_opened() {
    let (site, trap) = (site("<title>Home</title>", |site| site), Trap::set());
    let fenced = Fenced::with_site(&site);
    let source = format!("view-source:{}", trap.url("/"));
    for url in ["file:///etc/passwd", "chrome://version", "data:text/html,x", "blob:http://x/y", &source] {
        fenced.denied(&["open", url]);
    }
    common::fails(&fenced.cli, &["--egress", "open", "javascript:alert(1)"]).must_be("bad-url", 2);
    trap.is_untouched("odd schemes");
    assert_eq!(fenced.ok(&["open", "about:blank"])["url"], "about:blank");
    fenced.ok(&["open"]);
}

#[test]
fn redirects_end_where_nobody_may_go() {
    let trap = Trap::set();
    let (direct, tls) = (trap.url("/302"), trap.url("/tls").replace("http:", "https:"));
    let (meta, script) = (trap.url("/meta"), trap.url("/script"));
    let site = site("<title>Home</title>", |site| {
        site.redirect("/302", &direct)
            .redirect("/twice", "/302")
            .redirect("/tls", &tls)
            .page("/meta", format!("<meta http-equiv=refresh content='0;url={meta}'>"))
            .page("/script", format!("<script>location = '{script}'</script>"))
    });
    let fenced = Fenced::with_site(&site);
    for path in ["/302", "/twice", "/tls"] {
        fenced.denied(&["open", &site.url(path)]);
        trap.is_untouched(path);
    }
    // A page that goes on by itself was opened before: what is shown then is the guard's own answer.
    for path in ["/meta", "/script"] {
        fenced.cli.run(&["--egress-allow", &fenced.rules[1], "open", &site.url(path)]).unwrap();
        let shown = || {
            let text = fenced.ok(&["eval", "document.body?.innerText ?? ''"]);
            text["result"].as_str().is_some_and(|text| text.starts_with("egress denied: "))
        };
        assert!(wait_until(SOON, shown), "{path}");
        trap.is_untouched(path);
        fenced.denied(&["reload"]);
    }
}

#[test]
fn every_verb_that_navigates_tells_the_truth() {
    let (site, trap) = (site("<title>Home</title>", |site| site), Trap::set());
    let fenced = Fenced::with_site(&site);
    let forbidden = trap.url("/secret");
    fenced.ok(&["open", &site.url("/")]);
    fenced.denied(&["tab", "new", &forbidden]);
    fenced.denied(&["window", "new", &forbidden]);
    assert_eq!(fenced.ok(&["tab", "list"])["tabs"].as_array().unwrap().len(), 1, "no tab was left");
    let batch = fenced.cli.json(&["batch", &format!("open {forbidden}")]).unwrap();
    assert_eq!(batch.data()[0]["error"]["code"], "egress-denied", "{}", batch.value);
    let state = fenced.cli.home().work().join("state.json");
    let item = json!({ "name": "a", "value": "b" });
    let saved = json!({ "cookies": [], "origins": [{ "origin": trap.url(""), "localStorage": [item] }] });
    fs_err::write(&state, saved.to_string()).unwrap();
    fenced.denied(&["state", "load", state.to_str().unwrap()]);
    trap.is_untouched("verbs");
    fenced.ok(&["open", &site.url("/fine")]);
    fenced.ok(&["back"]);
    fenced.ok(&["forward"]);
}

#[test]
fn tools_of_mcp_tell_the_truth() {
    let (site, trap) = (site("<title>Home</title>", |site| site), Trap::set());
    let fenced = Fenced::with_site(&site);
    let mut mcp = Mcp::start(
        &fenced.cli,
        &[&fenced.rules[0], &fenced.rules[1], "--toolsets", "page,verbs,packs,direct"],
    );
    mcp.text("navigate", &json!({ "url": site.url("/fine") }));
    let calls = [
        ("navigate", json!({ "url": trap.url("/") })),
        ("act", json!({ "action": format!("go to {}", trap.url("/")) })),
        ("open", json!({ "url": trap.url("/") })),
        ("browser_interact", json!({ "url": trap.url("/"), "actions": [{ "action": "screenshot" }] })),
    ];
    for (tool, arguments) in calls {
        let answer = mcp.call(tool, &arguments);
        assert_eq!(answer["isError"], true, "{tool}: {answer}");
        assert!(answer.to_string().contains("egress denied: "), "{tool}: {answer}");
        trap.is_untouched(tool);
    }
    // Somebody else's browser has no guard.
    let answer = mcp.call("browser_list", &json!({ "browser_url": trap.url("") }));
    assert!(answer.to_string().contains("cannot be guarded"), "{answer}");
    trap.is_untouched("a browser of somebody else");
    mcp.end();
}
