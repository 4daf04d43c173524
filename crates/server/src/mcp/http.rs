//! Many clients over streamable HTTP.

mod batch;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use surehand_session::{Fault, Kind};

use super::McpOptions;
use super::handler::Handler;
use super::judge::{Judged, LARGEST_REQUEST, Refusal, judge};
use crate::connections::{Connections, Limits};
use crate::door;
use crate::executor::Executor;
use crate::ipc;

/// How to serve.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Where to listen.
    pub address: SocketAddr,
    /// What clients must show; needed where others can reach the address.
    pub token: Option<String>,
    /// Names, with or without a port, under which clients reach the server beside its own address.
    pub allowed_hosts: Vec<String>,
}

/// A client that is silent for this long is gone, and its session with it.
const SILENCE: Duration = Duration::from_secs(30 * 60);

pub(super) async fn serve(
    options: &McpOptions,
    http: &HttpOptions,
    executor: &Executor,
) -> Result<(), Fault> {
    door::check(http)?;
    let listener = tokio::net::TcpListener::bind(http.address).await.map_err(|error| {
        Fault::new(Kind::EndpointUnreachable, format!("cannot listen on {}: {error}", http.address))
            .hint("choose another port; 0 lets the system choose")
    })?;
    let bound = listener.local_addr().map_err(crate::internal)?;
    let stop = tokio_util::sync::CancellationToken::new();
    let app = Router::new()
        .merge(router(options, executor, door::Names::of(bound, &http.allowed_hosts), &stop))
        .layer(from_fn_with_state(Arc::new(http.token.clone()), check_token));
    tracing::info!("listening on http://{bound}/mcp");
    crate::say(&format!("http://{bound}/mcp"));
    let told = stop.clone();
    tokio::spawn(async move {
        // Whatever it is, it means the end.
        let _ = ipc::asked_to_end().await;
        told.cancel();
    });
    Connections::new(Limits::default()).serve(listener, app, &stop).await;
    Ok(())
}

/// `/mcp`, for whoever listens. Who may come in is up to them.
pub(crate) fn router<S: Clone + Send + Sync + 'static>(
    options: &McpOptions,
    executor: &Executor,
    names: door::Names,
    stop: &tokio_util::sync::CancellationToken,
) -> Router<S> {
    Router::new()
        .route_service("/mcp", service(options, executor, names, stop))
        .layer(from_fn(tell_what_is_wrong))
}

fn service(
    options: &McpOptions,
    executor: &Executor,
    names: door::Names,
    stop: &tokio_util::sync::CancellationToken,
) -> StreamableHttpService<Handler, LocalSessionManager> {
    let mut sessions = LocalSessionManager::default();
    let mut config = SessionConfig::default();
    config.keep_alive = Some(SILENCE);
    sessions.session_config = config;
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(names.origins)
        .with_allowed_hosts(names.hosts)
        .enforce_origin_validation()
        .with_max_request_body_bytes(LARGEST_REQUEST)
        .with_cancellation_token(stop.clone());
    let (options, executor) = (Arc::new(options.clone()), executor.clone());
    StreamableHttpService::new(move || Ok(Handler::new(&options, &executor)), Arc::new(sessions), config)
}

async fn check_token(State(token): State<Arc<Option<String>>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if token.as_deref().is_none_or(|token| door::shows(given, token)) {
        return next.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], "a token is needed").into_response()
}

/// The SDK answers a body that it cannot read as if it were of another type. It goes first all the same: who may not
/// come in is not told anything.
async fn tell_what_is_wrong(request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !is_json(request.headers()) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LARGEST_REQUEST).await else {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, &Refusal::too_large(None));
    };
    if batch::are_taken(&parts.headers)
        && let Some(messages) = batch::of(&body)
    {
        return batch::answer(parts, messages, next).await;
    }
    let response = next.run(Request::from_parts(parts, Body::from(body.clone()))).await;
    match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => unreadable(&body).unwrap_or(response),
        _ => response,
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn unreadable(body: &Bytes) -> Option<Response> {
    match judge(body, false) {
        Judged::Refused(refusal) => Some(refused(StatusCode::BAD_REQUEST, &refusal)),
        // An empty body is no message either.
        Judged::Nothing => Some(refused(StatusCode::BAD_REQUEST, &Refusal::empty())),
        Judged::Message(_) | Judged::Batch(_) => None,
    }
}

fn refused(status: StatusCode, refusal: &Refusal) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (status, json, refusal.to_json().to_string()).into_response()
}
