//! Connections to servers whose bytes are counted, and that end when they are idle or the bytes are used up.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::Shared;

/// Bytes that went through a proxy, as they were on the wire to servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// To servers.
    pub sent: u64,
    /// From servers.
    pub received: u64,
}

/// Counts the bytes of a whole proxy.
pub(super) struct Meter {
    sent: AtomicU64,
    received: AtomicU64,
    most: u64,
}

impl Meter {
    pub fn new(most: Option<u64>) -> Self {
        Self { sent: AtomicU64::new(0), received: AtomicU64::new(0), most: most.unwrap_or(u64::MAX) }
    }

    pub fn traffic(&self) -> Traffic {
        Traffic { sent: self.sent.load(Ordering::Relaxed), received: self.received.load(Ordering::Relaxed) }
    }

    /// Whether more went through than may.
    pub fn is_spent(&self) -> bool {
        let Traffic { sent, received } = self.traffic();
        sent.saturating_add(received) > self.most
    }
}

/// A connection to a server.
pub(super) struct Metered {
    stream: TcpStream,
    shared: Arc<Shared>,
    last: Instant,
    idle: Pin<Box<Sleep>>,
}

impl Metered {
    pub fn new(stream: TcpStream, shared: Arc<Shared>) -> Self {
        let idle = Box::pin(tokio::time::sleep(shared.limits.idle));
        Self { stream, shared, last: Instant::now(), idle }
    }

    /// Counts bytes. Those that are too many are not passed on, and everything ends.
    fn count(&mut self, counter: fn(&Meter) -> &AtomicU64, bytes: usize) -> io::Result<()> {
        self.last = Instant::now();
        counter(&self.shared.meter).fetch_add(bytes as u64, Ordering::Relaxed);
        if self.shared.meter.is_spent() {
            self.shared.upstreams.abort();
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "the byte budget is used up"));
        }
        Ok(())
    }

    /// Nothing to read: ready if that has been so for too long, in the other direction, too.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            ready!(self.idle.as_mut().poll(cx));
            let until = self.last + self.shared.limits.idle;
            if until <= Instant::now() {
                return Poll::Ready(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the connection was idle for too long",
                ));
            }
            self.idle.as_mut().reset(until);
        }
    }
}

impl AsyncRead for Metered {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        match Pin::new(&mut this.stream).poll_read(cx, buf) {
            Poll::Pending => this.poll_idle(cx).map(Err),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) => {
                let counted = this.count(|meter| &meter.received, buf.filled().len() - before);
                if counted.is_err() {
                    buf.set_filled(before);
                }
                Poll::Ready(counted)
            }
        }
    }
}

impl AsyncWrite for Metered {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, buf))?;
        Poll::Ready(this.count(|meter| &meter.sent, written).map(|()| written))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write_vectored(cx, bufs))?;
        Poll::Ready(this.count(|meter| &meter.sent, written).map(|()| written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
