//! `browser_click`

use schemars::JsonSchema;
use serde::Deserialize;
use surehand_page::ClickOptions;
use surehand_session::Fault;

use super::{dialogs, failure};
use crate::{Answer, Hints, Tool, ToolContext};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Click {
    /// Debugging address of the browser, e.g. http://127.0.0.1:9222
    browser_url: String,
    /// Id from browser_list; without it the first page target
    #[serde(default)]
    target_id: Option<String>,
    /// UID of the element in the latest snapshot of this target
    uid: u32,
}

impl Tool for Click {
    const NAME: &'static str = "browser_click";
    const DESCRIPTION: &'static str = "Click an element by its UID from the latest browser_snapshot of the target, with the mouse, scrolling to it first.";
    const HINTS: Hints = Hints::ACTS;

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        failure::told(self.click(cx).await, self.target_id.as_deref())
    }
}

impl Click {
    async fn click(&self, cx: &ToolContext) -> Result<Answer, Fault> {
        let tab = cx.borrowed.tab(&self.browser_url, self.target_id.as_deref()).await?;
        dialogs::refuse_if_asked(&tab.page)?;
        let deadline = cx.verbs.deadline();
        let meant = tab.uids()?.meant(self.uid, &tab.page, &deadline).await?;
        let acted = tab.page.click(&meant.locator, &ClickOptions::default(), &deadline).await?;
        let (x, y) = acted.at.unwrap_or_default();
        let first = format!("Clicked {} at ({x:.0}, {y:.0})", meant.words);
        Ok(Answer::text(dialogs::told(first, &acted.after, &tab.page).await))
    }
}
