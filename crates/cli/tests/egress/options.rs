//! How the guard is asked for, what it does not go together with, and that sessions keep their own.

use surehand_testkit::{processes, wait_until};

use crate::guarded::Trap;
use crate::serving::SOON;
use crate::{Fenced, common, site};

#[test]
fn what_would_lead_past_the_guard_is_refused() {
    let cli = common::fresh_cli();
    let refused = |arguments: &[&str], say: &str| {
        let failure = common::fails(&cli, arguments);
        failure.must_be("usage", 2).must_say(say);
    };
    refused(&["--egress", "connect", "9222"], "cannot be guarded");
    refused(&["--egress", "--proxy", "http://127.0.0.1:1", "open"], "exclude each other");
    for arg in [
        "--no-proxy-server",
        "-no-proxy-server",
        "--proxy-bypass-list=*",
        "--host-resolver-rules=MAP * 127.0.0.1",
        "--load-extension=/tmp",
        "--proxy-pac-url=data:,x",
        "--force-webrtc-ip-handling-policy=default",
    ] {
        refused(&["--egress", &format!("--args='{arg}'"), "open"], "past the egress guard");
    }
    refused(&["--egress=false", "--egress-allow", "a.example", "open"], "exclude each other");
    for rule in ["http://a.example", "a b", "10.0.0.0/40", "a.example:0", ""] {
        refused(&["--egress-allow", rule, "open"], "rules are like");
    }
}

#[test]
fn rules_of_all_kinds_decide() {
    let (site, trap) = (site("<title>Home</title>", |site| site), Trap::set());
    let host = site.url("").replace("http://", "");
    let home = common::fresh_cli();
    let url = site.url("/fine");
    for (number, (rules, open)) in [
        (vec!["--egress-allow", "127.0.0.0/8"], true),
        (vec!["--egress-allow", "127.0.0.1"], true),
        (vec!["--egress-only", "--egress-allow", host.as_str()], true),
        (vec!["--egress-only"], false),
        (vec!["--egress"], false),
        (vec!["--egress-allow", "*"], false),
        (vec!["--egress-allow", "127.0.0.1:1"], false),
        (vec!["--egress-allow", "127.0.0.0/8", "--egress-deny", host.as_str()], false),
        (vec!["--egress-allow", "127.0.0.0/8,localhost", "--egress-deny", "127.0.0.1"], false),
    ]
    .into_iter()
    .enumerate()
    {
        let cli = home.session(&format!("rules-{number}"));
        let run = common::json(&cli, &[rules.clone(), vec!["open", &url]].concat());
        assert_eq!(run.success(), open, "{rules:?}: {}", run.value);
        if !open {
            assert_eq!(run.error_code(), "egress-denied", "{rules:?}");
        }
        cli.run(&["close"]).unwrap();
    }
    trap.is_untouched("rules");
}

#[test]
fn sessions_of_one_daemon_keep_their_own_rules() {
    let (one, two) = (site("<title>One</title>", |site| site), site("<title>Two</title>", |site| site));
    let home = common::fresh_cli();
    let first = Fenced { cli: home.session("first"), ..Fenced::with_site(&one) };
    let second = Fenced { cli: home.session("second"), ..Fenced::with_site(&two) };
    let free = home.session("free");
    first.ok(&["open", &one.url("/")]);
    second.ok(&["open", &two.url("/")]);
    common::ok(&free, &["open", &one.url("/")]);
    common::ok(&free, &["open", &two.url("/")]);
    // Paths of their own: an icon of an earlier page may still be asked for.
    first.denied(&["open", &two.url("/of-first")]);
    second.denied(&["open", &one.url("/of-second")]);
    assert!(two.requests_to("/of-first").is_empty());
    assert!(one.requests_to("/of-second").is_empty());
    // Later commands need not repeat the rules, and cannot change them.
    let failure = common::fails(&first.cli, &["open", &two.url("/")]);
    failure.must_be("egress-denied", 1);
    let other = second.rules[1].as_str();
    common::fails(&first.cli, &["--egress-allow", other, "open", &two.url("/")])
        .must_be("option-conflict", 2)
        .must_say("--egress");
    common::fails(&free, &["--egress", "open", &two.url("/")]).must_be("option-conflict", 2);
}

#[test]
fn the_browser_is_started_so_that_nothing_passes_by_and_stays_guarded() {
    let (site, trap) = (site("<title>Home</title>", |site| site), Trap::set());
    let fenced = Fenced::with_site(&site);
    fenced.ok(&["open", &site.url("/")]);
    let pid = |cli| common::ok(cli, &["session", "list"])["sessions"][0]["browserPid"].as_u64();
    let browser = u32::try_from(pid(&fenced.cli).expect("a browser of ours")).unwrap();
    let args = processes::args(browser);
    for flag in ["--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp"] {
        assert!(args.iter().any(|arg| arg == flag), "{flag}: {args:?}");
    }
    // One that loses its browser does not lose its guard, whoever starts the next one.
    processes::kill(browser);
    assert!(wait_until(SOON, || !processes::alive(browser)));
    common::fails(&fenced.cli, &["open", &trap.url("/")]).must_be("egress-denied", 1);
    trap.is_untouched("a browser that was killed");
    // The daemon may hear of its death in the middle of the next command.
    let opens = || common::json(&fenced.cli, &["open", &site.url("/")]).success();
    assert!(wait_until(SOON, opens), "it does not recover");
    common::fails(&fenced.cli, &["open", &trap.url("/")]).must_be("egress-denied", 1);
    trap.is_untouched("the browser after it");
}

#[test]
fn a_browser_of_its_own_is_guarded_as_well() {
    let (site, trap) = (site("<title>Home</title>", |site| site), Trap::set());
    let mut fenced = Fenced::with_site(&site);
    fenced.rules.extend(["--user-agent", "Somebody", "--args=--lang=de"].map(str::to_owned));
    fenced.ok(&["open", &site.url("/")]);
    fenced.denied(&["open", &trap.url("/")]);
    let fetched =
        format!("fetch('{}', {{ mode: 'no-cors' }}).then(r => r.type, e => 'failed')", trap.url("/f"));
    fenced.ok(&["eval", &fetched]);
    trap.is_untouched("a browser of its own");
}
