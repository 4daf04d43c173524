//! Packs over HTTP: the catalogue, and one call.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use surehand_guard::egress::Mark;
use surehand_page::Deadline;
use surehand_session::{Ephemeral, Fault, PackCode, Session};
use surehand_store::{Severity, event};
use surehand_tools::packs::{self, PACKS, PackContext, PackEntry, PackFailure, Prepared};
use tokio::runtime::Handle;

use super::Service;
use super::admission::{Busy, Permit};
use super::answer::{Refused, ok};
use super::body::Body;
use super::gate::Caller;
use super::kept::Kept;
use super::record::{Actor, Scribe, Seen};
use crate::safe::Lent;

pub(super) async fn list() -> Response {
    ok(&json!({ "packs": PACKS.iter().map(described).collect::<Vec<_>>() }))
}

pub(super) async fn one(Path(name): Path<String>) -> Result<Response, Refused> {
    Ok(ok(&described(named(&name)?)))
}

fn described(pack: &PackEntry) -> Value {
    json!({
        "name": pack.name,
        "version": "v1",
        "description": pack.description,
        "needs_session": true,
        "input_schema": (pack.input_schema)(),
        "output_schema": (pack.output_schema)(),
    })
}

fn named(name: &str) -> Result<&'static PackEntry, Refused> {
    packs::find(name).ok_or_else(|| {
        let known: Vec<_> = PACKS.iter().map(|pack| pack.name).collect();
        Refused::not_found(format!("there is no pack {name:?}; there are {}", known.join(", ")))
    })
}

/// Runs a pack.
pub(super) async fn call(
    State(service): State<Arc<Service>>,
    Path(name): Path<String>,
    Extension(caller): Extension<Caller>,
    Extension(seen): Extension<Seen>,
    Body(body): Body,
) -> Result<Response, Refused> {
    let pack = named(&name)?;
    let called = run(&service, pack, &caller, &seen, &body).await;
    let code = called.as_ref().err().map_or("ok", |refused| refused.code);
    service.metrics.pack(pack.name, code);
    Ok(ok(&called?))
}

async fn run(
    service: &Arc<Service>,
    pack: &'static PackEntry,
    caller: &Caller,
    seen: &Seen,
    body: &Bytes,
) -> Result<Value, Refused> {
    let mut input = read_object(body)?;
    let session_id = take_session_id(&mut input)?;
    let prepared = pack.prepare(input)?;
    service.refuse_if_unaudited()?;
    let place = Place::find(service, caller, session_id).await?;
    seen.works_in(place.session().name());
    let done = work(service, prepared, &place, caller, &seen.actor()).await;
    place.leave().await;
    Ok(done?)
}

async fn work(
    service: &Service,
    prepared: Prepared,
    place: &Place,
    caller: &Caller,
    actor: &Actor,
) -> Result<Value, PackFailure> {
    let credentials = Lent::to(&service.safe, &caller.subject, &caller.client);
    let scribe = Scribe { recorder: &service.recorder, metrics: &service.metrics, actor: actor.clone() };
    let session = place.session();
    let _refusals = Refusals { service, session, before: session.refusals(), actor };
    let context = PackContext::new(
        session.clone(),
        place.deadline(service),
        service.options.action_time,
        &credentials,
        &service.artifacts,
        &scribe,
    );
    prepared.run(&context).await
}

/// Every request that the guard refused is written down, whatever came of the call, and even if nobody waits for it.
struct Refusals<'a> {
    service: &'a Service,
    session: &'a Session,
    before: Mark,
    actor: &'a Actor,
}

impl Drop for Refusals<'_> {
    fn drop(&mut self) {
        let secrets = self.session.lent();
        let all = self.session.refusals_since(&self.before);
        self.service.metrics.blocked.fetch_add(all, Ordering::Relaxed);
        for refused in self.session.refused_since(&self.before) {
            let mut entry = self.actor.entry(event::EGRESS);
            entry.severity = Severity::Warning;
            entry.outcome = Some("blocked".to_owned());
            entry.code = Some(refused.denied.reason.code().to_owned());
            entry.cause = Some(secrets.mask(&refused.denied.to_string()).into_owned());
            // A page can ask for what was typed into it.
            let url = secrets.mask(&refused.url);
            let payload = json!({ "url": url, "method": refused.method, "count": refused.count });
            entry.payload = payload.as_object().cloned().unwrap_or_default().into();
            self.service.recorder.add(entry);
        }
    }
}

/// Where a call works.
enum Place {
    /// In a session of its own.
    Own(OwnSession),
    /// In one that the caller keeps, as long as this call has its turn.
    Kept { kept: Arc<Kept>, _turn: tokio::sync::OwnedMutexGuard<()> },
}

impl Place {
    async fn find(service: &Arc<Service>, caller: &Caller, id: Option<String>) -> Result<Self, Refused> {
        if let Some(id) = id {
            return Self::kept(service, caller, &id);
        }
        let permit = service.admit(&caller.subject).await?;
        let session = service.open_session("call").await.map_err(unavailable)?;
        Ok(Place::Own(OwnSession { held: Some((session, permit)) }))
    }

    fn kept(service: &Service, caller: &Caller, id: &str) -> Result<Self, Refused> {
        let kept = service.kept.get(id, &caller.subject).ok_or_else(|| no_session(id))?;
        if !kept.session.session().is_alive() {
            service.kept.remove(id);
            return Err(unavailable(Fault::new(
                surehand_session::Kind::BrowserGone,
                format!("the browser of session {id:?} is gone; make another session"),
            )));
        }
        let turn = kept.turn.clone().try_lock_owned().map_err(|_| {
            Refused::new(StatusCode::CONFLICT, "session_busy", "another call works in this session")
                .retry_after(1)
        })?;
        Ok(Place::Kept { kept, _turn: turn })
    }

    fn session(&self) -> &Arc<Session> {
        match self {
            Place::Own(own) => own.session(),
            Place::Kept { kept, .. } => kept.session.session(),
        }
    }

    fn deadline(&self, service: &Service) -> Deadline {
        match self {
            Place::Own(_) => Deadline::after(service.options.session_time),
            Place::Kept { kept, .. } => kept.deadline.clone(),
        }
    }

    async fn leave(self) {
        if let Place::Own(mut own) = self
            && let Some((session, permit)) = own.held.take()
        {
            session.end().await;
            drop(permit);
        }
    }
}

/// A session for one call. Its place is free when it is gone and not before, also if nobody waits for that: who hangs up
/// again and again would have more sessions than there are places otherwise.
struct OwnSession {
    held: Option<(Ephemeral, Permit)>,
}

impl OwnSession {
    fn session(&self) -> &Arc<Session> {
        match &self.held {
            Some((session, _)) => session.session(),
            None => unreachable!("it is taken only by what consumes this"),
        }
    }
}

impl Drop for OwnSession {
    fn drop(&mut self) {
        if let (Some((session, permit)), Ok(runtime)) = (self.held.take(), Handle::try_current()) {
            runtime.spawn(async move {
                session.end().await;
                drop(permit);
            });
        }
    }
}

pub(super) fn no_session(id: &str) -> Refused {
    Refused::not_found(format!("there is no session {:?}", id.chars().take(64).collect::<String>()))
}

/// A browser that cannot be had is not the caller's fault, whatever the reason.
pub(super) fn unavailable(fault: Fault) -> Refused {
    let failure = PackFailure::from(fault);
    let code = match failure.code {
        PackCode::InvalidInput => PackCode::InvalidInput,
        _ => PackCode::SessionUnavailable,
    };
    PackFailure { code, ..failure }.into()
}

impl Service {
    /// A place to work, or the reason why there is none now.
    pub(super) async fn admit(&self, subject: &str) -> Result<Permit, Refused> {
        if self.is_draining() {
            return Err(draining());
        }
        let waiting = tokio::time::timeout(self.options.queue_time, self.admission.enter(subject));
        match waiting.await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(Busy::Caller)) => Err(Refused::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_requests",
                "you have your share of the line; wait for your calls to end",
            )
            .retry_after(self.usual_wait())),
            Ok(Err(Busy::Everybody)) | Err(_) => Err(Refused::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "overloaded",
                "all sessions are taken and the line is full",
            )
            .retry_after(self.usual_wait())),
        }
    }
}

pub(super) fn draining() -> Refused {
    Refused::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "the service is about to end").retry_after(10)
}

/// A JSON object, or why it is none.
pub(super) fn read_object(body: &Bytes) -> Result<Value, Refused> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Refused::bad(format!("the body is no JSON: {error}")))?;
    match value.is_object() {
        true => Ok(value),
        false => Err(Refused::bad("the body must be a JSON object")),
    }
}

/// The session that a call wants to work in.
fn take_session_id(input: &mut Value) -> Result<Option<String>, Refused> {
    let Some(members) = input.as_object_mut() else { return Ok(None) };
    let id = members.shift_remove("session_id").or_else(|| members.shift_remove("_session_id"));
    match id {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(_) => Err(Refused::bad("session_id must be a text")),
    }
}
