//! `pushstate`: go to another address of a single-page application without loading a page.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::{Context, Effect, Report, Verb};

/// Go to another address of a single-page application without loading a page
///
/// Changes the address with history.pushState and tells the page with a popstate event, which routers listen for.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand pushstate /settings")]
pub struct Pushstate {
    /// The new address, of the same origin
    pub url: String,
}

/// Where the page is now.
#[derive(Debug, Serialize)]
pub struct Pushed {
    url: String,
}

impl Report for Pushed {
    fn text(&self) -> String {
        self.url.clone()
    }
}

impl Verb for Pushstate {
    const EFFECT: Effect = Effect::Navigates;
    type Output = Pushed;

    async fn run(self, cx: &Context) -> Result<Pushed, Fault> {
        let (_, tab) = cx.tab().await?;
        let url = tab.page.push_state(&self.url, &cx.deadline()).await?;
        Ok(Pushed { url })
    }
}
