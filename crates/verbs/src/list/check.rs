//! `check`: check a box, radio or switch; does nothing if it is checked.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::pointing::{Pointed, Pointing, Words};
use crate::{Context, Effect, Flaw, Verb};

/// Check a box, radio or switch; does nothing if it is checked
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand check @e7")]
pub struct Check {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// How to point at it
    #[command(flatten)]
    #[serde(flatten)]
    pub pointing: Pointing,
}

impl Verb for Check {
    const EFFECT: Effect = Effect::Acts;
    type Output = Pointed;

    fn flaws(&self) -> Vec<Flaw> {
        self.pointing.flaws()
    }

    async fn run(self, cx: &Context) -> Result<Pointed, Fault> {
        const WORDS: Words = Words { field: "checked", done: "checked", possible: "could check" };
        let options = self.pointing.options()?;
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.set_checked(&locator, true, &options, &cx.deadline()).await?;
        Ok(self.pointing.report_state(WORDS, &session, self.selector, acted))
    }
}
