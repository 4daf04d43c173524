//! `set`: how the page sees its surroundings.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::{Context, Effect, Report, Verb};

/// Change how the page sees its surroundings
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand set viewport 1280 720")]
pub struct Set {
    /// What to change
    #[command(subcommand)]
    pub what: What,
}

/// What to change.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The size of the page in CSS pixels
    Viewport(Viewport),
}

/// The size of the page.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Viewport {
    /// Width
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub width: u32,
    /// Height
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub height: u32,
    /// Device pixels per CSS pixel
    #[arg(default_value_t = 1.0)]
    pub scale: f64,
}

/// The size that the page has now.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sized {
    width: u32,
    height: u32,
    device_scale_factor: f64,
}

impl Report for Sized {
    fn text(&self) -> String {
        format!("{} x {}", self.width, self.height)
    }
}

impl Verb for Set {
    const EFFECT: Effect = Effect::Manages;
    type Output = Sized;

    async fn run(self, cx: &Context) -> Result<Sized, Fault> {
        let What::Viewport(Viewport { width, height, scale }) = self.what;
        let (_, tab) = cx.tab().await?;
        tab.page.set_viewport(width, height, scale, &cx.deadline()).await?;
        Ok(Sized { width, height, device_scale_factor: scale })
    }
}
