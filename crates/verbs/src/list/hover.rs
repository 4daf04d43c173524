//! `hover`: move the pointer over an element.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::pointing::{Pointed, Pointing, Words};
use crate::{Context, Effect, Flaw, Verb};

/// Move the pointer over an element
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand hover @e7")]
pub struct Hover {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// How to point at it
    #[command(flatten)]
    #[serde(flatten)]
    pub pointing: Pointing,
}

impl Verb for Hover {
    const EFFECT: Effect = Effect::Acts;
    type Output = Pointed;

    fn flaws(&self) -> Vec<Flaw> {
        self.pointing.flaws()
    }

    async fn run(self, cx: &Context) -> Result<Pointed, Fault> {
        const WORDS: Words = Words { field: "hovered", done: "hovered over", possible: "could hover over" };
        let options = self.pointing.options()?;
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.hover(&locator, &options, &cx.deadline()).await?;
        Ok(self.pointing.report(WORDS, &session, self.selector, acted))
    }
}
