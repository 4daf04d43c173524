//! Which browser to use: the named one, else the first of what people already have.
//!
//! Looking only: nothing here starts, downloads or changes anything. The order is the order of [`Source`].

mod caches;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
#[path = "unknown.rs"]
mod system;

use std::{
    fmt,
    path::{Path, PathBuf},
};

pub(crate) use caches::own_executable;
pub(crate) use system::places;

use crate::{Error, Machine, machine::is_executable};

/// A browser that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The program to execute. For installed browsers this is the real program, not the shell script in front of it.
    pub path: PathBuf,
    /// How it was found.
    pub source: Source,
    /// Which browser it is, judged by where it was found.
    pub product: Product,
}

/// How a browser was found, in the order in which the ways are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The caller named it.
    Explicit,
    /// `SUREHAND_BROWSER` names it.
    Variable,
    /// Installed on this system: on `PATH` or in a well-known place.
    System,
    /// Chrome for Testing that Surehand installed.
    Surehand,
    /// Playwright installed it.
    Playwright,
    /// Puppeteer installed it.
    Puppeteer,
}

/// Which browser it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Product {
    Chrome,
    Chromium,
    Edge,
    Brave,
    ChromeForTesting,
    /// The small headless-only build; it cannot be headed.
    HeadlessShell,
    /// Named by the caller, and its name says nothing.
    Other,
}

/// A place outside `PATH` where a browser gets installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub product: Product,
    pub path: PathBuf,
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Product::Chrome => "Chrome",
            Product::Chromium => "Chromium",
            Product::Edge => "Edge",
            Product::Brave => "Brave",
            Product::ChromeForTesting => "Chrome for Testing",
            Product::HeadlessShell => "Chrome headless shell",
            Product::Other => "browser",
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Explicit => "named by --executable-path",
            Source::Variable => "named by SUREHAND_BROWSER",
            Source::System => "installed on this system",
            Source::Surehand => "in Surehand's cache",
            Source::Playwright => "in Playwright's cache",
            Source::Puppeteer => "in Puppeteer's cache",
        })
    }
}

/// Finds the browser to use.
///
/// # Errors
/// [`Error::NamedBrowser`] when `explicit` or `SUREHAND_BROWSER` leads nowhere: a name that somebody gave is never
/// silently replaced by something else. [`Error::NotFound`] when there is no browser at all.
pub fn find(machine: &Machine, explicit: Option<&Path>) -> Result<Found, Error> {
    if let Some(path) = explicit {
        return named(machine, path, "--executable-path", Source::Explicit);
    }
    if let Some(path) = &machine.browser {
        return named(machine, path, "SUREHAND_BROWSER", Source::Variable);
    }
    installed(machine)
        .or_else(|| caches::surehand(machine.cache.as_deref()?))
        .or_else(|| caches::playwright(machine.playwright.as_deref()?))
        .or_else(|| caches::puppeteer(machine.puppeteer.as_deref()?))
        .ok_or_else(|| Error::NotFound { looked: looked_at(machine) })
}

fn named(machine: &Machine, path: &Path, origin: &'static str, source: Source) -> Result<Found, Error> {
    let fail = |why: String| Error::NamedBrowser { origin, path: path.to_owned(), why };
    // A bare name such as `chromium` means what it means in a shell.
    let bare = path.components().count() == 1 && !path.exists();
    let on_path = bare.then(|| machine.which(&path.to_string_lossy())).flatten();
    let path = on_path.unwrap_or_else(|| path.to_owned());
    if !path.exists() {
        return Err(fail("there is no such file".into()));
    }
    if path.is_dir() {
        return Err(fail("that is a directory, not a program".into()));
    }
    if !is_executable(&path) {
        return Err(fail("it may not be executed (chmod +x?)".into()));
    }
    let path = std::path::absolute(&path).map_err(|error| fail(error.to_string()))?;
    Ok(Found { product: Product::of(&path), path, source })
}

/// An installed browser: Chrome before Chromium, Edge and Brave, each first on `PATH`, then in its known places.
fn installed(machine: &Machine) -> Option<Found> {
    [Product::Chrome, Product::Chromium, Product::Edge, Product::Brave].into_iter().find_map(|product| {
        let on_path =
            system::NAMES.iter().filter(|(p, _)| *p == product).filter_map(|(_, name)| machine.which(name));
        let known =
            machine.places.iter().filter(|place| place.product == product).map(|place| place.path.clone());
        let path = on_path.chain(known).find_map(|path| usable(&path))?;
        Some(Found { path, source: Source::System, product })
    })
}

fn usable(path: &Path) -> Option<PathBuf> {
    if !is_executable(path) { None } else { system::program(path) }
}

fn looked_at(machine: &Machine) -> String {
    let caches = [&machine.cache, &machine.playwright, &machine.puppeteer];
    let dirs = caches.into_iter().flatten().map(|dir| dir.display().to_string());
    std::iter::once("PATH, the usual places".to_owned()).chain(dirs).collect::<Vec<_>>().join(", ")
}

impl Product {
    /// Judges by the program's name, and where that is just `chrome`, by the directories around it.
    pub fn of(path: &Path) -> Product {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let all = path.to_string_lossy().to_lowercase();
        if name.contains("headless_shell") || name.contains("headless-shell") {
            Product::HeadlessShell
        } else if name.contains("edge") {
            Product::Edge
        } else if name.contains("brave") {
            Product::Brave
        } else if name.contains("chromium") || all.contains("chromium") {
            Product::Chromium
        } else if name.contains("chrome for testing") || all.contains("chrome-linux64") {
            Product::ChromeForTesting
        } else if name.contains("chrome") {
            Product::Chrome
        } else {
            Product::Other
        }
    }

    /// Whether it can open a window.
    pub fn can_be_headed(self) -> bool {
        self != Product::HeadlessShell
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
