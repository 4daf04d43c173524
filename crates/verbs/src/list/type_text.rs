//! `type`: type into a field with real keys.

use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_guard::{SecretPlaces, Writing};
use surehand_session::Fault;

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Type into a field with real keys, after what is there
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand type @e3 \"hello\"")]
pub struct Type {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// What to type; a newline presses Enter
    #[arg(allow_hyphen_values = true)]
    pub text: String,
    /// Milliseconds to pause between two characters
    #[arg(long, value_name = "MS", default_value_t, value_parser = clap::value_parser!(u64).range(0..=60_000))]
    #[serde(default)]
    pub delay: u64,
}

/// Where something was typed.
#[derive(Debug, Serialize)]
pub struct Typed {
    typed: String,
    /// What the field shows then.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// Does it hold what was typed?
    #[serde(skip)]
    differs: bool,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Typed {
    fn text(&self) -> String {
        let typed = self.hit.text("typed into");
        match &self.value {
            Some(value) if self.differs => format!("{typed}\nit shows {value:?}"),
            _ => typed,
        }
    }
}

impl Verb for Type {
    const EFFECT: Effect = Effect::Acts;
    const SECRETS: SecretPlaces = &[(&["text"], Writing::Plain)];
    type Output = Typed;

    async fn run(self, cx: &Context) -> Result<Typed, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let typed = tab.page.type_into(&locator, &self.text, Duration::from_millis(self.delay), &cx.deadline()).await?;
        session.hide_led_on(&self.text, &tab, &cx.deadline()).await;
        if let Some(name) = &typed.private {
            session.hide_entered(name, &self.text);
        }
        // A secret is masked, and a newline is a key: neither can be compared.
        let differs = !typed.secret && typed.shown.as_ref().is_some_and(|shown| !shown.contains(self.text.trim_end()));
        Ok(Typed { typed: self.selector, value: typed.shown, differs, hit: Hit::new(&session, typed.acted) })
    }
}
