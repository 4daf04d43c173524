//! `keyboard`: type or insert a text where the focus is.

use std::time::Duration;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_guard::{SecretPlaces, Writing};
use surehand_session::Fault;

use crate::{Context, Effect, Report, Verb};

/// Type or insert a text where the focus is
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand keyboard type hello\n  surehand keyboard inserttext 東京")]
pub struct Keyboard {
    /// How
    #[command(subcommand)]
    pub how: How,
}

/// How a text is entered.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// With a key press for each character
    Type(Typing),
    /// All at once, as a paste does
    #[command(name = "inserttext")]
    InsertText(Text),
}

/// What to enter.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Text {
    /// The text
    #[arg(allow_hyphen_values = true)]
    pub text: String,
}

/// What to type, and how fast.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Typing {
    /// The text
    #[arg(allow_hyphen_values = true)]
    pub text: String,
    /// Milliseconds to pause between two characters
    #[arg(long, value_name = "MS", default_value_t, value_parser = clap::value_parser!(u64).range(0..=60_000))]
    #[serde(default)]
    pub delay: u64,
}

/// That a text was entered; which one may be a secret.
#[derive(Debug, Serialize)]
pub struct Entered {
    characters: usize,
}

impl Report for Entered {
    fn text(&self) -> String {
        format!("entered {}", crate::output::plural(self.characters, "character"))
    }
}

impl Verb for Keyboard {
    const EFFECT: Effect = Effect::Acts;
    const SECRETS: SecretPlaces = &[(&["**", "text"], Writing::Plain)];
    type Output = Entered;

    async fn run(self, cx: &Context) -> Result<Entered, Fault> {
        let (session, tab) = cx.tab().await?;
        let private = tab.page.private_focus(&cx.deadline()).await;
        let text = match self.how {
            How::Type(Typing { text, delay }) => {
                tab.page.type_here(&text, Duration::from_millis(delay), &cx.deadline()).await?;
                text
            }
            How::InsertText(Text { text }) => {
                tab.page.insert_here(&text, &cx.deadline()).await?;
                text
            }
        };
        session.hide_led_on(&text, &tab, &cx.deadline()).await;
        if let Some(name) = private {
            session.hide_entered(&name, &text);
        }
        Ok(Entered { characters: text.chars().count() })
    }
}
