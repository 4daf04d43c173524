//! Pages that break off in the middle are told at once, with the guard and without it.

use std::time::Duration;

use serde_json::json;
use surehand_testkit::{Response, Site};

use crate::common::{Failure, fails, fresh_cli, ok};
use crate::serving::Service;
use crate::{Fenced, site};

/// A navigation may take 30 s. One that waits for its limit takes longer than this.
const AT_ONCE: Duration = Duration::from_secs(15);

/// Half of a page, whose server goes away then: with and without a length in its head.
const TORN: [&str; 2] = ["/chunks", "/length"];

fn torn_site() -> Site {
    let half = "<!doctype html><title>Half</title><p id=half>half</p>";
    let away = "<!doctype html><script>location = '/fine'</script>";
    site("<title>Home</title><a href=/chunks>on</a>", |site| {
        site.fixed("/chunks", Response::html(half).broken_off())
            .fixed("/length", Response::html(half).header("Content-Length", "100000").broken_off())
            .fixed("/away", Response::html(away).broken_off())
    })
}

fn must_be_torn(failure: &Failure) {
    failure.must_be("navigation-failed", 1).must_say("broke off").must_take_less_than(AT_ONCE);
}

#[test]
fn a_page_that_breaks_off_is_told_at_once() {
    let (site, home) = (torn_site(), fresh_cli());
    let (free, guarded) =
        (home.session("free"), Fenced { cli: home.session("guarded"), ..Fenced::with_site(&site) });
    guarded.ok(&["open", "about:blank"]);
    for cli in [&free, &guarded.cli] {
        for path in TORN {
            must_be_torn(&fails(cli, &["open", &site.url(path)]));
            // What came of it is there all the same.
            assert_eq!(ok(cli, &["get", "text", "#half"])["text"], "half");
            must_be_torn(&fails(cli, &["reload"]));
        }
        ok(cli, &["open", &site.url("/")]);
        ok(cli, &["click", "a"]);
        must_be_torn(&fails(cli, &["wait", "--load", "load"]));
        // A page that leads on is left, whatever became of it.
        ok(cli, &["open", &site.url("/away")]);
        ok(cli, &["wait", "#fine"]);
    }
}

#[test]
fn a_page_that_uses_up_the_bytes_is_told_at_once() {
    let big = vec![b' '; 3_000_000];
    let half = Response::html("<title>Half</title><p>half</p>");
    let site = site("<title>Home</title>", |site| {
        site.file("/length", "text/html", big.clone()).fixed("/chunks", half.chunk(Duration::ZERO, big))
    });
    let service = Service::start_in(&fresh_cli(), &["--max-bytes", "1000000", "--egress-allow", "127.0.0.1"]);
    let token = service.token("ada", "admin");
    for path in TORN {
        let before = std::time::Instant::now();
        let answer = service.interact_with(&token, &site.url(path), &json!([{ "action": "screenshot" }]));
        answer.must_be(400, "invalid_input").must_say("egress denied: the byte budget");
        assert!(before.elapsed() < AT_ONCE, "{path} took {:?}", before.elapsed());
    }
}
