//! `browser.screenshot_url`: one picture of one page, kept as a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::ScreenshotOptions;
use surehand_session::Fault;

use super::hands::{Blocked, Hands, web_address};
use super::pack::{Artifact, Pack, PackContext, PackFailure};
use crate::check::Misfit;

/// Input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScreenshotUrl {
    /// Absolute address
    url: String,
    /// The whole page instead of what is in view
    #[serde(default, alias = "full_page")]
    full_page: bool,
}

/// Output.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pictured {
    /// As it was given
    url: String,
    /// HTTP status of the page
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    #[serde(flatten)]
    artifact: Artifact,
    /// Width and height of the whole page, where it is larger than a picture can be: 16,384 pixels on each side. The rest is
    /// not in it
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_from: Option<(u64, u64)>,
    /// Requests of the page that the egress guard refused
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked_requests: Vec<Blocked>,
}

impl Pack for ScreenshotUrl {
    const NAME: &'static str = "browser.screenshot_url";
    const TOOL: &'static str = "browser_screenshot_url";
    const DESCRIPTION: &'static str = "Take a PNG of a page, of what is in view or all of it.";
    type Output = Pictured;

    fn misfits(&self) -> Vec<Misfit> {
        Misfit::of_address("/url", web_address(&self.url))
    }

    async fn run(self, cx: &PackContext<'_>) -> Result<Pictured, PackFailure> {
        let hands = Hands::new(cx).await?;
        let status = cx.witnessed(None, "open", Some(&self.url), hands.open(&self.url)).await?;
        let options = ScreenshotOptions { full: self.full_page, ..Default::default() };
        let picture = cx.witnessed(Some(0), "screenshot", None, hands.picture(&options)).await?;
        let cut_from = match self.full_page {
            true => {
                hands.tab.page.too_large_for_a_picture(&cx.action_deadline()).await.map_err(Fault::from)?
            }
            false => None,
        };
        let artifact = cx.artifacts.keep("png", "image/png", &picture)?;
        Ok(Pictured { url: self.url, status, artifact, cut_from, blocked_requests: hands.blocked() })
    }
}
