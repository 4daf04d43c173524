//! The checks on the machine that the tests run on, and on machines that lack things.

use super::*;
use crate::{
    profile::TempProfile,
    testing::{bare, program},
};

fn input(dir: &Path) -> DoctorInput {
    DoctorInput { scratch: dir.join("scratch"), home: dir.join("home"), executable: None }
}

fn by_id<'a>(checks: &'a [Check], id: &str) -> &'a Check {
    checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("no check {id} in {checks:?}"))
}

#[test]
fn a_machine_with_a_browser_passes() {
    let dir = tempfile::tempdir().unwrap();
    let machine = Machine::from_env();
    let checks = check(&machine, input(dir.path()));
    assert_eq!(by_id(&checks, "browser").status, Status::Ok, "{checks:#?}");
    assert!(by_id(&checks, "browser").message.contains('.'), "a version: {checks:#?}");
    assert_eq!(by_id(&checks, "start").status, Status::Ok, "{checks:#?}");
    let sandbox = by_id(&checks, "sandbox");
    assert!(!machine.root || sandbox.status == Status::Warn && sandbox.fix.is_some(), "{sandbox:?}");
    for id in ["fonts", "disk", "shared-memory", "leftovers", "ports"] {
        by_id(&checks, id);
    }
    assert_eq!(leftovers(&dir.path().join("scratch")), [] as [PathBuf; 0]);
}

#[test]
fn no_browser_is_a_failure_with_the_command_that_brings_one() {
    let dir = tempfile::tempdir().unwrap();
    let checks = check(&bare(), input(dir.path()));
    let browser = by_id(&checks, "browser");
    assert_eq!((browser.status, browser.fix.as_deref()), (Status::Fail, Some("surehand install")));
}

#[test]
fn a_browser_that_lacks_libraries_is_a_failure_with_their_packages() {
    let dir = tempfile::tempdir().unwrap();
    let words = "x: error while loading shared libraries: libgbm.so.1: cannot open shared object file";
    let broken = program(&dir.path().join("chrome"), &format!("#!/bin/sh\necho '{words}' >&2\nexit 127\n"));
    let checks = check(&bare(), DoctorInput { executable: Some(broken), ..input(dir.path()) });
    let browser = by_id(&checks, "browser");
    assert_eq!(browser.status, Status::Fail);
    assert!(browser.fix.as_deref().unwrap().contains("libgbm1"), "{browser:?}");
}

#[test]
fn profiles_of_dead_owners_are_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = dir.path().join("scratch");
    assert_eq!(left_behind(&scratch).status, Status::Ok);
    let profile = TempProfile::create(&scratch).unwrap();
    assert_eq!(left_behind(&scratch).status, Status::Ok);
    let path = profile.abandon();
    let check = left_behind(&scratch);
    assert_eq!(check.status, Status::Warn);
    assert!(check.fix.unwrap().contains(path.to_str().unwrap()));
    assert!(path.exists());
}

#[test]
fn missing_shared_memory_is_told() {
    assert_eq!(shared_memory(Path::new("/no/such/shm")).unwrap().status, Status::Warn);
}
