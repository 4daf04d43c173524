//! Every address of the service, once: the router, the reference and the test that both agree are made from this list.

use axum::http::Method;

/// One address.
#[derive(Debug)]
pub(super) struct Route {
    pub method: Method,
    pub path: &'static str,
    pub summary: &'static str,
    /// What a token must allow; `None` for what is open to everybody. `{name}` is the name in the path.
    pub scope: Option<&'static str>,
    /// What kind of event it is to the audit.
    pub event: &'static str,
}

const fn route(
    method: Method,
    path: &'static str,
    scope: Option<&'static str>,
    event: &'static str,
    summary: &'static str,
) -> Route {
    Route { method, path, summary, scope, event }
}

pub(super) const ROUTES: &[Route] = &[
    route(
        Method::GET,
        "/api/v1/packs",
        Some("packs:read"),
        "pack_list",
        "The packs, with the schemas of their inputs and outputs",
    ),
    route(Method::GET, "/api/v1/packs/{name}", Some("packs:read"), "pack_list", "One pack"),
    route(Method::POST, "/api/v1/packs/{name}", Some("packs:{name}"), "pack_call", "Run a pack"),
    route(
        Method::POST,
        "/api/v1/packs/{name}/v1",
        Some("packs:{name}"),
        "pack_call",
        "Run the first version of a pack",
    ),
    route(
        Method::GET,
        "/api/v1/sessions",
        Some("sessions:read"),
        "session_list",
        "The sessions that the caller keeps",
    ),
    route(
        Method::POST,
        "/api/v1/sessions",
        Some("sessions:write"),
        "session_create",
        "Keep a session across calls",
    ),
    route(Method::GET, "/api/v1/sessions/{id}", Some("sessions:read"), "session_read", "One session"),
    route(Method::DELETE, "/api/v1/sessions/{id}", Some("sessions:write"), "session_delete", "End a session"),
    route(
        Method::GET,
        "/api/v1/vault/credentials",
        Some("vault:read"),
        "vault_list",
        "Names and kinds of credentials, never their values",
    ),
    route(
        Method::POST,
        "/api/v1/vault/credentials",
        Some("vault:write"),
        "vault_write",
        "Store a credential",
    ),
    route(
        Method::GET,
        "/api/v1/vault/credentials/{name}",
        Some("vault:read"),
        "vault_read",
        "One credential, without its value",
    ),
    route(
        Method::DELETE,
        "/api/v1/vault/credentials/{name}",
        Some("vault:write"),
        "vault_delete",
        "Delete a credential",
    ),
    route(
        Method::GET,
        "/api/v1/vault/credentials/{name}/grants",
        Some("vault:read"),
        "vault_grants",
        "Who may use a credential",
    ),
    route(
        Method::POST,
        "/api/v1/vault/credentials/{name}/grants",
        Some("vault:write"),
        "vault_grant",
        "Let a subject use a credential",
    ),
    route(
        Method::DELETE,
        "/api/v1/vault/credentials/{name}/grants",
        Some("vault:write"),
        "vault_revoke",
        "Take a grant back",
    ),
    route(
        Method::GET,
        "/api/v1/vault/credentials/{name}/usage",
        Some("vault:read"),
        "vault_usage",
        "When a credential was used, and by whom",
    ),
    route(Method::GET, "/api/v1/audit", Some("audit:read"), "audit_read", "What was done, newest first"),
    route(
        Method::GET,
        "/api/v1/artifacts/{key}",
        None,
        "artifact_read",
        "A file that a pack left, at an address that was signed",
    ),
    route(Method::GET, "/api/openapi.json", None, "reference", "This description"),
    route(Method::GET, "/docs", None, "reference", "The same for people"),
    route(Method::GET, "/healthz", None, "health", "Is the process alive?"),
    route(Method::GET, "/readyz", None, "health", "Can it take work?"),
    route(Method::GET, "/version", None, "health", "Which version it is"),
    route(
        Method::GET,
        "/metrics",
        None,
        "health",
        "Numbers for Prometheus; only on loopback, or with a token for audit:read",
    ),
    route(
        Method::POST,
        "/mcp",
        Some("mcp:use"),
        "mcp",
        "The same packs and tools over MCP (streamable HTTP)",
    ),
];

/// The route of a request, by the pattern that matched.
pub(super) fn find(method: &Method, pattern: &str) -> Option<&'static Route> {
    // Who asks for the head alone asks for the same.
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    // Of MCP also GET and DELETE are one address.
    ROUTES.iter().find(|route| route.path == pattern && (route.method == *method || pattern == "/mcp"))
}

/// What can be asked of a pattern, as the header `Allow` tells it.
pub(super) fn methods(pattern: &str) -> String {
    let mut methods: Vec<&str> =
        ROUTES.iter().filter(|route| route.path == pattern).map(|route| route.method.as_str()).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.sort_unstable();
    methods.join(",")
}
