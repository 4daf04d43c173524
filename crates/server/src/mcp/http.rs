//! Many clients over streamable HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use surehand_session::{Fault, Kind};

use super::McpOptions;
use super::handler::Handler;
use crate::executor::Executor;
use crate::ipc;

/// How to serve.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Where to listen.
    pub address: SocketAddr,
    /// What clients must show; needed where others can reach the address.
    pub token: Option<String>,
}

/// A client that is silent for this long is gone, and its session with it.
const SILENCE: Duration = Duration::from_secs(30 * 60);

/// A tool call is not a film.
const LARGEST_REQUEST: usize = 16 * 1024 * 1024;

pub(super) async fn serve(
    options: &McpOptions,
    http: &HttpOptions,
    executor: &Executor,
) -> Result<(), Fault> {
    if !http.address.ip().is_loopback() && http.token.is_none() {
        return Err(Fault::new(Kind::Usage, format!("others can reach {}: a token is needed", http.address))
            .hint("give one with SUREHAND_MCP_TOKEN, or listen on 127.0.0.1"));
    }
    let listener = tokio::net::TcpListener::bind(http.address).await.map_err(|error| {
        Fault::new(Kind::EndpointUnreachable, format!("cannot listen on {}: {error}", http.address))
            .hint("choose another port; 0 lets the system choose")
    })?;
    let bound = listener.local_addr().map_err(crate::internal)?;
    let stop = tokio_util::sync::CancellationToken::new();
    let app = Router::new()
        .route_service("/mcp", service(options, executor, bound, &stop))
        .layer(from_fn_with_state(Arc::new(http.token.clone()), check_token));
    tracing::info!("listening on http://{bound}/mcp");
    crate::say(&format!("http://{bound}/mcp"));
    let ended = async move {
        // Whatever it is, it means the end.
        let _ = ipc::asked_to_end().await;
        stop.cancel();
    };
    axum::serve(listener, app).with_graceful_shutdown(ended).await.map_err(crate::internal)
}

fn service(
    options: &McpOptions,
    executor: &Executor,
    bound: SocketAddr,
    stop: &tokio_util::sync::CancellationToken,
) -> StreamableHttpService<Handler, LocalSessionManager> {
    let mut sessions = LocalSessionManager::default();
    let mut config = SessionConfig::default();
    config.keep_alive = Some(SILENCE);
    sessions.session_config = config;
    // A page in somebody's browser must not reach this server: neither under another name nor from another origin.
    let port = bound.port();
    let mut hosts = vec![bound.to_string(), bound.ip().to_string()];
    if bound.ip().is_loopback() || bound.ip().is_unspecified() {
        hosts.extend(["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()]);
    }
    let origins = hosts.iter().map(|host| {
        if host.ends_with(&format!(":{port}")) {
            format!("http://{host}")
        } else {
            format!("http://{}:{port}", bracketed(host))
        }
    });
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(origins.collect::<Vec<_>>())
        .with_allowed_hosts(hosts)
        .enforce_origin_validation()
        .with_max_request_body_bytes(LARGEST_REQUEST)
        .with_cancellation_token(stop.clone());
    let (options, executor) = (Arc::new(options.clone()), executor.clone());
    StreamableHttpService::new(move || Ok(Handler::new(&options, &executor)), Arc::new(sessions), config)
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

async fn check_token(State(token): State<Arc<Option<String>>>, request: Request, next: Next) -> Response {
    let Some(token) = token.as_deref() else { return next.run(request).await };
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if same(given.as_bytes(), token.as_bytes()) {
        return next.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], "a token is needed").into_response()
}

/// Takes the same time wherever they differ.
fn same(given: &[u8], wanted: &[u8]) -> bool {
    let differing = given.iter().zip(wanted).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == wanted.len() && differing == 0
}
