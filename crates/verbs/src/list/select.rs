//! `select`: choose options of a list, by value or label.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Choose options of a list, by value or label
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand select @e4 Large")]
pub struct Select {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// Values or labels of the options
    #[arg(required = true, allow_negative_numbers = true)]
    pub values: Vec<String>,
}

/// What was chosen.
#[derive(Debug, Serialize)]
pub struct Selected {
    selected: Vec<String>,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Selected {
    fn text(&self) -> String {
        self.hit.text_with("selected in", &format!(": {}", self.selected.join(", ")))
    }
}

impl Verb for Select {
    const EFFECT: Effect = Effect::Acts;
    type Output = Selected;

    async fn run(self, cx: &Context) -> Result<Selected, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let (acted, selected) = tab.page.select(&locator, &self.values, &cx.deadline()).await?;
        Ok(Selected { selected, hit: Hit::new(&session, acted) })
    }
}
