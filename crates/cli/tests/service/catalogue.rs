//! What the service says about itself: the catalogue, the reference, the page for people.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::common::fresh_cli;
use crate::fixture::{pages, shared};

const NAMES: [&str; 5] =
    ["browser.interact", "browser.screenshot_url", "web.scrape_spa", "web.scrape", "web.login_and_fetch"];

#[test]
fn the_catalogue_is_what_the_code_says() {
    let service = shared();
    let catalogue = service.get("/api/v1/packs").ok();
    let packs = catalogue["packs"].as_array().unwrap();
    let names: Vec<&str> = packs.iter().map(|pack| pack["name"].as_str().unwrap()).collect();
    assert_eq!(names, NAMES);
    let local = service.cli.json(&["pack", "list"]).unwrap();
    let reference = service.get("/api/openapi.json").ok();
    for (pack, here) in packs.iter().zip(local.data()["packs"].as_array().unwrap()) {
        let name = pack["name"].as_str().unwrap();
        assert_eq!(&service.get(&format!("/api/v1/packs/{name}")).ok(), pack);
        // Over HTTP a call may work in a session that is kept.
        let mut input = pack["input_schema"].clone();
        assert!(input["properties"].as_object_mut().unwrap().remove("session_id").is_some(), "{name}");
        assert_eq!((&input, &pack["output_schema"]), (&here["inputSchema"], &here["outputSchema"]), "{name}");
        assert_eq!((&pack["needs_session"], &pack["description"]), (&json!(true), &here["description"]));
        let operation = &reference["paths"][format!("/api/v1/packs/{name}")]["post"];
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(body, &pack["input_schema"], "{name}");
        let output = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        assert_eq!(output, &pack["output_schema"], "{name}");
    }
    let interact = &packs[0]["input_schema"]["properties"]["actions"]["items"];
    let actions: BTreeSet<&str> = interact["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["properties"]["action"]["const"].as_str().unwrap())
        .collect();
    let wanted = ["assert_text", "click", "extract", "navigate", "screenshot", "type", "wait"];
    assert_eq!(actions.into_iter().collect::<Vec<_>>(), wanted);
}

/// The methods that the reference has at each address, with names in place of variables.
fn described(reference: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, methods) in reference["paths"].as_object().unwrap() {
        let path = if NAMES.iter().any(|name| path.ends_with(name)) { "/api/v1/packs/{name}" } else { path };
        let methods = methods.as_object().unwrap().keys().map(|method| method.to_ascii_uppercase());
        all.entry(path.to_owned()).or_default().extend(methods);
    }
    all
}

#[test]
fn the_reference_and_the_service_agree() {
    let service = shared();
    let reference = service.ask("GET", "/api/openapi.json", &[], b"").ok();
    assert_eq!(reference["openapi"], "3.1.0");
    assert_eq!(reference["servers"][0]["url"], format!("http://{}", service.host));
    // Who asks in a way that is not described is told which ways there are: exactly those that are.
    for (path, methods) in described(&reference) {
        if path == "/mcp" {
            continue;
        }
        let address = path.replace("{name}", "x").replace("{id}", "x").replace("{key}", "x");
        let refused = service.ask("PATCH", &address, &[], b"");
        refused.must_be(405, "method_not_allowed");
        let allowed = refused.header("allow").unwrap().split(',').filter(|method| *method != "HEAD");
        let allowed: BTreeSet<String> = allowed.map(str::to_owned).collect();
        assert_eq!(allowed, methods, "{path}");
    }
    let mut ids = BTreeSet::new();
    for (path, methods) in reference["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} is there twice");
            let none = Vec::new();
            let given: BTreeSet<&str> = operation["parameters"]
                .as_array()
                .unwrap_or(&none)
                .iter()
                .filter(|one| one["in"] == "path")
                .map(|one| one["name"].as_str().unwrap())
                .collect();
            let wanted: BTreeSet<&str> =
                path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            assert_eq!(given, wanted, "{method} {path}");
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.keys().any(|status| status.starts_with('2')), "{method} {path}");
            assert_eq!(responses.contains_key("401"), operation.get("security").is_some(), "{method} {path}");
        }
    }
    check_references(&reference, &reference);
}

/// Every `$ref` leads somewhere.
fn check_references(value: &Value, root: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| check_references(item, root)),
        Value::Object(members) => {
            if let Some(Value::String(to)) = members.get("$ref") {
                let pointer = to.strip_prefix('#').expect("all is in one document");
                assert!(root.pointer(pointer).is_some(), "{to} leads nowhere");
            }
            members.values().for_each(|member| check_references(member, root));
        }
        _ => {}
    }
}

#[test]
fn the_page_for_people_shows_all_of_it_and_asks_nobody_else() {
    let service = shared();
    let cli = fresh_cli();
    let data = |arguments: &[&str]| {
        let run = cli.json(arguments).unwrap();
        assert!(run.success(), "{arguments:?}: {}", run.value);
        run.data().clone()
    };
    data(&["open", &format!("http://{}/docs", service.host)]);
    data(&["wait", "details#browser_interact"]);
    let reference = service.ask("GET", "/api/openapi.json", &[], b"").ok();
    let operations: usize =
        reference["paths"].as_object().unwrap().values().map(|path| path.as_object().unwrap().len()).sum();
    let shown = data(&["eval", "document.querySelectorAll('details').length"]);
    assert_eq!(shown["result"], operations);
    data(&["click", "details#browser_interact summary"]);
    let text = data(&["get", "text", "details#browser_interact"]);
    assert!(text.to_string().contains("assert_text"), "{text}");
    let errors = data(&["errors"]);
    assert_eq!(errors["errors"], json!([]), "{errors}");
    let console = data(&["console"]);
    let bad = console["messages"]
        .as_array()
        .unwrap()
        .iter()
        .any(|message| message["type"] == "error" && !message.to_string().contains("favicon"));
    assert!(!bad, "{console}");
    let requests = data(&["network", "requests"]);
    let own = format!("http://{}/", service.host);
    let requests = requests["requests"].as_array().unwrap();
    assert!(
        requests.len() >= 2 && requests.iter().all(|one| one["url"].as_str().unwrap().starts_with(&own)),
        "{requests:?}"
    );
    let policy = service.ask("GET", "/docs", &[], b"");
    assert!(policy.header("content-security-policy").unwrap().contains("default-src 'self'"));
    assert!(!policy.text().contains("https://"), "it names somebody else");
}

/// Everything that a schema wants is there, and nothing that it does not know.
fn fits(schema: &Value, output: &Value) {
    let output = output.as_object().unwrap();
    for name in schema["required"].as_array().unwrap() {
        assert!(output.contains_key(name.as_str().unwrap()), "{name} is not in {output:?}");
    }
    for name in output.keys() {
        assert!(schema["properties"].get(name).is_some(), "{name} is not in {schema}");
    }
}

#[test]
fn what_comes_out_is_what_the_catalogue_says() {
    let (service, site) = (shared(), pages(&[("/", "<title>T</title><p>x</p>")]));
    let url = site.url("/");
    for (pack, input) in [
        ("browser.interact", json!({ "url": url, "actions": [{ "action": "screenshot" }] })),
        ("browser.screenshot_url", json!({ "url": url })),
        ("web.scrape_spa", json!({ "url": url, "fields": { "p": { "selector": "p" } } })),
        ("web.scrape", json!({ "url": url })),
    ] {
        let schema = service.get(&format!("/api/v1/packs/{pack}")).ok()["output_schema"].clone();
        fits(&schema, &service.pack(pack, &input).ok());
    }
}

/// The same at every depth, as far as the schema says.
fn fits_all(schema: &Value, output: &Value) {
    match output {
        Value::Object(_) if schema.get("properties").is_some() => {
            fits(schema, output);
            let members = output.as_object().unwrap().iter();
            members.for_each(|(name, member)| fits_all(&schema["properties"][name], member));
        }
        Value::Array(items) => items.iter().for_each(|item| fits_all(&schema["items"], item)),
        Value::Object(_) => assert_eq!(schema["type"], "object", "{output}"),
        single if schema.get("const").is_some() => assert_eq!(single, &schema["const"]),
        single => {
            let sort = match single {
                Value::String(_) => "string",
                Value::Number(_) => "integer",
                Value::Bool(_) => "boolean",
                _ => "null",
            };
            let is_told = schema["type"] == sort
                || schema["type"].as_array().is_some_and(|sorts| sorts.contains(&sort.into()));
            assert!(is_told, "{single} is not {schema}");
        }
    }
}

#[test]
fn answers_are_what_the_reference_says() {
    let service = shared();
    let reference = service.ask("GET", "/api/openapi.json", &[], b"").ok();
    let check = |method: &str, pattern: &str, path: &str, body: Option<Value>| {
        let answer =
            service.ask_with(&service.token_of("tester"), &method.to_uppercase(), path, body.as_ref());
        let output = answer.ok();
        let told = &reference["paths"][pattern][method]["responses"][answer.status.to_string()];
        let schema = &told["content"]["application/json"]["schema"];
        assert_eq!(schema["type"], "object", "{method} {pattern}: {told}");
        fits_all(schema, &output);
        output
    };
    for path in ["/healthz", "/readyz", "/version", "/api/v1/packs", "/api/v1/audit"] {
        check("get", path, path, None);
    }
    check("get", "/api/v1/packs/{name}", "/api/v1/packs/web.scrape", None);
    let (sessions, session) = ("/api/v1/sessions", "/api/v1/sessions/{id}");
    let made = check("post", sessions, sessions, Some(json!({})));
    let kept = format!("{sessions}/{}", made["session_id"].as_str().unwrap());
    assert!(!check("get", sessions, sessions, None)["sessions"].as_array().unwrap().is_empty());
    check("get", session, &kept, None);
    check("delete", session, &kept, None);
    let (all, one) = ("/api/v1/vault/credentials", "/api/v1/vault/credentials/{name}");
    let new = json!({ "name": "reference", "type": "login", "fields": { "username": "ada", "password": "telling" } });
    check("post", all, all, Some(new));
    check("get", all, all, None);
    let named = format!("{all}/reference");
    check("get", one, &named, None);
    let (grants, of_it) = (format!("{one}/grants"), format!("{named}/grants"));
    for _ in 0..2 {
        check("post", &grants, &of_it, Some(json!({ "subject": "tester" })));
    }
    check("get", &grants, &of_it, None);
    let typing = json!([{ "action": "type", "selector": "input", "value": "${vault:reference#password}" }]);
    service.interact(&pages(&[("/", "<input>")]).url("/"), &typing).ok();
    let used = check("get", &format!("{one}/usage"), &format!("{named}/usage"), None);
    assert!(!used["usage"].as_array().unwrap().is_empty());
    check("delete", &grants, &format!("{of_it}?subject=tester"), None);
    check("delete", one, &named, None);
}
