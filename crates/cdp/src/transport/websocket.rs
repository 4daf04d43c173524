//! Messages over a WebSocket, for browsers that somebody else started.

use std::io;
use std::marker::PhantomData;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::Message;
use crate::Error;

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;
pub(crate) type SocketReader = SplitStream<Socket>;
pub(crate) type SocketWriter = SplitSink<Socket, Frame>;

pub(super) async fn connect(url: &str) -> Result<Socket, Error> {
    // An accessibility tree or a full-page screenshot is larger than any default limit.
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    let no_delay = true;
    let (socket, _) = tokio_tungstenite::connect_async_with_config(url, Some(config), no_delay)
        .await
        .map_err(|error| Error::Connect { url: url.to_owned(), detail: error.to_string() })?;
    Ok(socket)
}

pub(super) fn split(socket: Socket) -> (SocketWriter, SocketReader) {
    socket.split()
}

pub(super) async fn next<'a>(reader: &mut SocketReader) -> io::Result<Option<Message<'a>>> {
    loop {
        let Some(frame) = reader.next().await else { return Ok(None) };
        match frame {
            Ok(Frame::Text(text)) => return Ok(Some(Message::Owned(text.into(), PhantomData))),
            // Some bridges send binary frames with the same JSON in them.
            Ok(Frame::Binary(bytes)) => return Ok(Some(Message::Owned(bytes, PhantomData))),
            Ok(Frame::Close(_)) | Err(tungstenite::Error::ConnectionClosed) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(as_io(error)),
        }
    }
}

pub(super) async fn send(writer: &mut SocketWriter, message: String) -> io::Result<()> {
    writer.send(Frame::text(message)).await.map_err(as_io)
}

pub(super) async fn close(writer: &mut SocketWriter) {
    if let Err(error) = writer.close().await {
        tracing::debug!(target: "cdp", "closing the socket: {error}");
    }
}

fn as_io(error: tungstenite::Error) -> io::Error {
    match error {
        tungstenite::Error::Io(error) => error,
        other => io::Error::other(other),
    }
}
