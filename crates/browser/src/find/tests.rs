//! The order of finding, on machines made of temporary directories.

use std::path::Path;

use super::*;
use crate::testing::{bare, program};

const EMPTY: &str = "#!/bin/sh\n";

#[test]
fn a_named_browser_that_leads_nowhere_is_an_error_and_nothing_else_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    program(&dir.path().join("chromium"), EMPTY);
    let plain = dir.path().join("plain");
    fs_err::write(&plain, "x").unwrap();
    let machine = Machine { path: vec![dir.path().into()], ..bare() };
    for (path, why) in [
        ("/no/such/browser", "no such file"),
        (plain.to_str().unwrap(), "not be executed"),
        ("/tmp", "directory"),
    ] {
        let error = find(&machine, Some(Path::new(path))).unwrap_err().to_string();
        assert!(
            error.contains("--executable-path") && error.contains(path) && error.contains(why),
            "{error}"
        );
        let machine = Machine { browser: Some(path.into()), ..machine.clone() };
        let error = find(&machine, None).unwrap_err().to_string();
        assert!(error.contains("SUREHAND_BROWSER") && error.contains(path) && error.contains(why), "{error}");
    }
}

#[test]
fn named_before_installed_before_caches() {
    let dir = tempfile::tempdir().unwrap();
    let at = |file: &str| program(&dir.path().join(file), EMPTY);
    let mut machine = bare();
    assert!(matches!(find(&machine, None), Err(Error::NotFound { .. })));

    machine.puppeteer = Some(dir.path().join("pp"));
    let puppeteer = at("pp/chrome/linux-131.0.6778.204/chrome-linux64/chrome");
    assert_eq!(
        find(&machine, None).unwrap(),
        Found { path: puppeteer, source: Source::Puppeteer, product: Product::ChromeForTesting }
    );

    machine.playwright = Some(dir.path().join("pw"));
    let shell = at("pw/chromium_headless_shell-1200/chrome-headless-shell-linux64/chrome-headless-shell");
    assert_eq!(
        find(&machine, None).unwrap(),
        Found { path: shell, source: Source::Playwright, product: Product::HeadlessShell }
    );
    let playwright = at("pw/chromium-1100/chrome-linux/chrome");
    assert_eq!(find(&machine, None).unwrap().path, playwright);

    machine.cache = Some(dir.path().join("own"));
    let own = at("own/chrome-150.0.1.2/chrome-linux64/chrome");
    assert_eq!(find(&machine, None).unwrap().path, own);

    machine.places = vec![Place { product: Product::Brave, path: at("opt/brave") }];
    assert_eq!(find(&machine, None).unwrap().product, Product::Brave);
    machine.path = vec![dir.path().join("bin")];
    at("bin/microsoft-edge");
    assert_eq!(find(&machine, None).unwrap().product, Product::Edge);
    at("bin/chromium");
    assert_eq!(find(&machine, None).unwrap().product, Product::Chromium);
    at("bin/google-chrome");
    assert_eq!(find(&machine, None).unwrap().product, Product::Chrome);

    machine.browser = Some(at("mine"));
    assert_eq!(find(&machine, None).unwrap().source, Source::Variable);
    let explicit = at("explicit");
    assert_eq!(find(&machine, Some(&explicit)).unwrap().source, Source::Explicit);
    // A bare name means what it means in a shell.
    assert_eq!(find(&machine, Some(Path::new("chromium"))).unwrap().path, dir.path().join("bin/chromium"));
}

#[test]
fn the_newest_version_wins_by_number_and_broken_ones_do_not_count() {
    let dir = tempfile::tempdir().unwrap();
    for version in ["99.0.1.9", "100.0.0.1", "100.0.0.0"] {
        program(&dir.path().join(format!("chrome-{version}/chrome-linux64/chrome")), EMPTY);
    }
    fs_err::create_dir_all(dir.path().join("chrome-200.0.0.0/chrome-linux64")).unwrap();
    let found = find(&Machine { cache: Some(dir.path().into()), ..bare() }, None).unwrap();
    assert_eq!(found.path, dir.path().join("chrome-100.0.0.1/chrome-linux64/chrome"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_program_behind_a_start_script_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let opt = dir.path().canonicalize().unwrap().join("opt/google/chrome");
    program(&opt.join("google-chrome"), "#!/bin/bash\nexec -a \"$0\" \"$HERE/chrome\" \"$@\"\n");
    program(&opt.join("chrome"), "\x7fELF");
    fs_err::create_dir(dir.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(opt.join("google-chrome"), dir.path().join("bin/google-chrome")).unwrap();
    let found = find(&Machine { path: vec![dir.path().join("bin")], ..bare() }, None).unwrap();
    assert_eq!(found.path, opt.join("chrome"));
}

#[cfg(target_os = "linux")]
#[test]
fn ubuntus_stub_for_a_snap_is_not_a_browser() {
    if Path::new("/snap/bin/chromium").exists() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let stub =
        "#!/bin/sh\nif ! [ -x /snap/bin/chromium ]; then echo 'requires the chromium snap' >&2; exit 1; fi\n";
    program(&dir.path().join("chromium-browser"), stub);
    let found = find(&Machine { path: vec![dir.path().into()], ..bare() }, None);
    assert!(matches!(found, Err(Error::NotFound { .. })), "{found:?}");
}

#[test]
fn products_are_told_by_their_paths() {
    for (path, product) in [
        ("/opt/google/chrome/chrome", Product::Chrome),
        ("/usr/lib/chromium/chromium", Product::Chromium),
        ("/home/me/.cache/ms-playwright/chromium-1/chrome-linux/chrome", Product::Chromium),
        ("/opt/microsoft/msedge/msedge", Product::Edge),
        ("/opt/brave.com/brave/brave", Product::Brave),
        ("/x/chrome-linux64/chrome", Product::ChromeForTesting),
        ("/x/headless_shell", Product::HeadlessShell),
        ("/x/thing", Product::Other),
    ] {
        assert_eq!(Product::of(Path::new(path)), product, "{path}");
    }
}
