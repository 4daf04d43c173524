//! How bytes get to a browser and back: a pipe for browsers that we start, a WebSocket for others.
//!
//! Both carry whole messages; neither has a size limit.

#[cfg(unix)]
mod pipe;
mod websocket;

use crate::Error;

/// A connected transport, not yet in use.
#[derive(Debug)]
pub struct Transport(Kind);

#[derive(Debug)]
enum Kind {
    #[cfg(unix)]
    Pipe(pipe::Pipe),
    WebSocket(Box<websocket::Socket>),
}

impl Transport {
    /// The pipe that a browser started with `--remote-debugging-pipe` reads (its descriptor 3) and writes (4).
    #[cfg(unix)]
    pub fn pipe(
        to_browser: tokio::net::unix::pipe::Sender,
        from_browser: tokio::net::unix::pipe::Receiver,
    ) -> Self {
        Self(Kind::Pipe(pipe::Pipe { to_browser, from_browser }))
    }

    /// Connects to a `ws://` endpoint.
    pub async fn websocket(url: &str) -> Result<Self, Error> {
        Ok(Self(Kind::WebSocket(Box::new(websocket::connect(url).await?))))
    }

    pub(crate) fn split(self) -> (Reader, Writer) {
        match self.0 {
            #[cfg(unix)]
            Kind::Pipe(pipe) => {
                (Reader::Pipe(pipe::PipeReader::new(pipe.from_browser)), Writer::Pipe(pipe.to_browser))
            }
            Kind::WebSocket(socket) => {
                let (writer, reader) = websocket::split(*socket);
                (Reader::WebSocket(reader), Writer::WebSocket(writer))
            }
        }
    }
}

pub(crate) enum Reader {
    #[cfg(unix)]
    Pipe(pipe::PipeReader),
    WebSocket(websocket::SocketReader),
}

impl Reader {
    /// Waits for the next message and hands it over as text; `None` when the browser closed its end.
    pub async fn next(&mut self) -> std::io::Result<Option<Message<'_>>> {
        match self {
            #[cfg(unix)]
            Reader::Pipe(reader) => reader.next().await,
            Reader::WebSocket(reader) => websocket::next(reader).await,
        }
    }
}

/// One message: a slice of the reader's buffer, or the frame that the socket handed over.
pub(crate) enum Message<'a> {
    #[cfg(unix)]
    Borrowed(&'a [u8]),
    Owned(tokio_tungstenite::tungstenite::Bytes, std::marker::PhantomData<&'a ()>),
}

impl Message<'_> {
    pub fn bytes(&self) -> &[u8] {
        match self {
            #[cfg(unix)]
            Message::Borrowed(bytes) => bytes,
            Message::Owned(bytes, _) => bytes,
        }
    }
}

pub(crate) enum Writer {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Sender),
    WebSocket(websocket::SocketWriter),
}

impl Writer {
    pub async fn send(&mut self, message: String) -> std::io::Result<()> {
        match self {
            #[cfg(unix)]
            Writer::Pipe(sender) => pipe::send(sender, message).await,
            Writer::WebSocket(writer) => websocket::send(writer, message).await,
        }
    }

    pub async fn close(&mut self) {
        match self {
            // Dropping it is enough.
            #[cfg(unix)]
            Writer::Pipe(_) => {}
            Writer::WebSocket(writer) => websocket::close(writer).await,
        }
    }
}
