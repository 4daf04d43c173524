//! Requests and answers on their way through.

use surehand_testkit::ClosedPort;

use crate::world::*;

#[tokio::test]
async fn a_request_arrives_with_the_host_that_was_judged() {
    let origin = Origin::saying(OK).await;
    let to = origin.address;
    let proxy = proxy(&[&to.to_string()]).await;
    let request = format!(
        "GET http://{to}/a/../b?c=%20d HTTP/1.1\r\nHost: elsewhere.example\r\nX-Kept: Yes\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n\
         Keep-Alive: 5\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\nTE: trailers\r\n\r\n"
    );
    let reply = ask(&proxy, &request).await;
    assert_eq!((reply.status, reply.text().as_str()), (200, "ok"));
    let heard = origin.heard().remove(0);
    assert!(heard.starts_with("GET /a/../b?c=%20d HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains(&format!("Host: {to}\r\n")) && heard.contains("X-Kept: Yes\r\n"), "{heard}");
    let lower = heard.to_lowercase();
    for gone in ["elsewhere", "x-hop", "keep-alive", "proxy-", "te:", "connection"] {
        assert!(!lower.contains(gone), "{gone}: {heard}");
    }
}

#[tokio::test]
async fn what_is_for_one_connection_stays_on_it() {
    let answer = "HTTP/1.1 200 Fine\r\nContent-Length: 0\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 3\r\nProxy-Authenticate: Basic\r\n\
                  X-Surehand-Egress: denied\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n";
    let origin = Origin::saying(answer).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let reply = get(&proxy, &format!("http://{}/", origin.address)).await;
    assert!(reply.head.starts_with("HTTP/1.1 200 Fine\r\n"), "{}", reply.head);
    assert_eq!(reply.head.matches("Set-Cookie: ").count(), 2);
    let lower = reply.head.to_lowercase();
    for gone in ["x-hop", "keep-alive", "proxy-", "x-surehand"] {
        assert!(!lower.contains(gone), "{gone}: {}", reply.head);
    }
}

#[tokio::test]
async fn bodies_arrive_whatever_the_method() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    for method in ["POST", "PUT", "PATCH", "DELETE", "GET", "PROPFIND"] {
        let to = format!("{method} http://{}/ HTTP/1.1\r\nHost: x\r\n", origin.address);
        ask(&proxy, &format!("{to}Content-Length: 5\r\n\r\nhello")).await;
        ask(&proxy, &format!("{to}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n"))
            .await;
        ask(&proxy, &format!("{to}Content-Length: 0\r\n\r\n")).await;
    }
    let heard = origin.heard();
    assert_eq!(heard.len(), 18);
    for three in heard.chunks(3) {
        assert!(
            three[0].contains("Content-Length: 5\r\n") && three[0].ends_with("\r\n\r\nhello"),
            "{}",
            three[0]
        );
        assert!(three[1].ends_with("\r\n\r\nhello") && !three[1].contains("ontent-"), "{}", three[1]);
        assert!(three[2].contains("Content-Length: 0\r\n"), "{}", three[2]);
    }
}

#[tokio::test]
async fn who_waits_for_a_go_ahead_gets_it() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = Line::to(proxy.address()).await;
    let to = origin.address;
    line.send(format!(
        "POST http://{to}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    ))
    .await;
    line.expect("HTTP/1.1 100 Continue\r\n\r\n").await;
    line.send("abc").await;
    assert_eq!(line.reply().await.unwrap().text(), "ok");
    assert!(!origin.heard()[0].contains("xpect"), "we answered it");

    let mut line = Line::to(proxy.address()).await;
    line.send(
        "POST http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n",
    )
    .await;
    assert!(line.reply().await.unwrap().is_denied(), "no body is asked for that goes nowhere");
}

#[tokio::test]
async fn an_answer_comes_through_while_it_is_made() {
    let (go, went) = tokio::sync::mpsc::channel::<()>(1);
    let went = std::sync::Arc::new(tokio::sync::Mutex::new(went));
    let origin = Origin::start(move |mut line| {
        let went = went.clone();
        async move {
            line.request().await;
            line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n").await;
            went.lock().await.recv().await;
            line.send("4\r\nlast\r\n0\r\n\r\n").await;
        }
    })
    .await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = Line::to(proxy.address()).await;
    line.send(format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", origin.address)).await;
    line.head().await.unwrap();
    line.expect("5\r\nfirst\r\n").await;
    go.send(()).await.unwrap();
    line.expect("4\r\nlast\r\n0\r\n\r\n").await;
}

#[tokio::test]
async fn answers_without_a_body_keep_what_they_say_of_it() {
    let origin = Origin::start(|mut line| async move {
        while let Some(request) = line.request().await {
            line.send(match request.split(' ').nth(1).unwrap() {
                "/long" => "HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n",
                "/chunked" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "/304" => "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
                _ => "HTTP/1.1 204 No Content\r\n\r\n",
            })
            .await;
        }
    })
    .await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = Line::to(proxy.address()).await;
    for (path, status, length) in
        [("/long", 200, Some("12345")), ("/chunked", 200, None), ("/304", 304, None), ("/204", 204, None)]
    {
        line.send(format!("HEAD http://{}{path} HTTP/1.1\r\nHost: x\r\n\r\n", origin.address)).await;
        let reply = line.reply_to("HEAD").await.unwrap();
        assert_eq!((reply.status, reply.header("content-length")), (status, length), "{path}");
    }
}

#[tokio::test]
async fn one_connection_may_ask_many_servers() {
    let (one, two) =
        (Origin::saying(OK).await, Origin::saying("HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n").await);
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = Line::to(proxy.address()).await;
    for _ in 0..3 {
        for (origin, status) in [(&one, 200), (&two, 201)] {
            line.send(format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", origin.address)).await;
            assert_eq!(line.reply().await.unwrap().status, status);
        }
        line.send("GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(line.reply().await.unwrap().is_denied());
    }
    for _ in 0..3 {
        line.send(format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", one.address)).await;
        assert_eq!(line.reply().await.unwrap().status, 200);
    }
    assert_eq!((one.heard().len(), two.heard().len()), (6, 3));
    assert_eq!(one.connections(), 4, "the last three shared one");
}

/// A server may end a kept connection at any time; the browser is not to notice.
#[tokio::test]
async fn a_kept_connection_that_ended_is_made_anew() {
    let origin = Origin::start(|mut line| async move {
        line.request().await;
        line.send(OK).await;
        // A second request is read, and the connection ended without an answer.
        line.request().await;
    })
    .await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = Line::to(proxy.address()).await;
    for _ in 0..3 {
        line.send(format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", origin.address)).await;
        assert_eq!(line.reply().await.unwrap().status, 200);
    }
    line.send(format!("POST http://{}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na", origin.address))
        .await;
    assert_eq!(line.reply().await.unwrap().status, 502, "what changes something is not sent twice");
}

#[tokio::test]
async fn old_servers_and_old_clients_are_understood() {
    let origin = Origin::start(|mut line| async move {
        line.request().await;
        line.send("HTTP/1.0 200 OK\r\nFolded: a\r\n b\r\n\r\nuntil the end").await;
    })
    .await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let url = format!("http://{}/", origin.address);
    let reply = get(&proxy, &url).await;
    assert_eq!((reply.text().as_str(), reply.whole), ("until the end", true));
    assert!(reply.head.starts_with("HTTP/1.1 200"));
    let reply = ask(&proxy, &format!("GET {url} HTTP/1.0\r\n\r\n")).await;
    assert_eq!(reply.text(), "until the end");
    assert!(!reply.head.to_lowercase().contains("chunked"));
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_leaves_a_broken_answer() {
    for head in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
        let origin = Origin::start(move |mut line| async move {
            line.request().await;
            line.send(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n5\r\nhello\r\n")).await;
        })
        .await;
        let proxy = proxy(&["127.0.0.1"]).await;
        let reply = get(&proxy, &format!("http://{}/", origin.address)).await;
        assert_eq!((reply.status, reply.whole), (200, false), "{head}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_told_from_a_block() {
    let closed = ClosedPort::new().unwrap();
    let silent = Origin::start(|line| async move { drop(line) }).await;
    let noise = Origin::saying("SSH-2.0-OpenSSH\r\n\r\n").await;
    let asking =
        Origin::saying("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n").await;
    let sudden = Origin::saying("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n").await;
    let proxy = proxy(&["127.0.0.1"]).await;
    for address in [closed.address(), silent.address, noise.address, asking.address, sudden.address] {
        let reply = get(&proxy, &format!("http://{address}/")).await;
        assert_eq!(
            (reply.status, reply.header("x-surehand-egress")),
            (502, Some("unreachable")),
            "{address}"
        );
        assert!(!reply.head.to_lowercase().contains("proxy-authenticate"));
    }
    let reply = get(&proxy, "http://nowhere.example/").await;
    assert_eq!(reply.status, 502);
    assert_eq!(reply.text(), "nowhere.example could not be resolved: no such name\n");
    assert_eq!(connect(&proxy, &closed.address().to_string()).await.err().unwrap().status, 502);
    assert_eq!(proxy.blocked(), []);
}
