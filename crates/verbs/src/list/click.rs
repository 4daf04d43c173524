//! `click`: click an element, once it can be clicked.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::{ClickOptions, Modifier};
use surehand_session::{Fault, Kind};

use super::mouse::MouseButton;
use crate::pointing::{Pointed, Pointing, Words};
use crate::{Context, Effect, Flaw, Report, Verb};

/// Click an element, once it is visible, at rest, enabled and not covered
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand click @e7\n  surehand click 'button[type=submit]'\n  surehand click @e7 --button right")]
pub struct Click {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// Which button of the mouse
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub button: MouseButton,
    /// Open a link in a new tab
    #[arg(long)]
    #[serde(default)]
    pub new_tab: bool,
    /// How to point at it
    #[command(flatten)]
    #[serde(flatten)]
    pub pointing: Pointing,
}

impl Verb for Click {
    const EFFECT: Effect = Effect::Acts;
    type Output = Pointed;

    fn flaws(&self) -> Vec<Flaw> {
        self.pointing.flaws()
    }

    async fn run(self, cx: &Context) -> Result<Pointed, Fault> {
        const WORDS: Words = Words { field: "clicked", done: "clicked", possible: "could click" };
        let options = self.options()?;
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let deadline = cx.deadline();
        let acted = tab.page.click(&locator, &options, &deadline).await?;
        let (is_awaited, is_asked) = (self.new_tab && !self.pointing.trial, acted.after.dialog.is_some());
        if is_awaited && !acted.after.moved_on() && acted.after.downloads.is_empty() {
            session.tabs().wait_untold(&deadline).await;
        }
        let selector = self.selector.clone();
        let report = self.pointing.report(WORDS, &session, self.selector, acted);
        if is_awaited && !is_asked && report.opened().is_empty() {
            return Err(Fault::new(
                Kind::NotChanged,
                format!("`{selector}` was clicked, but no tab opened: {}", report.text()),
            )
            .hint("it is no link, or the page handles the click itself: click it without --new-tab"));
        }
        Ok(report)
    }
}

impl Click {
    fn options(&self) -> Result<ClickOptions, Fault> {
        let mut options = ClickOptions { button: self.button.into(), ..self.pointing.options()? };
        if self.new_tab {
            // The browser opens a link in a new tab when this key is held, as it does for a person.
            let key = if cfg!(target_os = "macos") { Modifier::Meta } else { Modifier::Control };
            options.modifiers |= Modifier::bits([key]);
        }
        Ok(options)
    }
}
