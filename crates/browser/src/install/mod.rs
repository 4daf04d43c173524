//! Getting a browser onto a machine that has none: Chrome for Testing into the user's cache, else, as root on Debian
//! or Ubuntu, the distribution's package, else words that tell a person what to do.
//!
//! Everything here blocks and says through [`Notes`] what it does and why. Nothing is installed that was not asked
//! for: callers call [`install`] when a browser is needed and none was found.

mod apt;
mod archive;
mod chrome_for_testing;
mod download;
mod lock;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

pub(crate) use apt::library_fix;

use crate::{Attempt, Error, Found, Machine, Notes};

/// Installs a browser and returns it. Blocks for as long as the download takes; use `spawn_blocking`.
///
/// # Errors
/// [`Error::Install`] with every way that was tried and why it failed, and what a person can do.
pub fn install(machine: &Machine, notes: &dyn Notes) -> Result<Found, Error> {
    let mut attempts = Vec::new();
    let mut failed = |way, error: &Error| {
        notes.note(&format!("{way}: {error}"));
        attempts.push(Attempt { way, cause: error.to_string() });
    };
    match chrome_for_testing::install(machine, notes) {
        Ok(found) => return Ok(found),
        Err(error) => failed("Chrome for Testing", &error),
    }
    match apt::install(machine, notes) {
        Ok(found) => return Ok(found),
        Err(error) => failed("the distribution's package", &error),
    }
    Err(Error::Install { attempts, advice: advice(machine) })
}

/// What a person can do when nothing worked, as commands for this system.
fn advice(machine: &Machine) -> String {
    let sudo = if machine.root { "" } else { "sudo " };
    let has = |name| machine.which(name).is_some();
    let command = if cfg!(target_os = "macos") {
        "brew install --cask google-chrome".into()
    } else if cfg!(windows) {
        "winget install Google.Chrome".into()
    } else if machine.is_ubuntu_like() {
        format!(
            "download https://dl.google.com/linux/direct/google-chrome-stable_current_amd64.deb, then \
             {sudo}apt-get install -y ./google-chrome-stable_current_amd64.deb"
        )
    } else if machine.is_debian_like() {
        format!("{sudo}apt-get update && {sudo}apt-get install -y --no-install-recommends chromium")
    } else if has("dnf") {
        format!("{sudo}dnf install -y chromium")
    } else if has("pacman") {
        format!("{sudo}pacman -S --needed chromium")
    } else if has("apk") {
        format!("{sudo}apk add chromium")
    } else if has("zypper") {
        format!("{sudo}zypper install chromium")
    } else {
        "install Chrome or Chromium with your system's packages".into()
    };
    format!("{command}; or set SUREHAND_BROWSER to a browser that you have")
}
