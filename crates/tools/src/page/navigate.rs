//! `navigate`: the tab goes to an address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::{Dialog, LoadState, Navigated};
use surehand_session::Fault;

use super::{TIMEOUT, web_address};
use crate::{Answer, Hints, Misfit, Tool, ToolContext};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Navigate {
    /// Address, or back, forward, reload
    url: String,
    tab_id: Option<String>,
    /// Milliseconds, default 30000
    timeout: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Arrived {
    action: &'static str,
    tab_id: String,
    url: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    /// A dialog that the page opened while it loaded, and that waits for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<Dialog>,
    /// Dialogs that asked nothing and were accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accepted: Vec<Dialog>,
}

impl Tool for Navigate {
    const NAME: &'static str = "navigate";
    const DESCRIPTION: &'static str = "Open an address in the tab and wait until it is loaded.";
    const HINTS: Hints = Hints::NAVIGATES;
    const STRUCTURED: bool = true;

    fn doubts(&self) -> Vec<Misfit> {
        match self.url.as_str() {
            "back" | "forward" | "reload" => Vec::new(),
            url => Misfit::fault("/url", web_address(url)).into_iter().collect(),
        }
    }

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        let deadline = cx.deadline(self.timeout, TIMEOUT);
        let address = match self.url.as_str() {
            "back" | "forward" | "reload" => None,
            url => Some(web_address(url)?),
        };
        let (session, tab) = cx.tab(self.tab_id.as_deref()).await?;
        tab.page.begin_action();
        session.tabs().switch_to(&tab);
        let page = &tab.page;
        let until = LoadState::Load;
        let going = match &address {
            Some(address) => session.going_to(address)?,
            None => session.going(),
        };
        let opened = match (address, self.url.as_str()) {
            (Some(address), _) => page.open(&address, until, &deadline).await,
            (None, "back") => page.go(-1, until, &deadline).await,
            (None, "forward") => page.go(1, until, &deadline).await,
            (None, _) => page.reload(until, &deadline).await,
        };
        let Navigated { url, title, status, dialog, accepted } =
            going.arrived(&tab, opened.map_err(Fault::from))?;
        Answer::json(&Arrived { action: "navigate", tab_id: tab.id(), url, title, status, dialog, accepted })
    }
}
