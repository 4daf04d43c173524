//! `tap`: touch an element with a finger, once it can be touched.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::pointing::{Pointed, Pointing, Words};
use crate::{Context, Effect, Flaw, Verb};

/// Touch an element with a finger, once it is visible, at rest, enabled and not covered
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand tap @e7")]
pub struct Tap {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// How to point at it
    #[command(flatten)]
    #[serde(flatten)]
    pub pointing: Pointing,
}

impl Verb for Tap {
    const EFFECT: Effect = Effect::Acts;
    type Output = Pointed;

    fn flaws(&self) -> Vec<Flaw> {
        self.pointing.flaws()
    }

    async fn run(self, cx: &Context) -> Result<Pointed, Fault> {
        const WORDS: Words = Words { field: "tapped", done: "tapped", possible: "could tap" };
        let options = self.pointing.options()?;
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.tap(&locator, &options, &cx.deadline()).await?;
        Ok(self.pointing.report(WORDS, &session, self.selector, acted))
    }
}
