//! The reference as OpenAPI 3.1, made from the list of routes and the schemas of the packs.

use serde_json::{Map, Value, json};
use surehand_tools::packs::{PACKS, PackEntry};

use super::answers;
use super::routes::{ROUTES, Route};

/// The whole document.
pub(super) fn document(server: &str) -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        // Each pack is described by itself.
        if route.path == "/api/v1/packs/{name}" && route.method == axum::http::Method::POST {
            continue;
        }
        add(&mut paths, route.path, &route.method.as_str().to_ascii_lowercase(), operation(route));
        if route.path == "/mcp" {
            for (method, about) in
                [("get", "What the server tells by itself, as events"), ("delete", "End a session")]
            {
                let mut more = operation(route);
                more["summary"] = about.into();
                more["operationId"] = format!("{method}_mcp").into();
                add(&mut paths, route.path, method, more);
            }
        }
    }
    let calls = ROUTES.iter().find(|route| route.event == "pack_call");
    for (pack, call) in PACKS.iter().filter_map(|pack| Some((pack, calls?))) {
        add(&mut paths, &format!("/api/v1/packs/{}", pack.name), "post", pack_operation(pack, call));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Surehand",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Browser work for other programs: authenticated, guarded, audited.",
            "license": { "name": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": server }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" } },
            "schemas": { "Error": error_schema() },
        },
    })
}

fn add(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    let item = paths.entry(path.to_owned()).or_insert_with(|| json!({}));
    if let Some(item) = item.as_object_mut() {
        item.insert(method.to_owned(), operation);
    }
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "summary": route.summary,
        "operationId": operation_id(route),
        "tags": [tag(route.path)],
        "parameters": parameters(route),
        "responses": responses(success(route), done(answers::content(route)), route),
    });
    if let Some(scope) = route.scope {
        operation["security"] = json!([{ "bearer": [] }]);
        operation["description"] = format!("Needs the scope `{scope}`.").into();
    }
    if let Some(body) = body(route) {
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": body } } });
    }
    operation
}

/// What a pack takes over HTTP: its own input, and where to work.
pub(super) fn input_schema(pack: &PackEntry) -> Map<String, Value> {
    let mut input = (pack.input_schema)();
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        let about = "A session of `POST /api/v1/sessions` to work in; without one the call has its own";
        properties.insert("session_id".to_owned(), json!({ "type": "string", "description": about }));
    }
    input
}

fn pack_operation(pack: &PackEntry, route: &Route) -> Value {
    let input = input_schema(pack);
    let output = json!({ "application/json": { "schema": (pack.output_schema)() } });
    json!({
        "summary": pack.description,
        "description": format!("Needs the scope `packs:{}`.", pack.name),
        "operationId": pack.tool,
        "tags": ["packs"],
        "security": [{ "bearer": [] }],
        "requestBody": { "required": true, "content": { "application/json": { "schema": input } } },
        "responses": responses("200", done(Some(output)), route),
    })
}

/// Of no two operations the same: programs make the names of functions of it.
fn operation_id(route: &Route) -> String {
    let words = route.path.split(['/', '.', '{', '}']).filter(|word| !matches!(*word, "" | "api"));
    let method = route.method.as_str().to_ascii_lowercase();
    words.fold(method, |id, word| format!("{id}_{word}"))
}

fn success(route: &Route) -> &'static str {
    match route.event {
        "session_create" | "vault_write" | "vault_grant" => "201",
        _ => "200",
    }
}

fn tag(path: &str) -> &str {
    match path.strip_prefix("/api/v1/") {
        Some(rest) => rest.split('/').next().unwrap_or(rest),
        None => "operating",
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path =
        route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).map(
            |name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }),
        );
    let query = |names: &[(&str, &str)]| -> Vec<Value> {
        let parameter = |(name, about): &(&str, &str)| json!({ "name": name, "in": "query", "description": about, "schema": { "type": "string" } });
        names.iter().map(parameter).collect()
    };
    let asked = match route.event {
        "audit_read" => query(&[
            ("from", "RFC 3339; this and later"),
            ("to", "RFC 3339; earlier than this"),
            ("event_type", "pack_call, action, …"),
            ("session_id", ""),
            ("actor_subject", ""),
            ("severity", "info, warning or error"),
            ("request_id", "Of this request"),
            ("before", "Rows with a smaller number, to go on"),
            ("limit", "100 if it does not say, at most 1000"),
        ]),
        "artifact_read" => query(&[("expires", ""), ("signature", "")]),
        "vault_revoke" => query(&[("subject", "Whose grant"), ("client", "Of which program")]),
        _ => Vec::new(),
    };
    in_path.chain(asked).collect()
}

fn body(route: &Route) -> Option<Value> {
    match route.event {
        "session_create" => Some(json!({
            "type": "object",
            "properties": { "timeout_ms": { "type": "integer", "minimum": 1000 } },
            "additionalProperties": false,
        })),
        "pack_call" => Some(json!({ "type": "object", "description": "As the pack wants it" })),
        "vault_write" => Some(super::vault::input_schema()),
        "vault_grant" => Some(json!({
            "type": "object",
            "properties": {
                "subject": { "type": "string", "description": "`*` for everybody" },
                "client": { "type": "string", "description": "Empty for any program" },
            },
            "required": ["subject"],
            "additionalProperties": false,
        })),
        _ => None,
    }
}

/// An answer instead of what was asked for: its status, who may get it, and what about.
type Refusal = (&'static str, fn(&Route) -> bool, &'static str);

const REFUSALS: &[Refusal] = &[
    ("400", takes_input, "invalid_input: the request makes no sense, or asks for what the guard refuses"),
    ("401", is_guarded, "missing_bearer, invalid_token"),
    ("403", may_be_forbidden, "insufficient_scope, forbidden_origin, invalid_signature"),
    ("404", names_something, "not_found"),
    ("408", takes_a_body, "request_timeout: the body took too long"),
    ("409", runs_a_pack, "session_busy: another call works in the session"),
    ("413", takes_a_body, "payload_too_large"),
    (
        "429",
        wants_a_session,
        "too_many_requests, too_many_sessions: the caller has its share; see Retry-After",
    ),
    ("500", is_guarded, "internal"),
    (
        "502",
        runs_a_pack,
        "handler_failed: something in the middle did not work; steps_completed says how far it came",
    ),
    (
        "503",
        may_be_unavailable,
        "not now: session_unavailable, overloaded, draining, audit_unavailable, …; see Retry-After",
    ),
    ("504", runs_a_pack, "timeout: the time of the session was over"),
];

fn is_guarded(route: &Route) -> bool {
    route.scope.is_some()
}

fn takes_input(route: &Route) -> bool {
    takes_a_body(route) || !parameters(route).is_empty()
}

fn takes_a_body(route: &Route) -> bool {
    body(route).is_some() || route.path == "/mcp"
}

fn may_be_forbidden(route: &Route) -> bool {
    is_guarded(route) || route.event == "artifact_read"
}

fn names_something(route: &Route) -> bool {
    route.path.contains('{')
}

fn runs_a_pack(route: &Route) -> bool {
    route.event == "pack_call"
}

fn wants_a_session(route: &Route) -> bool {
    runs_a_pack(route) || route.event == "session_create"
}

fn may_be_unavailable(route: &Route) -> bool {
    is_guarded(route)
}

fn done(content: Option<Value>) -> Value {
    match content {
        Some(content) => json!({ "description": "done", "content": content }),
        None => json!({ "description": "done" }),
    }
}

fn responses(success: &str, done: Value, route: &Route) -> Value {
    let content = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } });
    let mut all = json!({ success: done });
    if route.event == "vault_grant" {
        all["200"] = json!({ "description": "it was granted before", "content": answers::content(route) });
    }
    for (status, _, about) in REFUSALS.iter().filter(|(_, is_given, _)| is_given(route)) {
        all[status] = json!({ "description": about, "content": content });
    }
    if route.path == "/readyz" {
        let why = json!({ "application/json": { "schema": answers::readiness() } });
        all["503"] = json!({ "description": "not now", "content": why });
    }
    all
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "error": { "type": "string", "description": "A stable code" },
            "message": { "type": "string" },
            "steps_completed": { "type": "integer", "description": "How many actions were done before" },
            "blocked_requests": { "type": "array", "description": "What the egress guard refused until then" },
            "retry_after": { "type": "integer", "description": "Seconds, as in Retry-After" },
        },
        "required": ["error", "message"],
    })
}
