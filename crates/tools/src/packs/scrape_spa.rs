//! `web.scrape_spa`: named fields of a page that scripts draw, each by its selector.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use surehand_session::{Fault, PackCode};

use super::browser_interact::Format;
use super::hands::{Blocked, Hands, web_address};
use super::pack::{Pack, PackContext, PackFailure};
use crate::check::Misfit;

/// Input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScrapeSpa {
    /// Absolute address
    url: String,
    /// What to read, by name
    #[schemars(extend("minProperties" = 1))]
    fields: BTreeMap<String, Field>,
    /// Milliseconds to wait before reading; without it the first field is waited for
    wait_ms: Option<u64>,
}

/// Where a field is, and how it is read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Field {
    /// CSS
    selector: String,
    #[serde(default)]
    format: Format,
}

/// Output.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Scraped {
    /// As it was given
    url: String,
    /// HTTP status of the page
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    /// What was read, by name
    data: Map<String, Value>,
    /// Fields that nothing on the page matches
    missing: Vec<String>,
    /// Requests of the page that the egress guard refused
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked_requests: Vec<Blocked>,
}

/// How often a page that scripts draw is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl Pack for ScrapeSpa {
    const NAME: &'static str = "web.scrape_spa";
    const TOOL: &'static str = "web_scrape_spa";
    const DESCRIPTION: &'static str =
        "Read named fields of a page by CSS selector, after its scripts have drawn it.";
    type Output = Scraped;

    fn misfits(&self) -> Vec<Misfit> {
        let mut misfits = Misfit::of_address("/url", web_address(&self.url));
        if self.fields.is_empty() {
            misfits.push(Misfit::value("/fields".to_owned(), "at least one field is wanted".to_owned()));
        }
        let empty = self.fields.iter().filter(|(_, field)| field.selector.trim().is_empty());
        misfits.extend(
            empty.map(|(name, _)| Misfit::value(format!("/fields/{name}/selector"), "is empty".to_owned())),
        );
        misfits
    }

    async fn run(self, cx: &PackContext<'_>) -> Result<Scraped, PackFailure> {
        let hands = Hands::new(cx).await?;
        let selectors: Vec<&str> = self.fields.values().map(|field| &*field.selector).collect();
        if let Some((_, fault)) = hands.unreadable(&selectors).await {
            return Err(fault.into());
        }
        let status = cx.witnessed(None, "open", Some(&self.url), hands.open(&self.url)).await?;
        if let Some(ms) = self.wait_ms {
            cx.witnessed(None, "wait", None, hands.wait(Duration::from_millis(ms))).await?;
        }
        let (data, missing) = cx.witnessed(Some(0), "extract", None, self.read_all(&hands)).await?;
        if data.is_empty() {
            let message = format!("nothing on the page matches any of the {} fields", self.fields.len());
            return Err(PackFailure::new(PackCode::HandlerFailed, message));
        }
        Ok(Scraped { url: self.url, status, data, missing, blocked_requests: hands.blocked() })
    }
}

impl ScrapeSpa {
    /// Reads until every field is there, or the time of one action is over: then as many as there are.
    async fn read_all(&self, hands: &Hands<'_>) -> Result<(Map<String, Value>, Vec<String>), Fault> {
        let deadline = hands.cx.action_deadline();
        loop {
            let (mut data, mut missing, mut size) = (Map::new(), Vec::new(), 0);
            for (name, field) in &self.fields {
                match hands.read_if_present(&field.selector, field.format.name()).await? {
                    Some(content) => {
                        size += content.len();
                        data.insert(name.clone(), content.into());
                    }
                    None => missing.push(name.clone()),
                }
            }
            if missing.is_empty() || self.wait_ms.is_some() || deadline.passed() {
                hands.weigh(size)?;
                return Ok((data, missing));
            }
            tokio::time::sleep(LOOK_AGAIN.min(deadline.remaining())).await;
        }
    }
}
