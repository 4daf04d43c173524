//! Windows: browsers live under the program folders, and are not on `PATH`.

use std::path::{Path, PathBuf};

use super::{Place, Product};

pub(super) const NAMES: &[(Product, &str)] = &[(Product::Chrome, "chrome"), (Product::Edge, "msedge")];

const PROGRAMS: [(Product, &str); 4] = [
    (Product::Chrome, r"Google\Chrome\Application\chrome.exe"),
    (Product::Chromium, r"Chromium\Application\chrome.exe"),
    (Product::Edge, r"Microsoft\Edge\Application\msedge.exe"),
    (Product::Brave, r"BraveSoftware\Brave-Browser\Application\brave.exe"),
];

pub(crate) fn places(_home: Option<&Path>, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Place> {
    ["PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"]
        .into_iter()
        .filter_map(variable)
        .flat_map(|root| PROGRAMS.map(|(product, file)| Place { product, path: root.join(file) }))
        .collect()
}

/// There are no scripts in front of browsers here.
pub(super) fn program(path: &Path) -> Option<PathBuf> {
    Some(path.to_owned())
}
