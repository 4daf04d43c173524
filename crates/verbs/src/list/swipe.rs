//! `swipe`: move a finger over the page.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use super::scroll::Direction;
use crate::{Context, Effect, Report, Verb};

/// Move a finger over the page, as on a phone: swiping up shows what is further down
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand swipe up 400\n  surehand swipe left --selector '#carousel'")]
pub struct Swipe {
    /// Where the finger goes
    #[arg(value_enum)]
    pub direction: Direction,
    /// How far, in pixels; not further than the screen
    #[arg(default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    #[serde(default = "super::scroll::usual_pixels")]
    pub pixels: u32,
    /// Begin in the middle of this element instead of the middle of the screen
    #[arg(short, long)]
    pub selector: Option<String>,
}

/// What the finger did.
#[derive(Debug, Serialize)]
pub struct Swiped {
    swiped: Direction,
}

impl Report for Swiped {
    fn text(&self) -> String {
        format!("swiped {}", self.swiped.word())
    }
}

impl Verb for Swipe {
    const EFFECT: Effect = Effect::Acts;
    type Output = Swiped;

    async fn run(self, cx: &Context) -> Result<Swiped, Fault> {
        let (session, tab) = cx.tab().await?;
        let from = self.selector.as_deref().map(|selector| session.locator(selector, &tab)).transpose()?;
        tab.page.swipe(from.as_ref(), self.direction.by(self.pixels), &cx.deadline()).await?;
        Ok(Swiped { swiped: self.direction })
    }
}
