//! Starting a browser of our own and owning its process.
//!
//! [`launch`] only starts it; [`launch_with_fallback`] also waits for the first answer and starts again without the
//! sandbox where the sandbox cannot be used. Speaking the protocol is the caller's business.

mod channel;
mod diagnose;
mod flags;
mod group;
mod process;
mod ready;
mod tail;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use std::{path::PathBuf, time::Duration};

pub(crate) use diagnose::exit as explain_exit;
pub(crate) use flags::ENOUGH_SHARED_MEMORY;
pub use process::BrowserProcess;
#[cfg(unix)]
use tokio::net::unix::pipe;

use crate::{Error, Notes, profile::TempProfile};

/// What to start, and how.
#[derive(Debug, Clone)]
pub struct LaunchOptions {
    /// The browser program.
    pub executable: PathBuf,
    /// With a window.
    pub headed: bool,
    /// A profile directory of the user's own, which is kept; `None` for a fresh one that goes with the browser.
    pub profile: Option<PathBuf>,
    /// The folder for fresh profiles. Only this crate's profiles may live in it.
    pub scratch: PathBuf,
    /// The user's own browser arguments. They win over ours; feature lists are merged with ours.
    pub args: Vec<String>,
    /// A proxy for everything, as Chromium's `--proxy-server` has it. Credentials in it are left out of the command
    /// line (Chromium cannot use them there, and `ps` shows it): answer the proxy's challenge over the protocol.
    pub proxy: Option<String>,
    /// Whether nothing may pass by a proxy: no QUIC, no WebRTC beside it.
    pub guarded: bool,
    /// The user agent of every page.
    pub user_agent: Option<String>,
    /// Whether Chromium's sandbox is used.
    pub sandbox: Sandbox,
    /// Accept certificates that nobody vouches for.
    pub ignore_https_errors: bool,
    /// Variables on top of this process's environment.
    pub extra_env: Vec<(String, String)>,
    /// How long [`launch_with_fallback`] waits for the first answer.
    pub timeout: Duration,
}

impl LaunchOptions {
    /// A headless browser with a fresh profile in `scratch`, and nothing special.
    pub fn new(executable: impl Into<PathBuf>, scratch: impl Into<PathBuf>) -> Self {
        LaunchOptions {
            executable: executable.into(),
            headed: false,
            profile: None,
            scratch: scratch.into(),
            args: Vec::new(),
            proxy: None,
            guarded: false,
            user_agent: None,
            sandbox: Sandbox::Auto,
            ignore_https_errors: false,
            extra_env: Vec::new(),
            timeout: Duration::from_secs(30),
        }
    }
}

/// Whether Chromium's sandbox is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// On, except for root, whom Chromium refuses to sandbox.
    #[default]
    Auto,
    /// On, or fail.
    On,
    /// Off.
    Off,
}

/// The way to a launched browser.
#[derive(Debug)]
pub enum Channel {
    /// NUL-separated JSON messages: to the browser, and from it. Closing it ends the browser.
    #[cfg(unix)]
    Pipe(pipe::Sender, pipe::Receiver),
    /// A WebSocket address on loopback, where pipes cannot be inherited.
    WebSocket(String),
}

/// A browser that was started.
#[derive(Debug)]
pub struct Launched {
    /// The way to it.
    pub channel: Channel,
    /// Its process; dropping it ends the browser.
    pub process: BrowserProcess,
    /// What it says it is (`Chrome/156.0.8078.73`), when it was asked already.
    pub product: Option<String>,
}

/// Starts a browser and returns at once. Whether it lives shows in [`BrowserProcess::wait`] and in its answers.
///
/// # Errors
/// [`Error::Spawn`] when the program cannot be executed, [`Error::Io`] when its fresh profile cannot be made; where
/// there is no pipe transport also what [`launch_with_fallback`] returns.
pub async fn launch(mut options: LaunchOptions, notes: &dyn Notes) -> Result<Launched, Error> {
    flags::adopt_profile(&mut options);
    if options.sandbox == Sandbox::Auto && group::is_root() && !flags::sandbox_is_off(&options) {
        notes.note("The browser's sandbox is off, because this is root, for whom Chromium cannot use it.");
        options.sandbox = Sandbox::Off;
    }
    start(&options).await
}

/// Starts a browser, waits until it answers, and starts it once more without its sandbox if that is what it died of
/// and `sandbox` is [`Sandbox::Auto`].
///
/// # Errors
/// As [`launch`], and [`Error::Exited`] with the reason when it ends before it answers, [`Error::Silent`] when it
/// does not answer within `options.timeout`.
pub async fn launch_with_fallback(options: LaunchOptions, notes: &dyn Notes) -> Result<Launched, Error> {
    let first = async { ready::wait(launch(options.clone(), notes).await?, options.timeout).await }.await;
    match first {
        Err(error) if error.is_sandbox_failure() && options.sandbox == Sandbox::Auto => {
            notes.note("The browser's sandbox is off, because this system does not let Chromium use it.");
            let timeout = options.timeout;
            let mut options = LaunchOptions { sandbox: Sandbox::Off, ..options };
            flags::adopt_profile(&mut options);
            ready::wait(start(&options).await?, timeout).await
        }
        other => other,
    }
}

async fn start(options: &LaunchOptions) -> Result<Launched, Error> {
    let (profile, dir) = match &options.profile {
        Some(dir) => (None, std::path::absolute(dir).map_err(Error::io("cannot use the profile"))?),
        None => {
            let profile = TempProfile::create(&options.scratch)?;
            let dir = profile.path().to_owned();
            (Some(profile), dir)
        }
    };
    channel::start(options, flags::build(options, &dir), &dir, profile).await
}
