//! `CONNECT`, and upgrades.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::world::*;

/// Answers a WebSocket's handshake, then every frame's bytes with the same.
async fn echo(mut line: Line) {
    let head = line.request().await.unwrap_or_default();
    assert!(head.to_lowercase().contains("upgrade: websocket\r\n"), "{head}");
    line.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n").await;
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = line.stream.read(&mut buffer).await {
        line.send(&buffer[..read]).await;
    }
}

const HANDSHAKE: &str =
    "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==\r\n\r\n";

#[tokio::test]
async fn a_websocket_goes_through_a_tunnel() {
    let origin = Origin::start(echo).await;
    let proxy = proxy(&[&origin.address.to_string()]).await;
    let mut line = connect(&proxy, &origin.address.to_string()).await.expect("a tunnel");
    line.send(format!("GET /socket HTTP/1.1\r\n{HANDSHAKE}")).await;
    assert!(line.head().await.unwrap().starts_with("HTTP/1.1 101 "));
    for text in ["\u{1}frame", "another"] {
        line.send(text).await;
        line.expect(text).await;
    }
    assert!(proxy.bytes().sent > 12 && proxy.bytes().received > 12);
}

#[tokio::test]
async fn a_websocket_goes_through_a_request() {
    let origin = Origin::start(echo).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = Line::to(proxy.address()).await;
    // What comes before the answer belongs to the tunnel.
    line.send(format!("GET http://{}/socket HTTP/1.1\r\n{HANDSHAKE}early", origin.address)).await;
    let head = line.head().await.unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 101 ") && head.contains("upgrade: websocket\r\n"), "{head}");
    line.expect("early").await;
    line.send("frame").await;
    line.expect("frame").await;
    assert!(origin.heard()[0].contains(&format!("Host: {}\r\n", origin.address)));
}

#[tokio::test]
async fn bytes_that_come_before_the_answer_are_passed_on() {
    let origin = Origin::start(|mut line| async move {
        line.expect("early").await;
        line.send("late").await;
    })
    .await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = Line::to(proxy.address()).await;
    line.send(format!("CONNECT {} HTTP/1.1\r\nHost: x\r\n\r\nearly", origin.address)).await;
    assert!(line.head().await.unwrap().starts_with("HTTP/1.1 200 "));
    line.expect("late").await;
    line.ended().await;
}

/// What was sent early to a tunnel that is refused is never read as a request.
#[tokio::test]
async fn a_refused_tunnel_ends_its_connection() {
    let origin = Origin::saying(OK).await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = Line::to(proxy.address()).await;
    let hidden = format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", origin.address);
    line.send(format!("CONNECT 10.0.0.1:443 HTTP/1.1\r\nHost: x\r\n\r\n{hidden}")).await;
    assert!(line.reply().await.unwrap().is_denied());
    line.ended().await;
    assert_eq!(origin.connections(), 0);
    let blocked = proxy.blocked();
    assert_eq!((blocked[0].url.as_str(), blocked[0].method.as_str()), ("10.0.0.1:443", "CONNECT"));
}

#[tokio::test]
async fn one_direction_may_end_before_the_other() {
    let origin = Origin::start(|mut line| async move {
        let mut all = String::new();
        line.stream.read_to_string(&mut all).await.unwrap();
        line.send(format!("{} bytes", all.len())).await;
    })
    .await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = connect(&proxy, &origin.address.to_string()).await.expect("a tunnel");
    line.send("x".repeat(100_000)).await;
    line.stream.shutdown().await.unwrap();
    line.expect("100000 bytes").await;
    line.ended().await;

    let origin = Origin::start(|mut line| async move {
        line.send("all there is").await;
        line.stream.shutdown().await.unwrap();
        line.expect("and an answer").await;
    })
    .await;
    let mut line = connect(&proxy, &origin.address.to_string()).await.expect("a tunnel");
    line.expect("all there is").await;
    line.ended().await;
    line.send("and an answer").await;
    line.stream.shutdown().await.unwrap();
    let sent = 100_000 + "and an answer".len() as u64;
    until("the second half is passed on", || proxy.bytes().sent == sent).await;
}
