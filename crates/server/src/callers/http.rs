//! The HTTP client with which MCP servers are asked.

use std::error::Error;

use rmcp::transport::streamable_http_client::StreamableHttpError;
use surehand_outbound::innermost;
use surehand_outbound::reqwest::redirect::{Action, Attempt, Policy};
use surehand_outbound::reqwest::{self, Client, StatusCode};

const MOST_REDIRECTS: usize = 10;

/// As `rmcp` makes its own, which would know no TLS.
pub(super) fn client() -> Result<Client, String> {
    let builder = surehand_outbound::builder().map_err(|error| error.to_string())?;
    // A connection whose last answer was not read to its end stalls whoever uses it next.
    let builder = builder.pool_max_idle_per_host(0).redirect(Policy::custom(follow));
    builder.build().map_err(|error| innermost(&error))
}

/// Only where the message stays whole, and to where its session and token are known already.
fn follow(attempt: Attempt<'_>) -> Action {
    let keeps_body =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let first = attempt.previous().first();
    let same_origin = first.is_some_and(|first| first.origin() == attempt.url().origin());
    if !keeps_body || !same_origin {
        attempt.stop()
    } else if attempt.previous().len() > MOST_REDIRECTS {
        attempt.error("it redirects again and again")
    } else {
        attempt.follow()
    }
}

/// What the HTTP client said: `rmcp` quotes it, but does not name it as the source.
pub(super) fn said_by_client<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => error,
        _ => error,
    }
}
