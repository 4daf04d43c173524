//! Limits: bytes, time, and how many at once.

use std::sync::Arc;
use std::time::Duration;

use surehand_guard::egress::{EgressPolicy, Limits, Proxy, Reason, Resolve, Resolving};
use tokio::io::AsyncReadExt;

use crate::world::*;

/// Sends without an end, in pieces.
async fn flood() -> Origin {
    Origin::start(|mut line| async move {
        line.request().await;
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n").await;
        let piece = vec![b'x'; 64 * 1024];
        while tokio::io::AsyncWriteExt::write_all(&mut line.stream, &piece).await.is_ok() {}
        line.mark("left");
    })
    .await
}

/// The memory of this process in bytes.
fn resident() -> u64 {
    let statm = fs_text("/proc/self/statm");
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

#[expect(clippy::disallowed_methods, reason = "a file that is always there")]
fn fs_text(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[tokio::test]
async fn a_long_download_takes_no_memory_and_stops_with_its_reader() {
    let origin = flood().await;
    let proxy = proxy(&["127.0.0.1"]).await;
    let mut line = Line::to(proxy.address()).await;
    line.send(format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", origin.address)).await;
    line.head().await.unwrap();
    let mut buffer = vec![0; 256 * 1024];
    let (mut read, before) = (0, resident());
    while read < 100 << 20 {
        read += soon("bytes", line.stream.read(&mut buffer)).await.unwrap();
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 48 << 20, "grown by {grown}");
    // Nobody reads: what is on its way fits into the buffers of sockets.
    let ahead = proxy.bytes().received.saturating_sub(read as u64);
    assert!(ahead < 32 << 20, "{ahead} bytes ahead of who reads");
    drop(line);
    until("the server is left", || origin.heard().last().is_some_and(|last| last == "left")).await;
}

#[tokio::test]
async fn when_the_bytes_are_used_up_everything_ends() {
    let (origin, quiet) = (flood().await, Origin::start(|mut line| async move { line.ended().await }).await);
    let limits = Limits { max_bytes: Some(1 << 20), ..Limits::default() };
    let proxy = proxy_with(&["127.0.0.1"], Script::of(&[]), limits).await;
    let mut idle = connect(&proxy, &quiet.address.to_string()).await.expect("a tunnel");
    let reply = get(&proxy, &format!("http://{}/", origin.address)).await;
    assert_eq!((reply.status, reply.whole), (200, false));
    assert!(reply.body.len() <= 1 << 20, "{}", reply.body.len());
    assert!(proxy.is_spent());
    idle.ended().await;
    let reply = get(&proxy, &format!("http://{}/", origin.address)).await;
    assert!(reply.is_denied() && reply.text().contains("byte budget"), "{}", reply.text());
    assert!(connect(&proxy, &quiet.address.to_string()).await.err().unwrap().is_denied());
    assert!(proxy.blocked().iter().all(|blocked| blocked.denied.reason == Reason::Budget));
}

/// What others use up cuts off answers that are silent at the moment: nobody may take them for whole.
#[tokio::test]
async fn an_answer_that_is_cut_off_does_not_end_in_order() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n";
    let until_closed = "HTTP/1.0 200 OK\r\n\r\nhalf";
    for answer in [chunked, until_closed] {
        let slow = Origin::start(move |mut line| async move {
            line.request().await;
            line.send(answer).await;
            line.ended().await;
        })
        .await;
        let limits = Limits { max_bytes: Some(1 << 20), ..Limits::default() };
        let proxy = proxy_with(&["127.0.0.1"], Script::of(&[]), limits).await;
        let mut line = Line::to(proxy.address()).await;
        line.send(format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", slow.address)).await;
        line.head().await.expect("an answer");
        line.expect("4\r\nhalf\r\n").await;
        let flood = flood().await;
        get(&proxy, &format!("http://{}/", flood.address)).await;
        assert!(proxy.is_spent());
        line.ended().await;
    }
}

#[tokio::test]
async fn a_tunnel_counts_too() {
    let origin = Origin::start(|mut line| async move { line.ended().await }).await;
    let limits = Limits { max_bytes: Some(1000), ..Limits::default() };
    let proxy = proxy_with(&["127.0.0.1"], Script::of(&[]), limits).await;
    let mut line = connect(&proxy, &origin.address.to_string()).await.expect("a tunnel");
    line.send("x".repeat(2000)).await;
    line.ended().await;
    assert!(proxy.is_spent());
}

#[tokio::test]
async fn who_sends_a_head_slowly_is_cut_off() {
    let limits = Limits { head: Duration::from_millis(100), ..Limits::default() };
    let proxy = proxy_with(&[], Script::of(&[]), limits).await;
    let mut silent = Line::to(proxy.address()).await;
    let mut slow = Line::to(proxy.address()).await;
    slow.send("GET http://10.0.0.1/ HTTP/1.1\r\nX: ").await;
    slow.ended().await;
    silent.ended().await;
    let mut kept = Line::to(proxy.address()).await;
    kept.send("GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(kept.reply().await.unwrap().is_denied());
    kept.ended().await;
}

#[tokio::test]
async fn a_connection_without_a_byte_ends() {
    let origin = Origin::start(|mut line| async move { line.ended().await }).await;
    let asked = Origin::start(|mut line| async move {
        line.request().await;
        line.ended().await;
    })
    .await;
    let limits = Limits { idle: Duration::from_millis(100), ..Limits::default() };
    let proxy = proxy_with(&["127.0.0.1"], Script::of(&[]), limits).await;
    let mut line = connect(&proxy, &origin.address.to_string()).await.expect("a tunnel");
    line.ended().await;
    let reply = get(&proxy, &format!("http://{}/", asked.address)).await;
    assert_eq!((reply.status, reply.header("x-surehand-egress")), (504, Some("timeout")));
}

/// A resolver that never answers.
#[derive(Debug)]
struct Never;

impl Resolve for Never {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn what_takes_too_long_to_reach_is_told_from_what_is_blocked() {
    let limits = Limits { connect: Duration::from_millis(100), ..Limits::default() };
    let proxy = Proxy::start_within(EgressPolicy::default(), Arc::new(Never), limits).await.unwrap();
    let reply = get(&proxy, "http://slow.example/").await;
    assert_eq!((reply.status, reply.header("x-surehand-egress")), (504, Some("timeout")));
    assert_eq!(connect(&proxy, "slow.example:443").await.err().unwrap().status, 504);
    assert_eq!(proxy.blocked(), []);
}

#[tokio::test]
async fn two_hundred_at_once_and_those_who_wait() {
    let origin = Origin::saying(OK).await;
    let limits = Limits { connections: 20, ..Limits::default() };
    for limits in [Limits::default(), limits] {
        let proxy = Arc::new(proxy_with(&["127.0.0.1"], Script::of(&[]), limits).await);
        let url = format!("http://{}/", origin.address);
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..200 {
            let (proxy, url, address) = (proxy.clone(), url.clone(), origin.address.to_string());
            tasks.spawn(async move {
                if number % 2 == 0 {
                    assert_eq!(get(&proxy, &url).await.text(), "ok");
                } else {
                    let mut line = connect(&proxy, &address).await.expect("a tunnel");
                    line.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
                    assert_eq!(line.reply().await.unwrap().text(), "ok");
                }
            });
        }
        while let Some(done) = soon("all", tasks.join_next()).await {
            done.expect("an answer");
        }
    }
    assert_eq!(origin.heard().len(), 400);
}
