//! `clear`: empty a field, and check that it is empty.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Empty a field, and check that it is empty
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand clear @e3")]
pub struct Clear {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// What was hit.
#[derive(Debug, Serialize)]
pub struct Cleared {
    cleared: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Cleared {
    fn text(&self) -> String {
        self.hit.text("cleared")
    }
}

impl Verb for Clear {
    const EFFECT: Effect = Effect::Acts;
    type Output = Cleared;

    async fn run(self, cx: &Context) -> Result<Cleared, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let filled = tab.page.fill(&locator, "", &cx.deadline()).await?;
        Ok(Cleared { cleared: self.selector, hit: Hit::new(&session, filled.acted) })
    }
}
