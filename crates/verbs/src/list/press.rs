//! `press`: press a key or a chord where the focus is.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::KeyChord;
use surehand_session::Fault;

use crate::target::Followed;
use crate::{Context, Effect, Flaw, Report, Verb};

/// Press a key or a chord where the focus is
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(visible_alias = "key", after_help = "Example:\n  surehand press Enter\n  surehand press Control+a")]
pub struct Press {
    /// A character or a name such as Enter, Tab, ArrowLeft, F5, with modifiers: Control+Shift+a
    #[arg(allow_hyphen_values = true)]
    pub key: String,
}

/// What was pressed, and what followed.
#[derive(Debug, Serialize)]
pub struct Pressed {
    pressed: String,
    #[serde(flatten)]
    followed: Followed,
}

impl Report for Pressed {
    fn text(&self) -> String {
        format!("pressed {}{}", self.pressed, self.followed.text())
    }
}

impl Verb for Press {
    const EFFECT: Effect = Effect::Acts;
    type Output = Pressed;

    fn flaws(&self) -> Vec<Flaw> {
        Flaw::of("/key", KeyChord::parse(&self.key)).into_iter().collect()
    }

    async fn run(self, cx: &Context) -> Result<Pressed, Fault> {
        let chord = KeyChord::parse(&self.key)?;
        let (session, tab) = cx.tab().await?;
        session.hide_typed_key("press", &chord, &tab, &cx.deadline()).await;
        let after = tab.page.press(&chord, &cx.deadline()).await?;
        Ok(Pressed { pressed: self.key, followed: Followed::new(&session, after) })
    }
}
