//! Owners that live, die and are killed, with real browsers.

use std::process::{Command, Stdio};

use super::*;
use crate::{
    launch::{LaunchOptions, launch_with_fallback},
    testing::{chromium, processes_with, until},
};

#[test]
fn a_profile_with_a_living_owner_is_left_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let profile = TempProfile::create(scratch.path()).unwrap();
    assert_eq!(leftovers(scratch.path()), [] as [PathBuf; 0]);
    assert_eq!(sweep(scratch.path()), Swept::default());
    assert!(profile.path().is_dir());
    let path = profile.path().to_owned();
    profile.remove().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_profile_that_was_given_up_is_swept_with_everything_in_it() {
    let scratch = tempfile::tempdir().unwrap();
    let profile = TempProfile::create(scratch.path()).unwrap();
    let path = profile.path().to_owned();
    fs_err::create_dir_all(path.join("Default/Cache")).unwrap();
    fs_err::write(path.join("Default/Cache/x"), "x").unwrap();
    profile.abandon();
    assert_eq!(leftovers(scratch.path()), [path.as_path()]);
    assert!(path.exists());
    assert_eq!(sweep(scratch.path()), Swept { removed: vec![path.clone()], failed: vec![] });
    assert!(!path.exists());
}

#[test]
fn what_is_not_ours_in_the_folder_stays() {
    let scratch = tempfile::tempdir().unwrap();
    fs_err::create_dir(scratch.path().join("other")).unwrap();
    fs_err::write(scratch.path().join("profile-file"), "x").unwrap();
    assert_eq!(sweep(scratch.path()), Swept::default());
    assert!(scratch.path().join("other").is_dir() && scratch.path().join("profile-file").is_file());
    assert_eq!(sweep(&scratch.path().join("missing")), Swept::default());
}

#[test]
fn many_owners_and_sweepers_at_once_do_not_take_each_others_profiles() {
    let scratch = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let profile = TempProfile::create(scratch.path()).unwrap();
                    assert!(profile.path().join(OWNER).exists());
                    sweep(scratch.path());
                    assert!(profile.path().join(OWNER).exists());
                    profile.remove().unwrap();
                }
            });
        }
    });
    assert_eq!(leftovers(scratch.path()), [] as [PathBuf; 0]);
}

#[test]
fn a_process_that_still_uses_a_dead_owners_profile_is_ended_and_no_other() {
    let scratch = tempfile::tempdir().unwrap();
    let profile = TempProfile::create(scratch.path()).unwrap();
    let path = profile.abandon();
    let start = |dir: &str| {
        let arg = format!("--user-data-dir={dir}");
        Command::new("sh").args(["-c", "read x", "browser", &arg]).stdin(Stdio::piped()).spawn().unwrap()
    };
    let mut user = start(path.to_str().unwrap());
    let mut other = start(&format!("{}-other", path.display()));
    until("both run", || processes_with(path.to_str().unwrap()).len() == 2);
    sweep(scratch.path());
    assert!(!user.wait().unwrap().success());
    assert_eq!(other.try_wait().unwrap(), None);
    other.kill().unwrap();
    other.wait().unwrap();
}

/// The whole way: an owner process with a browser gets `kill -9`.
#[test]
fn after_kill_9_of_the_owner_no_browser_lives_and_the_sweep_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "profile::tests::inner_owner", "--ignored"])
        .env("OWNER_SCRATCH", scratch.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let ready = scratch.path().join("ready");
    until("the owner has its browser", || ready.exists());
    let scratch_text = scratch.path().to_str().unwrap();
    assert!(!processes_with(scratch_text).is_empty());
    assert_eq!(sweep(scratch.path()), Swept::default(), "a living owner's profile was swept");
    owner.kill().unwrap();
    owner.wait().unwrap();
    until("all its browser processes are gone", || processes_with(scratch_text).is_empty());
    let swept = sweep(scratch.path());
    assert_eq!((swept.removed.len(), swept.failed.len()), (1, 0), "{swept:?}");
    assert_eq!(leftovers(scratch.path()), [] as [PathBuf; 0]);
}

#[tokio::test]
#[ignore = "the owner process of after_kill_9_of_the_owner_no_browser_lives_and_the_sweep_leaves_nothing"]
async fn inner_owner() {
    let scratch = PathBuf::from(std::env::var_os("OWNER_SCRATCH").expect("only run by another test"));
    let _launched = launch_with_fallback(LaunchOptions::new(chromium(), &scratch), &()).await.unwrap();
    fs_err::write(scratch.join("ready"), "").unwrap();
    std::future::pending::<()>().await;
}
