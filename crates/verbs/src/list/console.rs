//! `console`: what the page's script said.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::ConsoleMessage;
use surehand_session::Fault;

use crate::output::plural;
use crate::{Context, Effect, Hints, Report, Verb};

/// Show the console messages of the tab
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand console\n  surehand console --clear")]
pub struct Console {
    /// Forget them after showing
    #[arg(long)]
    #[serde(default)]
    pub clear: bool,
}

/// Console messages.
#[derive(Debug, Serialize)]
pub struct Messages {
    messages: Vec<ConsoleMessage>,
    #[serde(skip_serializing_if = "is_zero")]
    dropped: u64,
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Report for Messages {
    fn text(&self) -> String {
        if self.messages.is_empty() {
            return "(no console messages)".to_owned();
        }
        self.messages.iter().map(|message| format!("[{}] {}", message.kind, message.text)).collect::<Vec<_>>().join("\n")
    }

    fn note(&self) -> Option<String> {
        let dropped = usize::try_from(self.dropped).ok().filter(|dropped| *dropped > 0)?;
        Some(format!("note: {} before these were dropped", plural(dropped, "message")))
    }
}

impl Verb for Console {
    const EFFECT: Effect = Effect::Reads;
    // `--clear` forgets.
    const HINTS: Hints = Hints::REPLACES;
    const BLOCKED_BY_DIALOG: bool = false;
    type Output = Messages;

    async fn run(self, cx: &Context) -> Result<Messages, Fault> {
        let (_, tab) = cx.tab().await?;
        let (messages, dropped) = tab.page.console();
        if self.clear {
            tab.page.clear_console();
        }
        Ok(Messages { messages, dropped })
    }
}
