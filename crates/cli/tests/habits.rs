//! People's habits: help, completions, the man page, colours, and configuration in layers. No browser is needed here.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::process::Command;

use common::{BINARY, SOON, fails, fresh_cli, json, keys, ok};
use surehand_testkit::{Cli, run_bounded};

const VERBS: [&str; 22] = [
    "open",
    "back",
    "forward",
    "reload",
    "snapshot",
    "click",
    "fill",
    "type",
    "press",
    "get",
    "eval",
    "screenshot",
    "wait",
    "tab",
    "dialog",
    "console",
    "errors",
    "network",
    "session",
    "connect",
    "close",
    "batch",
];
const OTHERS: [&str; 6] = ["install", "doctor", "demo", "config", "completions", "man"];

fn text(cli: &Cli, arguments: &[&str]) -> String {
    let run = cli.run(arguments).unwrap();
    assert!(run.ok(), "{arguments:?}: {run:?}");
    run.stdout
}

#[test]
fn every_command_has_help_with_an_example() {
    let cli = fresh_cli();
    let all = text(&cli, &["--help"]);
    for name in VERBS.into_iter().chain(OTHERS) {
        assert!(all.lines().any(|line| line.trim_start().starts_with(name)), "{name} is not in --help");
        for flag in ["--help", "-h"] {
            let help = text(&cli, &[name, flag]);
            let example = help.split_once("Example:\n").map(|(_, example)| example).unwrap_or_default();
            let shown = example.lines().any(|line| line.contains("surehand ") && line.contains(name));
            assert!(shown, "{name} {flag} has no example:\n{help}");
            assert!(help.contains("Usage: surehand "), "{name}:\n{help}");
        }
    }
    assert!(
        !all.lines().any(|line| line.trim_start().starts_with("daemon")),
        "what is not for people is not shown:\n{all}"
    );
    let version = text(&cli, &["--version"]);
    assert_eq!(version, format!("surehand {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(cli.daemon_pid(), None, "help needs no daemon");
}

#[test]
fn completions_know_the_verbs() {
    let cli = fresh_cli();
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&cli, &["completions", shell]);
        for verb in VERBS {
            assert!(script.contains(verb), "{shell} does not know {verb}");
        }
        assert!(
            script.contains("session") && script.contains("ignore-https-errors"),
            "{shell} does not know the flags"
        );
    }
    fails(&cli, &["completions", "basch"]).must_be("usage", 2).must_say("bash");
}

#[test]
fn bash_accepts_its_completions() {
    let cli = fresh_cli();
    let script = cli.home().work().join("complete.bash");
    fs_err::write(&script, text(&cli, &["completions", "bash"])).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", "source \"$1\" && COMP_WORDS=(surehand snap) COMP_CWORD=1 && _surehand surehand snap surehand && echo \"${COMPREPLY[@]}\"", "-"]).arg(&script);
    let run = run_bounded(bash, b"", SOON).unwrap();
    assert_eq!(run.stdout, "snapshot\n", "{run:?}");
}

#[test]
fn the_man_page_is_one() {
    let page = text(&fresh_cli(), &["man"]);
    assert!(page.contains(".TH surehand 1"), "{page}");
    for part in [".SH NAME", ".SH SYNOPSIS", "snapshot", "\\-\\-session"] {
        assert!(page.contains(part), "{part} is not in the man page");
    }
}

#[test]
fn no_escape_codes_where_nobody_looks() {
    let cli = fresh_cli();
    for arguments in [&["--help"][..], &["open", "--help"], &["clik"], &["get", "url"], &["config"]] {
        for variables in [&[][..], &[("NO_COLOR", "1")], &[("TERM", "xterm-256color")]] {
            let cli = variables.iter().fold(cli.clone(), |cli, (name, value)| cli.env(*name, *value));
            let run = cli.run(arguments).unwrap();
            assert!(
                !run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'),
                "{arguments:?} {variables:?}: {run:?}"
            );
        }
    }
}

/// `script` gives the program a terminal.
fn on_a_terminal(cli: &Cli, variables: &[(&str, &str)]) -> String {
    let mut script = Command::new("script");
    script
        .args(["-qec", &format!("{BINARY} clik"), "/dev/null"])
        .env("SUREHAND_HOME", cli.home().path())
        .env("TERM", "xterm-256color");
    script.env_remove("NO_COLOR").env_remove("CLICOLOR").env_remove("CLICOLOR_FORCE").env_remove("CI");
    script.envs(variables.iter().copied());
    run_bounded(script, b"", SOON).unwrap().stdout
}

#[test]
fn colours_on_a_terminal_unless_no_color() {
    if Command::new("script").arg("--version").output().is_err() {
        return; // Not every machine has it.
    }
    let cli = fresh_cli();
    let coloured = on_a_terminal(&cli, &[]);
    assert!(coloured.contains('\x1b') && coloured.contains("usage"), "{coloured:?}");
    let plain = on_a_terminal(&cli, &[("NO_COLOR", "1")]);
    assert!(!plain.contains('\x1b') && plain.contains("error[usage]"), "{plain:?}");
}

#[test]
fn settings_come_in_layers() {
    let cli = fresh_cli();
    let data = ok(&cli, &["config"]);
    assert_eq!(keys(&data)[..3], ["args", "egress", "egress-allow"]);
    assert_eq!(data["timeout"], serde_json::json!({ "value": null, "source": "default" }));
    assert_eq!(data["json"], serde_json::json!({ "value": true, "source": "--json" }));

    let user = cli.home().path().join("surehand.toml");
    fs_err::write(&user, "timeout = 1\nsession = \"user\"\nproxy = \"http://user\"\nuser-agent = \"user\"\nexecutable-path = \"/bin/user\"\n").unwrap();
    let project = cli.home().work().join("surehand.toml");
    fs_err::write(&project, "timeout = 2\nsession = \"project\"\nuser-agent = \"project\"\n").unwrap();
    let below = cli.home().work().join("a/b");
    fs_err::create_dir_all(&below).unwrap();
    let cli = cli.directory(below).env("SUREHAND_TIMEOUT", "3").env("SUREHAND_SESSION", "env");

    let data = ok(&cli, &["--timeout", "4", "config"]);
    let want =
        |value: serde_json::Value, source: &str| serde_json::json!({ "value": value, "source": source });
    assert_eq!(data["timeout"], want(4.into(), "--timeout"));
    assert_eq!(data["session"], want("env".into(), "SUREHAND_SESSION"));
    assert_eq!(data["user-agent"], want("project".into(), project.to_str().unwrap()));
    assert_eq!(data["proxy"], want("http://user".into(), user.to_str().unwrap()));
    assert_eq!(data["executable-path"], want("/bin/user".into(), user.to_str().unwrap()));
    let shown = text(&cli, &["config"]);
    assert!(shown.contains("SUREHAND_TIMEOUT") && shown.contains(user.to_str().unwrap()), "{shown}");
}

#[test]
fn settings_are_used() {
    let cli = fresh_cli();
    fs_err::write(cli.home().path().join("surehand.toml"), "session = \"mine\"\n").unwrap();
    fails(&cli, &["get", "url"]).must_be("no-session", 1).must_say("\"mine\"");
    fails(&cli.env("SUREHAND_SESSION", "env"), &["get", "url"]).must_say("\"env\"");
    fails(&cli.env("SUREHAND_SESSION", "env").session("flag"), &["get", "url"]).must_say("\"flag\"");
}

#[test]
fn json_may_come_from_any_layer() {
    let cli = fresh_cli();
    let by_variable = cli.env("SUREHAND_JSON", "1").run(&["session", "list"]).unwrap();
    assert_eq!(
        by_variable.stdout.trim(),
        r#"{"success":true,"data":{"sessions":[]},"error":null}"#,
        "{by_variable:?}"
    );
    let failed = cli.env("SUREHAND_JSON", "true").run(&["get", "url"]).unwrap();
    assert_eq!(failed.code, Some(1));
    assert!(failed.stdout.starts_with(r#"{"success":false,"#), "{failed:?}");
    fs_err::write(cli.home().path().join("surehand.toml"), "json = true\n").unwrap();
    for arguments in [&["session", "list"][..], &["config"]] {
        let by_file = cli.run(arguments).unwrap();
        assert!(by_file.stdout.starts_with('{'), "{by_file:?}");
    }
}

/// What comes with somebody's code decides neither what runs nor who listens.
#[test]
fn a_project_may_not_choose_what_is_trusted() {
    let cli = fresh_cli();
    let project = cli.home().work().join("surehand.toml");
    for (key, value) in [
        ("executable-path", "\"/bin/evil\""),
        ("args", "[\"--x\"]"),
        ("profile", "\"/home/ada/.config/chromium\""),
        ("proxy", "\"http://evil.example:3128\""),
        ("ignore-https-errors", "true"),
        ("egress", "false"),
        ("egress-allow", "[\"10.0.0.0/8\"]"),
    ] {
        fs_err::write(&project, format!("{key} = {value}")).unwrap();
        for arguments in [&["config"][..], &["open", "about:blank"]] {
            fails(&cli, arguments).must_be("usage", 2).must_say(key).must_say("surehand.toml");
        }
    }
    assert_eq!(cli.daemon_pid(), None);
}

#[test]
fn settings_that_make_no_sense() {
    let cli = fresh_cli();
    let project = cli.home().work().join("surehand.toml");
    for (text, says) in [
        ("timeot = 1", "timeout"),
        ("timeout = \"soon\"", "timeout"),
        ("timeout = -1", "timeout"),
        ("headed = 1", "headed"),
        ("= nonsense", "surehand.toml"),
    ] {
        fs_err::write(&project, text).unwrap();
        fails(&cli, &["config"]).must_be("usage", 2).must_say(says).must_say(project.to_str().unwrap());
    }
    fs_err::remove_file(&project).unwrap();
    for (name, value) in
        [("SUREHAND_TIMEOUT", "soon"), ("SUREHAND_HEADED", "perhaps"), ("SUREHAND_ARGS", "'open")]
    {
        fails(&cli.env(name, value), &["config"]).must_be("usage", 2).must_say(name);
    }
}

#[test]
fn doctor_checks_and_says_the_fix() {
    let cli = fresh_cli();
    let run = json(&cli, &["doctor"]);
    let checks = run.value["data"]["checks"].as_array().expect("a list").clone();
    for check in &checks {
        assert_eq!(keys(check), ["fix", "id", "message", "status"]);
        assert!(check["status"] != "fail" || check["fix"].is_string(), "{check}");
    }
    let ids: Vec<&str> = checks.iter().filter_map(|check| check["id"].as_str()).collect();
    for id in ["browser", "sandbox", "fonts", "disk", "daemon", "leftovers", "ports"] {
        assert!(ids.contains(&id), "{id} is not in {ids:?}");
    }
    let gone = json(&cli.env("SUREHAND_BROWSER", "/nowhere/chrome"), &["doctor"]);
    let browser = gone.value["data"]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["id"] == "browser")
        .cloned();
    assert_eq!(browser.expect("it is checked")["status"], "fail");
    assert_ne!(gone.code, Some(0));
}
