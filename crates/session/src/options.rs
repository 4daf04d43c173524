//! How a session is started, and where its things are kept.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Egress, Fault, Kind};

/// What the user wants of the browser of a session. Absent means: whatever the session has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionOptions {
    /// With a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headed: Option<bool>,
    /// A profile directory that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<PathBuf>,
    /// The browser to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable_path: Option<PathBuf>,
    /// More arguments for the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// A proxy for all traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Another user agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Accept certificates that nobody vouches for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_https_errors: Option<bool>,
    /// Close the session after this long without a command, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<u64>,
    /// Where its pages may send requests; everywhere, if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress: Option<Egress>,
    /// An endpoint of a browser that somebody else started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect: Option<String>,
}

/// Arguments of the browser that lead past a proxy, or decide about it, without their dashes.
const BYPASSES: [&str; 12] = [
    "proxy",
    "no-proxy",
    "winhttp-proxy",
    "host-resolver-rules",
    "host-rules",
    "force-webrtc-ip-handling-policy",
    "webrtc-ip-handling-policy",
    "enable-quic",
    "origin-to-force-quic-on",
    "load-extension",
    "disable-extensions-except",
    "remote-debugging",
];

/// Chromium takes one dash for two, and blanks around an argument for nothing.
fn is_bypass(arg: &str) -> bool {
    let name = arg.trim().trim_start_matches('-').to_ascii_lowercase();
    BYPASSES.iter().any(|flag| name.starts_with(flag))
}

/// A session without a command closes after this long.
const IDLE: Duration = Duration::from_secs(30 * 60);

impl SessionOptions {
    /// Can the session be a context of the shared browser, or does it need a browser of its own?
    pub fn needs_own_browser(&self) -> bool {
        self.headed == Some(true)
            || self.profile.is_some()
            || self.executable_path.is_some()
            || self.args.as_ref().is_some_and(|args| !args.is_empty())
            || self.proxy.is_some()
            || self.user_agent.is_some()
            || self.ignore_https_errors == Some(true)
    }

    /// Only what decides how a browser is started: sessions that agree in it can share one.
    pub(crate) fn start(&self) -> Self {
        Self {
            // Where each session may go is up to its own context; the browser need only be able to hold it to that.
            egress: self.egress.as_ref().map(|_| Egress::default()),
            idle_timeout: None,
            connect: None,
            ..self.clone()
        }
    }

    /// What cannot work is refused before a browser is started: the browser itself would go on without a word.
    pub fn check(&self) -> Result<(), Fault> {
        if let Some(proxy) = self.proxy.as_deref().filter(|proxy| !is_proxy(proxy)) {
            return Err(Fault::new(Kind::Usage, format!("{proxy:?} is no proxy"))
                .hint("write it like http://127.0.0.1:3128 or socks5://127.0.0.1:1080"));
        }
        if self.egress.is_some() && self.connect.is_some() {
            return Err(Fault::new(Kind::Usage, "a browser that somebody else started cannot be guarded")
                .hint("leave --egress out, or let surehand start the browser"));
        }
        if self.egress.is_some() && self.proxy.is_some() {
            return Err(Fault::new(
                Kind::Usage,
                "--egress and --proxy exclude each other: the guard is a proxy",
            )
            .hint("leave one of them out"));
        }
        if self.egress.is_some()
            && let Some(arg) = self.args.iter().flatten().find(|arg| is_bypass(arg))
        {
            return Err(Fault::new(Kind::Usage, format!("{arg} would lead past the egress guard"))
                .hint("leave it out, or leave --egress out"));
        }
        if let Some(profile) = &self.profile {
            writable(profile).map_err(|error| {
                Fault::new(Kind::UnwritablePath, format!("the profile cannot be kept: {error}"))
                    .hint("choose a directory that you may write to")
            })?;
        }
        Ok(())
    }

    /// How long the session may be idle; 0 means for ever.
    pub fn idle(&self) -> Duration {
        match self.idle_timeout {
            None => IDLE,
            Some(0) => Duration::MAX,
            Some(limit) => Duration::from_millis(limit),
        }
    }

    /// The first option that `asked` wants differently from how the session was started: its flag.
    pub fn conflict_with(&self, asked: &Self) -> Option<&'static str> {
        fn differs<T: PartialEq>(has: &Option<T>, asked: &Option<T>) -> bool {
            asked.is_some() && has != asked
        }
        let flag =
            |has: Option<bool>, asked: Option<bool>| asked.is_some_and(|asked| has.unwrap_or(false) != asked);
        let checks = [
            ("--headed", flag(self.headed, asked.headed)),
            ("--profile", differs(&self.profile, &asked.profile)),
            ("--executable-path", differs(&self.executable_path, &asked.executable_path)),
            ("--args", differs(&self.args, &asked.args)),
            ("--proxy", differs(&self.proxy, &asked.proxy)),
            ("--user-agent", differs(&self.user_agent, &asked.user_agent)),
            ("--ignore-https-errors", flag(self.ignore_https_errors, asked.ignore_https_errors)),
            ("--egress", differs(&self.egress, &asked.egress)),
            ("browser (connect)", differs(&self.connect, &asked.connect)),
        ];
        checks.into_iter().find(|(_, differs)| *differs).map(|(name, _)| name)
    }
}

/// `[scheme://][user:password@]host:port`
fn is_proxy(text: &str) -> bool {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let address = rest.trim_end_matches('/').rsplit('@').next().unwrap_or_default();
    let known = matches!(scheme, "http" | "https" | "socks" | "socks4" | "socks5");
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "80"));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
    known
        && !host.is_empty()
        && host.chars().all(plain)
        && !host.ends_with(':')
        && port.parse::<u16>().is_ok()
}

fn writable(directory: &std::path::Path) -> std::io::Result<()> {
    fs_err::create_dir_all(directory)?;
    let probe = directory.join(".surehand-probe");
    fs_err::write(&probe, b"")?;
    fs_err::remove_file(&probe)
}

/// Where a daemon keeps what it needs.
#[derive(Debug, Clone)]
pub struct Places {
    /// Temporary browser profiles.
    pub scratch: PathBuf,
    /// Downloads that are under way.
    pub downloads: PathBuf,
    /// Journals of sessions.
    pub journals: PathBuf,
    /// What this machine has: where browsers may be found and installed.
    pub machine: surehand_browser::Machine,
}

impl Places {
    /// Reference pictures that screenshots are compared with. They are the user's own, so they are beside what is
    /// temporary, not in it.
    pub fn screenshot_classes(&self) -> PathBuf {
        self.scratch.with_file_name("screenshot-classes")
    }
}

/// How long a command may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For actions and waits.
    pub action: Duration,
    /// For navigations.
    pub navigation: Duration,
}

impl Limits {
    /// The user's own limit for both, or the usual ones.
    pub fn new(timeout_ms: Option<u64>) -> Self {
        match timeout_ms.map(Duration::from_millis) {
            Some(limit) => Self { action: limit, navigation: limit },
            None => Self { action: Duration::from_secs(5), navigation: Duration::from_secs(30) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_checked() {
        for good in
            ["http://127.0.0.1:3128", "127.0.0.1:80", "socks5://u:p@[::1]:1080", "https://proxy.example/"]
        {
            assert!(is_proxy(good), "{good}");
        }
        for bad in ["garbage::", "ftp://a:1", "http://", "http://a:99999", "a b"] {
            assert!(!is_proxy(bad), "{bad}");
        }
    }

    #[test]
    fn what_leads_past_the_guard_is_known_however_it_is_written() {
        for arg in ["--proxy-server=x", "-no-proxy-server", " --host-resolver-rules=MAP", "--PROXY-PAC-URL=x"]
        {
            assert!(is_bypass(arg), "{arg}");
        }
        for arg in ["--lang=de", "--window-size=1,2", "--disable-gpu"] {
            assert!(!is_bypass(arg), "{arg}");
        }
    }

    #[test]
    fn only_what_is_asked_for_can_conflict() {
        let has = SessionOptions { proxy: Some("p".into()), headed: Some(true), ..Default::default() };
        assert_eq!(has.conflict_with(&SessionOptions::default()), None);
        assert_eq!(has.conflict_with(&has), None);
        let other = SessionOptions { proxy: Some("q".into()), ..Default::default() };
        assert_eq!(has.conflict_with(&other), Some("--proxy"));
        let headless = SessionOptions { headed: Some(false), ..Default::default() };
        assert_eq!(has.conflict_with(&headless), Some("--headed"));
        assert_eq!(SessionOptions::default().conflict_with(&headless), None);
    }
}
