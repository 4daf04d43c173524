//! `click`: click an element, once it can be clicked.

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::{ClickOptions, Modifier};
use surehand_session::{Fault, Kind};

use super::mouse::MouseButton;
use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Click an element, once it is visible, at rest, enabled and not covered
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(
    after_help = "Example:\n  surehand click @e7\n  surehand click 'button[type=submit]'\n  surehand click @e7 --button right"
)]
pub struct Click {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// Which button of the mouse
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub button: MouseButton,
    /// Keys to hold meanwhile, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KEYS")]
    #[serde(default)]
    pub modifiers: Vec<Held>,
    /// Where in the element, from its top left corner: X,Y in pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// Open a link in a new tab
    #[arg(long)]
    #[serde(default)]
    pub new_tab: bool,
    /// Without waiting until it can be clicked
    #[arg(long)]
    #[serde(default)]
    pub force: bool,
    /// Only wait until it could be clicked
    #[arg(long)]
    #[serde(default)]
    pub trial: bool,
}

/// A key that is held while clicking.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Held {
    /// Alt, on a Mac Option
    Alt,
    /// Control
    Control,
    /// Meta, on a Mac Command
    Meta,
    /// Shift
    Shift,
}

impl From<Held> for Modifier {
    fn from(held: Held) -> Self {
        match held {
            Held::Alt => Modifier::Alt,
            Held::Control => Modifier::Control,
            Held::Meta => Modifier::Meta,
            Held::Shift => Modifier::Shift,
        }
    }
}

/// What was clicked.
#[derive(Debug, Serialize)]
pub struct Clicked {
    clicked: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    trial: bool,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Clicked {
    fn text(&self) -> String {
        self.hit.text(if self.trial { "could click" } else { "clicked" })
    }
}

impl Verb for Click {
    const EFFECT: Effect = Effect::Acts;
    type Output = Clicked;

    async fn run(self, cx: &Context) -> Result<Clicked, Fault> {
        let options = self.options()?;
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.click(&locator, &options, &cx.deadline()).await?;
        Ok(Clicked { clicked: self.selector, trial: self.trial, hit: Hit::new(&session, acted) })
    }
}

impl Click {
    fn options(&self) -> Result<ClickOptions, Fault> {
        // The browser opens a link in a new tab when this key is held, as it does for a person.
        let new_tab = self.new_tab.then_some(if cfg!(target_os = "macos") { Held::Meta } else { Held::Control });
        let held = self.modifiers.iter().copied().chain(new_tab);
        Ok(ClickOptions {
            button: self.button.into(),
            modifiers: Modifier::bits(held.map(Modifier::from)),
            position: self.position.as_deref().map(point).transpose()?,
            force: self.force,
            trial: self.trial,
            ..Default::default()
        })
    }
}

fn point(text: &str) -> Result<(f64, f64), Fault> {
    let parsed = text.split_once(',').and_then(|(x, y)| Some((x.trim().parse().ok()?, y.trim().parse().ok()?)));
    parsed.filter(|(x, y): &(f64, f64)| x.is_finite() && y.is_finite()).ok_or_else(|| {
        Fault::new(Kind::BadNumber, format!("{text:?} is no position")).hint("write it like --position 10,20")
    })
}
