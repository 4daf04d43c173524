//! `uncheck`: uncheck a box or switch; does nothing if it is unchecked.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Uncheck a box or switch; does nothing if it is unchecked
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand uncheck @e7")]
pub struct Uncheck {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// What was hit.
#[derive(Debug, Serialize)]
pub struct Unchecked {
    unchecked: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Unchecked {
    fn text(&self) -> String {
        self.hit.text("unchecked")
    }
}

impl Verb for Uncheck {
    const EFFECT: Effect = Effect::Acts;
    type Output = Unchecked;

    async fn run(self, cx: &Context) -> Result<Unchecked, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.set_checked(&locator, false, &cx.deadline()).await?;
        Ok(Unchecked { unchecked: self.selector, hit: Hit::new(&session, acted) })
    }
}
