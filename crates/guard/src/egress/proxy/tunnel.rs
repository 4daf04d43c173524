//! Tunnels: `CONNECT`, and what an upgrade leaves behind. What goes through is not looked at.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional_with_sizes};

use super::answer::{self, Body, Refusal};
use super::client::{Client, Target};
use super::upstream;

/// For each direction of a tunnel.
const BUFFER: usize = 16 * 1024;

/// Answers a `CONNECT`: the connection becomes a tunnel once the browser has the answer.
pub(super) async fn open(
    client: &Arc<Client>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Refusal> {
    if request.headers().contains_key(CONTENT_LENGTH) || request.headers().contains_key(TRANSFER_ENCODING) {
        return Err(Refusal::Bad("CONNECT with a body"));
    }
    let target = Target::of(client, &request)?;
    let server = match upstream::connect(&client.shared, &target).await {
        Err(Refusal::Denied(denied)) => return Err(client.denied(&request, *denied)),
        other => other?,
    };
    let (client, browser) = (client.clone(), hyper::upgrade::on(request));
    client.shared.clone().upstreams.spawn(async move {
        if let Ok(browser) = browser.await {
            join(browser, server).await;
        }
        drop(client);
    });
    Ok(answer::empty())
}

/// Joins both sides of an upgrade that the server agreed to.
pub(super) fn upgrade(client: &Arc<Client>, browser: OnUpgrade, server: OnUpgrade) {
    let client = client.clone();
    client.shared.clone().upstreams.spawn(async move {
        if let (Ok(browser), Ok(server)) = (browser.await, server.await) {
            join(browser, TokioIo::new(server)).await;
        }
        drop(client);
    });
}

/// Copies in both directions. The end of one is passed on, and the other goes on until its own.
async fn join(browser: Upgraded, mut server: impl AsyncRead + AsyncWrite + Unpin) {
    let mut browser = TokioIo::new(browser);
    // How it ended is known to both ends.
    copy_bidirectional_with_sizes(&mut browser, &mut server, BUFFER, BUFFER).await.ok();
}
