//! What every request passes: a name of its own, a look at where it comes from, a token, and a row in the audit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use aws_lc_rs::rand;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::Map;
use surehand_store::{Severity, event};

use super::Service;
use super::answer::{Refused, Told};
use super::record::{LONGEST, Seen};
use super::routes;
use crate::auth::{KeyError, Scopes, TokenError};
use crate::mcp::Identity;

/// The name of a request, in its answer and in every row and line about it.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Who shows a token. An extension of every request that needs one.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub subject: String,
    pub client: String,
    scopes: Scopes,
}

impl Caller {
    pub fn identity(&self) -> Identity {
        Identity { subject: self.subject.clone(), client: self.client.clone() }
    }

    /// May they? The answer says which scope is missing, as RFC 6750 has it.
    pub fn require(&self, scope: &str) -> Result<(), Refused> {
        if self.scopes.allow(scope) {
            return Ok(());
        }
        let message = format!("the token does not allow {scope}");
        let challenge = format!("{CHALLENGE}, error=\"insufficient_scope\", scope=\"{scope}\"");
        Err(Refused::new(StatusCode::FORBIDDEN, "insufficient_scope", message)
            .header(header::WWW_AUTHENTICATE, challenge))
    }
}

/// Gives the request a name, and writes down what came of it, also if whoever asked hangs up.
pub(super) async fn observe(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = request_id(request.headers());
    let method = request.method().clone();
    let path = request.uri().path().chars().take(LONGEST).collect();
    let pattern = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let agent = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let agent = agent.map(|agent| agent.chars().take(200).collect());
    let seen = Seen::new(&id);
    request.extensions_mut().insert(seen.clone());
    let event =
        pattern.as_deref().and_then(|pattern| routes::find(&method, pattern)).map(|route| route.event);
    let method = method.as_str().chars().take(LONGEST_METHOD).collect();
    let mut row =
        Row { service, id, method, path, pattern, event, agent, seen, began: Instant::now(), done: false };
    let mut response = next.run(request).await;
    row.write(response.status().as_u16(), &response);
    if let Ok(id) = HeaderValue::try_from(&row.id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// What is written down about a request.
struct Row {
    service: Arc<Service>,
    id: String,
    method: String,
    path: String,
    pattern: Option<String>,
    event: Option<&'static str>,
    agent: Option<String>,
    seen: Seen,
    began: Instant,
    done: bool,
}

/// More of why something failed is not kept.
const LONGEST_CAUSE: usize = 4096;

/// Callers may make up methods; more of one is not kept.
const LONGEST_METHOD: usize = 20;

/// Nobody waited for the answer, as nginx tells it.
const CLIENT_GONE: u16 = 499;

impl Row {
    fn write(&mut self, status: u16, response: &Response) {
        let told = response.extensions().get::<Told>().cloned().unwrap_or_default();
        self.add(status, &told);
    }

    fn add(&mut self, status: u16, told: &Told) {
        self.done = true;
        let took = self.began.elapsed();
        let route = self.pattern.as_deref().unwrap_or("none");
        self.service.metrics.request(route, &self.method, status, took);
        let elapsed = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let actor = self.seen.actor();
        tracing::info!(
            request_id = self.id,
            method = self.method,
            path = self.path,
            status,
            elapsed_ms = elapsed,
            subject = actor.subject,
            code = told.code,
            "request"
        );
        // Probes come every few seconds, and say nothing about anybody.
        if self.event == Some("health") {
            return;
        }
        let mut payload = Map::new();
        payload.insert("elapsed_ms".to_owned(), elapsed.into());
        if let Some(agent) = &self.agent {
            payload.insert("user_agent".to_owned(), agent.clone().into());
        }
        let event_type = match status {
            401 | 403 => event::AUTH,
            _ => self.event.unwrap_or(event::REQUEST),
        };
        let mut entry = actor.entry(event_type);
        entry.severity = Severity::of_status(status);
        entry.method = Some(self.method.clone());
        entry.path = Some(self.path.clone());
        entry.status = Some(status);
        entry.duration_ms = Some(elapsed);
        let outcome = match status {
            CLIENT_GONE => "client gone",
            401 | 403 => "denied",
            400.. => "failed",
            _ => "ok",
        };
        entry.outcome = Some(outcome.to_owned());
        entry.code = told.code.map(str::to_owned);
        entry.cause = told.cause.as_ref().map(|cause| cause.chars().take(LONGEST_CAUSE).collect());
        entry.payload = payload.into();
        self.service.recorder.add(entry);
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        if !self.done {
            self.add(CLIENT_GONE, &Told::default());
        }
    }
}

/// A page in somebody's browser must not reach the service under a name that somebody else chose, nor from elsewhere.
pub(super) async fn check_origin(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    match refused_origin(&service, &request) {
        None => next.run(request).await,
        Some(what) => {
            let message = format!("{what} is not one that this service answers to; see --allow-host");
            Refused::new(StatusCode::FORBIDDEN, "forbidden_origin", message).into_response()
        }
    }
}

fn refused_origin(service: &Service, request: &Request) -> Option<&'static str> {
    let texts = |name: HeaderName| {
        request.headers().get_all(name).into_iter().map(|value| value.to_str().unwrap_or_default())
    };
    // Every name under which it is asked must be its own, wherever a caller writes it.
    let asked = request.uri().authority().map(|authority| authority.as_str());
    let mut hosts = texts(header::HOST).chain(asked).peekable();
    if hosts.peek().is_none() || hosts.any(|host| !service.names.has_host(host)) {
        return Some("the Host");
    }
    texts(header::ORIGIN).any(|origin| !service.names.has_origin(origin)).then_some("the Origin")
}

/// Asks for a token where one is needed, and remembers who showed it.
pub(super) async fn authenticate(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let pattern = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    // What is nowhere is answered by who answers that.
    let Some(pattern) = pattern else { return next.run(request).await };
    // Whatever handlers there are: what is not in the list is not reached.
    let Some(route) = routes::find(request.method(), &pattern) else {
        return wrong_method(request.method(), request.uri(), &pattern).into_response();
    };
    let scope = match route {
        route if route.path == "/metrics" && !service.is_loopback => Some("audit:read"),
        route => route.scope,
    };
    let Some(scope) = scope else { return next.run(request).await };
    let caller = match verified(&service, request.headers()) {
        Err(refused) => return refused.into_response(),
        Ok(caller) => caller,
    };
    if let Some(seen) = request.extensions().get::<Seen>() {
        seen.is(&caller.subject, &caller.client);
    }
    let scope = scope.replace("{name}", &name_in(request.uri().path()));
    if let Err(refused) = caller.require(&scope) {
        return refused.into_response();
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}

fn wrong_method(method: &Method, uri: &Uri, pattern: &str) -> Refused {
    let path: String = uri.path().chars().take(LONGEST).collect();
    let method: String = method.as_str().chars().take(LONGEST_METHOD).collect();
    let message = format!("{path} does not take {method}; see /docs");
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
        .header(header::ALLOW, routes::methods(pattern))
}

/// The name of a pack in the path.
fn name_in(path: &str) -> String {
    path.strip_prefix("/api/v1/packs/").and_then(|rest| rest.split('/').next()).unwrap_or_default().to_owned()
}

fn verified(service: &Service, headers: &HeaderMap) -> Result<Caller, Refused> {
    let shown = headers.get(header::AUTHORIZATION).map(|shown| shown.to_str().unwrap_or("Bearer"));
    // Another way to say who one is was not understood; RFC 6750 calls only a bearer token a wrong one.
    let token = shown.and_then(|shown| {
        let (scheme, token) = shown.split_once(' ').unwrap_or((shown, ""));
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let Some(token) = token else {
        let message = "a token is needed: Authorization: Bearer TOKEN";
        return Err(unauthorized("missing_bearer", message, CHALLENGE.to_owned()));
    };
    if headers.get_all(header::AUTHORIZATION).iter().count() > 1 {
        let challenge = format!("{CHALLENGE}, error=\"invalid_request\"");
        return Err(unauthorized("invalid_token", "there are several Authorization headers", challenge));
    }
    let claims = service.keys.verify(token).map_err(|error| match error {
        TokenError::Keys(error) => keys_unavailable(&error),
        error => {
            let why = error.to_string();
            let quoted = why.replace(['"', '\\'], "'");
            let challenge = format!("{CHALLENGE}, error=\"invalid_token\", error_description=\"{quoted}\"");
            unauthorized("invalid_token", &format!("the token is not accepted: {why}"), challenge)
        }
    })?;
    let scopes = claims.scopes();
    Ok(Caller { subject: claims.sub, client: claims.client.unwrap_or_default(), scopes })
}

const CHALLENGE: &str = "Bearer realm=\"surehand\"";

fn unauthorized(code: &'static str, message: &str, challenge: String) -> Refused {
    Refused::new(StatusCode::UNAUTHORIZED, code, message).header(header::WWW_AUTHENTICATE, challenge)
}

/// Nobody can be judged without keys. Where they lie is for who operates the service, not for who asks.
fn keys_unavailable(error: &KeyError) -> Refused {
    tracing::error!("the keys cannot be read: {error}");
    let message = "the keys of the service cannot be read; its log says why";
    let mut refused = Refused::new(StatusCode::SERVICE_UNAVAILABLE, "keys_unavailable", message);
    refused.cause = Some(error.to_string());
    refused.retry_after(10)
}

/// The caller's own name for it, if it has one that can be written down, else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let plain = |id: &&str| {
        !id.is_empty()
            && id.len() <= 64
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if let Some(id) = given.filter(plain) {
        return id.to_owned();
    }
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 8];
    // Without random bytes a number will do: it only has to be told from others.
    let _ = rand::fill(&mut bytes);
    format!("{:016x}{:04x}", u64::from_be_bytes(bytes), COUNT.fetch_add(1, Ordering::Relaxed) & 0xffff)
}
