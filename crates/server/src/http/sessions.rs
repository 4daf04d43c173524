//! Sessions that callers keep: made, listed, ended, and ended by themselves when their time is over.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::Service;
use super::answer::{Refused, json as json_answer, ok};
use super::body::{Body, Named, read_object};
use super::gate::Caller;
use super::kept::{Expiry, Kept};
use super::packs::{no_session, unavailable};

/// How a session is made.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSession {
    /// How long it lives, at most as long as the service allows.
    timeout_ms: Option<u64>,
}

pub(super) async fn create(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Body(body): Body,
) -> Result<Response, Refused> {
    let asked = if body.is_empty() { json!({}) } else { read_object(&body)? };
    let asked: NewSession = serde_json::from_value(asked).map_err(|error| Refused::bad(error.to_string()))?;
    let longest = service.options.session_time;
    let time = match asked.timeout_ms.map(Duration::from_millis) {
        None => longest,
        Some(time) if time >= Duration::from_secs(1) && time <= longest => time,
        Some(_) => {
            let most = longest.as_millis();
            return Err(Refused::bad(format!("timeout_ms must be from 1000 to {most}")));
        }
    };
    service.refuse_if_unaudited()?;
    let place = Arc::new(service.admit_to_keep(&caller.subject).await?);
    let session = service.open_session("kept", place).await.map_err(unavailable)?;
    let id = session.session().name().to_owned();
    let (watched, watched_id) = (service.clone(), id.clone());
    let expiry = Expiry::after(time, async move { end(&watched, &watched_id).await });
    let kept = service.kept.add(Kept::new(id, &caller.subject, session, time, expiry));
    Ok(json_answer(StatusCode::CREATED, &kept.info()))
}

pub(super) async fn list(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
) -> Response {
    let infos: Vec<_> = service.kept.of(&caller.subject).iter().map(|kept| kept.info()).collect();
    ok(&json!({ "sessions": infos }))
}

pub(super) async fn one(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
) -> Result<Response, Refused> {
    let kept = service.kept.get(&id, &caller.subject).ok_or_else(|| no_session(&id))?;
    Ok(ok(&kept.info()))
}

pub(super) async fn delete(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
) -> Result<Response, Refused> {
    service.kept.get(&id, &caller.subject).ok_or_else(|| no_session(&id))?;
    end(&service, &id).await;
    Ok(ok(&json!({ "session_id": id, "ended": true })))
}

/// Ends a session. A call that works in it fails at once: its browser context is gone.
pub(super) async fn end(service: &Service, id: &str) {
    if let Some(kept) = service.kept.remove(id) {
        service.sessions.close(kept.session.session().name()).await;
    }
}
