//! What makes no sense is refused before anything runs, and everything is answered with the same envelope.

use serde_json::{Value, json};

use crate::common::keys;
use crate::fixture::{pages, shared};
use crate::serving::http::{self, Answer};

const INTERACT: &str = "/api/v1/packs/browser.interact";

/// Bodies that make no sense, and what is said about them. `URL` stands for a page that must not be asked for.
const WRONG: &[(&str, &str)] = &[
    ("", "no JSON"),
    ("{", "no JSON"),
    ("[]", "object"),
    ("null", "object"),
    ("\"x\"", "object"),
    ("{}", "url"),
    (r#"{"url":"URL"}"#, "actions"),
    (r#"{"url":5,"actions":[{"action":"screenshot"}]}"#, "url"),
    (r#"{"url":"URL","actions":{}}"#, "actions"),
    (r#"{"url":"URL","actions":[]}"#, "1 to 1000 actions"),
    (r#"{"url":"URL","actions":[{"action":"screenshot"}],"extra":1}"#, "extra"),
    (r#"{"url":"URL","actions":[{"action":"screenshot"}],"session_id":7}"#, "session_id"),
    (r#"{"url":"/relative","actions":[{"action":"screenshot"}]}"#, "absolute"),
    (r#"{"url":"example.com","actions":[{"action":"screenshot"}]}"#, "absolute"),
    (r#"{"url":"file:///etc/passwd","actions":[{"action":"screenshot"}]}"#, "http"),
    (r#"{"url":"javascript:alert(1)","actions":[{"action":"screenshot"}]}"#, "http"),
    (r#"{"url":"http://","actions":[{"action":"screenshot"}]}"#, "absolute"),
    (r#"{"url":"http://a b/","actions":[{"action":"screenshot"}]}"#, "a b"),
    (r#"{"url":"http://:80/","actions":[{"action":"screenshot"}]}"#, ":80"),
    (r#"{"url":"URL","actions":["screenshot"]}"#, "action[0]"),
    (r#"{"url":"URL","actions":[{"action":"screenshot"},{}]}"#, "action[1]"),
    (r#"{"url":"URL","actions":[{"action":"hover","selector":"p"}]}"#, "hover"),
    (r#"{"url":"URL","actions":[{"action":"Click","selector":"p"}]}"#, "Click"),
    (r#"{"url":"URL","actions":[{"action":5}]}"#, "action[0]"),
    (
        r#"{"url":"URL","actions":[{"action":"screenshot"},{"action":"click"}]}"#,
        "action[1] click: missing field `selector`",
    ),
    (r#"{"url":"URL","actions":[{"action":"click","selector":""}]}"#, "selector is empty"),
    (r#"{"url":"URL","actions":[{"action":"click","selector":"p","force":true}]}"#, "force"),
    (r#"{"url":"URL","actions":[{"action":"type","selector":"p"}]}"#, "value"),
    (r#"{"url":"URL","actions":[{"action":"type","selector":"p","value":5}]}"#, "action[0] type"),
    (
        r#"{"url":"URL","actions":[{"action":"type","selector":"p","value":"${vault:a b}"}]}"#,
        "action[0] type",
    ),
    (r#"{"url":"URL","actions":[{"action":"wait","ms":-1}]}"#, "action[0] wait"),
    (r#"{"url":"URL","actions":[{"action":"wait","ms":1.5}]}"#, "action[0] wait"),
    (r#"{"url":"URL","actions":[{"action":"wait","ms":"1000"}]}"#, "action[0] wait"),
    (r#"{"url":"URL","actions":[{"action":"screenshot","full":true}]}"#, "full"),
    (r#"{"url":"URL","actions":[{"action":"extract","selector":"p","format":"pdf"}]}"#, "pdf"),
    (r#"{"url":"URL","actions":[{"action":"assert_text"}]}"#, "text"),
    (r#"{"url":"URL","actions":[{"action":"assert_text","text":""}]}"#, "empty"),
    (r#"{"url":"URL","actions":[{"action":"navigate"}]}"#, "url"),
    (r#"{"url":"URL","actions":[{"action":"navigate","url":"data:text/html,x"}]}"#, "http"),
    // What would be read as if it had names.
    (r##"{"url":"URL","actions":[["click","#b"]]}"##, "actions/0"),
    (r#"{"url":"URL","actions":[{"action":"extract","selector":"p","format":{"text":null}}]}"#, "format"),
    (r#"{"url":["URL"],"actions":[{"action":"screenshot"}]}"#, "url"),
    // All that is wrong is told at once.
    (r#"{"url":"URL","actions":[{"action":"hover"},{"action":"click"}]}"#, "action[1]"),
];

#[test]
fn what_makes_no_sense_is_refused_before_anything_runs() {
    let (service, site) = (shared(), pages(&[("/", "<p>x</p>")]));
    let bearer = format!("Bearer {}", service.token_of("tester"));
    let send = |body: &[u8]| service.ask("POST", INTERACT, &[("Authorization", &bearer)], body);
    for (body, part) in WRONG {
        let answer = send(body.replace("URL", &site.url("/")).as_bytes());
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        answer.must_be(400, "invalid_input").must_say(part);
        assert_eq!(keys(&answer.json()), ["error", "message"], "{body}");
    }
    let both = send(r#"{"url":"x","actions":[{"action":"hover"},{"action":"click"}]}"#.as_bytes());
    both.must_say("action[0]").must_say("action[1]").must_say("absolute");
    let many = vec![json!({ "action": "screenshot" }); 10_000];
    let many = json!({ "url": site.url("/"), "actions": many }).to_string();
    send(many.as_bytes()).must_be(400, "invalid_input").must_say("10000");
    send(b"\xff\xfe{}").must_be(400, "invalid_input");
    let deep = "[".repeat(100_000);
    send(deep.as_bytes()).must_be(400, "invalid_input");
    assert!(site.requests().is_empty(), "{:?}", site.requests());
    // A message never repeats more of the input than a person wants to read.
    let long = json!({ "url": "x".repeat(100_000), "actions": [{ "action": "y".repeat(100_000) }] });
    assert!(send(long.to_string().as_bytes()).body.len() < 4000);
}

#[test]
fn other_packs_refuse_what_makes_no_sense() {
    let service = shared();
    let url = "http://127.0.0.1:1/";
    let login = |change: &dyn Fn(&mut Value)| {
        let mut input = json!({
            "login_url": url, "credential": "c", "username_selector": "a", "password_selector": "b",
            "submit_selector": "s", "success_text": "in",
        });
        change(&mut input);
        input
    };
    for (pack, input, part) in [
        ("browser.screenshot_url", json!({}), "url"),
        ("browser.screenshot_url", json!({ "url": "x" }), "absolute"),
        ("browser.screenshot_url", json!({ "url": url, "fullPage": "yes" }), "fullPage"),
        ("web.scrape_spa", json!({ "url": url }), "fields"),
        ("web.scrape_spa", json!({ "url": url, "fields": {} }), "at least one field"),
        ("web.scrape_spa", json!({ "url": url, "fields": { "a": {} } }), "selector"),
        ("web.scrape_spa", json!({ "url": url, "fields": { "a": { "selector": "" } } }), "empty"),
        (
            "web.scrape_spa",
            json!({ "url": url, "fields": { "a": { "selector": "p", "format": "x" } } }),
            "format",
        ),
        ("web.scrape", json!({ "url": url, "formats": [] }), "at least one"),
        ("web.scrape", json!({ "url": url, "formats": ["pdf"] }), "formats"),
        ("web.scrape", json!({ "url": url, "wait_ms": -5 }), "wait_ms"),
        ("web.login_and_fetch", login(&|input| input["success_text"] = " ".into()), "success_text"),
        ("web.login_and_fetch", login(&|input| input["fetch_url"] = "/in".into()), "fetch_url"),
        ("web.login_and_fetch", login(&|input| input["format"] = "pdf".into()), "format"),
        ("web.login_and_fetch", login(&|input| input["credential"] = "a b".into()), "a b"),
    ] {
        let answer = service.pack(pack, &input);
        assert_eq!(answer.status, 400, "{pack} {input}: {}", answer.text());
        answer.must_be(400, "invalid_input").must_say(part);
    }
}

#[test]
fn what_is_not_there_has_an_envelope_too() {
    let service = shared();
    let input = json!({ "url": "http://127.0.0.1:1/", "actions": [] });
    let of =
        |method: &str, path: &str| service.ask_with(&service.token_of("tester"), method, path, Some(&input));
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/api"),
        ("POST", "/api/v2/packs/browser.interact"),
        ("POST", "/api/v1/packs/browser.interact/v2"),
        ("POST", "/api/v1/packs/browser.nothing"),
        ("GET", "/api/v1/packs/browser.nothing"),
        ("GET", "/api/v1/sessions/none"),
        ("DELETE", "/api/v1/sessions/none"),
        ("GET", "/api/v1/packs/"),
    ] {
        let answer = of(method, path);
        assert_eq!(answer.status, 404, "{method} {path}: {}", answer.text());
        answer.must_be(404, "not_found");
    }
    of("POST", "/api/v1/packs/browser.nothing").must_say("browser.interact");
    for (method, path, allowed) in [
        ("PUT", INTERACT, "GET,HEAD,POST"),
        ("DELETE", "/api/v1/packs", "GET,HEAD"),
        ("POST", "/healthz", "GET,HEAD"),
        ("PATCH", "/api/v1/sessions", "GET,HEAD,POST"),
    ] {
        let answer = of(method, path);
        answer.must_be(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
    }
    // The version may be named.
    of("POST", &format!("{INTERACT}/v1")).must_be(400, "invalid_input");
    let head = service.ask("HEAD", "/healthz", &[], b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn bodies_that_are_too_large_are_not_read() {
    let service = shared();
    let bearer = format!("Bearer {}", service.token_of("tester"));
    let large = vec![b' '; 5 << 20];
    service.ask("POST", INTERACT, &[("Authorization", &bearer)], &large).must_be(413, "payload_too_large");
    // Who announces 50 MB is refused before the first byte of it.
    let announced = [("Authorization", bearer.as_str()), ("Content-Length", "52428800")];
    service.ask("POST", INTERACT, &announced, b"").must_be(413, "payload_too_large");
    // So is who does not say how much it will be.
    let mut chunks = Vec::new();
    for _ in 0..5 {
        chunks.extend_from_slice(b"100000\r\n");
        chunks.extend(vec![b' '; 1 << 20]);
        chunks.extend_from_slice(b"\r\n");
    }
    let headers = [("Authorization", bearer.as_str()), ("Transfer-Encoding", "chunked")];
    service.ask("POST", INTERACT, &headers, &chunks).must_be(413, "payload_too_large");
    // Who shows no token is told that, however much they send.
    service.ask("POST", INTERACT, &[], &large).must_be(401, "missing_bearer");
    // The largest that is taken is read, and only then judged.
    let fits = vec![b' '; 4 << 20];
    service.ask("POST", INTERACT, &[("Authorization", &bearer)], &fits).must_be(400, "invalid_input");
}

#[test]
fn what_is_no_http_does_no_harm() {
    let service = shared();
    for bytes in ["\0\0\0\0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut stream = http::connect(&service.host);
        // Who is refused at once may find the connection closed already.
        let _ = std::io::Write::write_all(&mut stream, bytes.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        if let Some(answer) = Answer::read(&mut stream) {
            assert!((400..500).contains(&answer.status), "{bytes:?}: {}", answer.status);
        }
    }
    service.ask("GET", "/healthz", &[], b"").ok();
}

#[test]
fn what_cannot_work_is_known_before_anything_runs() {
    let (service, site) = (shared(), pages(&[("/", "<input id=a><p>x</p>")]));
    let first = json!({ "action": "extract", "selector": "p" });
    let made = json!({ "name": "before-all", "type": "api_key", "plaintext_b64": "c3dvcmRmaXNoLTQ3MTE=" });
    assert_eq!(service.post("/api/v1/vault/credentials", &made).status, 201);
    for (last, part) in [
        (json!({ "action": "click", "selector": "p[" }), "action[1] click"),
        (json!({ "action": "extract", "selector": "p:nonsense" }), "action[1] extract"),
        (json!({ "action": "type", "selector": "#a", "value": "${vault:nobody-has}" }), "action[1] type"),
        (json!({ "action": "type", "selector": "#a", "value": "${vault:before-all}" }), "action[1] type"),
        (json!({ "action": "navigate", "url": "http://10.1.2.3/" }), "action[1] navigate: egress denied"),
        (json!({ "action": "assert_text", "text": "${vault:before-all}" }), "cannot stand here"),
        (
            json!({ "action": "navigate", "url": format!("{}?${{vault:before-all}}", site.url("/")) }),
            "cannot stand here",
        ),
        (json!({ "action": "click", "selector": "[title='${vault:before-all}']" }), "cannot stand here"),
    ] {
        let refused = service.interact(&site.url("/"), &json!([first, last]));
        refused.must_be(400, "invalid_input").must_say(part);
    }
    let address = format!("{}?${{vault:before-all}}", site.url("/"));
    service.pack("web.scrape", &json!({ "url": address })).must_be(400, "invalid_input");
    let fields = json!({ "a": { "selector": "p[" } });
    let refused = service.pack("web.scrape_spa", &json!({ "url": site.url("/"), "fields": fields }));
    refused.must_be(400, "invalid_input").must_say("p[");
    assert!(site.requests().is_empty(), "{:?}", site.requests());
}

#[test]
fn a_list_is_no_object_to_any_pack() {
    let service = shared();
    let fields = json!({ "url": "http://127.0.0.1/", "fields": { "t": ["h1", "html"] } });
    service.pack("web.scrape_spa", &fields).must_be(400, "invalid_input").must_say("fields/t");
}

#[test]
fn an_address_that_is_no_text_is_refused_like_everything() {
    let service = shared();
    for path in ["/api/v1/packs/%ff", "/api/v1/sessions/%ff", "/api/v1/vault/credentials/%ff"] {
        service.get(path).must_be(400, "invalid_input");
    }
    service.get("/api/v1/artifacts/%ff?expires=1&signature=a").must_be(400, "invalid_input");
}

#[test]
fn what_anybody_writes_at_length_is_not_kept() {
    let service = shared();
    let long = "x".repeat(50_000);
    for (method, path) in [("GET", format!("/{long}")), (long.as_str(), "/healthz".to_owned())] {
        let refused = service.ask(method, &path, &[], b"");
        assert!([404, 405].contains(&refused.status) && refused.body.len() < 2000, "{}", refused.status);
    }
    let rows = service.audit("event_type=request").into_iter().map(|row| row.to_string().len());
    assert!(rows.max().is_some_and(|longest| longest < 8000), "a row is as long as anybody likes");
}
