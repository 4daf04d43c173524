//! `browser_navigate`

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use surehand_page::{Deadline, Error, LoadState, Page};
use surehand_session::Fault;
use surehand_verbs::full_address;

use super::{dialogs, failure};
use crate::{Answer, Hints, Tool, ToolContext};

/// A page is waited for this long; then it goes on loading by itself.
const LOADING: Duration = Duration::from_secs(10);

/// A page that is stuck in its own script does not hold up the answer.
const TITLE: Duration = Duration::from_secs(1);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Navigate {
    /// Debugging address of the browser, e.g. http://127.0.0.1:9222
    browser_url: String,
    /// Id from browser_list; without it the first page target
    #[serde(default)]
    target_id: Option<String>,
    /// Where to go
    url: String,
}

impl Tool for Navigate {
    const NAME: &'static str = "browser_navigate";
    const DESCRIPTION: &'static str = "Lead a target to an address and wait until it has loaded (10 s at most). UIDs of older snapshots are void then.";
    const HINTS: Hints = Hints::NAVIGATES;

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        failure::told(self.navigate(cx).await, self.target_id.as_deref())
    }
}

impl Navigate {
    async fn navigate(&self, cx: &ToolContext) -> Result<Answer, Fault> {
        let loading = Deadline::after(LOADING);
        let url = full_address(&self.url, &cx.verbs)?;
        let tab = cx.borrowed.tab(&self.browser_url, self.target_id.as_deref()).await?;
        // Whoever leaves a page does not want what it asks.
        let mut notes: Vec<String> = dialogs::dismiss(&tab.page).await.into_iter().collect();
        let Some(committed) = tab.page.set_out(&url, &loading).await? else {
            let lines = [format!("Navigated to: {url}"), "Title: ".to_owned()];
            notes.push("Note: the server has not answered yet; the page comes when it does.".to_owned());
            return Ok(Answer::text(lines.into_iter().chain(notes).collect::<Vec<_>>().join("\n")));
        };
        notes.extend(wait_for_load(&tab.page, &loading).await?);
        let title = tab.page.title(&Deadline::after(TITLE)).await.unwrap_or_default();
        if let Some(status) = committed.status.filter(|status| *status >= 400) {
            notes.push(format!("Note: the server answered with status {status}."));
        }
        let lines = [format!("Navigated to: {}", tab.page.url()), format!("Title: {title}")];
        Ok(Answer::text(lines.into_iter().chain(notes).collect::<Vec<_>>().join("\n")))
    }
}

/// Waits until the page has loaded, or long enough. Dialogs that it opens meanwhile are dismissed and told.
async fn wait_for_load(page: &Page, deadline: &Deadline) -> Result<Vec<String>, Fault> {
    let mut notes = Vec::new();
    loop {
        match page.wait_for_load(LoadState::Load, deadline).await {
            Ok(()) | Err(Error::Timeout { .. }) => return Ok(notes),
            Err(Error::DialogOpen(_)) if !deadline.passed() => notes.extend(dialogs::dismiss(page).await),
            Err(error) => return Err(error.into()),
        }
    }
}
