//! `interact`: click, double-click or hover something by what it is called.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::ClickOptions;
use surehand_session::{Fault, Kind};
use surehand_verbs::Hit;

use super::ACTION_TIMEOUT;
use crate::{Answer, Hints, Misfit, Tool, ToolContext, label};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Interact {
    /// Visible label ("Save", "Save button"), reference (e5) or selector
    #[serde(rename = "ref", alias = "query", alias = "selector")]
    reference: String,
    #[serde(default)]
    action: Action,
    tab_id: Option<String>,
    /// Milliseconds to wait until it can be done, default 5000
    #[serde(alias = "waitForMs")]
    timeout: Option<u64>,
}

/// What to do with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    #[default]
    Click,
    DoubleClick,
    Hover,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Done {
    pub action: Action,
    pub tab_id: String,
    #[serde(flatten)]
    pub hit: Hit,
}

impl Tool for Interact {
    const NAME: &'static str = "interact";
    const DESCRIPTION: &'static str = "Click (or double-click, hover) an element found by its visible label, reference or selector. Fails unless it happened.";
    const HINTS: Hints = Hints::ACTS;
    const STRUCTURED: bool = true;

    fn doubts(&self) -> Vec<Misfit> {
        label::doubt("/ref", &self.reference).into_iter().collect()
    }

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        if self.reference.trim().is_empty() {
            return Err(Fault::new(Kind::Usage, "ref is empty").hint("name the element by its visible label"));
        }
        let (session, tab) = cx.tab(self.tab_id.as_deref()).await?;
        cx.refuse_dialog(&tab)?;
        tab.page.begin_action();
        let locator = label::actionable(&session, &tab, &self.reference)?;
        let deadline = cx.deadline(self.timeout, ACTION_TIMEOUT);
        let once = ClickOptions::default();
        let acted = match self.action {
            Action::Click => tab.page.click(&locator, &once, &deadline).await?,
            Action::DoubleClick => {
                tab.page.click(&locator, &ClickOptions { count: 2, ..once }, &deadline).await?
            }
            Action::Hover => tab.page.hover(&locator, &once, &deadline).await?,
        };
        Answer::json(&Done { action: self.action, tab_id: tab.id(), hit: Hit::new(&session, acted) })
    }
}
