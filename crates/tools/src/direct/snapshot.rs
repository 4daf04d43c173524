//! `browser_snapshot`

use schemars::JsonSchema;
use serde::Deserialize;
use surehand_page::{Deadline, Page, SnapshotOptions};
use surehand_session::Fault;

use super::uids::Uids;
use super::{dialogs, failure};
use crate::{Answer, Hints, Tool, ToolContext};

/// So much of a page without a structure is shown.
const PAGE_TEXT: usize = 3000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TakeSnapshot {
    /// Debugging address of the browser, e.g. http://127.0.0.1:9222
    browser_url: String,
    /// Id from browser_list; without it the first page target
    #[serde(default)]
    target_id: Option<String>,
}

impl Tool for TakeSnapshot {
    const NAME: &'static str = "browser_snapshot";
    const DESCRIPTION: &'static str = "Show the page as an accessibility tree, frames included. The number in [brackets] is the UID that browser_click \
         and browser_fill take; each snapshot numbers anew.";
    const HINTS: Hints = Hints::READS;

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        failure::told(self.take(cx).await, self.target_id.as_deref())
    }
}

impl TakeSnapshot {
    async fn take(&self, cx: &ToolContext) -> Result<Answer, Fault> {
        let tab = cx.borrowed.tab(&self.browser_url, self.target_id.as_deref()).await?;
        dialogs::refuse_if_asked(&tab.page)?;
        let deadline = cx.verbs.navigation_deadline();
        let options = SnapshotOptions { compact: true, ..Default::default() };
        let snapshot = tab.page.snapshot(&options, &deadline).await?;
        let (uids, mut text) = Uids::of(&snapshot);
        tab.keep(uids);
        if text.is_empty() {
            text = page_text(&tab.page, cx, &deadline).await?;
        }
        Ok(Answer::text(text.trim_end()))
    }
}

/// What a page says that shows nothing to an accessibility tree.
async fn page_text(page: &Page, cx: &ToolContext, deadline: &Deadline) -> Result<String, Fault> {
    let text = page.peek("document.body ? document.body.innerText : ''", deadline).await?;
    let text: String = serde_json::from_str(text.result.get()).unwrap_or_default();
    let shown: String = cx.secrets.mask(&text).chars().take(PAGE_TEXT).collect();
    Ok(format!("Page text:\n{shown}"))
}
