//! `drag`: drag an element onto another.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Flaw, Report, Verb};

/// Drag an element onto another
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand drag @e3 @e9")]
pub struct Drag {
    /// What to drag
    pub source: String,
    /// Where to drop it
    pub target: String,
}

/// What was dragged.
#[derive(Debug, Serialize)]
pub struct Dragged {
    source: String,
    target: String,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Dragged {
    fn text(&self) -> String {
        self.hit.text_with("dragged", &format!(" onto {}", self.target))
    }
}

impl Verb for Drag {
    const EFFECT: Effect = Effect::Acts;
    type Output = Dragged;

    fn flaws(&self) -> Vec<Flaw> {
        let ends = [("/source", &self.source), ("/target", &self.target)];
        ends.into_iter().filter_map(|(pointer, selector)| Flaw::of_selector(pointer, selector)).collect()
    }

    async fn run(self, cx: &Context) -> Result<Dragged, Fault> {
        let (session, tab) = cx.tab().await?;
        let from = session.locator(&self.source, &tab)?;
        let to = session.locator(&self.target, &tab)?;
        let acted = tab.page.drag(&from, &to, &cx.deadline()).await?;
        Ok(Dragged { source: self.source, target: self.target, hit: Hit::new(&session, acted) })
    }
}
