//! Every address of the service, once: the router and the reference are made from this list, so that neither knows what the
//! other does not.

use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::{Service, operating, packs, sessions, vault};

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
    /// Who answers; `None` for what has a router of its own.
    pub handler: Option<Handled>,
}

/// A handler for a method.
type Handled = fn(MethodFilter) -> MethodRouter<Arc<Service>>;

const fn route(
    method: Method,
    path: &'static str,
    scope: Option<&'static str>,
    event: &'static str,
    summary: &'static str,
    handler: Handled,
) -> Route {
    Route { method, path, summary, scope, event, handler: Some(handler) }
}

pub(super) const ROUTES: &[Route] = &[
    route(
        Method::GET,
        "/api/v1/packs",
        Some("packs:read"),
        "pack_list",
        "The packs, with the schemas of their inputs and outputs",
        |method| on(method, packs::list),
    ),
    route(Method::GET, "/api/v1/packs/{name}", Some("packs:read"), "pack_list", "One pack", |method| {
        on(method, packs::one)
    }),
    route(Method::POST, "/api/v1/packs/{name}", Some("packs:{name}"), "pack_call", "Run a pack", |method| {
        on(method, packs::call)
    }),
    route(
        Method::POST,
        "/api/v1/packs/{name}/v1",
        Some("packs:{name}"),
        "pack_call",
        "Run the first version of a pack",
        |method| on(method, packs::call),
    ),
    route(
        Method::GET,
        "/api/v1/sessions",
        Some("sessions:read"),
        "session_list",
        "The sessions that the caller keeps",
        |method| on(method, sessions::list),
    ),
    route(
        Method::POST,
        "/api/v1/sessions",
        Some("sessions:write"),
        "session_create",
        "Keep a session across calls",
        |method| on(method, sessions::create),
    ),
    route(
        Method::GET,
        "/api/v1/sessions/{id}",
        Some("sessions:read"),
        "session_read",
        "One session",
        |method| on(method, sessions::one),
    ),
    route(
        Method::DELETE,
        "/api/v1/sessions/{id}",
        Some("sessions:write"),
        "session_delete",
        "End a session",
        |method| on(method, sessions::delete),
    ),
    route(
        Method::GET,
        "/api/v1/vault/credentials",
        Some("vault:read"),
        "vault_list",
        "Names and kinds of credentials, never their values",
        |method| on(method, vault::list),
    ),
    route(
        Method::POST,
        "/api/v1/vault/credentials",
        Some("vault:write"),
        "vault_write",
        "Store a credential",
        |method| on(method, vault::create),
    ),
    route(
        Method::GET,
        "/api/v1/vault/credentials/{name}",
        Some("vault:read"),
        "vault_read",
        "One credential, without its value",
        |method| on(method, vault::one),
    ),
    route(
        Method::DELETE,
        "/api/v1/vault/credentials/{name}",
        Some("vault:write"),
        "vault_delete",
        "Delete a credential",
        |method| on(method, vault::delete),
    ),
    route(
        Method::GET,
        "/api/v1/vault/credentials/{name}/grants",
        Some("vault:read"),
        "vault_grants",
        "Who may use a credential",
        |method| on(method, vault::grants),
    ),
    route(
        Method::POST,
        "/api/v1/vault/credentials/{name}/grants",
        Some("vault:write"),
        "vault_grant",
        "Let a subject use a credential",
        |method| on(method, vault::grant),
    ),
    route(
        Method::DELETE,
        "/api/v1/vault/credentials/{name}/grants",
        Some("vault:write"),
        "vault_revoke",
        "Take a grant back",
        |method| on(method, vault::revoke),
    ),
    route(
        Method::GET,
        "/api/v1/vault/credentials/{name}/usage",
        Some("vault:read"),
        "vault_usage",
        "When a credential was used, and by whom",
        |method| on(method, vault::usage),
    ),
    route(
        Method::GET,
        "/api/v1/audit",
        Some("audit:read"),
        "audit_read",
        "What was done, newest first",
        |method| on(method, operating::audit),
    ),
    route(
        Method::GET,
        "/api/v1/artifacts/{key}",
        None,
        "artifact_read",
        "A file that a pack left, at an address that was signed",
        |method| on(method, operating::artifact),
    ),
    route(Method::GET, "/api/openapi.json", None, "reference", "This description", |method| {
        on(method, operating::reference)
    }),
    route(Method::GET, "/docs", None, "reference", "The same for people", |method| {
        on(method, operating::docs)
    }),
    route(Method::GET, "/healthz", None, "health", "Is the process alive?", |method| {
        on(method, operating::healthz)
    }),
    route(Method::GET, "/readyz", None, "health", "Can it take work?", |method| {
        on(method, operating::readyz)
    }),
    route(Method::GET, "/version", None, "health", "Which version it is", |method| {
        on(method, operating::version)
    }),
    route(
        Method::GET,
        "/metrics",
        None,
        "health",
        "Numbers for Prometheus; only on loopback, or with a token for audit:read",
        |method| on(method, operating::metrics),
    ),
    Route {
        method: Method::POST,
        path: "/mcp",
        summary: "The same packs and tools over MCP (streamable HTTP)",
        scope: Some("mcp:use"),
        event: "mcp",
        handler: None,
    },
];

/// The addresses with their handlers.
pub(super) fn router() -> Router<Arc<Service>> {
    ROUTES.iter().fold(Router::new(), |router, route| {
        match (route.handler, MethodFilter::try_from(route.method.clone())) {
            (Some(handler), Ok(method)) => router.route(route.path, handler(method)),
            _ => router,
        }
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_has_a_handler_but_that_of_mcp() {
        let without: Vec<_> =
            ROUTES.iter().filter(|route| route.handler.is_none()).map(|route| route.path).collect();
        assert_eq!(without, ["/mcp"]);
        assert!(ROUTES.iter().all(|route| MethodFilter::try_from(route.method.clone()).is_ok()));
        // Two for the same method and path would panic.
        assert!(router().has_routes());
    }
}
