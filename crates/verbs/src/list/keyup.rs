//! `keyup`: let a key go that keydown holds.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;
use surehand_page::KeyChord;

use crate::{Context, Effect, Flaw, Report, Verb};

/// Let a key go that keydown holds
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand keyup Shift")]
pub struct Keyup {
    /// The key
    #[arg(allow_hyphen_values = true)]
    pub key: String,
}

/// The key.
#[derive(Debug, Serialize)]
pub struct Key {
    keyup: String,
}

impl Report for Key {
    fn text(&self) -> String {
        format!("keyup {}", self.keyup)
    }
}

impl Verb for Keyup {
    const EFFECT: Effect = Effect::Acts;
    type Output = Key;

    fn flaws(&self) -> Vec<Flaw> {
        Flaw::of("/key", KeyChord::parse(&self.key)).into_iter().collect()
    }

    async fn run(self, cx: &Context) -> Result<Key, Fault> {
        let chord = KeyChord::parse(&self.key)?;
        let (session, tab) = cx.tab().await?;
        session.hide_typed_key("keyup", &chord, &tab, &cx.deadline()).await;
        tab.page.key_up(&chord, &cx.deadline()).await?;
        Ok(Key { keyup: self.key })
    }
}
