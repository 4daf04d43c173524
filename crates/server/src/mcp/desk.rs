//! The front desk of standard input and output: reads lines, answers those that are no messages, and hands the rest to the
//! SDK. Answers to a batch leave together.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::task::JoinHandle;

use super::judge::{IdFinder, Judged, LARGEST_REQUEST, Refusal, judge};

/// See the module.
pub(super) struct Desk<R, W> {
    from: BufReader<R>,
    /// The line that is being read. Reading may be interrupted at any time and goes on here.
    line: Vec<u8>,
    /// The line is too long to be kept; only its id is looked for.
    too_long: Option<IdFinder>,
    ended: bool,
    /// The rest of a batch.
    waiting: VecDeque<ClientJsonRpcMessage>,
    /// An answer of the desk itself. The next line is read when the client took it: who does not listen is not heard.
    answering: Option<JoinHandle<()>>,
    out: Arc<Out<W>>,
}

struct Out<W> {
    /// `None` once it is closed.
    to: tokio::sync::Mutex<Option<W>>,
    books: Mutex<Books>,
}

/// What is to be remembered between a request and its answer.
#[derive(Default)]
struct Books {
    version: Option<ProtocolVersion>,
    batches: Vec<Batch>,
}

/// A batch that is not answered yet.
struct Batch {
    open: Vec<RequestId>,
    answers: Vec<Value>,
}

/// A buffer that a large message left behind is not kept.
const KEPT: usize = 1024 * 1024;

impl<R, W> Desk<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub fn new(from: R, to: W) -> Self {
        let out = Out { to: tokio::sync::Mutex::new(Some(to)), books: Mutex::default() };
        Self {
            from: BufReader::new(from),
            line: Vec::new(),
            too_long: None,
            ended: false,
            waiting: VecDeque::new(),
            answering: None,
            out: Arc::new(out),
        }
    }

    /// The next line, judged; `None` at the end. Nothing is lost when this is dropped: what was read is kept at once.
    async fn next_line(&mut self) -> Option<Judged> {
        loop {
            let available = match self.from.fill_buf().await {
                Ok(available) => available,
                Err(error) => {
                    tracing::warn!("standard input cannot be read: {error}");
                    return None;
                }
            };
            let newline = available.iter().position(|byte| *byte == b'\n');
            let read = newline.map_or(available.len(), |at| at + 1);
            self.ended = available.is_empty();
            match &mut self.too_long {
                Some(finder) => finder.feed(&available[..read]),
                None => self.line.extend_from_slice(&available[..read]),
            }
            self.from.consume(read);
            if self.too_long.is_none() && self.line.len() > LARGEST_REQUEST {
                let mut finder = IdFinder::default();
                finder.feed(&std::mem::take(&mut self.line));
                self.too_long = Some(finder);
            }
            if newline.is_some() || self.ended {
                return Some(self.judge_line());
            }
        }
    }

    fn judge_line(&mut self) -> Judged {
        if let Some(finder) = self.too_long.take() {
            return Judged::Refused(Refusal::too_large(finder.found));
        }
        let judged = judge(&self.line, self.out.books().takes_batches());
        self.line.clear();
        self.line.shrink_to(KEPT);
        judged
    }

    /// Puts the messages of a batch into the queue; those that are none are answered with it.
    fn open_batch(&mut self, parts: Vec<Judged>) {
        let mut batch = Batch { open: Vec::new(), answers: Vec::new() };
        for part in parts {
            match part {
                Judged::Message(message) => {
                    if let ClientJsonRpcMessage::Request(request) = message.as_ref() {
                        batch.open.push(request.id.clone());
                    }
                    self.waiting.push_back(*message);
                }
                Judged::Refused(refusal) => batch.answers.push(refusal.to_json()),
                Judged::Batch(_) | Judged::Nothing => {}
            }
        }
        self.out.books().batches.push(batch);
        self.answer_whole_batches();
    }

    /// A request that is taken back is not answered: its batch must not wait for it.
    fn note(&mut self, message: &ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Notification(notification) = message else { return };
        let ClientNotification::CancelledNotification(cancelled) = &notification.notification else { return };
        let Some(id) = &cancelled.params.request_id else { return };
        for batch in &mut self.out.books().batches {
            batch.open.retain(|open| open != id);
        }
        self.answer_whole_batches();
    }

    fn answer_whole_batches(&mut self) {
        let answers = self.out.books().whole_batches();
        self.answer(answers);
    }

    /// Answers without the SDK. Not here, where it could be interrupted in the middle of a line.
    fn answer(&mut self, answers: Vec<Value>) {
        if answers.is_empty() {
            return;
        }
        let (out, before) = (self.out.clone(), self.answering.take());
        self.answering = Some(tokio::spawn(async move {
            if let Some(before) = before {
                // However it ended, this is another line.
                let _ = before.await;
            }
            for answer in answers {
                if let Err(error) = out.write(&answer).await {
                    tracing::debug!("the client is gone: {error}");
                }
            }
        }));
    }
}

impl<W: AsyncWrite + Send + Unpin> Out<W> {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, message: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut to = self.to.lock().await;
        let to = to.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        to.write_all(&line).await?;
        to.flush().await
    }
}

impl Books {
    /// Only one revision has batches.
    fn takes_batches(&self) -> bool {
        self.version == Some(ProtocolVersion::V_2025_03_26)
    }

    fn note_version(&mut self, message: &ServerJsonRpcMessage) {
        if let ServerJsonRpcMessage::Response(response) = message
            && let ServerResult::InitializeResult(introduced) = &response.result
        {
            self.version = Some(introduced.protocol_version.clone());
        }
    }

    /// Keeps an answer to a part of a batch until all of them are there; gives back any other.
    fn keep(&mut self, message: &ServerJsonRpcMessage) -> bool {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => &response.id,
            ServerJsonRpcMessage::Error(error) => match &error.id {
                Some(id) => id,
                None => return false,
            },
            _ => return false,
        };
        let Some(batch) = self.batches.iter_mut().find(|batch| batch.open.contains(id)) else { return false };
        let Some(at) = batch.open.iter().position(|open| open == id) else { return false };
        batch.open.remove(at);
        batch.answers.extend(serde_json::to_value(message));
        true
    }

    /// Takes out the answers to batches of which every request is answered. Notifications alone are answered by silence.
    fn whole_batches(&mut self) -> Vec<Value> {
        let done: Vec<Batch> = self.batches.extract_if(.., |batch| batch.open.is_empty()).collect();
        done.into_iter()
            .map(|batch| batch.answers)
            .filter(|answers| !answers.is_empty())
            .map(Value::Array)
            .collect()
    }
}

impl<R, W> Transport<RoleServer> for Desk<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let out = self.out.clone();
        async move {
            let (kept, whole) = {
                let mut books = out.books();
                books.note_version(&message);
                (books.keep(&message), books.whole_batches())
            };
            for batch in whole {
                out.write(&batch).await?;
            }
            if kept { Ok(()) } else { out.write(&message).await }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                self.note(&message);
                return Some(message);
            }
            if let Some(answering) = &mut self.answering {
                // It tells what went wrong by itself.
                let _ = answering.await;
                self.answering = None;
            }
            if self.ended {
                return None;
            }
            match self.next_line().await? {
                Judged::Message(message) => self.waiting.push_back(*message),
                Judged::Batch(parts) => self.open_batch(parts),
                Judged::Refused(refusal) => self.answer(vec![refusal.to_json()]),
                Judged::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        if let Some(answering) = self.answering.take() {
            let _ = answering.await;
        }
        self.out.to.lock().await.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::AsyncReadExt;

    use super::*;

    type Pipe = tokio::io::DuplexStream;

    fn desk() -> (Desk<tokio::io::ReadHalf<Pipe>, tokio::io::WriteHalf<Pipe>>, Pipe) {
        let (here, there) = tokio::io::duplex(1 << 20);
        let (from, to) = tokio::io::split(here);
        (Desk::new(from, to), there)
    }

    async fn said(client: &mut Pipe) -> Value {
        let mut line = Vec::new();
        loop {
            match client.read_u8().await.expect("an answer") {
                b'\n' => return serde_json::from_slice(&line).expect("JSON"),
                byte => line.push(byte),
            }
        }
    }

    fn pong(id: i64) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id))
    }

    #[tokio::test]
    async fn lines_that_are_no_messages_are_answered_and_the_next_is_heard() {
        let (mut desk, mut client) = desk();
        client.write_all(b"garbage\n\r\n{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}\n").await.unwrap();
        let heard = desk.receive().await.expect("a message");
        assert!(
            matches!(heard, ClientJsonRpcMessage::Request(request) if request.id == RequestId::Number(4))
        );
        assert_eq!(said(&mut client).await["error"]["code"], -32700);
    }

    #[tokio::test]
    async fn what_is_too_long_is_refused_by_its_id_and_not_kept() {
        let (mut desk, mut client) = desk();
        let writing = tokio::spawn(async move {
            client.write_all(b"{\"params\":\"").await.unwrap();
            let part = vec![b'x'; 1 << 20];
            for _ in 0..20 {
                client.write_all(&part).await.unwrap();
            }
            client
                .write_all(b"\",\"id\":31}\n{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}\n")
                .await
                .unwrap();
            let answer = said(&mut client).await;
            (answer["id"].clone(), answer["error"]["code"].clone())
        });
        assert!(desk.receive().await.is_some());
        assert_eq!(writing.await.unwrap(), (json!(31), json!(-32600)));
        assert!(desk.line.capacity() <= KEPT);
    }

    #[tokio::test]
    async fn a_batch_is_answered_together() {
        let (mut desk, mut client) = desk();
        desk.out.books().version = Some(ProtocolVersion::V_2025_03_26);
        let ping = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } });
        let batch = json!([ping(1), 5, ping(2), ping(3), cancel]);
        client.write_all(format!("{batch}\n").as_bytes()).await.unwrap();
        for _ in 0..3 {
            assert!(matches!(desk.receive().await, Some(ClientJsonRpcMessage::Request(_))));
        }
        desk.send(pong(2)).await.unwrap();
        desk.send(pong(9)).await.unwrap();
        assert_eq!(said(&mut client).await["id"], 9);
        desk.send(pong(1)).await.unwrap();
        // The third was taken back: only now nothing is open any more.
        assert!(matches!(desk.receive().await, Some(ClientJsonRpcMessage::Notification(_))));
        let answers = said(&mut client).await;
        let ids: Vec<&Value> = answers.as_array().expect("a list").iter().map(|one| &one["id"]).collect();
        assert_eq!(ids, [&Value::Null, &json!(2), &json!(1)]);
    }

    #[tokio::test]
    async fn the_last_line_needs_no_end() {
        let (mut desk, mut client) = desk();
        client.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"pi").await.unwrap();
        client.shutdown().await.unwrap();
        assert!(desk.receive().await.is_none());
        assert_eq!(said(&mut client).await["error"]["code"], -32700);
    }
}
