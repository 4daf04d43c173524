//! JavaScript dialogs: which one is open, and how it is answered.

use std::time::Duration;

use surehand_cdp::protocol::page as cdp;

use crate::page::Page;
use crate::{Deadline, Error, Result};

/// An open `alert`, `confirm`, `prompt` or `beforeunload` dialog.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says.
    pub message: String,
    /// What a prompt suggests.
    #[serde(rename = "defaultPrompt", skip_serializing_if = "Option::is_none")]
    pub default_prompt: Option<String>,
}

impl Dialog {
    pub(crate) fn from_event(event: cdp::JavascriptDialogOpening) -> Self {
        let default_prompt = event.default_prompt.filter(|_| event.r#type == "prompt");
        Self { kind: event.r#type, message: event.message, default_prompt }
    }

    /// A dialog that asks nothing is accepted at once: nobody has to decide anything.
    pub(crate) fn needs_no_decision(&self) -> bool {
        matches!(self.kind.as_str(), "alert" | "beforeunload")
    }
}

/// The browser answers a dialog at once; longer means that it is stuck.
const ANSWER_TIME: Duration = Duration::from_secs(5);

impl Page {
    /// The dialog that is open now.
    pub fn dialog(&self) -> Option<Dialog> {
        self.lock().dialog.clone()
    }

    /// Answers the open dialog and returns it; `None` when there is none.
    pub async fn answer_dialog(&self, accept: bool, prompt_text: Option<String>) -> Result<Option<Dialog>> {
        let Some(dialog) = self.dialog() else { return Ok(None) };
        let closed = self.lock().dialogs_closed;
        // Who only says OK to a prompt means what it suggests.
        let prompt_text = prompt_text.or_else(|| dialog.default_prompt.clone());
        let answer = cdp::HandleJavaScriptDialog { accept, prompt_text };
        let deadline = Deadline::after(ANSWER_TIME);
        deadline.run("the dialog to close", self.session().call(&answer)).await?.map_err(Error::from)?;
        self.until(&deadline, "the dialog to close", |state| (state.dialogs_closed > closed).then_some(()))
            .await?;
        Ok(Some(dialog))
    }
}
