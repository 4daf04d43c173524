//! The body of a request: all of it, in time, and not too much.

use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use super::answer::Refused;

/// A larger body is a mistake: actions are words.
pub(super) const LARGEST: usize = 4 << 20;

/// Who sends more slowly than this does not mean to send.
const PATIENCE: Duration = Duration::from_secs(30);

/// See the module.
#[derive(Debug)]
pub(super) struct Body(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refused> {
        let too_large = || {
            let message = format!("the body is larger than {LARGEST} bytes");
            Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message)
        };
        let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        if length.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > LARGEST as u64)
        {
            return Err(too_large());
        }
        match tokio::time::timeout(PATIENCE, to_bytes(request.into_body(), LARGEST)).await {
            Ok(Ok(bytes)) => Ok(Self(bytes)),
            Ok(Err(_)) => Err(too_large()),
            Err(_) => Err(Refused::new(
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                "the body did not come in time",
            )),
        }
    }
}

/// What stands behind the `?`.
#[derive(Debug)]
pub(super) struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(error) => Err(Refused::bad(format!("the query makes no sense: {}", error.body_text()))),
        }
    }
}
