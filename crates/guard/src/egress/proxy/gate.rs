//! Looks at heads of requests before hyper does, for what hyper does not tell: a length together with chunks. hyper drops
//! the length then and ends the connection afterwards, which is within the standard; such a request has no honest author,
//! so it is refused. Nothing is changed on the way through, and the parser is hyper's own.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use httparse::{EMPTY_HEADER, Request, Status};
use tokio::io::{AsyncRead, ReadBuf};

use super::client::LINES;

/// See the module.
pub(super) struct Gate<S> {
    stream: S,
    place: Place,
    contradiction: Arc<AtomicBool>,
}

/// Where in the stream we are.
enum Place {
    /// In a head; what there is of it.
    Head(Vec<u8>),
    /// In a body; how much there is to come.
    Body(u64),
    /// Where no head comes any more: behind chunks the connection is closed, and a tunnel has none.
    Beyond,
}

impl<S> Gate<S> {
    /// The flag is raised when a head contradicts itself, before hyper gets to it.
    pub fn new(stream: S, contradiction: Arc<AtomicBool>) -> Self {
        Self { stream, place: Place::Head(Vec::new()), contradiction }
    }

    fn look(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match &mut self.place {
                Place::Beyond => return,
                Place::Body(left) => {
                    let passed = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= passed as u64;
                    bytes = &bytes[passed..];
                    if *left == 0 {
                        self.place = Place::Head(Vec::new());
                    }
                }
                Place::Head(head) => {
                    let before = head.len();
                    head.extend(bytes);
                    if !may_end(&head[before.saturating_sub(3)..]) {
                        return;
                    }
                    let Some((length, next)) = read(head, &self.contradiction) else { return };
                    self.place = next;
                    bytes = &bytes[length.saturating_sub(before).min(bytes.len())..];
                }
            }
        }
    }
}

/// Whether an empty line is in there.
fn may_end(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|two| two == b"\n\n") || bytes.windows(3).any(|three| three == b"\n\r\n")
}

/// How long the head is and what comes behind it; nothing if it is not complete.
fn read(head: &[u8], contradiction: &AtomicBool) -> Option<(usize, Place)> {
    let mut lines = [EMPTY_HEADER; LINES];
    let mut request = Request::new(&mut lines);
    let length = match request.parse(head) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return None,
        // hyper says the same, and ends the connection.
        Err(_) => return Some((head.len(), Place::Beyond)),
    };
    let find = |name: &str| request.headers.iter().find(|line| line.name.eq_ignore_ascii_case(name));
    let (size, chunks) = (find("content-length"), find("transfer-encoding"));
    if size.is_some() && chunks.is_some() {
        contradiction.store(true, Ordering::Relaxed);
    }
    let beyond = chunks.is_some() || request.method == Some("CONNECT") || find("upgrade").is_some();
    let size = size.map_or(Some(0), |size| std::str::from_utf8(size.value).ok()?.trim().parse().ok());
    let next = match size {
        Some(0) if !beyond => Place::Head(Vec::new()),
        Some(size) if !beyond => Place::Body(size),
        _ => Place::Beyond,
    };
    Some((length, next))
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
        this.look(&buf.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}
