//! `network`: the requests of the tab.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::Request;
use surehand_session::Fault;

use super::console::is_zero;
use crate::output::plural;
use crate::{Context, Effect, Report, Verb};

/// Look at the requests of the tab
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand network requests --status 404")]
pub struct Network {
    /// What to look at
    #[command(subcommand)]
    pub what: What,
}

/// What to look at.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// List the requests since the tab was opened
    Requests(Filter),
}

/// Which requests.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Filter {
    /// Only addresses that contain this
    #[arg(long, value_name = "PART")]
    pub filter: Option<String>,
    /// Only these kinds, separated by commas: document, script, stylesheet, image, font, xhr, fetch …
    #[arg(long = "type", value_name = "KINDS", value_delimiter = ',')]
    #[serde(default, rename = "type")]
    pub kinds: Vec<String>,
    /// Only this method
    #[arg(long)]
    pub method: Option<String>,
    /// Only this status: 404, 4xx, or failed
    #[arg(long)]
    pub status: Option<String>,
    /// Forget all requests after showing
    #[arg(long)]
    #[serde(default)]
    pub clear: bool,
}

impl Filter {
    fn wants(&self, request: &Request) -> bool {
        let same = |wanted: &str, is: &str| wanted.eq_ignore_ascii_case(is);
        self.filter.as_ref().is_none_or(|part| request.url.contains(part.as_str()))
            && (self.kinds.is_empty() || self.kinds.iter().any(|kind| same(kind, &request.resource_type)))
            && self.method.as_ref().is_none_or(|method| same(method, &request.method))
            && self.status.as_ref().is_none_or(|status| has_status(request, status))
    }
}

fn has_status(request: &Request, wanted: &str) -> bool {
    if wanted == "failed" {
        return request.failed;
    }
    let Some(status) = request.status.map(|status| status.to_string()) else { return false };
    status.len() == wanted.len() && status.chars().zip(wanted.chars()).all(|(is, want)| want == 'x' || want == is)
}

/// Requests.
#[derive(Debug, Serialize)]
pub struct Requests {
    requests: Vec<Request>,
    #[serde(skip_serializing_if = "is_zero")]
    dropped: u64,
}

impl Report for Requests {
    fn text(&self) -> String {
        if self.requests.is_empty() {
            return "(no requests)".to_owned();
        }
        self.requests.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn note(&self) -> Option<String> {
        let dropped = usize::try_from(self.dropped).ok().filter(|dropped| *dropped > 0)?;
        Some(format!("note: {} before these were dropped", plural(dropped, "request")))
    }
}

fn line(request: &Request) -> String {
    let outcome = match (request.status, &request.error) {
        (_, Some(error)) => error.clone(),
        (Some(status), None) => status.to_string(),
        (None, None) => "…".to_owned(),
    };
    let took = request.duration.map(|ms| format!(" {ms:.0} ms")).unwrap_or_default();
    format!("{outcome} {} {} ({}){took}", request.method, request.url, request.resource_type)
}

impl Verb for Network {
    const EFFECT: Effect = Effect::Reads;
    const BLOCKED_BY_DIALOG: bool = false;
    type Output = Requests;

    async fn run(self, cx: &Context) -> Result<Requests, Fault> {
        let What::Requests(filter) = self.what;
        let (_, tab) = cx.tab().await?;
        let (mut requests, dropped) = tab.page.requests();
        requests.retain(|request| filter.wants(request));
        if filter.clear {
            tab.page.clear_requests();
        }
        Ok(Requests { requests, dropped })
    }
}
