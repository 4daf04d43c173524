//! `is`: ask for a state of an element.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::{Context, Effect, Report, Verb};

/// Ask for a state of an element
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand is visible @e3")]
pub struct Is {
    /// Which state
    #[arg(value_enum)]
    pub state: State,
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// A state of an element.
#[derive(Debug, Clone, Copy, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A person can see it
    Visible,
    /// It is not disabled
    Enabled,
    /// It is checked
    Checked,
    /// It can be edited
    Editable,
    /// It has the focus
    Focused,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Visible => "visible",
            State::Enabled => "enabled",
            State::Checked => "checked",
            State::Editable => "editable",
            State::Focused => "focused",
        }
    }
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct Answer {
    #[serde(flatten)]
    value: serde_json::Map<String, serde_json::Value>,
    #[serde(skip)]
    yes: bool,
}

impl Report for Answer {
    fn text(&self) -> String {
        self.yes.to_string()
    }
}

impl Verb for Is {
    const EFFECT: Effect = Effect::Reads;
    type Output = Answer;

    async fn run(self, cx: &Context) -> Result<Answer, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let yes = tab.page.state_of(&locator, self.state.name(), &cx.deadline()).await?;
        Ok(Answer { value: [(self.state.name().to_owned(), yes.into())].into_iter().collect(), yes })
    }
}
