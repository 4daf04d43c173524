//! A connection of the browser: its requests, one after another.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::body::Incoming;
use hyper::header::TRANSFER_ENCODING;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, OwnedSemaphorePermit};

use super::answer::{self, Body, Refusal};
use super::gate::Gate;
use super::upstream::Kept;
use super::{Shared, forward, headers, tunnel};
use crate::egress::denied::{Denied, Reason};
use crate::egress::host::Host;

/// The longest head of a request.
const HEAD: usize = 64 * 1024;
/// The most lines in a head.
pub(super) const LINES: usize = 500;

/// A connection of the browser, and what becomes of it.
pub(super) struct Client {
    pub shared: Arc<Shared>,
    /// The last connection to a server, for the next request to the same.
    pub kept: Mutex<Option<Kept>>,
    /// Given back when the connection and its tunnel have ended.
    _slot: OwnedSemaphorePermit,
    /// Whether a request had a length and chunks.
    contradiction: Arc<AtomicBool>,
}

/// Serves one connection until it ends or becomes a tunnel.
pub(super) async fn serve(shared: Arc<Shared>, stream: TcpStream, slot: OwnedSemaphorePermit) {
    // Small answers would wait for the acknowledgement of the ones before. Without it they only come later.
    stream.set_nodelay(true).ok();
    let head = shared.limits.head;
    let contradiction = Arc::new(AtomicBool::new(false));
    let (reading, writing) = stream.into_split();
    let stream = tokio::io::join(Gate::new(reading, contradiction.clone()), writing);
    let client = Arc::new(Client { shared, kept: Mutex::new(None), _slot: slot, contradiction });
    let service = service_fn(move |request| answer(client.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .max_header_size(HEAD)
        .max_buf_size(2 * HEAD)
        .max_headers(LINES)
        .preserve_header_case(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // What went wrong with a connection of the browser was told to it, or it is gone.
    connection.await.ok();
}

async fn answer(client: Arc<Client>, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let tunnel = request.method() == Method::CONNECT;
    // What was meant for a tunnel that is refused may be on its way already, and is no request. Behind chunks nobody
    // knows where the next request begins but hyper.
    let last = tunnel || request.headers().contains_key(TRANSFER_ENCODING);
    let done = if client.contradiction.load(Ordering::Relaxed) {
        Err(Refusal::Bad("a length and chunks"))
    } else if tunnel {
        Box::pin(tunnel::open(&client, request)).await
    } else {
        Box::pin(forward::send(&client, request)).await
    };
    let mut response = done.unwrap_or_else(Refusal::answer);
    if last && !becomes_tunnel(&response, tunnel) {
        answer::close(&mut response);
    }
    Ok(response)
}

fn becomes_tunnel(response: &Response<Body>, asked: bool) -> bool {
    response.status() == StatusCode::SWITCHING_PROTOCOLS || asked && response.status().is_success()
}

/// Where a request wants to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub host: Host,
    pub port: u16,
}

impl Target {
    /// Of an address with scheme and host, or of what stands behind CONNECT, and none that could be read in two ways.
    pub fn of<T>(client: &Client, request: &Request<T>) -> Result<Self, Refusal> {
        headers::check(request.headers())?;
        let uri = request.uri();
        let authority = uri.authority().ok_or(Refusal::Bad("this is a proxy; it wants a whole address"))?;
        if authority.as_str().contains('@') {
            return Err(Refusal::Bad("a user name in the address"));
        }
        let default = match uri.scheme_str() {
            Some("http") => Some(80),
            None if request.method() == Method::CONNECT => None,
            Some(scheme) => {
                let reason = Reason::Scheme(scheme.to_owned());
                let denied = Denied { host: brief(authority.host()), port: 0, address: None, reason };
                return Err(client.denied(request, denied));
            }
            None => return Err(Refusal::Bad("an address without a scheme")),
        };
        let port = match (authority.port_u16(), authority.as_str().ends_with(authority.host()), default) {
            (Some(port), _, _) => port,
            (None, true, Some(default)) => default,
            _ => 0,
        };
        if port == 0 {
            return Err(Refusal::Bad("no port, or none that can be connected to"));
        }
        let host = Host::parse(authority.host()).map_err(|bad| {
            let denied = Denied { host: brief(authority.host()), port, ..Denied::from(bad) };
            client.denied(request, denied)
        })?;
        Ok(Self { host, port })
    }
}

/// What is no host is shown as it came, but not at any length.
fn brief(host: &str) -> String {
    host.chars().take(253).collect()
}

impl Client {
    /// Writes down that a request is not let out.
    pub fn denied<T>(&self, request: &Request<T>, denied: Denied) -> Refusal {
        self.record(request.method(), request.uri(), denied)
    }

    /// The same where the request has gone already.
    pub fn record(&self, method: &Method, uri: &Uri, denied: Denied) -> Refusal {
        let url = match uri.scheme_str() {
            Some(scheme) => format!("{scheme}://{}:{}{}", denied.host, denied.port, uri.path()),
            None => format!("{}:{}", denied.host, denied.port),
        };
        self.shared.ledger.record(method.as_str(), &url, &denied);
        Refusal::from(denied)
    }
}
