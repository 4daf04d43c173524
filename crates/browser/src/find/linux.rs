//! Linux: the names browsers have on `PATH`, where else packages put them, and the programs behind their scripts.

use std::path::{Path, PathBuf};

use super::{Place, Product};
use crate::machine::is_executable;

pub(super) const NAMES: &[(Product, &str)] = &[
    (Product::Chrome, "google-chrome-stable"),
    (Product::Chrome, "google-chrome"),
    (Product::Chrome, "chrome"),
    (Product::Chrome, "google-chrome-beta"),
    (Product::Chrome, "google-chrome-unstable"),
    (Product::Chromium, "chromium"),
    (Product::Chromium, "chromium-browser"),
    (Product::Edge, "microsoft-edge-stable"),
    (Product::Edge, "microsoft-edge"),
    (Product::Brave, "brave-browser-stable"),
    (Product::Brave, "brave-browser"),
    (Product::Brave, "brave"),
];

pub(crate) fn places(_home: Option<&Path>, _variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Place> {
    let known = [
        (Product::Chrome, "/opt/google/chrome/chrome"),
        (Product::Chromium, "/usr/bin/chromium"),
        (Product::Chromium, "/usr/lib/chromium/chromium"),
        (Product::Chromium, "/usr/lib/chromium-browser/chromium-browser"),
        (Product::Chromium, "/usr/lib64/chromium-browser/chromium-browser"),
        (Product::Chromium, "/snap/bin/chromium"),
        (Product::Edge, "/opt/microsoft/msedge/msedge"),
        (Product::Brave, "/opt/brave.com/brave/brave"),
    ];
    known.map(|(product, path)| Place { product, path: path.into() }).into()
}

/// The program behind an installed browser's start script, or nothing when the file cannot start one.
///
/// The scripts cost time at every start, and Debian's adds `--disable-extensions-except=`, which would switch off an
/// extension that the user asks for. Ubuntu's `chromium-browser` is a script that only says to install a snap.
pub(super) fn program(path: &Path) -> Option<PathBuf> {
    let real = fs_err::canonicalize(path).ok()?;
    let Some(script) = script_text(&real) else { return Some(path.to_owned()) };
    if script.contains("/snap/bin/chromium") {
        let snap = Path::new("/snap/bin/chromium");
        return is_executable(snap).then(|| snap.to_owned());
    }
    let beside = real.parent()?;
    let programs = ["chrome", "msedge", "brave"].map(|name| beside.join(name));
    let debian = real.starts_with("/usr/bin").then(|| PathBuf::from("/usr/lib/chromium/chromium"));
    let behind = programs
        .into_iter()
        .chain(debian.filter(|_| script.contains("LIBDIR=/usr/lib/$APPNAME")))
        .find(|program| *program != real && is_executable(program) && script_text(program).is_none());
    Some(behind.unwrap_or_else(|| path.to_owned()))
}

/// The text of a shell script, `None` for anything else.
fn script_text(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut start = Vec::new();
    fs_err::File::open(path).ok()?.take(8192).read_to_end(&mut start).ok()?;
    start.starts_with(b"#!").then(|| String::from_utf8_lossy(&start).into_owned())
}
