//! `web.login_and_fetch`: a login counts only when it was observed, and the credential is never shown.

use serde_json::{Value, json};
use surehand_testkit::{Response, Site};

use crate::fixture::{Service, quick, shared};

const PASSWORD: &str = "correct horse battery";

/// A door: the page behind it is for who has the cookie.
fn door() -> Site {
    let form = |note: &str| {
        Response::html(format!(
            "<!doctype html><title>Door</title><p>{note}</p><form method=post action=/login><input id=user name=user>
             <input id=pass name=pass type=password><button id=go>Log in</button></form>"
        ))
    };
    Site::builder()
        .route("/login", move |request| match request.method.as_str() {
            "POST" if request.form_value("pass").as_deref() == Some(PASSWORD) => {
                let user = request.form_value("user").unwrap_or_default();
                Response::redirect(303, "/home").header("Set-Cookie", &format!("who={user}; HttpOnly"))
            }
            "POST" => form("Wrong name or password"),
            _ => form("Please log in"),
        })
        .route("/home", move |request| match request.header("cookie") {
            Some(who) => Response::html(format!("<!doctype html><h1>Hello {who}</h1><p>Sign out</p>")),
            None => form("Please log in"),
        })
        .route("/secret", |_| Response::html("<p>Not for you</p>").status(403))
        .route("/orders", move |request| match request.header("cookie") {
            Some(_) => Response::html("<!doctype html><title>Orders</title><h1>Orders</h1><ul><li>mug</ul>"),
            None => form("Please log in"),
        })
        .start()
        .unwrap()
}

fn keep(service: &Service, name: &str, password: &str, to: &[&str]) {
    let fields = json!({ "username": "ada", "password": password });
    let made = service
        .post("/api/v1/vault/credentials", &json!({ "name": name, "type": "login", "fields": fields }));
    assert!([200, 201].contains(&made.status), "{}", made.text());
    for subject in to {
        let path = format!("/api/v1/vault/credentials/{name}/grants");
        assert_eq!(service.post(&path, &json!({ "subject": subject })).status, 201);
    }
}

fn errand(site: &Site, credential: &str) -> Value {
    json!({
        "login_url": site.url("/login"), "credential": credential,
        "username_selector": "#user", "password_selector": "#pass", "submit_selector": "#go",
        "success_text": "Sign out", "fetch_url": site.url("/orders"),
    })
}

#[test]
fn a_login_that_was_seen_opens_the_page_behind_it() {
    let (service, site) = (shared(), door());
    keep(&service, "door", PASSWORD, &["tester"]);
    let answer = service.pack("web.login_and_fetch", &errand(&site, "door"));
    let output = answer.ok();
    assert_eq!((&output["logged_in"], &output["url"]), (&json!(true), &json!(site.url("/orders"))));
    assert_eq!(output["content"], "# Orders\n\n- mug");
    assert!(!answer.text().contains(PASSWORD));
    let posted = site.requests_to("/login");
    assert!(posted.iter().any(|request| request.method == "POST"), "{posted:?}");
    // Without another address it is the page after the login.
    let mut home = errand(&site, "door");
    home.as_object_mut().unwrap().remove("fetch_url");
    home["format"] = "text".into();
    let output = service.pack("web.login_and_fetch", &home).ok();
    assert_eq!(output["url"], site.url("/home"));
    assert!(output["content"].as_str().unwrap().contains("Hello who="), "{output}");
    let rows = json!(service.audit("")).to_string();
    assert!(!rows.contains(PASSWORD) && !rows.contains("correct+horse") && !rows.contains("correct%20horse"));
}

#[test]
fn a_login_that_was_not_seen_is_a_failure() {
    let (service, site) = (quick(), door());
    keep(&service, "wrong", "another password", &["tester"]);
    let failed = service.pack("web.login_and_fetch", &errand(&site, "wrong"));
    failed.must_be(502, "handler_failed").must_say("login was not observed");
    assert_eq!(failed.json()["steps_completed"], 6);
    assert!(site.requests_to("/orders").is_empty(), "it went on");
    assert!(!failed.text().contains("another password"));
    // What is there before proves nothing.
    let mut early = errand(&site, "wrong");
    early["success_text"] = "Please log in".into();
    site.clear_requests();
    let failed = service.pack("web.login_and_fetch", &early);
    failed.must_be(502, "handler_failed").must_say("already");
    assert!(!site.requests().iter().any(|request| request.method == "POST"));
    let mut lost = errand(&site, "wrong");
    lost["submit_selector"] = "#none".into();
    let failed = service.pack("web.login_and_fetch", &lost);
    failed.must_be(502, "handler_failed");
    assert_eq!(failed.json()["steps_completed"], 5);
}

#[test]
fn who_may_not_use_a_credential_does_not_even_knock() {
    let (service, site) = (shared(), door());
    keep(&service, "private", PASSWORD, &[]);
    for credential in ["private", "missing"] {
        let refused = service.pack("web.login_and_fetch", &errand(&site, credential));
        refused.must_be(400, "invalid_input").must_say(credential);
    }
    assert!(site.requests().is_empty());
    keep(&service, "mine", PASSWORD, &["somebody"]);
    assert_eq!(service.pack_as("somebody", "web.login_and_fetch", &errand(&site, "mine")).status, 200);
    service.pack_as("else", "web.login_and_fetch", &errand(&site, "mine")).must_be(400, "invalid_input");
}

#[test]
fn a_page_that_the_server_does_not_show_was_not_fetched() {
    let (service, site) = (shared(), door());
    keep(&service, "errand", PASSWORD, &["tester"]);
    let mut input = errand(&site, "errand");
    input["fetch_url"] = site.url("/secret").into();
    let failed = service.pack("web.login_and_fetch", &input);
    failed.must_be(502, "handler_failed").must_say("status 403");
    assert_eq!(failed.json()["steps_completed"], 7);
    // What can be known to fail does not cost a login.
    site.clear_requests();
    input["fetch_url"] = "http://10.1.2.3/".into();
    service.pack("web.login_and_fetch", &input).must_be(400, "invalid_input").must_say("egress denied");
    input["fetch_url"] = site.url("/orders").into();
    input["submit_selector"] = "#go[".into();
    service.pack("web.login_and_fetch", &input).must_be(400, "invalid_input");
    assert!(site.requests().is_empty());
    let scraped = service.pack("web.scrape", &json!({ "url": site.url("/secret") })).ok();
    assert_eq!(scraped["status"], 403, "{scraped}");
}
