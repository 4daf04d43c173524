//! Names: every address is judged, and only what was judged is connected to.

use surehand_guard::egress::{Limits, Resolve, System};

use crate::world::*;

async fn named(
    allow: &[&str],
    names: &[(&str, &[&[&str]])],
) -> (surehand_guard::egress::Proxy, std::sync::Arc<Script>) {
    let script = Script::of(names);
    (proxy_with(allow, script.clone(), Limits::default()).await, script)
}

/// DNS rebinding: the answer that was judged is the one that is used.
#[tokio::test]
async fn an_answer_that_changes_changes_nothing() {
    let good = Origin::saying(OK).await;
    let port = good.port();
    let bad = Origin::start_at(&format!("127.0.0.2:{port}"), |mut line| async move {
        line.request().await;
    })
    .await;
    let answers: &[&[&str]] = &[&["127.0.0.1"], &["127.0.0.2"], &["127.0.0.1"], &["127.0.0.2"]];
    let (proxy, script) = named(&["127.0.0.1"], &[("evil.example", answers)]).await;
    let url = format!("http://evil.example:{port}/");
    assert_eq!(get(&proxy, &url).await.status, 200);
    assert_eq!(script.asked.lock().unwrap().len(), 1, "one answer for judging and connecting");
    assert!(get(&proxy, &url).await.is_denied());
    assert!(connect(&proxy, &format!("evil.example:{port}")).await.is_ok());
    assert!(connect(&proxy, &format!("evil.example:{port}")).await.is_err());
    until("the tunnel is taken", || good.connections() == 2).await;
    assert_eq!((good.connections(), bad.connections()), (2, 0));
    let heard = &good.heard()[0];
    assert!(heard.contains(&format!("Host: evil.example:{port}\r\n")), "{heard}");
}

/// A connection that was judged stays what it is; a new one is judged anew.
#[tokio::test]
async fn a_kept_connection_stays_with_its_address() {
    let good = Origin::saying(OK).await;
    let (proxy, script) = named(&["127.0.0.1"], &[("evil.example", &[&["127.0.0.1"], &["10.0.0.1"]])]).await;
    let mut line = Line::to(proxy.address()).await;
    for _ in 0..3 {
        line.send(format!("GET http://evil.example:{}/ HTTP/1.1\r\nHost: x\r\n\r\n", good.port())).await;
        assert_eq!(line.reply().await.unwrap().status, 200);
    }
    assert_eq!((good.connections(), script.asked.lock().unwrap().len()), (1, 1));
    assert!(get(&proxy, &format!("http://evil.example:{}/", good.port())).await.is_denied());
}

#[tokio::test]
async fn one_bad_address_is_enough() {
    let origin = Origin::saying(OK).await;
    let mixed: &[&[&str]] = &[&["127.0.0.1", "::ffff:10.0.0.1"]];
    let (proxy, _) = named(&["127.0.0.1"], &[("mixed.example", mixed), ("none.example", &[&[]])]).await;
    let reply = get(&proxy, &format!("http://mixed.example:{}/", origin.port())).await;
    assert!(reply.is_denied());
    assert!(!reply.text().contains("10.0.0.1"), "{}", reply.text());
    assert_eq!(proxy.blocked()[0].denied.address, Some("10.0.0.1".parse().unwrap()));
    assert_eq!(get(&proxy, "http://none.example/").await.status, 502);
    assert_eq!(origin.connections(), 0);
}

#[tokio::test]
async fn a_named_host_may_be_private() {
    let origin = Origin::saying(OK).await;
    let answers: &[&[&str]] = &[&["127.0.0.1"], &["169.254.169.254"]];
    let (proxy, _) =
        named(&["intern.example"], &[("intern.example", answers), ("other.example", answers)]).await;
    let url = format!("http://INTERN.example.:{}/", origin.port());
    assert_eq!(get(&proxy, &url).await.status, 200);
    assert!(get(&proxy, &url).await.is_denied(), "but not where keys are handed out");
    assert!(get(&proxy, &format!("http://other.example:{}/", origin.port())).await.is_denied());
}

#[tokio::test]
async fn addresses_are_tried_in_turn() {
    let origin = Origin::saying(OK).await;
    let answers: &[&[&str]] = &[&["127.0.0.3", "::1", "127.0.0.1"]];
    let (proxy, _) = named(&["127.0.0.0/8", "::1"], &[("many.example", answers)]).await;
    assert_eq!(get(&proxy, &format!("http://many.example:{}/", origin.port())).await.status, 200);
}

#[tokio::test]
async fn localhost_is_this_machine_whatever_a_resolver_says() {
    let origin = Origin::saying(OK).await;
    let names: &[(&str, &[&[&str]])] = &[("localhost", &[&["8.8.8.8"]]), ("a.localhost", &[&["8.8.8.8"]])];
    let (proxy, script) = named(&[".localhost"], names).await;
    for name in ["localhost", "a.localhost"] {
        assert_eq!(get(&proxy, &format!("http://{name}:{}/", origin.port())).await.status, 200);
    }
    assert!(script.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_system_has_addresses_for_names() {
    let system = System::default();
    let found = system.resolve("localhost").await.expect("addresses");
    assert!(!found.is_empty() && found.iter().all(|address| address.is_loopback()), "{found:?}");
    assert!(system.resolve("two words").await.is_err());
}
