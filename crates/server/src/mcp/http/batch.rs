//! Batches over HTTP, which one revision has: each message takes the usual way, and the answers leave together.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::ProtocolVersion;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::mcp::judge::{Judged, Refusal, message};

/// They run at once, so there must be an end to them.
const MOST: usize = 100;

/// No answer is larger than this.
const LARGEST_ANSWER: usize = 256 * 1024 * 1024;

/// Does this client speak the revision that has batches? Its clients do not say so with each request.
pub(super) fn are_taken(headers: &HeaderMap) -> bool {
    headers
        .get("mcp-protocol-version")
        .is_none_or(|version| version.as_bytes() == ProtocolVersion::V_2025_03_26.as_str().as_bytes())
}

/// The messages of a body that is a batch.
pub(super) fn of(body: &Bytes) -> Option<Vec<Value>> {
    if body.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    serde_json::from_slice(body).ok().filter(|messages: &Vec<Value>| !messages.is_empty())
}

/// Answers a batch. Where one message may not come in, none may.
pub(super) async fn answer(parts: Parts, messages: Vec<Value>, next: Next) -> Response {
    if messages.len() > MOST {
        let refusal = Refusal::invalid(format!("a batch has at most {MOST} messages"));
        return super::refused(StatusCode::BAD_REQUEST, &refusal);
    }
    let (mut answers, mut running) = (Vec::new(), JoinSet::new());
    for one in messages {
        // Its session would be lost among the other answers.
        if one["method"] == "initialize" {
            let refusal = Refusal::invalid("an introduction is no part of a batch");
            return super::refused(StatusCode::BAD_REQUEST, &refusal);
        }
        let body = Body::from(one.to_string());
        match message(one) {
            Judged::Refused(refusal) => answers.push(refusal.to_json()),
            _ => {
                let (request, next) = (Request::from_parts(parts.clone(), body), next.clone());
                running.spawn(async move { read(next.run(request).await).await });
            }
        }
    }
    while let Some(read) = running.join_next().await {
        match read {
            Ok(Ok(more)) => answers.extend(more),
            Ok(Err(turned_away)) => return *turned_away,
            Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
    if answers.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    ([(header::CONTENT_TYPE, "application/json")], Value::Array(answers).to_string()).into_response()
}

/// The answers in a response, be it JSON or a stream of events; or the response itself, if it is none.
async fn read(response: Response) -> Result<Vec<Value>, Box<Response>> {
    if !response.status().is_success() {
        return Err(Box::new(response));
    }
    let Ok(body) = to_bytes(response.into_body(), LARGEST_ANSWER).await else { return Ok(Vec::new()) };
    let text = String::from_utf8_lossy(&body);
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    let is_answer = |message: &Value| message.get("result").is_some() || message.get("error").is_some();
    Ok(lines.filter_map(|line| serde_json::from_str(line).ok()).filter(is_answer).collect())
}
