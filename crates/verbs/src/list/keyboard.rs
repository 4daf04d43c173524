//! `keyboard`: type or insert a text where the focus is.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
    Type(Text),
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
    type Output = Entered;

    async fn run(self, cx: &Context) -> Result<Entered, Fault> {
        let (_, tab) = cx.tab().await?;
        let text = match self.how {
            How::Type(Text { text }) => {
                tab.page.type_here(&text, &cx.deadline()).await?;
                text
            }
            How::InsertText(Text { text }) => {
                tab.page.insert_here(&text, &cx.deadline()).await?;
                text
            }
        };
        Ok(Entered { characters: text.chars().count() })
    }
}
