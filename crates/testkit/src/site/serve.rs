//! Connections: accepting, logging, sending at the asked pace, and stopping all of it at once.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Request, Response, SiteBuilder};

/// Which of the two origins a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// `http://127.0.0.1:PORT`.
    Main,
    /// `http://localhost:PORT2`.
    Cross,
}

/// A request in the log.
#[derive(Debug, Clone)]
pub struct Logged {
    /// Which origin it came to.
    pub listener: Listener,
    /// `GET`, `POST`, ….
    pub method: String,
    /// Without the query.
    pub path: String,
    /// What follows `?`; empty if nothing does.
    pub query: String,
    /// In order of arrival, names as sent.
    pub headers: Vec<(String, String)>,
    /// Empty if there is none.
    pub body: Vec<u8>,
}

impl Logged {
    /// The first header with that name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(each, _)| each.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug)]
pub(super) struct Origins {
    pub main: String,
    pub cross: String,
}

/// What all threads of a site share.
#[derive(Debug)]
pub(super) struct Shared {
    pub origins: Arc<Origins>,
    routes: SiteBuilder,
    log: Mutex<Vec<Logged>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stopped: bool,
    next: u64,
    connections: HashMap<u64, TcpStream>,
}

impl Shared {
    pub fn new(routes: SiteBuilder, origins: Origins) -> Self {
        Self {
            origins: Arc::new(origins),
            routes,
            log: Mutex::default(),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub fn requests(&self) -> Vec<Logged> {
        locked(&self.log).clone()
    }

    pub fn clear_requests(&self) {
        locked(&self.log).clear();
    }

    /// From now on nothing is accepted, nobody sleeps, and every open connection is at its end.
    pub fn stop(&self) {
        let mut state = locked(&self.state);
        state.stopped = true;
        for connection in state.connections.values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        self.changed.notify_all();
    }

    pub fn wait_for_connections(&self, limit: Duration) {
        let state = locked(&self.state);
        let _ = self.changed.wait_timeout_while(state, limit, |state| !state.connections.is_empty());
    }

    fn stopped(&self) -> bool {
        locked(&self.state).stopped
    }

    /// Waits for `pause`; false if the site stopped meanwhile.
    fn pause(&self, pause: Duration) -> bool {
        if pause.is_zero() {
            return true;
        }
        let waited = self.changed.wait_timeout_while(locked(&self.state), pause, |state| !state.stopped);
        !waited.unwrap_or_else(PoisonError::into_inner).0.stopped
    }

    /// Notes a connection, so that [`Shared::stop`] reaches it; `None` if the site has stopped.
    fn enter(self: &Arc<Self>, stream: &TcpStream) -> io::Result<Option<Entered>> {
        let kept = stream.try_clone()?;
        let mut state = locked(&self.state);
        if state.stopped {
            return Ok(None);
        }
        let number = state.next;
        state.next += 1;
        state.connections.insert(number, kept);
        Ok(Some(Entered { number, shared: Arc::clone(self) }))
    }
}

/// A noted connection; dropping it takes it off the list, also when a handler panics.
struct Entered {
    number: u64,
    shared: Arc<Shared>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(connection) = locked(&self.shared.state).connections.remove(&self.number) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        self.shared.changed.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The loop of one listener.
pub(super) fn accept(listener: &TcpListener, name: Listener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped() {
            return;
        }
        let Ok(stream) = stream else {
            // Out of descriptors, most likely: do not spin.
            shared.pause(Duration::from_millis(10));
            continue;
        };
        let Ok(Some(entered)) = shared.enter(&stream) else { continue };
        let _ = thread::Builder::new().name("site-connection".into()).spawn(move || {
            let _ = serve(stream, name, &entered.shared);
        });
    }
}

fn serve(mut stream: TcpStream, listener: Listener, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let request = match Request::read(&mut reader, &shared.origins) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let response = Response::text(error.to_string()).status(400).header("Connection", "close");
                return send(&mut stream, &response, false, shared).map(drop);
            }
            Err(error) => return Err(error),
        };
        locked(&shared.log).push(Logged {
            listener,
            method: request.method.clone(),
            path: request.path.clone(),
            query: request.query.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
        });
        let response = shared.routes.respond(&request);
        if !send(&mut stream, &response, request.method == "HEAD", shared)? {
            return Ok(());
        }
        if request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            return Ok(());
        }
    }
}

/// Sends a response; says whether the connection can be used for another one.
fn send(stream: &mut TcpStream, response: &Response, head: bool, shared: &Shared) -> io::Result<bool> {
    if !shared.pause(response.delay) || response.hangs_up {
        return Ok(false);
    }
    if response.status == 0 {
        return wait_for_the_end(stream);
    }
    let bodiless = matches!(response.status, 100..=199 | 204 | 304);
    let is_promised = response.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let in_parts = !bodiless
        && !is_promised
        && (response.never_ends || response.breaks_off || !response.chunks.is_empty());
    let mut message = format!("HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
    for (name, value) in &response.headers {
        message.push_str(&format!("{name}: {value}\r\n"));
    }
    if in_parts {
        message.push_str("Transfer-Encoding: chunked\r\n");
    } else if !bodiless && !is_promised {
        message.push_str(&format!("Content-Length: {}\r\n", response.body.len()));
    }
    message.push_str("\r\n");

    let mut message = message.into_bytes();
    if bodiless || head {
        stream.write_all(&message)?;
        return Ok(true);
    }
    if !in_parts {
        message.extend_from_slice(&response.body);
        stream.write_all(&message)?;
        return Ok(!response.breaks_off);
    }
    push_chunk(&mut message, &response.body);
    stream.write_all(&message)?;
    for (pause, bytes) in &response.chunks {
        if !shared.pause(*pause) {
            return Ok(false);
        }
        let mut part = vec![];
        push_chunk(&mut part, bytes);
        stream.write_all(&part)?;
    }
    if response.breaks_off {
        return Ok(false);
    }
    if response.never_ends {
        return wait_for_the_end(stream);
    }
    stream.write_all(b"0\r\n\r\n")?;
    Ok(true)
}

fn push_chunk(message: &mut Vec<u8>, bytes: &[u8]) {
    // An empty chunk would be the end.
    if !bytes.is_empty() {
        message.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
        message.extend_from_slice(bytes);
        message.extend_from_slice(b"\r\n");
    }
}

/// Until the other side, or [`Shared::stop`], ends the connection.
fn wait_for_the_end(stream: &mut TcpStream) -> io::Result<bool> {
    let mut ignored = [0; 1024];
    while stream.read(&mut ignored)? > 0 {}
    Ok(false)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
