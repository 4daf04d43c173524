//! Any other system (the BSDs): whatever is on `PATH`.

use std::path::{Path, PathBuf};

use super::{Place, Product};

pub(super) const NAMES: &[(Product, &str)] =
    &[(Product::Chrome, "chrome"), (Product::Chromium, "chromium"), (Product::Chromium, "chromium-browser")];

pub(crate) fn places(_home: Option<&Path>, _variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Place> {
    Vec::new()
}

/// Taken as it is.
pub(super) fn program(path: &Path) -> Option<PathBuf> {
    Some(path.to_owned())
}
