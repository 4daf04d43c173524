//! `back`: go back in the tab's history.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::LoadState;
use surehand_session::Fault;

use super::open::Arrived;
use crate::{Context, Effect, Verb};

/// Go back in the tab's history
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand back")]
pub struct Back {}

impl Verb for Back {
    const EFFECT: Effect = Effect::Navigates;
    type Output = Arrived;

    async fn run(self, cx: &Context) -> Result<Arrived, Fault> {
        let (session, tab) = cx.tab().await?;
        let going = session.going();
        let opened = tab.page.go(-1, LoadState::Load, &cx.navigation_deadline()).await;
        Ok(going.arrived(&tab, opened.map_err(Fault::from))?.into())
    }
}
