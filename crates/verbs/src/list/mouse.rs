//! `mouse`: the bare mouse.

use clap::{Args, Subcommand, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::Button;
use surehand_session::Fault;

use crate::{Context, Effect, Report, Verb};

/// Move the mouse, press and release its buttons, turn its wheel
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand mouse move 100 200\n  surehand mouse down\n  surehand mouse up")]
pub struct Mouse {
    /// What to do
    #[command(subcommand)]
    pub action: Action,
}

/// What to do.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Move to a point of the page
    Move(Point),
    /// Press a button
    Down(Which),
    /// Release a button
    Up(Which),
    /// Turn the wheel
    Wheel(Wheel),
}

/// A point in CSS pixels.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// From the left
    #[arg(allow_negative_numbers = true)]
    pub x: f64,
    /// From the top
    #[arg(allow_negative_numbers = true)]
    pub y: f64,
}

/// Which button.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Which {
    /// The button
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    pub button: MouseButton,
}

/// How far the wheel turns.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Wheel {
    /// Down, in pixels; negative is up
    #[arg(allow_negative_numbers = true)]
    pub dy: f64,
    /// To the right, in pixels
    #[arg(allow_negative_numbers = true, default_value_t = 0.0)]
    #[serde(default)]
    pub dx: f64,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, Default, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MouseButton {
    /// The usual one
    #[default]
    Left,
    /// Opens context menus
    Right,
    /// Opens links in new tabs
    Middle,
}

impl From<MouseButton> for Button {
    fn from(button: MouseButton) -> Self {
        match button {
            MouseButton::Left => Button::Left,
            MouseButton::Right => Button::Right,
            MouseButton::Middle => Button::Middle,
        }
    }
}

/// What the mouse did.
#[derive(Debug, Serialize)]
pub struct Done {
    mouse: Action,
}

impl Report for Done {
    fn text(&self) -> String {
        match &self.mouse {
            Action::Move(Point { x, y }) => format!("moved to {x}, {y}"),
            Action::Down(Which { button }) => format!("pressed {button:?}").to_lowercase(),
            Action::Up(Which { button }) => format!("released {button:?}").to_lowercase(),
            Action::Wheel(Wheel { dx, dy }) => format!("turned the wheel by {dx}, {dy}"),
        }
    }
}

impl Verb for Mouse {
    const EFFECT: Effect = Effect::Acts;
    type Output = Done;

    async fn run(self, cx: &Context) -> Result<Done, Fault> {
        let (_, tab) = cx.tab().await?;
        let deadline = cx.deadline();
        match &self.action {
            Action::Move(Point { x, y }) => tab.page.mouse_to_point(*x, *y, &deadline).await?,
            Action::Down(which) => tab.page.mouse_button("mousePressed", which.button.into(), &deadline).await?,
            Action::Up(which) => tab.page.mouse_button("mouseReleased", which.button.into(), &deadline).await?,
            Action::Wheel(Wheel { dx, dy }) => tab.page.mouse_wheel(*dx, *dy, &deadline).await?,
        }
        Ok(Done { mouse: self.action })
    }
}
