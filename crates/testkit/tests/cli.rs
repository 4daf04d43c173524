//! The CLI helper, with a shell script in the product's place.
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use surehand_testkit::{Cli, CliError, RunError, TempHome, processes, wait_for};

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-surehand");

fn calls(home: &TempHome) -> Vec<String> {
    let text = fs_err::read_to_string(home.path().join("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn runs_in_its_own_home_and_session() {
    let home = TempHome::new().unwrap();
    let cli = Cli::new(FAKE, &home);
    let run = cli.session("s1").run_with_input(&["get", "url"], b"typed").unwrap();
    assert!(run.ok());
    assert_eq!(run.stdout, format!("{}\ntyped", home.work().display()));

    let answer = cli.env("MARK", "m").json(&["get", "url"]).unwrap();
    assert_eq!((answer.code, answer.success(), answer.error_code()), (Some(1), false, "m"));
    assert!(answer.data().is_null());

    assert!(matches!(cli.session("json").json(&["open"]), Err(CliError::NotJson { .. })));
    assert_eq!(calls(&home)[..2], ["--session s1 get url", "--json get url"]);
    // Once it runs it is ended with the last of us; before, nobody would find it.
    assert!(wait_for(Duration::from_secs(10), || cli.daemon_pid()).is_some());
}

#[test]
fn a_call_that_hangs_is_killed() {
    let home = TempHome::new().unwrap();
    let cli = Cli::new(FAKE, &home).limit(Duration::from_millis(300));
    let started = Instant::now();
    let error = cli.run(&["hang"]).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(30));
    let CliError::Run(RunError::Overrun { pid, .. }) = error else { panic!("{error}") };
    assert!(!processes::alive(pid));
}

#[test]
fn the_daemon_goes_with_the_last_clone() {
    let home = TempHome::new().unwrap();
    let cli = Cli::new(FAKE, &home);
    let clone = cli.session("other");
    assert!(cli.run(&["open", "x"]).unwrap().ok());
    let daemon = wait_for(Duration::from_secs(10), || cli.daemon_pid()).expect("the daemon runs");
    drop(cli);
    assert!(processes::alive(daemon));
    drop(clone);
    assert!(!processes::alive(daemon));
    assert!(calls(&home).contains(&"close --all".to_owned()));
}

#[test]
fn a_stale_note_of_the_daemon_is_not_believed() {
    let home = TempHome::new().unwrap();
    let cli = Cli::new(FAKE, &home);
    fs_err::write(home.path().join("daemon.pid"), std::process::id().to_string()).unwrap();
    assert_eq!(cli.daemon_pid(), None);
    cli.shut_down().unwrap();
    assert!(calls(&home).is_empty(), "nothing to close");
}
