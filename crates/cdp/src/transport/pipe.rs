//! Messages over `--remote-debugging-pipe`: JSON texts, each ended by a NUL byte.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};

use super::Message;

#[derive(Debug)]
pub(super) struct Pipe {
    pub to_browser: Sender,
    pub from_browser: Receiver,
}

/// A pipe holds 64 KiB; reading more at a time gains nothing.
const CHUNK: usize = 64 * 1024;

/// A buffer that grew for one huge message is given back afterwards, to keep the daemon small.
const KEEP: usize = 1024 * 1024;

pub(crate) struct PipeReader {
    pipe: Receiver,
    buffer: Vec<u8>,
    /// Bytes at the front that were already handed out.
    consumed: usize,
    /// Bytes already searched for a NUL, so that a long message is not searched again with every chunk.
    searched: usize,
}

impl PipeReader {
    pub fn new(pipe: Receiver) -> Self {
        Self { pipe, buffer: Vec::new(), consumed: 0, searched: 0 }
    }

    pub async fn next(&mut self) -> io::Result<Option<Message<'_>>> {
        loop {
            let unsearched = &self.buffer[self.searched..];
            if let Some(found) = unsearched.iter().position(|byte| *byte == 0) {
                let (start, end) = (self.consumed, self.searched + found);
                self.consumed = end + 1;
                self.searched = end + 1;
                return Ok(Some(Message::Borrowed(&self.buffer[start..end])));
            }
            self.searched = self.buffer.len();
            self.drop_consumed();
            self.buffer.reserve(CHUNK);
            if self.pipe.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    fn drop_consumed(&mut self) {
        self.buffer.drain(..self.consumed);
        self.searched -= self.consumed;
        self.consumed = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > KEEP {
            self.buffer = Vec::new();
        }
    }
}

pub(crate) async fn send(pipe: &mut Sender, message: String) -> io::Result<()> {
    let mut bytes = message.into_bytes();
    bytes.push(0);
    pipe.write_all(&bytes).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::unix::pipe;

    async fn texts(reader: &mut PipeReader, count: usize) -> Vec<String> {
        let mut out = Vec::new();
        for _ in 0..count {
            let message = reader.next().await.unwrap().unwrap();
            out.push(String::from_utf8(message.bytes().to_vec()).unwrap());
        }
        out
    }

    #[tokio::test]
    async fn messages_are_cut_at_nul_wherever_chunks_end() {
        let (mut tx, rx) = pipe::pipe().unwrap();
        let mut reader = PipeReader::new(rx);
        tx.write_all(b"one\0two\0th").await.unwrap();
        assert_eq!(texts(&mut reader, 2).await, ["one", "two"]);
        tx.write_all(b"ree\0").await.unwrap();
        assert_eq!(texts(&mut reader, 1).await, ["three"]);
        drop(tx);
        assert!(reader.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_message_of_many_megabytes_arrives_whole() {
        let (mut tx, rx) = pipe::pipe().unwrap();
        let long = "x".repeat(20_000_000);
        let sent = long.clone();
        let writer = tokio::spawn(async move { send(&mut tx, sent).await });
        let mut reader = PipeReader::new(rx);
        assert!(texts(&mut reader, 1).await[0] == long);
        writer.await.unwrap().unwrap();
    }
}
