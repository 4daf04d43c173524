//! `uncheck`: uncheck a box or switch; does nothing if it is not checked.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::pointing::{Pointed, Pointing, Words};
use crate::{Context, Effect, Flaw, Verb};

/// Uncheck a box or switch; does nothing if it is not checked
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand uncheck @e7")]
pub struct Uncheck {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// How to point at it
    #[command(flatten)]
    #[serde(flatten)]
    pub pointing: Pointing,
}

impl Verb for Uncheck {
    const EFFECT: Effect = Effect::Acts;
    type Output = Pointed;

    fn flaws(&self) -> Vec<Flaw> {
        self.pointing.flaws()
    }

    async fn run(self, cx: &Context) -> Result<Pointed, Fault> {
        const WORDS: Words = Words { field: "unchecked", done: "unchecked", possible: "could uncheck" };
        let options = self.pointing.options()?;
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.set_checked(&locator, false, &options, &cx.deadline()).await?;
        Ok(self.pointing.report_state(WORDS, &session, self.selector, acted))
    }
}
