//! `fill`: replace the value of a field, and check that it took it.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_guard::{SecretPlaces, Writing};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Replace the value of a field, and check that it took it
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand fill @e3 \"user@example.com\"")]
pub struct Fill {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// The new value; dates as YYYY-MM-DD, colours as #rrggbb
    #[arg(allow_hyphen_values = true)]
    pub value: String,
}

/// What was filled in.
#[derive(Debug, Serialize)]
pub struct FilledIn {
    filled: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for FilledIn {
    fn text(&self) -> String {
        self.hit.text("filled")
    }
}

impl Verb for Fill {
    const EFFECT: Effect = Effect::Acts;
    const SECRETS: SecretPlaces = &[(&["value"], Writing::Plain)];
    type Output = FilledIn;

    async fn run(self, cx: &Context) -> Result<FilledIn, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let filled = tab.page.fill(&locator, &self.value, &cx.deadline()).await?;
        if let Some(name) = &filled.private {
            session.hide_entered(name, &self.value);
        }
        Ok(FilledIn { filled: self.selector, hit: Hit::new(&session, filled.acted) })
    }
}
