//! macOS: browsers are application bundles; `PATH` only ever has what Homebrew and the like put there.

use std::path::{Path, PathBuf};

use super::{Place, Product};

pub(super) const NAMES: &[(Product, &str)] =
    &[(Product::Chrome, "google-chrome"), (Product::Chromium, "chromium")];

const BUNDLES: [(Product, &str); 5] = [
    (Product::Chrome, "Google Chrome"),
    (Product::Chromium, "Chromium"),
    (Product::Edge, "Microsoft Edge"),
    (Product::Brave, "Brave Browser"),
    (Product::Chrome, "Google Chrome Canary"),
];

pub(crate) fn places(home: Option<&Path>, _variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Place> {
    let roots = [Some(PathBuf::from("/Applications")), home.map(|home| home.join("Applications"))];
    let bundle = |root: &Path, name: &str| root.join(format!("{name}.app/Contents/MacOS/{name}"));
    roots
        .iter()
        .flatten()
        .flat_map(|root| BUNDLES.map(|(product, name)| Place { product, path: bundle(root, name) }))
        .collect()
}

/// Bundles hold the program itself.
pub(super) fn program(path: &Path) -> Option<PathBuf> {
    Some(path.to_owned())
}
