//! `reload`: load the page again.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::LoadState;
use surehand_session::Fault;

use super::open::Arrived;
use crate::{Context, Effect, Verb};

/// Load the page again
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand reload")]
pub struct Reload {}

impl Verb for Reload {
    const EFFECT: Effect = Effect::Navigates;
    type Output = Arrived;

    async fn run(self, cx: &Context) -> Result<Arrived, Fault> {
        let (session, tab) = cx.tab().await?;
        let going = session.going();
        let opened = tab.page.reload(LoadState::Load, &cx.navigation_deadline()).await;
        Ok(going.arrived(&tab, opened.map_err(Fault::from))?.into())
    }
}
