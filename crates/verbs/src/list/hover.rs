//! `hover`: move the pointer over an element.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Move the pointer over an element
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand hover @e7")]
pub struct Hover {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// What was hit.
#[derive(Debug, Serialize)]
pub struct Hovered {
    hovered: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Hovered {
    fn text(&self) -> String {
        self.hit.text("hovered over")
    }
}

impl Verb for Hover {
    const EFFECT: Effect = Effect::Acts;
    type Output = Hovered;

    async fn run(self, cx: &Context) -> Result<Hovered, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.hover(&locator, &cx.deadline()).await?;
        Ok(Hovered { hovered: self.selector, hit: Hit::new(&session, acted) })
    }
}
