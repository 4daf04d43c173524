//! What this machine and user look like to the rest of the crate, as plain values.
//!
//! [`Machine::from_env`] is the one place of this crate that reads the environment; everything else takes a
//! `&Machine`, so a test (or a front with other ideas) can describe any machine it likes.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::find::{Place, places};

/// Where Chrome for Testing says what its newest stable build is.
pub const CHROME_FOR_TESTING_INDEX: &str =
    "https://googlechromelabs.github.io/chrome-for-testing/last-known-good-versions-with-downloads.json";

/// The facts about a machine that finding and installing a browser depends on.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Directories of `PATH`, in order.
    pub path: Vec<PathBuf>,
    /// `SUREHAND_BROWSER`: the browser to use, before any search.
    pub browser: Option<PathBuf>,
    /// Places outside `PATH` where browsers get installed on this system.
    pub places: Vec<Place>,
    /// Our own cache of browsers (Chrome for Testing); `None` when the user has no home.
    pub cache: Option<PathBuf>,
    /// Playwright's cache of browsers.
    pub playwright: Option<PathBuf>,
    /// Puppeteer's cache of browsers.
    pub puppeteer: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Where temporary files go.
    pub temp: PathBuf,
    /// Whether this process may do everything (uid 0).
    pub root: bool,
    /// Text of `/etc/os-release`, empty where there is none.
    pub os_release: String,
    /// Address of the Chrome for Testing index.
    pub index_url: String,
    /// The proxy for downloads, from `HTTPS_PROXY` or `ALL_PROXY`.
    pub proxy: Option<String>,
}

impl Machine {
    /// Reads this process's environment and system.
    pub fn from_env() -> Self {
        let home = env::home_dir().filter(|home| home.is_absolute());
        let caches = caches(home.as_deref());
        let under = |name: &str| caches.as_ref().map(|dir| dir.join(name));
        Machine {
            path: var("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default(),
            browser: var("SUREHAND_BROWSER").map(PathBuf::from),
            places: places(home.as_deref(), &|name| var(name).map(PathBuf::from)),
            cache: under("surehand").map(|dir| dir.join("browsers")),
            playwright: var("PLAYWRIGHT_BROWSERS_PATH")
                .filter(|path| path != "0")
                .map(PathBuf::from)
                .or_else(|| under("ms-playwright")),
            puppeteer: var("PUPPETEER_CACHE_DIR")
                .map(PathBuf::from)
                .or_else(|| home.as_ref().map(|home| home.join(".cache/puppeteer"))),
            temp: env::temp_dir(),
            root: is_root(),
            os_release: fs_err::read_to_string("/etc/os-release").unwrap_or_default(),
            index_url: CHROME_FOR_TESTING_INDEX.into(),
            proxy: ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
                .into_iter()
                .find_map(var)
                .and_then(|proxy| proxy.into_string().ok()),
            home,
        }
    }

    /// The first executable of that name on this machine's `PATH`.
    pub fn which(&self, name: &str) -> Option<PathBuf> {
        let file = format!("{name}{}", env::consts::EXE_SUFFIX);
        self.path
            .iter()
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(&file))
            .find(|path| is_executable(path))
    }

    /// Whether `/etc/os-release` says Debian, Ubuntu or a child of theirs.
    pub fn is_debian_like(&self) -> bool {
        self.os_ids().any(|id| id == "debian" || id == "ubuntu")
    }

    /// Whether `/etc/os-release` says Ubuntu or a child of it (whose `chromium` package is a stub for a snap).
    pub fn is_ubuntu_like(&self) -> bool {
        self.os_ids().any(|id| id == "ubuntu")
    }

    fn os_ids(&self) -> impl Iterator<Item = &str> {
        self.os_release
            .lines()
            .filter_map(|line| line.strip_prefix("ID=").or_else(|| line.strip_prefix("ID_LIKE=")))
            .flat_map(|value| value.trim_matches(['"', '\'']).split_whitespace())
    }
}

fn var(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The user's cache directory, as the system's habits have it.
fn caches(home: Option<&Path>) -> Option<PathBuf> {
    if cfg!(windows) {
        return var("LOCALAPPDATA").map(PathBuf::from);
    }
    if cfg!(target_os = "macos") {
        return home.map(|home| home.join("Library/Caches"));
    }
    let xdg = var("XDG_CACHE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    xdg.or_else(|| home.map(|home| home.join(".cache")))
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// Whether a path is a file that this user may execute.
#[cfg(unix)]
pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Whether a path is a file that this user may execute.
#[cfg(not(unix))]
pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(text: &str) -> Machine {
        Machine { os_release: text.into(), ..Machine::from_env() }
    }

    #[test]
    fn debian_and_its_children_are_told_apart_from_others() {
        assert!(os("NAME=x\nID=debian\n").is_debian_like());
        assert!(!os("ID=debian\n").is_ubuntu_like());
        assert!(os("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n").is_ubuntu_like());
        assert!(!os("ID=fedora\nID_LIKE=rhel\nVARIANT_ID=debian\n").is_debian_like());
        assert!(!os("").is_debian_like());
    }

    #[test]
    fn which_ignores_relative_entries_and_what_cannot_be_executed() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("tool"), "").unwrap();
        let mut machine = os("");
        machine.path = vec!["relative".into(), dir.path().into()];
        #[cfg(unix)]
        assert_eq!(machine.which("tool"), None);
        machine.path.push("/bin".into());
        #[cfg(unix)]
        assert_eq!(machine.which("sh"), Some("/bin/sh".into()));
    }
}
