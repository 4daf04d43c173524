//! `network`: the requests of the tab.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_guard::redact;
use surehand_page::{Request, RequestDetails};
use surehand_session::{Fault, Kind};

use super::console::is_zero;
use crate::output::plural;
use crate::{Context, Effect, Hints, Report, Verb};

/// Look at the requests of the tab
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand network requests --status 404\n  surehand network request 1000.7")]
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
    /// Show one request with its headers and its bodies
    Request {
        /// Its number, as the listing shows it
        id: String,
    },
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

/// A listing, or one request.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Looked {
    /// Requests.
    Many(Requests),
    /// One of them.
    One(Box<RequestDetails>),
}

impl Report for Looked {
    fn text(&self) -> String {
        match self {
            Looked::Many(requests) => requests.text(),
            Looked::One(details) => whole(details),
        }
    }

    fn note(&self) -> Option<String> {
        match self {
            Looked::Many(requests) => requests.note(),
            Looked::One(_) => None,
        }
    }
}

impl Requests {
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

/// One line about a request.
pub(crate) fn line(request: &Request) -> String {
    let outcome = match (request.status, &request.error) {
        (_, Some(error)) => error.clone(),
        (Some(status), None) => status.to_string(),
        (None, None) => "…".to_owned(),
    };
    let took = request.duration.map(|ms| format!(" {ms:.0} ms")).unwrap_or_default();
    let Request { request_id, method, url, resource_type, .. } = request;
    format!("{request_id} {outcome} {method} {url} ({resource_type}){took}")
}

/// A request as it would be written down.
fn whole(details: &RequestDetails) -> String {
    let header = |(name, value): (&String, &String)| format!("{name}: {value}");
    let mut parts = vec![line(&details.request)];
    parts.extend(details.request_headers.iter().map(|pair| format!("> {}", header(pair))));
    parts.extend(details.post_data.iter().map(|sent| format!("\n{sent}\n")));
    parts.extend(details.response_headers.iter().map(|pair| format!("< {}", header(pair))));
    match &details.body {
        Some(body) if details.body_is_base64 => parts.push(format!("\n(base64) {body}")),
        Some(body) => parts.push(format!("\n{body}")),
        None => parts.push("\n(no body is kept)".to_owned()),
    }
    parts.join("\n")
}

/// Headers, parameters and fields that carry secrets are named, but not shown.
fn without_secrets(mut details: RequestDetails) -> RequestDetails {
    details.request = without_secret_parameters(details.request);
    let headers = details.request_headers.iter_mut().chain(details.response_headers.iter_mut());
    for (name, value) in headers {
        *value = match redact::is_sensitive_name(name) {
            true => redact::MASK.to_owned(),
            false => redact::mask_queries(value).into_owned(),
        };
    }
    details.post_data = details.post_data.map(|sent| {
        let masked = redact::mask_members(&sent, redact::is_sensitive_name);
        redact::mask_queries(&masked).into_owned()
    });
    details
}

/// The same with masked values in its addresses.
pub(crate) fn without_secret_parameters(mut request: Request) -> Request {
    request.url = redact::mask_queries(&request.url).into_owned();
    request.initiator.url = request.initiator.url.map(|url| redact::mask_queries(&url).into_owned());
    request.redirected_to = request.redirected_to.map(|url| redact::mask_queries(&url).into_owned());
    request
}

impl Verb for Network {
    const EFFECT: Effect = Effect::Reads;
    // `--clear` forgets.
    const HINTS: Hints = Hints::REPLACES;
    const BLOCKED_BY_DIALOG: bool = false;
    type Output = Looked;

    async fn run(self, cx: &Context) -> Result<Looked, Fault> {
        let (_, tab) = cx.tab().await?;
        let filter = match self.what {
            What::Requests(filter) => filter,
            What::Request { id } => {
                let found = tab.page.request_details(&id, &cx.deadline()).await?;
                let details = found.ok_or_else(|| no_request(&id))?;
                return Ok(Looked::One(Box::new(without_secrets(details))));
            }
        };
        let (mut requests, dropped) = tab.page.requests();
        requests.retain(|request| filter.wants(request));
        if filter.clear {
            tab.page.clear_requests();
        }
        let requests = requests.into_iter().map(without_secret_parameters).collect();
        Ok(Looked::Many(Requests { requests, dropped }))
    }
}

fn no_request(id: &str) -> Fault {
    Fault::new(Kind::NoRequest, format!("this tab has no request {id:?}"))
        .hint("see them with `surehand network requests`; old ones are forgotten")
}
