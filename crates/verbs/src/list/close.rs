//! `close`: end a session.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::{Context, Effect, Hints, Report, Verb};

/// End this session and its browser, or all sessions
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(visible_aliases = ["quit", "exit"], after_help = "Example:\n  surehand close\n  surehand close --all")]
pub struct Close {
    /// End all sessions
    #[arg(long)]
    #[serde(default)]
    pub all: bool,
}

/// What was closed.
#[derive(Debug, Serialize)]
pub struct Closed {
    closed: Vec<String>,
}

impl Report for Closed {
    fn text(&self) -> String {
        match self.closed.as_slice() {
            [] => "nothing to close".to_owned(),
            names => format!("closed {}", names.join(", ")),
        }
    }
}

impl Verb for Close {
    const EFFECT: Effect = Effect::Manages;
    // What the session holds goes with it.
    const HINTS: Hints = Hints::REPLACES;
    type Output = Closed;

    /// A playbook has a session of its own, which ends with it.
    fn is_step(&self) -> bool {
        false
    }

    async fn run(self, cx: &Context) -> Result<Closed, Fault> {
        if self.all {
            return Ok(Closed { closed: cx.sessions.close_all().await });
        }
        let name = cx.settings.session.clone();
        let closed = cx.sessions.close(&name).await;
        Ok(Closed { closed: if closed { vec![name] } else { Vec::new() } })
    }
}
