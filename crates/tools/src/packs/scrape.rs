//! `web.scrape`: the content of a page as clean Markdown, as it is once its scripts have drawn it.

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hands::{Blocked, Hands, web_address};
use super::pack::{Pack, PackContext, PackFailure};
use crate::check::Misfit;

/// Input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scrape {
    /// Absolute address
    url: String,
    /// What to give back; Markdown if it does not say
    #[serde(default = "markdown_only")]
    #[schemars(with = "Vec<ScrapeFormat>", length(min = 1))]
    formats: BTreeSet<ScrapeFormat>,
    /// Milliseconds to wait after the page is loaded
    #[serde(default)]
    wait_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ScrapeFormat {
    Markdown,
    Html,
    Text,
}

fn markdown_only() -> BTreeSet<ScrapeFormat> {
    [ScrapeFormat::Markdown].into()
}

/// Output.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Content {
    /// As it was given
    url: String,
    /// Where the page was in the end
    final_url: String,
    /// HTTP status of the page
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    /// Its title
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Requests of the page that the egress guard refused
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked_requests: Vec<Blocked>,
}

impl Pack for Scrape {
    const NAME: &'static str = "web.scrape";
    const TOOL: &'static str = "web_scrape";
    const DESCRIPTION: &'static str = "Read a page as clean Markdown, after its scripts have drawn it.";
    type Output = Content;

    fn misfits(&self) -> Vec<Misfit> {
        let mut misfits = Misfit::of_address("/url", web_address(&self.url));
        if self.formats.is_empty() {
            let message = "at least one of markdown, html, text is wanted".to_owned();
            misfits.push(Misfit::value("/formats".to_owned(), message));
        }
        misfits
    }

    async fn run(self, cx: &PackContext<'_>) -> Result<Content, PackFailure> {
        let hands = Hands::new(cx).await?;
        let status = cx.witnessed(None, "open", Some(&self.url), hands.open(&self.url)).await?;
        if self.wait_ms > 0 {
            cx.witnessed(None, "wait", None, hands.wait(Duration::from_millis(self.wait_ms))).await?;
        }
        let content = cx.witnessed(Some(0), "extract", None, hands.content(&self.formats)).await?;
        Ok(Content { url: self.url, status, blocked_requests: hands.blocked(), ..content })
    }
}

impl Hands<'_> {
    /// What the page holds, in the formats that are wanted.
    pub(super) async fn content(
        &self,
        formats: &BTreeSet<ScrapeFormat>,
    ) -> Result<Content, surehand_session::Fault> {
        self.settled().await;
        let page = &self.tab.page;
        let deadline = self.cx.action_deadline();
        let mut content = Content {
            final_url: page.url(),
            title: page.title(&deadline).await.unwrap_or_default(),
            ..Default::default()
        };
        for format in formats {
            match format {
                ScrapeFormat::Markdown => content.markdown = Some(page.markdown(&deadline).await?),
                ScrapeFormat::Html => content.html = self.read_if_present("html", "html").await?,
                ScrapeFormat::Text => content.text = self.read_if_present("body", "text").await?,
            }
        }
        let texts = [&content.markdown, &content.html, &content.text];
        self.weigh(texts.iter().map(|text| text.as_ref().map_or(0, String::len)).sum())?;
        Ok(content)
    }
}

impl Content {
    /// The one format that was asked for.
    pub(super) fn only(self) -> String {
        self.markdown.or(self.html).or(self.text).unwrap_or_default()
    }

    pub(super) fn final_url(&self) -> &str {
        &self.final_url
    }
}
