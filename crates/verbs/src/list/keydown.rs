//! `keydown`: hold a key down until keyup.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;
use surehand_page::KeyChord;

use crate::{Context, Effect, Flaw, Report, Verb};

/// Hold a key down until keyup
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand keydown Shift")]
pub struct Keydown {
    /// The key
    #[arg(allow_hyphen_values = true)]
    pub key: String,
}

/// The key.
#[derive(Debug, Serialize)]
pub struct Key {
    keydown: String,
}

impl Report for Key {
    fn text(&self) -> String {
        format!("keydown {}", self.keydown)
    }
}

impl Verb for Keydown {
    const EFFECT: Effect = Effect::Acts;
    type Output = Key;

    fn flaws(&self) -> Vec<Flaw> {
        Flaw::of("/key", KeyChord::parse(&self.key)).into_iter().collect()
    }

    async fn run(self, cx: &Context) -> Result<Key, Fault> {
        let chord = KeyChord::parse(&self.key)?;
        let (session, tab) = cx.tab().await?;
        session.hide_typed_key("keydown", &chord, &tab, &cx.deadline()).await;
        tab.page.key_down(&chord, &cx.deadline()).await?;
        Ok(Key { keydown: self.key })
    }
}
