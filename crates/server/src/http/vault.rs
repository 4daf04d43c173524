//! The vault over HTTP: credentials go in, never out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use surehand_guard::vault::{Kind, NewCredential, SecretText, SecretValue, Vault, VaultError};
use surehand_session::{Fault, Kind as FaultKind};
use surehand_store::UsageFilter;

use super::Service;
use super::answer::{Refused, json as json_answer, ok};
use super::body::{Asked, Body, Named, read_object};
use crate::safe::{told_to_caller, vault_fault};

type Answered = Result<Response, Refused>;

/// What is to be stored: a value as bytes in base64, or named fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    plaintext_b64: Option<String>,
    fields: Option<serde_json::Map<String, Value>>,
    host: Option<String>,
}

pub(super) fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "pattern": "^[A-Za-z0-9_.-]+$" },
            "type": { "enum": Kind::ALL.map(Kind::as_str) },
            "plaintext_b64": { "type": "string", "description": "The value, or the JSON object of its fields, in base64" },
            "fields": { "type": "object", "description": "Named fields, such as username and password", "additionalProperties": { "type": "string" } },
            "host": { "type": "string", "description": "Where it belongs" },
        },
        "required": ["name", "type"],
        "additionalProperties": false,
    })
}

/// The vault blocks: it has a disk and a lock.
async fn with_vault<T: Send + 'static>(
    service: &Arc<Service>,
    fill: bool,
    work: impl FnOnce(&Vault) -> Result<T, VaultError> + Send + 'static,
) -> Result<T, Refused> {
    let safe = service.safe.clone();
    let done = tokio::task::spawn_blocking(move || {
        let vault = if fill { safe.vault_to_fill()? } else { safe.vault()? };
        Ok::<_, Fault>(work(&vault))
    });
    match done.await.map_err(crate::internal)?.map_err(refused)? {
        Ok(done) => Ok(done),
        Err(VaultError::Unknown { name }) => {
            Err(Refused::not_found(format!("there is no credential {name:?}")))
        }
        Err(error) => Err(refused(vault_fault(error))),
    }
}

fn refused(fault: Fault) -> Refused {
    let is_ours = fault.kind == FaultKind::VaultUnavailable;
    let cause = fault.message.clone();
    let told = told_to_caller(fault);
    match is_ours {
        true => Refused {
            cause: Some(cause),
            ..Refused::new(StatusCode::SERVICE_UNAVAILABLE, "vault_unavailable", told.message).retry_after(10)
        },
        false => told.into(),
    }
}

pub(super) async fn list(State(service): State<Arc<Service>>) -> Answered {
    let names = with_vault(&service, false, Vault::names).await?;
    Ok(ok(&json!({ "credentials": names })))
}

pub(super) async fn one(State(service): State<Arc<Service>>, Named(name): Named) -> Answered {
    Ok(ok(&with_vault(&service, false, move |vault| vault.get(&name)).await?))
}

pub(super) async fn create(State(service): State<Arc<Service>>, Body(body): Body) -> Answered {
    // What cannot be read is not repeated: it may be the secret.
    let unreadable =
        || Refused::bad("the body must have name, type and plaintext_b64 or fields, and nothing else");
    let stored: Stored = serde_json::from_value(read_object(&body)?).map_err(|_| unreadable())?;
    let kind: Kind = stored
        .kind
        .parse()
        .map_err(|_| Refused::bad(format!("type is one of {}", Kind::ALL.map(Kind::as_str).join(", "))))?;
    let value = match (stored.plaintext_b64, stored.fields) {
        (Some(text), None) => {
            let bytes =
                BASE64_STANDARD.decode(text).map_err(|_| Refused::bad("plaintext_b64 is no base64"))?;
            SecretValue::from_plaintext(bytes)
        }
        (None, Some(fields)) => {
            let field = |(name, value)| match value {
                Value::String(text) => Ok((name, SecretText::new(text))),
                _ => Err(Refused::bad("every field must be a text")),
            };
            SecretValue::Fields(fields.into_iter().map(field).collect::<Result<_, _>>()?)
        }
        _ => return Err(unreadable()),
    };
    let new = NewCredential { name: stored.name, kind, host: stored.host, value };
    let made = with_vault(&service, true, move |vault| vault.set(new)).await?;
    Ok(json_answer(StatusCode::CREATED, &made))
}

pub(super) async fn delete(State(service): State<Arc<Service>>, Named(name): Named) -> Answered {
    let removed = name.clone();
    with_vault(&service, false, move |vault| vault.remove(&removed)).await?;
    Ok(ok(&json!({ "name": name, "deleted": true })))
}

pub(super) async fn grants(State(service): State<Arc<Service>>, Named(name): Named) -> Answered {
    let grants = with_vault(&service, false, move |vault| vault.grants(&name)).await?;
    Ok(ok(&json!({ "grants": grants })))
}

/// Who a grant is for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grantee {
    subject: String,
    #[serde(default)]
    client: String,
}

pub(super) async fn grant(
    State(service): State<Arc<Service>>,
    Named(name): Named,
    Body(body): Body,
) -> Answered {
    let Grantee { subject, client } =
        serde_json::from_value(read_object(&body)?).map_err(|error| Refused::bad(error.to_string()))?;
    let (to, through) = (subject.clone(), client.clone());
    let granted = with_vault(&service, false, move |vault| vault.grant(&name, &to, &through)).await?;
    let status = if granted { StatusCode::CREATED } else { StatusCode::OK };
    Ok(json_answer(status, &json!({ "subject": subject, "client": client, "new": granted })))
}

pub(super) async fn revoke(
    State(service): State<Arc<Service>>,
    Named(name): Named,
    Asked(Grantee { subject, client }): Asked<Grantee>,
) -> Answered {
    let revoked = with_vault(&service, false, move |vault| vault.revoke(&name, &subject, &client)).await?;
    match revoked {
        true => Ok(ok(&json!({ "revoked": true }))),
        false => Err(Refused::not_found("there is no such grant")),
    }
}

pub(super) async fn usage(State(service): State<Arc<Service>>, Named(name): Named) -> Answered {
    let filter = UsageFilter { name: Some(name), ..UsageFilter::default() };
    let usage = with_vault(&service, false, move |vault| vault.usage(&filter)).await?;
    Ok(ok(&json!({ "usage": usage })))
}
