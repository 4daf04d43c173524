//! `dialog`: answer a confirm or a prompt.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::{Fault, Kind};

use crate::{Context, Effect, Report, Verb};

/// Answer a dialog of the page
///
/// Alerts and beforeunload questions are accepted by themselves; confirm and prompt wait for this.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand dialog accept\n  surehand dialog accept \"Grace\"\n  surehand dialog dismiss")]
pub struct Dialog {
    /// How to answer
    #[command(subcommand)]
    pub answer: Answer,
}

/// How to answer.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// OK, with a text for a prompt
    Accept(Accept),
    /// Cancel
    Dismiss,
    /// Is one open?
    Status,
}

/// OK.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Accept {
    /// What to answer to a prompt
    #[arg(allow_hyphen_values = true)]
    pub text: Option<String>,
}

/// A dialog, and whether it was answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DialogReport {
    has_dialog: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<bool>,
    #[serde(flatten)]
    dialog: Option<surehand_page::Dialog>,
}

impl Report for DialogReport {
    fn text(&self) -> String {
        let Some(dialog) = &self.dialog else { return "no dialog is open".to_owned() };
        let done = match self.accepted {
            Some(true) => "accepted",
            Some(false) => "dismissed",
            None => "open:",
        };
        format!("{done} {} {:?}", dialog.kind, dialog.message)
    }
}

impl Verb for Dialog {
    const EFFECT: Effect = Effect::Acts;
    const BLOCKED_BY_DIALOG: bool = false;
    type Output = DialogReport;

    /// Asking whether one is open is looking.
    fn is_step(&self) -> bool {
        !matches!(self.answer, Answer::Status)
    }

    async fn run(self, cx: &Context) -> Result<DialogReport, Fault> {
        let (_, tab) = cx.tab().await?;
        let (accept, text) = match self.answer {
            Answer::Status => {
                let dialog = tab.page.dialog();
                return Ok(DialogReport { has_dialog: dialog.is_some(), accepted: None, dialog });
            }
            Answer::Accept(accept) => (true, accept.text),
            Answer::Dismiss => (false, None),
        };
        let answered = tab.page.answer_dialog(accept, text).await?;
        let dialog = answered.ok_or_else(|| {
            Fault::new(Kind::NoDialog, "no dialog is open in this tab").hint("alerts are accepted by themselves")
        })?;
        Ok(DialogReport { has_dialog: false, accepted: Some(accept), dialog: Some(dialog) })
    }
}
