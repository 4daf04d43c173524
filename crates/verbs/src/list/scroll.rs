//! `scroll`: scroll the page or an element.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::{Context, Effect, Report, Verb};

/// Scroll the page or an element
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand scroll down 500")]
pub struct Scroll {
    /// Where to
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    pub direction: Direction,
    /// How far, in pixels
    #[arg(default_value_t = 300, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    #[serde(default = "usual_pixels")]
    pub pixels: u32,
    /// Scroll inside this element instead of the page
    #[arg(short, long)]
    pub selector: Option<String>,
}

/// How far it is if nothing is said.
pub(crate) fn usual_pixels() -> u32 {
    300
}

/// Where to.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards the end
    #[default]
    Down,
    /// Towards the start
    Up,
    /// To the left
    Left,
    /// To the right
    Right,
}

impl Direction {
    /// So far to the right and down.
    pub(crate) fn by(self, pixels: u32) -> (f64, f64) {
        let far = f64::from(pixels);
        match self {
            Direction::Down => (0.0, far),
            Direction::Up => (0.0, -far),
            Direction::Left => (-far, 0.0),
            Direction::Right => (far, 0.0),
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Direction::Down => "down",
            Direction::Up => "up",
            Direction::Left => "left",
            Direction::Right => "right",
        }
    }
}

/// Whether anything moved.
#[derive(Debug, Serialize)]
pub struct Scrolled {
    scrolled: bool,
}

impl Report for Scrolled {
    fn text(&self) -> String {
        if self.scrolled { "scrolled" } else { "nothing moved: it is at its end" }.to_owned()
    }
}

impl Verb for Scroll {
    const EFFECT: Effect = Effect::Acts;
    type Output = Scrolled;

    async fn run(self, cx: &Context) -> Result<Scrolled, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = self.selector.as_deref().map(|selector| session.locator(selector, &tab)).transpose()?;
        let by = self.direction.by(self.pixels);
        let scrolled = tab.page.scroll(locator.as_ref(), by, &cx.deadline()).await?;
        Ok(Scrolled { scrolled })
    }
}
