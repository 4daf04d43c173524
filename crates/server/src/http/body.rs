//! What a request carries: its body, all of it, in time and not too much; the name in its address, and what is behind the `?`.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body as AnyBody, Bytes, HttpBody, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body_util::LengthLimitError;
use hyper::body::{Frame, SizeHint};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Sleep, sleep};

use super::Service;
use super::answer::Refused;

/// A larger body is a mistake: actions are words.
pub(super) const LARGEST: usize = 4 << 20;

/// A JSON object, or why it is none.
pub(super) fn read_object(body: &Bytes) -> Result<Value, Refused> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Refused::bad(format!("the body is no JSON: {error}")))?;
    match value.is_object() {
        true => Ok(value),
        false => Err(Refused::bad("the body must be a JSON object")),
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Body(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refused> {
        let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        if length.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > LARGEST as u64)
        {
            return Err(too_large());
        }
        to_bytes(request.into_body(), LARGEST).await.map(Self).map_err(|error| {
            let why = error.into_inner();
            if why.is::<LengthLimitError>() {
                too_large()
            } else {
                Refused::bad(format!("the body cannot be read: {why}"))
            }
        })
    }
}

fn too_large() -> Refused {
    let message = format!("the body is larger than {LARGEST} bytes");
    Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message)
}

/// A body that does not come in time is told as such, whatever its reader makes of it.
pub(super) async fn in_time(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let late = Arc::new(AtomicBool::new(false));
    let time = service.connections.time();
    let request = request.map(|body| AnyBody::new(Timely::new(body, time, late.clone())));
    let response = next.run(request).await;
    if !late.load(Ordering::Relaxed) {
        return response;
    }
    let message = format!("the body did not come within {} ms", time.as_millis());
    Refused::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", message)
        .header(header::CONNECTION, "close")
        .into_response()
}

/// A body that fails when its time is over.
struct Timely {
    body: AnyBody,
    end: Pin<Box<Sleep>>,
    late: Arc<AtomicBool>,
}

impl Timely {
    fn new(body: AnyBody, time: Duration, late: Arc<AtomicBool>) -> Self {
        Self { body, end: Box::pin(sleep(time)), late }
    }
}

impl HttpBody for Timely {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(axum::Error::into_inner)));
        }
        if self.end.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.late.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err("it did not come in time".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The name in an address.
#[derive(Debug)]
pub(super) struct Named(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let Path(name) = Path::from_request_parts(parts, state)
            .await
            .map_err(|_| Refused::bad("the name in the address is no UTF-8"))?;
        Ok(Self(name))
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
