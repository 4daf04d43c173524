//! Packs on the command line: the same packs, run here, with exit codes.

use serde_json::{Value, json};
use surehand_testkit::{Cli, Run, processes, wait_until};

use crate::common::fresh_cli;
use crate::fixture::{SOON, pages};

fn run(cli: &Cli, arguments: &[&str], input: &Value) -> Run {
    cli.run_with_input(
        &[arguments, &["pack", "run", "browser.interact", "-"]].concat(),
        input.to_string().as_bytes(),
    )
    .unwrap()
}

#[test]
fn packs_are_listed_and_shown() {
    let cli = fresh_cli();
    let listed = cli.run(&["pack", "list"]).unwrap();
    assert_eq!((listed.code, listed.stdout.lines().count()), (Some(0), 5), "{listed:?}");
    let shown = cli.json(&["pack", "show", "browser.interact"]).unwrap();
    assert_eq!(shown.data()["inputSchema"]["required"], json!(["url", "actions"]));
    assert_eq!(cli.run(&["pack", "show", "browser.nothing"]).unwrap().code, Some(2));
    let tools = cli.json(&["tools", "--toolsets", "packs"]).unwrap();
    let text = tools.value.to_string();
    for name in
        ["browser_interact", "browser_screenshot_url", "web_scrape_spa", "web_scrape", "web_login_and_fetch"]
    {
        assert!(text.contains(name), "{name}: {text}");
    }
}

#[test]
fn a_pack_runs_here_and_says_how_it_went() {
    let (cli, site) = (fresh_cli(), pages(&[("/", "<p>x</p>")]));
    let input = json!({ "url": site.url("/"), "actions": [{ "action": "extract", "selector": "p" }] });
    let done = run(&cli, &[], &input);
    assert_eq!(done.code, Some(0), "{done:?}");
    let output: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&output["steps_completed"], &output["extractions"]["p"]), (&json!(1), &json!("x")));
    // From a file, with the usual envelope.
    let file = cli.home().work().join("input.json");
    fs_err::write(&file, json!({ "url": site.url("/"), "fullPage": true }).to_string()).unwrap();
    let kept = cli.json(&["pack", "run", "browser.screenshot_url", file.to_str().unwrap()]).unwrap();
    let path = kept.data()["path"].as_str().unwrap_or_else(|| panic!("{}", kept.value)).to_owned();
    assert_eq!(&fs_err::read(path).unwrap()[1..4], b"PNG");
    // A failure is 1, what makes no sense is 2.
    let missing = json!({ "url": site.url("/"), "actions": [{ "action": "extract", "selector": "p" }, { "action": "click", "selector": "#none" }] });
    let failed = run(&cli, &["--timeout", "3000"], &missing);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(
        failed.stderr.contains("handler_failed")
            && failed.stderr.contains("action[1] click")
            && failed.stderr.contains("1 step"),
        "{failed:?}"
    );
    let failed = run(&cli, &["--timeout", "3000", "--json"], &missing);
    let envelope: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!(
        (&envelope["success"], &envelope["data"]["error"], &envelope["data"]["steps_completed"]),
        (&json!(false), &json!("handler_failed"), &json!(1)),
        "{envelope}"
    );
    for wrong in [json!({}), json!([]), json!({ "url": "x", "actions": [] })] {
        let refused = run(&cli, &[], &wrong);
        assert_eq!(refused.code, Some(2), "{wrong}: {refused:?}");
        assert!(refused.stderr.contains("invalid_input"), "{refused:?}");
    }
    assert_eq!(cli.run_with_input(&["pack", "run", "browser.interact", "-"], b"{").unwrap().code, Some(2));
    assert_eq!(cli.run(&["pack", "run", "browser.interact", "/nowhere.json"]).unwrap().code, Some(2));
    assert_eq!(cli.run(&["pack", "run", "nothing", "-"]).unwrap().code, Some(2));
    // The guard is there for who wants it.
    let guarded = run(&cli, &["--egress"], &input);
    assert_eq!(guarded.code, Some(1), "{guarded:?}");
    assert!(guarded.stderr.contains("egress denied"), "{guarded:?}");
    // Nothing is left of any of them, once who was told to go is gone.
    let left = || processes::with_env("SUREHAND_HOME", cli.home().path().to_str().unwrap());
    assert!(wait_until(SOON, || left().is_empty()), "{:?}", left());
}
