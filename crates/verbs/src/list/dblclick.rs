//! `dblclick`: double-click an element, once it can be clicked.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::ClickOptions;
use surehand_session::Fault;

use super::mouse::MouseButton;
use crate::pointing::{Pointed, Pointing, Words};
use crate::{Context, Effect, Flaw, Verb};

/// Double-click an element, once it can be clicked
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand dblclick @e7")]
pub struct Dblclick {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// Which button of the mouse
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub button: MouseButton,
    /// How to point at it
    #[command(flatten)]
    #[serde(flatten)]
    pub pointing: Pointing,
}

impl Verb for Dblclick {
    const EFFECT: Effect = Effect::Acts;
    type Output = Pointed;

    fn flaws(&self) -> Vec<Flaw> {
        self.pointing.flaws()
    }

    async fn run(self, cx: &Context) -> Result<Pointed, Fault> {
        const WORDS: Words = Words { field: "clicked", done: "double-clicked", possible: "could double-click" };
        let options = ClickOptions { count: 2, button: self.button.into(), ..self.pointing.options()? };
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.click(&locator, &options, &cx.deadline()).await?;
        Ok(self.pointing.report(WORDS, &session, self.selector, acted))
    }
}
