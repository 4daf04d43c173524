//! `type`: type into a field with real keys.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Type into a field with real keys, after what is there
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand type @e3 \"hello\"")]
pub struct Type {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// What to type; a newline presses Enter
    #[arg(allow_hyphen_values = true)]
    pub text: String,
}

/// Where something was typed.
#[derive(Debug, Serialize)]
pub struct Typed {
    typed: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Typed {
    fn text(&self) -> String {
        self.hit.text("typed into")
    }
}

impl Verb for Type {
    const EFFECT: Effect = Effect::Acts;
    type Output = Typed;

    async fn run(self, cx: &Context) -> Result<Typed, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.type_into(&locator, &self.text, &cx.deadline()).await?;
        Ok(Typed { typed: self.selector, hit: Hit::new(&session, acted) })
    }
}
