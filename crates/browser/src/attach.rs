//! Finding the DevTools WebSocket of a browser that somebody else started.
//!
//! One small HTTP request, written by hand: a client library would be the heaviest thing in the process, and the
//! failures must be told apart (nothing there, silent, not HTTP, not a browser). Connecting is `surehand-cdp`'s.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

use serde::{Deserialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout_at,
};

use crate::Error;

mod list;

pub use list::{Listed, list};

/// However long the caller would wait, a person does not wait longer than this for a port.
const LONGEST: Duration = Duration::from_millis(4500);
/// `/json/version` is below a kilobyte; a server that sends more than this is not a browser.
pub(crate) const LARGEST: usize = 64 << 10;
/// Where a browser says what it is.
pub(crate) const VERSION: &str = "/json/version";

/// A browser to attach to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachTarget {
    /// The address of its browser-level WebSocket.
    pub ws_url: String,
    /// What it says it is, e.g. `Chrome/156.0.8078.73`; empty where only a WebSocket address was given and the host
    /// tells nothing more.
    pub browser: String,
}

/// Where an endpoint text points to.
#[derive(Debug, PartialEq, Eq)]
struct Endpoint {
    host: String,
    port: u16,
    /// Where on that host its pages are: empty, or `/like/this`.
    prefix: String,
    /// A `ws://` address that already names a socket.
    socket: Option<String>,
}

/// Turns what a person gives (`9222`, `host:9222`, `http://host:9222`, `ws://…`) into a WebSocket address.
///
/// # Errors
/// [`Error::BadEndpoint`], [`Error::UnknownHost`], [`Error::Refused`], [`Error::AttachTimeout`], [`Error::NotHttp`],
/// [`Error::NotDevTools`] and [`Error::Attach`], each for what it says; always within five seconds.
pub async fn resolve(endpoint: &str, timeout: Duration) -> Result<AttachTarget, Error> {
    let endpoint = endpoint.trim();
    if endpoint.starts_with("wss://") {
        // Nothing can be asked before the TLS handshake, which is the connection's.
        return Ok(AttachTarget { ws_url: endpoint.into(), browser: String::new() });
    }
    let parsed = parse(endpoint)?;
    let started = Instant::now();
    let limit = timeout.min(LONGEST);
    match timeout_at((started + limit).into(), ask(endpoint, &parsed)).await {
        Ok(result) => result,
        Err(_) => Err(Error::AttachTimeout { endpoint: endpoint.into(), waited: told(limit) }),
    }
}

/// What is left of a deadline is no round number; a person reads tenths of a second.
fn told(limit: Duration) -> Duration {
    let tenths = limit.as_millis().saturating_add(50) / 100;
    Duration::from_millis(u64::try_from(tenths * 100).unwrap_or(u64::MAX))
}

async fn ask(endpoint: &str, parsed: &Endpoint) -> Result<AttachTarget, Error> {
    let (answer, address) = fetch(endpoint, parsed, VERSION, LARGEST).await?;
    let version = read_answer(endpoint, &answer);
    match (&parsed.socket, version) {
        // A service in front of browsers knows its sockets, but not necessarily this page.
        (Some(socket), Ok(version)) => Ok(AttachTarget { ws_url: socket.clone(), browser: version.browser }),
        (Some(socket), Err(Error::NotDevTools { .. })) => {
            Ok(AttachTarget { ws_url: socket.clone(), browser: String::new() })
        }
        (None, Ok(version)) => {
            Ok(AttachTarget { ws_url: reachable(&version.socket, address), browser: version.browser })
        }
        (_, Err(error)) => Err(error),
    }
}

/// What a browser answers at one of its own addresses, and where it was reached.
async fn fetch(
    endpoint: &str,
    parsed: &Endpoint,
    path: &str,
    largest: usize,
) -> Result<(Vec<u8>, SocketAddr), Error> {
    let (mut stream, address) = connect(endpoint, parsed).await?;
    let request = request(&format!("{}{path}", parsed.prefix), address.port());
    let answer = exchange(&mut stream, &request, largest).await;
    let answer = answer.map_err(|source| Error::Attach { endpoint: endpoint.into(), source })?;
    Ok((answer, address))
}

async fn connect(endpoint: &str, parsed: &Endpoint) -> Result<(TcpStream, SocketAddr), Error> {
    let unknown = |why: String| Error::UnknownHost { endpoint: endpoint.into(), why };
    let found = tokio::net::lookup_host((parsed.host.as_str(), parsed.port)).await;
    let mut last = unknown("the name is not known".into());
    for address in found.map_err(|error| unknown(error.to_string()))? {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok((stream, address)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                last = Error::Refused { address }
            }
            Err(source) => last = Error::Attach { endpoint: endpoint.into(), source },
        }
    }
    Err(last)
}

/// The request. Browsers refuse host names other than `localhost` here (a guard against DNS rebinding).
pub(crate) fn request(path: &str, port: u16) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\nAccept: */*\r\n\r\n")
}

/// Sends the request and reads until there is a whole answer, or until it is clear that there will be none.
async fn exchange(stream: &mut TcpStream, request: &str, largest: usize) -> io::Result<Vec<u8>> {
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    loop {
        match stream.read_buf(&mut answer).await {
            Ok(0) => return Ok(answer),
            Ok(_) if is_enough(&answer, largest) => return Ok(answer),
            Ok(_) => {}
            // Servers that do not like the request reset the connection after their answer.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(answer),
            Err(error) => return Err(error),
        }
    }
}

/// Whether more bytes could not change the verdict.
pub(crate) fn is_enough(answer: &[u8], largest: usize) -> bool {
    let not_http = !answer.starts_with(&b"HTTP/1."[..answer.len().min(7)]);
    not_http || answer.len() > largest || is_whole(answer)
}

fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = header(head, "content-length").and_then(|value| value.parse::<usize>().ok());
    length.is_some_and(|length| body.len() >= length)
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// The part of `/json/version` that matters.
#[derive(Debug, Deserialize)]
pub(crate) struct Version {
    #[serde(rename = "Browser", default)]
    pub browser: String,
    #[serde(rename = "webSocketDebuggerUrl")]
    pub socket: String,
}

/// Judges an answer: a browser's, another web server's, or no HTTP at all.
pub(crate) fn read_answer(endpoint: &str, answer: &[u8]) -> Result<Version, Error> {
    read_json(endpoint, answer, VERSION)
}

fn read_json<T: DeserializeOwned>(endpoint: &str, answer: &[u8], path: &str) -> Result<T, Error> {
    let text = String::from_utf8_lossy(answer);
    if !text.starts_with("HTTP/1.") {
        let said = text.chars().take(40).collect();
        return Err(Error::NotHttp { endpoint: endpoint.into(), said });
    }
    let other = |why: String| Error::NotDevTools { endpoint: endpoint.into(), why };
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| other("its answer breaks off".into()))?;
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    if status != "200" {
        return Err(other(format!("it answered {status} to {path}")));
    }
    serde_json::from_str(body.trim_end()).map_err(|_| other(format!("its {path} is not a browser's")))
}

/// The socket's address with the host that was really reached: the browser only knows what the request called it, and
/// would refuse a host name.
fn reachable(socket: &str, address: SocketAddr) -> String {
    let path =
        socket.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    format!("ws://{address}/{path}")
}

fn parse(endpoint: &str) -> Result<Endpoint, Error> {
    let bad = |why: &str| Error::BadEndpoint { endpoint: endpoint.into(), why: why.into() };
    let (scheme, rest) = endpoint.split_once("://").unwrap_or(("", endpoint));
    if scheme == "https" {
        return Err(bad("debugging over https has a wss:// address; give that one"));
    }
    if !["", "http", "ws"].contains(&scheme) {
        return Err(bad("its scheme is unknown"));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) =
        host_and_port(authority, !scheme.is_empty()).ok_or_else(|| bad("it has no usable host and port"))?;
    let names_socket = scheme == "ws" && !path.is_empty();
    if scheme.is_empty() && !path.is_empty() {
        return Err(bad("a path needs a scheme before it"));
    }
    let prefix = if names_socket { String::new() } else { prefix_of(path) };
    Ok(Endpoint { host, port, prefix, socket: names_socket.then(|| endpoint.to_owned()) })
}

/// A browser behind another server may have its pages below a path; who copied the address of one of them means all.
fn prefix_of(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let own = ["json/version", "json/list", "json"].iter().find_map(|own| path.strip_suffix(own));
    let prefix = own.unwrap_or(path).trim_end_matches('/');
    if prefix.is_empty() { String::new() } else { format!("/{prefix}") }
}

/// One text for all the ways to write an endpoint, so that it can be found again.
///
/// # Errors
/// [`Error::BadEndpoint`].
pub fn canonical(endpoint: &str) -> Result<String, Error> {
    let endpoint = endpoint.trim();
    if endpoint.starts_with("wss://") {
        return Ok(endpoint.to_owned());
    }
    let parsed = parse(endpoint)?;
    let host = parsed.host.to_ascii_lowercase();
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    Ok(parsed.socket.unwrap_or_else(|| format!("http://{host}:{}{}", parsed.port, parsed.prefix)))
}

/// `9222`, `host:9222`, `[::1]:9222`; with a scheme in front also a host alone, on port 80.
fn host_and_port(authority: &str, with_scheme: bool) -> Option<(String, u16)> {
    let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port != 0);
    if let Some(port) = port(authority).filter(|_| !with_scheme) {
        return Some(("127.0.0.1".into(), port));
    }
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, number) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let legal = |c: char| c.is_alphanumeric() || "-._".contains(c);
    let is_host = !host.is_empty() && (host.parse::<IpAddr>().is_ok() || host.chars().all(legal));
    let port = match number {
        Some(number) => port(number)?,
        None if with_scheme => 80,
        None => return None,
    };
    is_host.then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests;
