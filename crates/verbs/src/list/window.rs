//! `window`: another window in the same session.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use super::tab::{self, NewTab, TabsReport};
use crate::{Context, Effect, Hints, Verb};

/// Open another window in the same session; it is a tab like any other
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand window new http://127.0.0.1:8000/")]
pub struct Window {
    /// What to do
    #[command(subcommand)]
    pub action: Action,
}

/// What to do.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Open a window; commands go to it from now on
    New(NewTab),
}

impl Verb for Window {
    const EFFECT: Effect = Effect::Manages;
    const HINTS: Hints = Hints::NAVIGATES;
    type Output = TabsReport;

    async fn run(self, cx: &Context) -> Result<TabsReport, Fault> {
        let Action::New(new) = self.action;
        tab::open(cx, new, true).await
    }
}
