//! Connections to servers: only to addresses that were judged for this very connection.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::Refusal;
use super::client::{LINES, Target};
use super::metered::Metered;
use super::{Shared, kin};
use crate::egress::denied::{Denied, Reason};
use crate::egress::resolve::{NotAdmitted, admit};

/// The body of a request on its way out.
pub(super) type Outgoing = UnsyncBoxBody<Bytes, hyper::Error>;

/// A connection on which requests can be sent, and to whom.
pub(super) struct Kept {
    pub target: Target,
    pub sender: SendRequest<Outgoing>,
}

/// The longest head of an answer; what Chromium takes.
const HEAD: usize = 256 * 1024;
/// How many addresses of a name are tried. All of them are judged.
const TRIES: usize = 8;

/// Connects to a target for HTTP.
pub(super) async fn speak(shared: &Arc<Shared>, target: &Target) -> Result<SendRequest<Outgoing>, Refusal> {
    let stream = connect(shared, target).await?;
    // Answers are read as forgivingly as browsers read them. Whatever a server makes of that hits only itself:
    // connections are not shared between servers.
    let handshake = http1::Builder::new()
        .preserve_header_case(true)
        .max_header_size(HEAD)
        .max_buf_size(HEAD)
        .max_headers(LINES)
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .ignore_invalid_headers_in_responses(true)
        .handshake(TokioIo::new(stream));
    let (sender, connection) = handshake.await.map_err(|error| Refusal::Unreachable(error.to_string()))?;
    shared.upstreams.spawn(async move {
        // Whoever waits for the answer is told.
        connection.with_upgrades().await.ok();
    });
    Ok(sender)
}

/// Connects to a target, if all of its addresses are let out.
pub(super) async fn connect(shared: &Arc<Shared>, target: &Target) -> Result<Metered, Refusal> {
    let Target { host, port } = target;
    let denied = |reason, address| Denied { host: host.to_string(), port: *port, address, reason };
    if shared.meter.is_spent() {
        return Err(denied(Reason::Budget, None).into());
    }
    let deadline = Instant::now() + shared.limits.connect;
    let admitting = timeout_at(deadline, admit(&shared.policy, &*shared.resolver, host, *port)).await;
    let addresses = match admitting {
        Err(_) => return Err(Refusal::TooSlow(format!("{host} could not be resolved in time"))),
        Ok(Err(NotAdmitted::Denied(denied))) => return Err(denied.into()),
        Ok(Err(error @ NotAdmitted::Unresolved { .. })) => {
            return Err(Refusal::Unreachable(error.to_string()));
        }
        Ok(Ok(addresses)) => addresses,
    };
    if let Some(own) = addresses.iter().find(|address| kin::is_one(**address)) {
        return Err(denied(Reason::Itself, Some(own.ip())).into());
    }
    match first_of(&addresses, deadline).await {
        Ok(stream) => {
            stream.set_nodelay(true).ok();
            Ok(Metered::new(stream, shared.clone()))
        }
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            Err(Refusal::TooSlow(format!("{host}:{port} did not answer in time")))
        }
        Err(error) => Err(Refusal::Unreachable(format!("{host}:{port} could not be reached: {error}"))),
    }
}

/// Tries the addresses in turn. Each has its share of what is left of the time, so that a dead one leaves some.
async fn first_of(addresses: &[SocketAddr], deadline: Instant) -> io::Result<TcpStream> {
    let tried = &addresses[..addresses.len().min(TRIES)];
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for (done, address) in tried.iter().enumerate() {
        let left = u32::try_from(tried.len() - done).unwrap_or(1);
        let share = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)) / left;
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}
