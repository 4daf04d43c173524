//! `dblclick`: double-click an element, once it can be clicked.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;
use surehand_page::ClickOptions;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Double-click an element, once it can be clicked
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand dblclick @e7")]
pub struct Dblclick {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// What was hit.
#[derive(Debug, Serialize)]
pub struct Clicked {
    clicked: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Clicked {
    fn text(&self) -> String {
        self.hit.text("double-clicked")
    }
}

impl Verb for Dblclick {
    const EFFECT: Effect = Effect::Acts;
    type Output = Clicked;

    async fn run(self, cx: &Context) -> Result<Clicked, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let twice = ClickOptions { count: 2, ..Default::default() };
        let acted = tab.page.click(&locator, &twice, &cx.deadline()).await?;
        Ok(Clicked { clicked: self.selector, hit: Hit::new(&session, acted) })
    }
}
