//! What each address answers with when all is well, as the reference tells it. The tests hold real answers against it.

use serde_json::{Value, json};

use super::routes::Route;

/// The content of the answer; `None` where the addresses have their own reference, as MCP has.
pub(super) fn content(route: &Route) -> Option<Value> {
    let kind = match route.path {
        "/mcp" => return None,
        "/metrics" => "text/plain",
        "/docs" => "text/html",
        "/api/v1/artifacts/{key}" => "image/png",
        _ => return Some(json!({ "application/json": { "schema": schema(route) } })),
    };
    Some(json!({ kind: { "schema": { "type": "string" } } }))
}

/// Why it takes no work now, in the same form as when it does.
pub(super) fn readiness() -> Value {
    object(&[
        ("ready", json!({ "type": "boolean" })),
        ("reasons", list(text("Why not"))),
        ("working", number("Sessions that have a place")),
        ("waiting", number("Requests in line")),
        ("sessions", number("How many places there are")),
    ])
}

fn schema(route: &Route) -> Value {
    match (route.event, route.path) {
        ("pack_list", "/api/v1/packs") => object(&[("packs", list(pack()))]),
        ("pack_list", _) => pack(),
        ("session_list", _) => object(&[("sessions", list(session()))]),
        ("session_create" | "session_read", _) => session(),
        ("session_delete", _) => object(&[("session_id", text("")), ("ended", json!({ "const": true }))]),
        ("vault_list", _) => object(&[("credentials", list(credential()))]),
        ("vault_write" | "vault_read", _) => credential(),
        ("vault_delete", _) => object(&[("name", text("")), ("deleted", json!({ "const": true }))]),
        ("vault_grants", _) => object(&[("grants", list(grant()))]),
        ("vault_grant", _) => object(&[
            ("subject", text("")),
            ("client", text("")),
            ("new", json!({ "type": "boolean", "description": "Was it not granted before?" })),
        ]),
        ("vault_revoke", _) => object(&[("revoked", json!({ "const": true }))]),
        ("vault_usage", _) => object(&[("usage", list(usage()))]),
        ("audit_read", _) => object(&[
            ("entries", list(json!({ "type": "object", "description": "A row; see docs/security.md" }))),
            ("before", maybe("integer", "Where to go on, if there is more")),
        ]),
        (_, "/healthz") => object(&[("status", json!({ "const": "ok" }))]),
        (_, "/readyz") => readiness(),
        (_, "/version") => object(&[("name", text("")), ("version", text(""))]),
        _ => json!({ "type": "object" }),
    }
}

fn pack() -> Value {
    object(&[
        ("name", text("")),
        ("version", text("")),
        ("description", text("")),
        ("needs_session", json!({ "type": "boolean" })),
        ("input_schema", json!({ "type": "object" })),
        ("output_schema", json!({ "type": "object" })),
    ])
}

fn session() -> Value {
    object(&[
        ("session_id", text("")),
        ("url", text("Where its page is")),
        ("created_at", number("Seconds since 1970")),
        ("expires_at", number("Seconds since 1970")),
        ("expires_in_ms", number("")),
    ])
}

fn credential() -> Value {
    object(&[
        ("id", text("")),
        ("name", text("")),
        ("type", text("login, cookie, api_key, oauth or ssh")),
        ("host", maybe("string", "Where it belongs")),
        ("fields", list(text("Names of its fields"))),
        ("version", number("Grows with each change")),
        ("created", text("RFC 3339")),
        ("updated", text("RFC 3339")),
    ])
}

fn grant() -> Value {
    object(&[
        ("subject", text("`*` is everybody")),
        ("client", text("Empty for any program")),
        ("created", text("RFC 3339")),
    ])
}

fn usage() -> Value {
    object(&[
        ("id", number("")),
        ("ts", text("RFC 3339")),
        ("name", text("")),
        ("field", maybe("string", "")),
        ("credential_id", maybe("string", "The credential that had the name then")),
        ("subject", text("")),
        ("client", text("")),
        ("outcome", text("allowed, denied or no_match")),
    ])
}

fn object(members: &[(&str, Value)]) -> Value {
    let properties: serde_json::Map<_, _> =
        members.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn text(about: &str) -> Value {
    described("string", about)
}

fn number(about: &str) -> Value {
    described("integer", about)
}

fn described(sort: &str, about: &str) -> Value {
    match about {
        "" => json!({ "type": sort }),
        about => json!({ "type": sort, "description": about }),
    }
}

/// What may be nothing.
fn maybe(sort: &str, about: &str) -> Value {
    json!({ "type": [sort, "null"], "description": about })
}
