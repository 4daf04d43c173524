//! `click`: click an element, once it can be clicked.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::ClickOptions;
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Click an element, once it is visible, at rest, enabled and not covered
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand click @e7\n  surehand click 'button[type=submit]'")]
pub struct Click {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// What was clicked.
#[derive(Debug, Serialize)]
pub struct Clicked {
    clicked: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Clicked {
    fn text(&self) -> String {
        self.hit.text("clicked")
    }
}

impl Verb for Click {
    const EFFECT: Effect = Effect::Acts;
    type Output = Clicked;

    async fn run(self, cx: &Context) -> Result<Clicked, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.click(&locator, &ClickOptions::default(), &cx.deadline()).await?;
        Ok(Clicked { clicked: self.selector, hit: Hit::new(&session, acted) })
    }
}
