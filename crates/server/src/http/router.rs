//! What stands before all addresses, and what answers where there is none.

use std::sync::Arc;

use axum::Router;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use surehand_session::SessionOptions;
use surehand_tools::Toolset;
use surehand_tools::packs::Lender;
use surehand_verbs::Settings;
use tokio_util::sync::CancellationToken;

use super::answer::Refused;
use super::body::in_time;
use super::gate::{authenticate, check_origin, observe};
use super::guest::welcome;
use super::record::LONGEST;
use super::{Service, routes};
use crate::executor::Executor;
use crate::mcp;

pub(super) fn router(service: &Arc<Service>, stop: &CancellationToken) -> Router {
    routes::router()
        .merge(mcp_router(service, stop))
        .fallback(unknown)
        .layer(from_fn_with_state(service.clone(), in_time))
        .layer(from_fn_with_state(service.clone(), authenticate))
        .layer(from_fn_with_state(service.clone(), check_origin))
        .layer(from_fn_with_state(service.clone(), observe))
        .with_state(service.clone())
}

/// The same engine over MCP: each client has a session of its own, guarded like all others.
fn mcp_router(service: &Arc<Service>, stop: &CancellationToken) -> Router<Arc<Service>> {
    let home = &service.options.home;
    // A client that does nothing gives its place to others.
    let idle = u64::try_from(service.options.session_time.as_millis()).ok();
    let browser = SessionOptions { idle_timeout: idle, ..service.options.session() };
    let settings = Settings { options: browser, without_files: true, ..Settings::default() };
    let options = mcp::McpOptions {
        toolsets: vec![Toolset::Page, Toolset::Packs],
        settings,
        shared: false,
        home: home.clone(),
        http: None,
        secrets: None,
    };
    let executor = Executor::over(service.sessions.clone(), Lender::default());
    mcp::router(&options, &executor, service.names.clone(), stop)
        .layer(from_fn_with_state(service.clone(), welcome))
}

async fn unknown(uri: Uri) -> Refused {
    let path: String = uri.path().chars().take(LONGEST).collect();
    Refused::not_found(format!("there is nothing at {path}; see /docs"))
}
