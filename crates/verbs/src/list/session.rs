//! `session`: which sessions there are.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::{Fault, SessionInfo, SessionOptions};

use crate::{Context, Effect, Hints, Report, Verb};

/// Show the sessions, or this one
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand session list\n  surehand --session shop session info")]
pub struct Session {
    /// What to show; without anything, this session
    #[command(subcommand)]
    pub what: Option<What>,
}

/// What to show.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// All sessions
    List,
    /// This session
    Info,
}

/// Sessions.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum SessionReport {
    /// All of them.
    List {
        /// By name.
        sessions: Vec<SessionInfo>,
    },
    /// One.
    Info(Box<OneSession>),
}

/// One session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OneSession {
    #[serde(flatten)]
    info: SessionInfo,
    /// How it was started.
    options: SessionOptions,
    /// The process that holds it.
    daemon_pid: u32,
}

impl Report for SessionReport {
    fn text(&self) -> String {
        match self {
            SessionReport::List { sessions } if sessions.is_empty() => "(no sessions)".to_owned(),
            SessionReport::List { sessions } => sessions.iter().map(line).collect::<Vec<_>>().join("\n"),
            SessionReport::Info(one) => {
                let OneSession { info, daemon_pid, .. } = &**one;
                let kind = match &one.options.connect {
                    Some(endpoint) => format!("connected to {endpoint}"),
                    None if info.shared => "a context of the shared browser".to_owned(),
                    None => "a browser of its own".to_owned(),
                };
                let pid = info.browser_pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
                format!("{}\n  {kind}{pid}, daemon pid {daemon_pid}", line(info))
            }
        }
    }
}

/// What a proxy is told need not be shown.
fn without_password(mut options: SessionOptions) -> SessionOptions {
    if let Some(proxy) = &mut options.proxy
        && let Some((before, host)) = proxy.rsplit_once('@')
    {
        let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://")).unwrap_or_default();
        *proxy = format!("{scheme}[REDACTED]@{host}");
    }
    options
}

fn line(info: &SessionInfo) -> String {
    let state = if info.alive { "" } else { " (its browser is gone)" };
    let tabs = crate::output::plural(info.tabs, "tab");
    format!("{}{state}: {tabs}, {}, idle {} s", info.name, info.url, info.idle_ms / 1000)
}

impl Verb for Session {
    const EFFECT: Effect = Effect::Manages;
    // It only tells.
    const HINTS: Hints = Hints::READS;
    type Output = SessionReport;

    /// It only tells.
    fn is_step(&self) -> bool {
        false
    }

    async fn run(self, cx: &Context) -> Result<SessionReport, Fault> {
        if let Some(What::List) = self.what {
            return Ok(SessionReport::List { sessions: cx.sessions.infos() });
        }
        let session = cx.session().await?;
        Ok(SessionReport::Info(Box::new(OneSession {
            info: session.info(),
            options: without_password(session.options().clone()),
            daemon_pid: std::process::id(),
        })))
    }
}
