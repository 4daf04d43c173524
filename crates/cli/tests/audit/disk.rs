//! A disk that is full: nothing is done that could not be written down, and everything goes on when there is room again.

use std::process::Command;

use serde_json::json;
use surehand_testkit::{Site, wait_until};

use crate::common::{BINARY, fresh_cli, ok};
use crate::serving::{SOON, Service};

/// Files of the process may grow to this and no further; `unlimited` for room again.
fn limit(pid: u32, size: &str) {
    let done =
        Command::new("prlimit").args(["--pid", &pid.to_string(), &format!("--fsize={size}:")]).status();
    assert!(done.expect("prlimit of util-linux").success());
}

#[test]
fn without_room_for_the_audit_nothing_is_done() {
    let site = Site::builder().page("/", "<title>Home</title>").start().unwrap();
    let cli = fresh_cli();
    // A disk that is full sends no signal, a limit does: it is ignored.
    let mut command = cli.command();
    let environment: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command = Command::new("sh");
    let serve = format!("trap '' XFSZ; exec {BINARY} serve --listen 127.0.0.1:0 --egress-allow 127.0.0.1");
    command.args(["-c", &serve]).envs(environment).current_dir(cli.home().work());
    let service = Service::spawn(&cli, command);
    let token = service.token("ada", "admin");
    let actions = json!([{ "action": "screenshot" }]);
    let call = || service.interact_with(&token, &site.url("/"), &actions);
    call().ok();

    limit(service.pid, "4096");
    assert!(wait_until(SOON, || call().status == 503), "nothing was refused");
    let before = site.requests_to("/").len();
    let refused = call();
    refused.fails(503, "audit_unavailable");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    assert_eq!(site.requests_to("/").len(), before, "it was done all the same");
    service.ask("GET", "/healthz", &[], b"").ok();
    let ready = service.ask("GET", "/readyz", &[], b"");
    assert!(ready.status == 503 && ready.text().contains("the audit cannot be written"), "{ready:?}");

    limit(service.pid, "unlimited");
    assert!(wait_until(SOON, || call().status == 200), "it does not recover");
    assert_eq!(service.ask("GET", "/readyz", &[], b"").status, 200);
    ok(&cli, &["audit", "verify"]);
}
