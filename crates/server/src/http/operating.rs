//! What who operates the service asks it: is it well, what did it do, what can it do.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use surehand_store::AuditFilter;

use super::Service;
use super::answer::{Refused, json as json_answer, ok};
use super::body::{Asked, Named};
use super::metrics::Gauges;
use super::openapi;
use crate::safe::store_fault;

/// The process is alive.
pub(super) async fn healthz() -> Response {
    ok(&json!({ "status": "ok" }))
}

/// Can it take work?
pub(super) async fn readyz(State(service): State<Arc<Service>>) -> Response {
    let (working, waiting) = service.admission.load();
    let capacity = service.admission.capacity();
    let reasons: Vec<&str> = [
        ("draining", service.is_draining()),
        ("the audit cannot be written", !service.recorder.is_healthy()),
        ("no browser can be had; the log says why", !service.browser.is_well()),
        ("the line is full", waiting >= capacity.waiting),
    ]
    .into_iter()
    .filter_map(|(reason, holds)| holds.then_some(reason))
    .collect();
    let status = if reasons.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let ready = reasons.is_empty();
    let body = json!({
        "ready": ready, "reasons": reasons, "working": working, "waiting": waiting, "sessions": capacity.sessions,
    });
    json_answer(status, &body)
}

pub(super) async fn version() -> Response {
    ok(&json!({ "name": "surehand", "version": env!("CARGO_PKG_VERSION") }))
}

pub(super) async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let (working, waiting) = service.admission.load();
    let sessions = service.sessions.all().len();
    let connections = service.connections.open();
    let text = service.metrics.text(Gauges { working, waiting, sessions, connections });
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

pub(super) async fn reference(State(service): State<Arc<Service>>) -> Response {
    ok(&openapi::document(&service.base))
}

/// A page that reads the reference; nothing of it comes from elsewhere.
pub(super) async fn docs() -> Response {
    const PAGE: &str = include_str!("docs.html");
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'",
        ),
    ];
    (headers, PAGE).into_response()
}

/// What was done, newest first.
pub(super) async fn audit(
    State(service): State<Arc<Service>>,
    Asked(filter): Asked<AuditFilter>,
) -> Result<Response, Refused> {
    if filter.limit.is_some_and(|limit| limit == 0 || limit > AuditFilter::MOST) {
        return Err(Refused::bad(format!("limit must be from 1 to {}", AuditFilter::MOST)));
    }
    // What was done a moment ago is in it.
    service.recorder.flush().await;
    let store = service.safe.store()?;
    let rows =
        tokio::task::spawn_blocking(move || store.query_audit(&filter)).await.map_err(crate::internal)?;
    let rows = rows.map_err(store_fault)?;
    let next = rows.last().map(|row| row.seq).filter(|seq| *seq > 1);
    Ok(ok(&json!({ "entries": rows, "before": next })))
}

/// What an address that was signed carries.
#[derive(Debug, Deserialize)]
pub(super) struct Signed {
    expires: u64,
    signature: String,
}

pub(super) async fn artifact(
    State(service): State<Arc<Service>>,
    Named(key): Named,
    Asked(Signed { expires, signature }): Asked<Signed>,
) -> Result<Response, Refused> {
    let found = service.artifacts.fetch(&key, expires, &signature);
    let bytes = found.ok_or_else(|| {
        Refused::new(StatusCode::FORBIDDEN, "invalid_signature", "the address is not signed, or too old")
    })?;
    let bytes = bytes.map_err(|_| Refused::not_found("the file is not there any more"))?;
    let kind = if key.ends_with(".png") { "image/png" } else { "application/octet-stream" };
    Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response())
}
