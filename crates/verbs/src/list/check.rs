//! `check`: check a box, radio or switch; does nothing if it is checked.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Check a box, radio or switch; does nothing if it is checked
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand check @e7")]
pub struct Check {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// What was hit.
#[derive(Debug, Serialize)]
pub struct Checked {
    checked: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Checked {
    fn text(&self) -> String {
        self.hit.text("checked")
    }
}

impl Verb for Check {
    const EFFECT: Effect = Effect::Acts;
    type Output = Checked;

    async fn run(self, cx: &Context) -> Result<Checked, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.set_checked(&locator, true, &cx.deadline()).await?;
        Ok(Checked { checked: self.selector, hit: Hit::new(&session, acted) })
    }
}
