//! Requests that two servers could read in two ways.

use crate::world::*;

#[tokio::test]
async fn what_can_be_read_in_two_ways_is_refused() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let to = origin.address;
    let heads = [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 6",
        "Content-Length: +5",
        "Content-Length: 5x",
        "Content-Length: -1",
        "Content-Length:",
        "Content-Length : 5",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "X: a\r\n folded",
        "X: a\r\n\tContent-Length: 5",
        " X: a",
        "Host: second.example",
        "X\0: a",
        "no colon",
    ];
    for head in heads {
        let mut line = Line::to(proxy.address()).await;
        line.send(format!("POST http://{to}/ HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\nhello")).await;
        let reply = line.reply().await.unwrap_or_else(|| panic!("an answer to {head:?}"));
        assert_eq!(reply.status, 400, "{head:?}");
        line.ended().await;
    }
    assert_eq!(origin.connections(), 0);
}

#[tokio::test]
async fn a_length_and_chunks_contradict_each_other() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let to = format!("POST http://{}/ HTTP/1.1\r\nHost: x\r\n", origin.address);
    let good = [
        format!("{to}Content-Length: 3\r\n\r\nabc"),
        format!("{to}Content-Length: 52\r\n\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n..."),
        format!("{to}\r\n"),
    ];
    for head in
        ["content-length: 4\r\nTransfer-Encoding: chunked", "Transfer-encoding: chunked\r\nContent-Length: 4"]
    {
        let mut line = Line::to(proxy.address()).await;
        for good in &good {
            line.send(good).await;
            assert_eq!(line.reply().await.unwrap().status, 200, "{good}");
        }
        let heard = origin.heard().len();
        // Byte by byte, so that it is looked at in parts.
        let bad = format!("{to}{head}\r\n\r\n2\r\nab\r\n0\r\n\r\n{}", good[0]);
        for byte in bad.bytes() {
            line.send([byte]).await;
        }
        assert_eq!(line.reply().await.unwrap().status, 400, "{head}");
        line.ended().await;
        assert_eq!(origin.heard().len(), heard, "{head}");
    }
}

/// Where the next request begins is known by the chunks alone; it is not worth to rely on that.
#[tokio::test]
async fn behind_chunks_comes_no_request() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let to = format!("POST http://{}/ HTTP/1.1\r\nHost: x\r\n", origin.address);
    let mut line = Line::to(proxy.address()).await;
    line.send(format!("{to}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n{to}\r\n")).await;
    assert_eq!(line.reply().await.unwrap().status, 200);
    line.ended().await;
    assert_eq!(origin.heard().len(), 1);
}

#[tokio::test]
async fn chunks_that_are_none_reach_nobody_as_a_whole_request() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    for chunks in [
        "zz\r\nab\r\n0\r\n\r\n",
        "2\r\nabc\r\n0\r\n\r\n",
        "-1\r\n\r\n",
        "fffffffffffffffff\r\n",
        "2\nab\n0\n\n",
    ] {
        let mut line = Line::to(proxy.address()).await;
        let to = origin.address;
        line.send(format!(
            "POST http://{to}/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
        ))
        .await;
        assert_eq!(line.reply().await.unwrap_or_else(|| panic!("{chunks:?}")).status, 400, "{chunks:?}");
        line.ended().await;
    }
    assert!(origin.heard().iter().all(|one| one.ends_with("<cut>")), "{:?}", origin.heard());
}

#[tokio::test]
async fn requests_that_come_at_once_are_each_judged() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let one = format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", origin.address);
    let mut line = Line::to(proxy.address()).await;
    line.send(format!("{one}GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n{one}")).await;
    for status in [200, 403, 200] {
        assert_eq!(line.reply().await.unwrap().status, status);
    }
    assert_eq!(origin.heard().len(), 2);
}

#[tokio::test]
async fn only_whole_addresses_are_taken() {
    let proxy = proxy(&["127.0.0.1"]).await;
    let own = proxy.address();
    for line in [
        "GET / HTTP/1.1",
        "GET /http://127.0.0.1/ HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "GET 127.0.0.1:80 HTTP/1.1",
        "GET http:// HTTP/1.1",
        "GET http:///path HTTP/1.1",
        "GET http://me:pw@127.0.0.1/ HTTP/1.1",
        "GET http://127.0.0.1:0/ HTTP/1.1",
        "GET http://127.0.0.1:/ HTTP/1.1",
        "GET http://127.0.0.1:99999/ HTTP/1.1",
        "GET http://127.0.0.1\\@8.8.8.8/ HTTP/1.1",
        "CONNECT 127.0.0.1 HTTP/1.1",
        "CONNECT 127.0.0.1:0 HTTP/1.1",
        "CONNECT me@127.0.0.1:1 HTTP/1.1",
        "CONNECT / HTTP/1.1",
        "CONNECT http://127.0.0.1:1/ HTTP/1.1\r\nContent-Length: 1",
        "PRI * HTTP/2.0",
    ] {
        let reply = ask(&proxy, &format!("{line}\r\nHost: {own}\r\n\r\n")).await;
        assert_eq!(reply.status, 400, "{line}");
    }
}

#[tokio::test]
async fn a_head_has_an_end() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let to = origin.address;
    let fits = "a".repeat(60 * 1024);
    assert_eq!(
        ask(&proxy, &format!("GET http://{to}/ HTTP/1.1\r\nHost: x\r\nX: {fits}\r\n\r\n")).await.status,
        200
    );
    let long = "a".repeat(70 * 1024);
    assert_eq!(
        ask(&proxy, &format!("GET http://{to}/ HTTP/1.1\r\nHost: x\r\nX: {long}\r\n\r\n")).await.status,
        431
    );
    let many = "X: a\r\n".repeat(600);
    assert_eq!(ask(&proxy, &format!("GET http://{to}/ HTTP/1.1\r\nHost: x\r\n{many}\r\n")).await.status, 431);
    assert_eq!(origin.heard().len(), 1);
}
