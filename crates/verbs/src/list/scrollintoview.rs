//! `scrollintoview`: scroll until an element is in view.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Scroll until an element is in view
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand scrollintoview @e7")]
pub struct Scrollintoview {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// What was hit.
#[derive(Debug, Serialize)]
pub struct Shown {
    scrolled: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Shown {
    fn text(&self) -> String {
        self.hit.text("in view:")
    }
}

impl Verb for Scrollintoview {
    const EFFECT: Effect = Effect::Acts;
    type Output = Shown;

    async fn run(self, cx: &Context) -> Result<Shown, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.scroll_into_view(&locator, &cx.deadline()).await?;
        Ok(Shown { scrolled: self.selector, hit: Hit::new(&session, acted) })
    }
}
