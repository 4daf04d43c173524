//! What is not let out, and how that is told.

use surehand_guard::egress::{EgressPolicy, Otherwise, Proxy, Reason};

use crate::world::*;

#[tokio::test]
async fn every_notation_of_a_blocked_address_is_blocked() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&[]).await;
    let port = origin.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7F.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::1]",
        "[::]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "0.0.0.0",
        "0",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127.255.255.254",
        "169.254.169.254",
        "10.0.0.1",
        "[fe80::1]",
        "[fd00::1]",
        "192.168.0.1",
    ] {
        let reply = get(&proxy, &format!("http://{host}:{port}/")).await;
        assert!(reply.is_denied(), "{host}: {}", reply.head);
        assert!(reply.text().starts_with("egress denied: "), "{}", reply.text());
        let reply = connect(&proxy, &format!("{host}:{port}"))
            .await
            .err()
            .unwrap_or_else(|| panic!("{host} connects"));
        assert!(reply.is_denied(), "{host}: {}", reply.head);
    }
    assert_eq!(origin.connections(), 0);
}

#[tokio::test]
async fn an_allowed_address_may_be_written_in_any_way() {
    let origin = Origin::saying(OK).await;
    let port = origin.port();
    let proxy = proxy(&[&format!("127.0.0.1:{port}")]).await;
    for host in ["127.0.0.1", "127.1", "0x7f000001", "127.0.0.1.", "[::ffff:127.0.0.1]"] {
        assert_eq!(get(&proxy, &format!("http://{host}:{port}/")).await.status, 200, "{host}");
        assert!(connect(&proxy, &format!("{host}:{port}")).await.is_ok(), "{host}");
    }
    assert!(origin.heard().iter().all(|one| one.contains(&format!("Host: 127.0.0.1:{port}\r\n"))));
    let other = Origin::saying(OK).await;
    assert!(get(&proxy, &format!("http://{}/", other.address)).await.is_denied(), "another port");
}

#[tokio::test]
async fn loopback_of_ipv6_can_be_allowed() {
    let origin = Origin::start_at("[::1]:0", |mut line| async move {
        line.request().await;
        line.send(OK).await;
    })
    .await;
    let proxy = proxy(&[&origin.address.to_string()]).await;
    let reply = get(&proxy, &format!("http://{}/", origin.address)).await;
    assert_eq!(reply.status, 200);
    assert!(origin.heard()[0].contains(&format!("Host: {}\r\n", origin.address)));
    assert!(connect(&proxy, &origin.address.to_string()).await.is_ok());
}

/// The first address is allowed; where it leads is judged anew, because the browser asks the proxy for it.
#[tokio::test]
async fn a_redirect_to_a_private_address_ends_there() {
    let origin = Origin::start(|mut line| async move {
        while let Some(request) = line.request().await {
            let hops: u32 = request[5..6].parse().unwrap();
            let host = request.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap();
            let next = if hops > 0 {
                format!("http://{host}/{}", hops - 1)
            } else {
                "http://169.254.169.254/keys?a=b".to_owned()
            };
            line.send(format!("HTTP/1.1 302 Found\r\nLocation: {next}\r\nContent-Length: 0\r\n\r\n")).await;
        }
    })
    .await;
    let proxy = proxy(&[&origin.address.to_string()]).await;
    let mut url = format!("http://{}/2", origin.address);
    let last = loop {
        let reply = get(&proxy, &url).await;
        match reply.header("location") {
            Some(next) => url = next.to_owned(),
            None => break reply,
        }
    };
    assert!(last.is_denied());
    let blocked = proxy.blocked();
    assert_eq!(blocked.len(), 1);
    assert_eq!(blocked[0].url, "http://169.254.169.254:80/keys", "a query may hold secrets");
    assert_eq!((blocked[0].method.as_str(), blocked[0].count), ("GET", 1));
    assert_eq!((blocked[0].host.as_str(), blocked[0].port), ("169.254.169.254", 80));
}

#[tokio::test]
async fn other_schemes_are_blocked() {
    let proxy = proxy(&["127.0.0.1"]).await;
    for scheme in ["https", "ftp", "ws", "wss", "file", "gopher"] {
        let reply = get(&proxy, &format!("{scheme}://127.0.0.1:1/")).await;
        assert!(reply.is_denied(), "{scheme}: {}", reply.head);
        assert_eq!(proxy.blocked().last().unwrap().denied.reason, Reason::Scheme(scheme.to_owned()));
    }
}

#[tokio::test]
async fn repeats_are_counted_and_the_list_keeps_the_latest() {
    let proxy = proxy(&[]).await;
    let mut line = Line::to(proxy.address()).await;
    for path in (0..200).chain([0, 0, 1]).chain(200..210) {
        line.send(format!("GET http://10.0.0.1/{path} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert!(line.reply().await.unwrap().is_denied());
    }
    let blocked = proxy.blocked();
    assert_eq!((blocked.len(), proxy.blocked_dropped()), (200, 10));
    assert_eq!((blocked[0].count, blocked[1].count), (3, 2));
    assert_eq!(blocked[2].url, "http://10.0.0.1:80/12", "those before were refused the longest ago");
    assert_eq!(blocked[199].url, "http://10.0.0.1:80/209");
}

#[tokio::test]
async fn since_a_mark_only_what_came_after_it_counts() {
    let proxy = proxy(&[]).await;
    let ask = async |path: &str| get(&proxy, &format!("http://10.0.0.1/{path}")).await;
    for path in ["a", "a", "b"] {
        ask(path).await;
    }
    let mark = proxy.mark();
    assert_eq!((proxy.blocked_since(&mark), proxy.refusals_since(&mark)), (vec![], 0));
    for path in ["a", "c", "c"] {
        ask(path).await;
    }
    let told = |mark| {
        let told = proxy.blocked_since(mark).into_iter().map(|one| (one.url, one.count));
        told.map(|(url, count)| (url.rsplit('/').next().unwrap().to_owned(), count)).collect::<Vec<_>>()
    };
    assert_eq!(told(&mark), [("a".to_owned(), 1), ("c".to_owned(), 2)]);
    // What had to make room and comes again is another entry.
    for path in 0..200 {
        ask(&path.to_string()).await;
    }
    let later = proxy.mark();
    ask("a").await;
    assert_eq!(told(&later), [("a".to_owned(), 1)]);
    assert_eq!((proxy.refusals_since(&mark), proxy.refusals_since(&later)), (204, 1));
}

#[tokio::test]
async fn only_what_is_allowed_with_deny() {
    let origin = Origin::saying(OK).await;
    let script = Script::of(&[("good.example", &[&["127.0.0.1"]]), ("bad.example", &[&["127.0.0.1"]])]);
    let policy = EgressPolicy::parse(["good.example"], [""; 0], Otherwise::Deny).unwrap();
    let proxy = Proxy::start(policy, script.clone()).await.unwrap();
    assert_eq!(get(&proxy, &format!("http://good.example:{}/", origin.port())).await.status, 200);
    assert!(get(&proxy, &format!("http://bad.example:{}/", origin.port())).await.is_denied());
    assert!(get(&proxy, "http://8.8.8.8/").await.is_denied());
    assert_eq!(*script.asked.lock().unwrap(), ["good.example"], "the resolver is not told of the rest");
}

#[tokio::test]
async fn a_proxy_is_not_reached_through_a_proxy() {
    let (one, other) = (proxy(&["127.0.0.0/8", "0.0.0.0", "localhost"]).await, proxy(&[]).await);
    for port in [one.address().port(), other.address().port()] {
        for host in ["127.0.0.1", "0.0.0.0", "localhost", "[::ffff:127.0.0.1]"] {
            let reply = get(&one, &format!("http://{host}:{port}/")).await;
            assert!(
                reply.is_denied() && reply.text().contains("the egress guard itself"),
                "{host}: {}",
                reply.text()
            );
            assert!(connect(&one, &format!("{host}:{port}")).await.err().unwrap().is_denied());
        }
    }
    assert!(one.blocked().iter().all(|blocked| blocked.denied.reason == Reason::Itself));
}
