//! Everything that can go wrong between "a browser is wanted" and "a browser answers", by cause.
//!
//! Each message says what happened, to which file or address, and what to do next. Fronts format and translate to
//! exit codes; they never look into the text.

use std::{io, net::SocketAddr, path::PathBuf, time::Duration};

/// A failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path that somebody named (flag or `SUREHAND_BROWSER`) leads to nothing that can be executed.
    #[error("{origin} names {}, but {why}; correct it, or leave it out to have a browser found", path.display())]
    NamedBrowser { origin: &'static str, path: PathBuf, why: String },

    /// No browser on this machine, in none of the known places.
    #[error("no browser found (looked at {looked}); run `surehand install`, or set SUREHAND_BROWSER to one")]
    NotFound { looked: String },

    /// Every way to install a browser failed.
    #[error("no browser could be installed:{}\nwhat you can do: {advice}", list(attempts))]
    Install { attempts: Vec<Attempt>, advice: String },

    /// A download could not be started or finished.
    #[error("cannot download {url}: {why}")]
    Download { url: String, why: String },

    /// The download index answered, but has nothing for this machine.
    #[error("{url} lists no Chrome for Testing for this machine ({platform})")]
    NoBuild { url: String, platform: &'static str },

    /// A downloaded archive is broken or does not hold what it should.
    #[error("the archive {} is unusable: {why}; run `surehand install` again", path.display())]
    Archive { path: PathBuf, why: String },

    /// A helper program (`apt-get`, the browser's `--version`) failed.
    #[error("`{command}` failed: {why}")]
    Helper { command: String, why: String },

    /// Another process held an installation or profile lock for too long.
    #[error("{} stayed locked by another process for {} s; try again when it has ended", path.display(), waited.as_secs())]
    Locked { path: PathBuf, waited: Duration },

    /// The browser program could not be started at all.
    #[error("cannot start {}: {source}", path.display())]
    Spawn { path: PathBuf, source: io::Error },

    /// The browser ended although nobody asked it to.
    #[error("the browser {} ended ({status}): {why}", path.display())]
    Exited { path: PathBuf, status: String, why: Exit, stderr: String },

    /// The browser runs, but did not answer in time.
    #[error("the browser {} did not answer within {} s after its start; its last words: {}", path.display(), waited.as_secs_f32(), last_words(stderr))]
    Silent { path: PathBuf, waited: Duration, stderr: String },

    /// An endpoint to attach to could not be understood.
    #[error(
        "`{endpoint}` is no address to attach to: {why}; give a port, host:port, http://host:port or ws://…"
    )]
    BadEndpoint { endpoint: String, why: String },

    /// The name of an endpoint's host has no address.
    #[error("the host of `{endpoint}` has no address: {why}")]
    UnknownHost { endpoint: String, why: String },

    /// Nobody listens at an endpoint.
    #[error("nothing listens on {address}; start the browser with --remote-debugging-port={}", address.port())]
    Refused { address: SocketAddr },

    /// An endpoint exists but does not answer.
    #[error("{endpoint} did not answer within {} s", waited.as_secs_f32())]
    AttachTimeout { endpoint: String, waited: Duration },

    /// An endpoint answers, but not in HTTP.
    #[error(
        "{endpoint} is open, but does not speak HTTP (it said {said:?}); it is not a browser's debugging port"
    )]
    NotHttp { endpoint: String, said: String },

    /// An endpoint speaks HTTP, but is not a browser's.
    #[error("{endpoint} is a web server, not a browser's debugging port: {why}")]
    NotDevTools { endpoint: String, why: String },

    /// A connection to an endpoint broke in another way.
    #[error("cannot talk to {endpoint}: {source}")]
    Attach { endpoint: String, source: io::Error },

    /// A file operation failed; the message names the file.
    #[error("{doing}: {source}")]
    Io { doing: &'static str, source: io::Error },
}

/// One failed way of installing a browser.
#[derive(Debug)]
pub struct Attempt {
    /// What was tried, e.g. `Chrome for Testing`.
    pub way: &'static str,
    /// Why it failed.
    pub cause: String,
}

/// Why a browser ended by itself, as far as its last words tell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Exit {
    /// The kernel or the container forbids what Chromium's sandbox is made of, or it runs as root.
    #[error(
        "its sandbox cannot be used here; allow user namespaces, or start with the sandbox off (--args=--no-sandbox)"
    )]
    NoSandbox,

    /// Shared libraries are missing.
    #[error("it needs libraries that are missing: {}; install them, on Debian or Ubuntu with: {fix}", libraries.join(", "))]
    MissingLibraries { libraries: Vec<String>, fix: String },

    /// The profile is open in another browser.
    #[error("its profile is in use by another browser; close that one, or name another --profile")]
    ProfileInUse,

    /// A headed browser without a screen.
    #[error(
        "a headed browser needs a screen and there is none (no DISPLAY or WAYLAND_DISPLAY); leave --headed out, or use xvfb-run"
    )]
    NoDisplay,

    /// A signal ended it, or it crashed.
    #[error("it was killed or crashed; its last words: {said}")]
    Killed { said: String },

    /// Something else; its last words are all there is to tell.
    #[error("its last words: {said}")]
    Other { said: String },
}

impl Error {
    /// Whether starting again without the sandbox would help.
    pub fn is_sandbox_failure(&self) -> bool {
        matches!(self, Error::Exited { why: Exit::NoSandbox, .. })
    }

    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { doing, source }
    }
}

fn list(attempts: &[Attempt]) -> String {
    attempts.iter().map(|a| format!("\n  - {}: {}", a.way, a.cause)).collect()
}

/// The last line that says something, for messages that have room for one.
pub(crate) fn last_words(stderr: &str) -> String {
    match stderr.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => line.chars().take(300).collect(),
        None => "(it said nothing)".into(),
    }
}
