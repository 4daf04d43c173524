//! `frame`: look for selectors only in one frame; `main` goes back to the whole page.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::{Context, Effect, Hints, Report, Verb};

/// Look for selectors only in one frame; `main` goes back to the whole page
///
/// `snapshot`, `eval` and `storage` then are about that frame, too.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand frame '#checkout'\n  surehand frame main")]
pub struct Frame {
    /// The `<iframe>` element, or main
    pub selector: String,
}

/// The frame.
#[derive(Debug, Serialize)]
pub struct Entered {
    frame: String,
    url: String,
}

impl Report for Entered {
    fn text(&self) -> String {
        format!("{} {}", self.frame, self.url)
    }
}

impl Verb for Frame {
    const EFFECT: Effect = Effect::Manages;
    const HINTS: Hints = Hints::SETS;
    type Output = Entered;

    async fn run(self, cx: &Context) -> Result<Entered, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = match self.selector.as_str() {
            "main" => None,
            selector => Some(session.locator(selector, &tab)?),
        };
        let url = tab.page.enter_frame(locator.as_ref(), &cx.deadline()).await?;
        Ok(Entered { frame: self.selector, url })
    }
}
