//! A client of MCP in the service: it works under the same rules as who calls packs. It has a place among the sessions, its
//! credentials are its caller's, and what it does is written down.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_lc_rs::digest;
use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde_json::{Map, Value};
use surehand_guard::redact;
use surehand_session::{Fault, Kind, PackCode, Place, Session};
use surehand_store::{Severity, event};
use surehand_tools::packs::{self, Lender, PackEntry};
use surehand_tools::{Answer, Toolset};
use surehand_verbs::Settings;

use super::answer::Refused;
use super::gate::Caller;
use super::packs as pack_calls;
use super::record::{Actor, LONGEST, Seen};
use super::refusals::Refusals;
use super::{Service, notes};
use crate::executor::Executor;
use crate::mcp::{Call, Host, Hosted, Identity};
use crate::safe::Lent;

/// See the module.
struct Guest {
    service: Arc<Service>,
    caller: Caller,
    seen: Seen,
}

/// How clients name the session of MCP that they mean, and are told of it.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Makes a guest of who showed a token, and sees that it is in its own session.
pub(super) async fn welcome(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Extension(seen): Extension<Seen>,
    mut request: Request,
    next: Next,
) -> Response {
    let named = session_in(request.headers());
    if named.as_deref().is_some_and(|session| service.owners.is_foreign(session, &caller.identity())) {
        return Refused::not_found("there is no such session of MCP").into_response();
    }
    let Some(share) = service.agents.take(&caller.subject) else {
        let message = "you have your share of connections to /mcp; close some of them";
        return Refused::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message)
            .retry_after(service.usual_wait())
            .into_response();
    };
    let guest = Guest { service: service.clone(), caller: caller.clone(), seen };
    request.extensions_mut().insert(Hosted(Arc::new(guest)));
    let response = in_envelope(next.run(request).await).await;
    if let Some(session) = session_in(response.headers()) {
        service.owners.add(&session, caller.identity());
    }
    if !response.status().is_success() {
        return response;
    }
    // An answer may be a stream that lasts as long as its reader likes.
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held = &share;
            frame
        }))
    })
}

/// What the transport refuses in plain words is refused like everything else here.
async fn in_envelope(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !status.is_client_error() || kind.is_some_and(|kind| kind.starts_with("application/json")) {
        return response;
    }
    let words = to_bytes(response.into_body(), LONGEST).await.unwrap_or_default();
    let words = String::from_utf8_lossy(&words).trim().to_owned();
    let message = if words.is_empty() { status.to_string() } else { words };
    match status {
        StatusCode::NOT_FOUND => Refused::not_found(message),
        StatusCode::METHOD_NOT_ALLOWED => {
            Refused::new(status, "method_not_allowed", message).header(header::ALLOW, "DELETE,GET,POST")
        }
        _ => Refused::new(status, PackCode::InvalidInput.name(), message),
    }
    .into_response()
}

fn session_in(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION)?.to_str().ok().map(str::to_owned)
}

impl Host for Guest {
    fn identity(&self) -> Identity {
        self.caller.identity()
    }

    fn executor(&self) -> Executor {
        let credentials = Arc::new(Lent::to(&self.service.safe, &self.caller.subject, &self.caller.client));
        Executor::over(self.service.sessions.clone(), Lender { credentials, ..Lender::default() })
    }

    fn common_session(&self) -> String {
        let digest = digest::digest(&digest::SHA256, self.caller.subject.as_bytes());
        let name: String = digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("caller-{name}")
    }

    fn call<'a>(
        &'a self,
        executor: &'a Executor,
        call: Call,
    ) -> Pin<Box<dyn Future<Output = Result<Answer, Fault>> + Send + 'a>> {
        Box::pin(async move {
            let pack = packs::PACKS.iter().find(|pack| pack.tool == call.tool);
            let called = match pack.filter(|_| call.toolsets.contains(&Toolset::Packs)) {
                Some(pack) => self.run_pack(pack, call.arguments).await,
                None => self.drive(executor, call).await,
            };
            called
                .unwrap_or_else(|refused| Ok(Answer { is_error: true, ..Answer::json(&refused.envelope())? }))
        })
    }
}

impl Guest {
    /// A pack needs its scope here as well, and runs as it would over HTTP.
    async fn run_pack(
        &self,
        pack: &'static PackEntry,
        input: Value,
    ) -> Result<Result<Answer, Fault>, Refused> {
        self.caller.require(&format!("packs:{}", pack.name))?;
        let output = pack_calls::run(&self.service, pack, &self.caller, &self.seen, Ok(input)).await?;
        Ok(packs::shown(output))
    }

    /// What drives a browser by hand needs no other scope than that for MCP.
    async fn drive(&self, executor: &Executor, call: Call) -> Result<Result<Answer, Fault>, Refused> {
        self.service.refuse_if_unaudited()?;
        let session = self.enter(&call.settings).await?;
        self.seen.works_in(session.name());
        let actor = self.seen.actor();
        let _busy = session.begin();
        let _refusals = Refusals::of(&self.service, &session, &actor);
        let mut row = Row::of(&self.service, &actor, &session, &call);
        let limit = self.service.options.session_time;
        let called =
            tokio::time::timeout(limit, call.make(executor)).await.unwrap_or_else(|_| Err(too_long(limit)));
        row.write(&called);
        Ok(called)
    }

    /// The session of the client. It has its place until it is ended, by the client or because nothing happens in it.
    async fn enter(&self, settings: &Settings) -> Result<Arc<Session>, Refused> {
        let place = async {
            let permit = self.service.admit_to_keep(&self.caller.subject).await?;
            Ok::<Place, Refused>(Arc::new(permit))
        };
        let sessions = &self.service.sessions;
        sessions.open_in_place(&settings.session, &settings.options, &notes(), place).await
    }
}

fn too_long(limit: Duration) -> Fault {
    Fault::new(Kind::Timeout, format!("the call took longer than {} ms", limit.as_millis()))
        .hint("ask for less in one call, or start the service with a larger --session-timeout")
}

/// What is written down about a call, also if nobody waits for its end.
struct Row<'a> {
    service: &'a Service,
    actor: &'a Actor,
    session: &'a Session,
    tool: String,
    to: Option<String>,
    began: Instant,
    is_written: bool,
}

impl<'a> Row<'a> {
    fn of(service: &'a Service, actor: &'a Actor, session: &'a Session, call: &Call) -> Self {
        // Where to and to what, but never what is typed.
        let to =
            ["url", "selector", "ref", "label"].into_iter().find_map(|name| call.arguments[name].as_str());
        let (tool, to) = (call.tool.clone(), to.map(str::to_owned));
        Self { service, actor, session, tool, to, began: Instant::now(), is_written: false }
    }

    fn write(&mut self, called: &Result<Answer, Fault>) {
        let (code, cause) = match called {
            Ok(answer) if !answer.is_error => return self.add(Severity::Info, "ok", None, None),
            Ok(answer) => {
                let error = answer.structured.as_ref().map_or(&Value::Null, |whole| &whole["error"]);
                let text = |member: &str| error[member].as_str().map(str::to_owned);
                (text("code"), text("message").unwrap_or_else(|| answer.text.chars().take(LONGEST).collect()))
            }
            Err(fault) => (Some(fault.kind.code().to_owned()), fault.message.clone()),
        };
        self.add(Severity::Error, "failed", code, Some(cause));
    }

    /// What was done to what, without what the session was given to use.
    fn payload(&self) -> Map<String, Value> {
        let mut payload = Map::new();
        payload.insert("action".to_owned(), self.tool.clone().into());
        if let Some(to) = &self.to {
            let to = redact::mask_queries(to).into_owned();
            let to = self.session.masks().iter().fold(to, |to, secrets| secrets.mask(&to).into_owned());
            payload.insert("to".to_owned(), to.chars().take(LONGEST).collect::<String>().into());
        }
        payload
    }

    fn add(&mut self, severity: Severity, outcome: &str, code: Option<String>, cause: Option<String>) {
        self.is_written = true;
        let mut entry = self.actor.entry(event::ACTION);
        entry.severity = severity;
        entry.duration_ms = u64::try_from(self.began.elapsed().as_millis()).ok();
        entry.outcome = Some(outcome.to_owned());
        entry.code = code;
        entry.cause = cause;
        entry.payload = self.payload().into();
        self.service.recorder.add(entry);
    }
}

impl Drop for Row<'_> {
    fn drop(&mut self) {
        if !self.is_written {
            self.add(Severity::Warning, "cancelled", None, None);
        }
    }
}
