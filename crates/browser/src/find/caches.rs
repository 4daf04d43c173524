//! Browsers that tools downloaded: our own cache, Playwright's and Puppeteer's. In each, the newest usable one wins.

use std::path::{Path, PathBuf};

use super::{Found, Product, Source};
use crate::machine::is_executable;

/// Where the program lies inside an unpacked Chrome for Testing archive, for each system.
const CHROME_FOR_TESTING: [&str; 6] = [
    "chrome-linux64/chrome",
    "chrome-linux-arm64/chrome",
    "chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "chrome-win64/chrome.exe",
    "chrome-win32/chrome.exe",
];

/// Where the program lies inside one of Playwright's `chromium-*` folders; the layout has changed over the years.
const PLAYWRIGHT: [&str; 8] = [
    "chrome-linux64/chrome",
    "chrome-linux/chrome",
    "chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "chrome-mac/Chromium.app/Contents/MacOS/Chromium",
    "chrome-win64/chrome.exe",
    "chrome-win/chrome.exe",
    "chrome-linux-arm64/chrome",
];

/// The same for its `chromium_headless_shell-*` folders.
const PLAYWRIGHT_SHELL: [&str; 8] = [
    "chrome-headless-shell-linux64/chrome-headless-shell",
    "chrome-linux/headless_shell",
    "chrome-linux/chrome-headless-shell",
    "chrome-headless-shell-mac-arm64/chrome-headless-shell",
    "chrome-headless-shell-mac-x64/chrome-headless-shell",
    "chrome-mac/headless_shell",
    "chrome-headless-shell-win64/chrome-headless-shell.exe",
    "chrome-win/headless_shell.exe",
];

/// The same for Puppeteer's `chrome-headless-shell/*` folders.
const PUPPETEER_SHELL: [&str; 4] = [
    "chrome-headless-shell-linux64/chrome-headless-shell",
    "chrome-headless-shell-mac-arm64/chrome-headless-shell",
    "chrome-headless-shell-mac-x64/chrome-headless-shell",
    "chrome-headless-shell-win64/chrome-headless-shell.exe",
];

/// The program in a folder that holds an unpacked Chrome for Testing.
pub(crate) fn own_executable(folder: &Path) -> Option<PathBuf> {
    executable(folder, &CHROME_FOR_TESTING)
}

pub(super) fn surehand(cache: &Path) -> Option<Found> {
    let path = newest(cache, "chrome-", &CHROME_FOR_TESTING)?;
    Some(Found { path, source: Source::Surehand, product: Product::ChromeForTesting })
}

pub(super) fn playwright(cache: &Path) -> Option<Found> {
    let found = |path, product| Found { path, source: Source::Playwright, product };
    newest(cache, "chromium-", &PLAYWRIGHT).map(|path| found(path, Product::Chromium)).or_else(|| {
        newest(cache, "chromium_headless_shell-", &PLAYWRIGHT_SHELL)
            .map(|path| found(path, Product::HeadlessShell))
    })
}

pub(super) fn puppeteer(cache: &Path) -> Option<Found> {
    let found = |path, product| Found { path, source: Source::Puppeteer, product };
    newest(&cache.join("chrome"), "", &CHROME_FOR_TESTING)
        .map(|path| found(path, Product::ChromeForTesting))
        .or_else(|| {
            newest(&cache.join("chrome-headless-shell"), "", &PUPPETEER_SHELL)
                .map(|path| found(path, Product::HeadlessShell))
        })
}

/// The program in the folder with the highest version among those whose names start with `prefix`.
fn newest(cache: &Path, prefix: &str, layouts: &[&str]) -> Option<PathBuf> {
    fs_err::read_dir(cache)
        .ok()?
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = version(name.strip_prefix(prefix)?);
            Some((version, executable(&entry.path(), layouts)?))
        })
        .max_by(|(a, _), (b, _)| a.cmp(b))
        .map(|(_, path)| path)
}

fn executable(folder: &Path, layouts: &[&str]) -> Option<PathBuf> {
    layouts.iter().map(|layout| folder.join(layout)).find(|path| is_executable(path))
}

/// The numbers in a folder name, so that 100 is newer than 99: `linux-131.0.6778.204` is `[131, 0, 6778, 204]`.
///
/// What is no number (a system's name such as `linux64`) is left out.
fn version(name: &str) -> Vec<u64> {
    name.split(['.', '-', '_']).filter_map(|part| part.parse().ok()).collect()
}
