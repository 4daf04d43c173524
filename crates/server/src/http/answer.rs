//! What goes back: JSON, or the envelope of a failure, `{"error", "message", …}`.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};
use surehand_session::{Fault, PackCode};
use surehand_tools::packs::PackFailure;

/// A request that is not answered with what it asked for.
#[derive(Debug)]
pub(super) struct Refused {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
    /// More members of the envelope.
    pub more: Box<Map<String, Value>>,
    pub headers: Vec<(HeaderName, String)>,
    /// What failed underneath; for the audit only.
    pub cause: Option<String>,
}

impl Refused {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, code, message, more: Box::default(), headers: Vec::new(), cause: None }
    }

    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, PackCode::InvalidInput.name(), message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// What the caller reads.
    pub fn envelope(&self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("error".to_owned(), self.code.into());
        body.insert("message".to_owned(), self.message.clone().into());
        body.extend((*self.more).clone());
        body
    }

    /// Come back after so many seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        // Who does not see headers, such as a model, is told as well.
        self.more.insert("retry_after".to_owned(), seconds.into());
        self.header(header::RETRY_AFTER, seconds.to_string())
    }
}

/// Something that is ours, and that the caller can do nothing about.
impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        PackFailure::from(fault).into()
    }
}

impl From<PackFailure> for Refused {
    fn from(failure: PackFailure) -> Self {
        let status = StatusCode::from_u16(failure.code.http_status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let more = failure.envelope();
        let mut refused = Self::new(status, failure.code.name(), failure.message);
        refused.more.extend(more.into_iter().filter(|(name, _)| name != "error" && name != "message"));
        refused.cause = failure.cause.map(|cause| format!("{}: {}", cause.kind.code(), cause.message));
        if failure.code == PackCode::SessionUnavailable {
            refused = refused.retry_after(BROWSER_RETRY);
        }
        refused
    }
}

/// A browser that does not start now may start a little later.
const BROWSER_RETRY: u64 = 5;

/// What the audit is told about an answer, beside its status.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    pub code: Option<&'static str>,
    pub cause: Option<String>,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = json(self.status, &self.envelope());
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(name, value);
            }
        }
        let cause = self.cause.or(Some(self.message));
        response.extensions_mut().insert(Told { code: Some(self.code), cause });
        response
    }
}

/// A JSON answer.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => (status, [(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(error) => {
            tracing::error!("an answer is no JSON: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The usual answer.
pub(super) fn ok(body: &impl Serialize) -> Response {
    json(StatusCode::OK, body)
}
