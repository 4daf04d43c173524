//! Answers of the proxy itself, which can be told from those of servers and from each other by `X-Surehand-Egress`.

use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use crate::egress::denied::Denied;

/// What the browser gets: a server's answer while it comes, or a text of ours.
pub(super) type Body = Either<Incoming, Full<Bytes>>;

/// On every answer of our own; taken out of those of servers.
pub(super) const MARK: HeaderName = HeaderName::from_static("x-surehand-egress");

/// Why there is no answer of a server.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The request itself is wrong.
    Bad(&'static str),
    /// The policy does not let it out.
    Denied(Box<Denied>),
    /// The server could not be reached, or said what could not be understood.
    Unreachable(String),
    /// It took too long.
    TooSlow(String),
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        Self::Denied(Box::new(denied))
    }
}

impl Refusal {
    /// The answer to the browser. A connection whose request was wrong is not read any further.
    pub fn answer(self) -> Response<Body> {
        let (status, mark, text) = match self {
            Self::Bad(what) => (StatusCode::BAD_REQUEST, "bad-request", format!("bad request: {what}")),
            Self::Denied(denied) => (StatusCode::FORBIDDEN, "denied", denied.to_string()),
            Self::Unreachable(why) => (StatusCode::BAD_GATEWAY, "unreachable", why),
            Self::TooSlow(why) => (StatusCode::GATEWAY_TIMEOUT, "timeout", why),
        };
        let mut response = text_answer(status, mark, text);
        if status == StatusCode::BAD_REQUEST {
            close(&mut response);
        }
        response
    }
}

fn text_answer(status: StatusCode, mark: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Either::Right(Full::new(Bytes::from(text + "\n"))));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(MARK, HeaderValue::from_static(mark));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The connection ends with this answer.
pub(super) fn close(response: &mut Response<Body>) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

/// An answer without a body.
pub(super) fn empty() -> Response<Body> {
    Response::new(Either::Right(Full::default()))
}
