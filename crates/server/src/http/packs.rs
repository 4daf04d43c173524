//! Packs over HTTP: the catalogue, and one call.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use surehand_page::Deadline;
use surehand_session::{Ephemeral, Fault, PackCode, Session};
use surehand_tools::packs::{self, PACKS, PackContext, PackEntry, PackFailure, Prepared};

use super::Service;
use super::answer::{Refused, ok};
use super::body::{Body, Named, read_object};
use super::gate::Caller;
use super::kept::Kept;
use super::openapi;
use super::record::{Actor, Scribe, Seen};
use super::refusals::Refusals;
use crate::safe::Lent;

pub(super) async fn list() -> Response {
    ok(&json!({ "packs": PACKS.iter().map(described).collect::<Vec<_>>() }))
}

pub(super) async fn one(Named(name): Named) -> Result<Response, Refused> {
    Ok(ok(&described(named(&name)?)))
}

fn described(pack: &PackEntry) -> Value {
    json!({
        "name": pack.name,
        "version": "v1",
        "description": pack.description,
        "needs_session": true,
        "input_schema": openapi::input_schema(pack),
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
    Named(name): Named,
    Extension(caller): Extension<Caller>,
    Extension(seen): Extension<Seen>,
    Body(body): Body,
) -> Result<Response, Refused> {
    let pack = named(&name)?;
    Ok(ok(&run(&service, pack, &caller, &seen, read_object(&body)).await?))
}

/// Runs a pack for a caller, who may.
pub(super) async fn run(
    service: &Arc<Service>,
    pack: &'static PackEntry,
    caller: &Caller,
    seen: &Seen,
    input: Result<Value, Refused>,
) -> Result<Value, Refused> {
    let called = async { run_in_place(service, pack, caller, seen, input?).await }.await;
    let code = called.as_ref().err().map_or("ok", |refused| refused.code);
    service.metrics.pack(pack.name, code);
    called
}

async fn run_in_place(
    service: &Arc<Service>,
    pack: &'static PackEntry,
    caller: &Caller,
    seen: &Seen,
    mut input: Value,
) -> Result<Value, Refused> {
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
    let credentials = Arc::new(Lent::to(&service.safe, &caller.subject, &caller.client));
    let scribe = Scribe { recorder: &service.recorder, metrics: &service.metrics, actor: actor.clone() };
    let session = place.session();
    let _refusals = Refusals::of(service, session, actor);
    let context = PackContext::new(
        session.clone(),
        place.deadline(service),
        service.options.action_time,
        credentials,
        &service.artifacts,
        &scribe,
    );
    prepared.run(&context).await
}

/// Where a call works.
enum Place {
    /// In a session of its own.
    Own(Ephemeral),
    /// In one that the caller keeps, as long as this call has its turn.
    Kept { kept: Arc<Kept>, _turn: tokio::sync::OwnedMutexGuard<()> },
}

impl Place {
    async fn find(service: &Arc<Service>, caller: &Caller, id: Option<String>) -> Result<Self, Refused> {
        if let Some(id) = id {
            return Self::kept(service, caller, &id);
        }
        let place = Arc::new(service.admit(&caller.subject).await?);
        let session = service.open_session("call", place).await.map_err(unavailable)?;
        Ok(Place::Own(session))
    }

    fn kept(service: &Service, caller: &Caller, id: &str) -> Result<Self, Refused> {
        let kept = service.kept.get(id, &caller.subject).ok_or_else(|| no_session(id))?;
        if !kept.session.session().is_alive() {
            service.kept.remove(id);
            let message = format!("the browser of session {id:?} is gone; make another session");
            return Err(PackFailure::new(PackCode::SessionUnavailable, message).into());
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
        if let Place::Own(session) = self {
            session.end().await;
        }
    }
}

pub(super) fn no_session(id: &str) -> Refused {
    Refused::not_found(format!("there is no session {:?}", id.chars().take(64).collect::<String>()))
}

/// A browser that cannot be had is not the caller's fault, whatever the reason; the reason is for who operates the service.
pub(super) fn unavailable(fault: Fault) -> Refused {
    let failure = PackFailure::new(
        PackCode::SessionUnavailable,
        "no browser session can be had now; the log of the service says why",
    );
    PackFailure { cause: Some(Box::new(fault)), ..failure }.into()
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
