//! `connect`: use a browser that somebody else started.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::{Fault, SessionOptions, TabInfo};

use crate::{Context, Effect, Hints, Report, Verb};

/// Use a browser that somebody else started with --remote-debugging-port
///
/// Closing the session later lets go of it; its tabs stay open.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand connect 9222\n  surehand connect ws://127.0.0.1:9222/devtools/browser/…")]
pub struct Connect {
    /// A port, host:port, http://host:port or ws://… address
    pub endpoint: String,
}

/// The browser's tabs.
#[derive(Debug, Serialize)]
pub struct Connected {
    connected: String,
    tabs: Vec<TabInfo>,
}

impl Report for Connected {
    fn text(&self) -> String {
        format!("connected to {} with {}", self.connected, crate::output::plural(self.tabs.len(), "tab"))
    }
}

impl Verb for Connect {
    const EFFECT: Effect = Effect::Manages;
    const HINTS: Hints = Hints::SETS;
    type Output = Connected;

    /// In which browser a playbook runs is said when it runs.
    fn is_step(&self) -> bool {
        false
    }

    async fn run(self, cx: &Context) -> Result<Connected, Fault> {
        let options = SessionOptions { connect: Some(self.endpoint.clone()), ..cx.settings.options.clone() };
        let session = cx.sessions.open(&cx.settings.session, &options, &cx.notes).await?;
        session.settle_tabs(&cx.deadline()).await?;
        Ok(Connected { connected: self.endpoint, tabs: session.tab_infos().await })
    }
}
