//! `errors`: exceptions of the page that nobody caught.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::PageError;
use surehand_session::Fault;

use super::console::is_zero;
use crate::output::plural;
use crate::{Context, Effect, Hints, Report, Verb};

/// Show the uncaught errors of the tab
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand errors\n  surehand errors --clear")]
pub struct Errors {
    /// Forget them after showing
    #[arg(long)]
    #[serde(default)]
    pub clear: bool,
}

/// Uncaught errors.
#[derive(Debug, Serialize)]
pub struct Uncaught {
    errors: Vec<PageError>,
    #[serde(skip_serializing_if = "is_zero")]
    dropped: u64,
}

impl Report for Uncaught {
    fn text(&self) -> String {
        if self.errors.is_empty() {
            return "(no errors)".to_owned();
        }
        self.errors.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn note(&self) -> Option<String> {
        let dropped = usize::try_from(self.dropped).ok().filter(|dropped| *dropped > 0)?;
        Some(format!("note: {} before these were dropped", plural(dropped, "error")))
    }
}

fn line(error: &PageError) -> String {
    match (&error.url, error.line) {
        (Some(url), Some(line)) if !error.text.contains(url.as_str()) => format!("{}\n  at {url}:{line}:{}", error.text, error.column.unwrap_or(1)),
        _ => error.text.clone(),
    }
}

impl Verb for Errors {
    const EFFECT: Effect = Effect::Reads;
    // `--clear` forgets.
    const HINTS: Hints = Hints::REPLACES;
    const BLOCKED_BY_DIALOG: bool = false;
    type Output = Uncaught;

    async fn run(self, cx: &Context) -> Result<Uncaught, Fault> {
        let (_, tab) = cx.tab().await?;
        let (errors, dropped) = tab.page.errors();
        if self.clear {
            tab.page.clear_errors();
        }
        Ok(Uncaught { errors, dropped })
    }
}
