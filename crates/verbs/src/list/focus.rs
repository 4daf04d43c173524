//! `focus`: put the focus on an element.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Put the focus on an element
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand focus @e7")]
pub struct Focus {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// What was hit.
#[derive(Debug, Serialize)]
pub struct Focused {
    focused: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Focused {
    fn text(&self) -> String {
        self.hit.text("focused")
    }
}

impl Verb for Focus {
    const EFFECT: Effect = Effect::Acts;
    type Output = Focused;

    async fn run(self, cx: &Context) -> Result<Focused, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.focus(&locator, &cx.deadline()).await?;
        Ok(Focused { focused: self.selector, hit: Hit::new(&session, acted) })
    }
}
