//! One connection to a browser: a reader, a writer, and the sessions that share them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};

use crate::envelope::{Incoming, Outgoing};
use crate::transport::{Reader, Transport, Writer};
use crate::{Closed, EventSink, Session, wire_log};

/// A connection to a browser. Cheap to clone; it ends when the last clone is dropped, when the browser ends
/// it, or with [`Connection::close`].
#[derive(Clone)]
pub struct Connection(Arc<Shared>);

struct Shared {
    outbox: Outbox,
    root: Session,
    sessions: Mutex<HashMap<Box<str>, Session>>,
    closed: watch::Sender<Option<Closed>>,
}

impl Connection {
    /// Starts reading and writing. `sink` hears the events of the browser itself.
    /// Must be called inside a tokio runtime.
    pub fn open(transport: Transport, sink: Option<Arc<dyn EventSink>>) -> Self {
        let (reader, writer) = transport.split();
        let (queue, queued) = mpsc::unbounded_channel();
        let outbox = Outbox { queue, ids: Arc::new(AtomicU64::new(1)) };
        let root = Session::new(None, outbox.clone(), sink);
        let (closed, _) = watch::channel(None);
        let shared = Arc::new(Shared { outbox, root, sessions: Mutex::default(), closed });
        tokio::spawn(write_all(writer, queued, Arc::downgrade(&shared)));
        tokio::spawn(read_all(reader, Arc::downgrade(&shared)));
        Self(shared)
    }

    /// The session of the browser itself.
    pub fn browser(&self) -> &Session {
        &self.0.root
    }

    /// Takes over a session that the browser attached. Call it while the `attachedToTarget` event is being
    /// handled: the reader goes on only then, so none of the session's events is missed.
    pub fn adopt(&self, id: &str, sink: Arc<dyn EventSink>) -> Session {
        let session = Session::new(Some(id), self.0.outbox.clone(), Some(sink));
        let mut sessions = self.0.lock();
        // Whoever ends the connection says so first and then takes all sessions: one that comes later is none.
        match self.closed() {
            Some(reason) => {
                drop(sessions);
                session.close(&reason);
            }
            None => _ = sessions.insert(id.into(), session.clone()),
        }
        session
    }

    /// Why the connection ended, once it has.
    pub fn closed(&self) -> Option<Closed> {
        self.0.closed.borrow().clone()
    }

    /// Waits until the connection ends.
    pub fn wait_closed(&self) -> impl Future<Output = Closed> + Send + 'static {
        let mut watcher = self.0.closed.subscribe();
        async move {
            match watcher.wait_for(Option::is_some).await {
                Ok(reason) => reason.clone().unwrap_or(Closed::ByUs),
                Err(_) => Closed::ByUs,
            }
        }
    }

    /// Ends the connection and rejects every pending call. A browser on a pipe ends itself then.
    pub fn close(&self) {
        self.0.end(&Closed::ByUs);
        self.0.outbox.hang_up();
    }

    /// A handle that does not keep the connection open.
    pub fn downgrade(&self) -> WeakConnection {
        WeakConnection(Arc::downgrade(&self.0))
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Connection({} sessions, closed: {:?})", self.0.lock().len(), self.closed())
    }
}

/// See [`Connection::downgrade`].
#[derive(Clone)]
pub struct WeakConnection(Weak<Shared>);

impl WeakConnection {
    /// The connection, if it is still there.
    pub fn upgrade(&self) -> Option<Connection> {
        self.0.upgrade().map(Connection)
    }
}

impl std::fmt::Debug for WeakConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WeakConnection")
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Box<str>, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dispatch(&self, message: &Incoming<'_>) {
        let session = match message.session_id {
            None => Some(self.root.clone()),
            Some(id) => self.lock().get(id).cloned(),
        };
        let Some(session) = session else { return };
        match (message.method, message.params) {
            (Some(method), params) => self.event(&session, method, params.unwrap_or(empty_object())),
            (None, _) => tracing::debug!(target: "cdp", "a message that is neither answer nor event"),
        }
    }

    fn event(&self, session: &Session, method: &str, params: &RawValue) {
        match method {
            "Inspector.targetCrashed" => session.reject_pending(&Closed::TargetCrashed),
            "Target.detachedFromTarget" => {
                // The parent's sink may still want to know which session it was, so it hears it first.
                session.event(method, params);
                return self.detached(params);
            }
            _ => {}
        }
        session.event(method, params);
    }

    fn detached(&self, params: &RawValue) {
        let Ok(detached) = serde_json::from_str::<Detached<'_>>(params.get()) else { return };
        let session = self.lock().remove(detached.session_id);
        if let Some(session) = session {
            session.close(&Closed::TargetGone);
        }
    }

    fn answer(&self, id: u64, message: Incoming<'_>) {
        let session = match message.session_id {
            None => Some(self.root.clone()),
            Some(session) => self.lock().get(session).cloned(),
        };
        let Some(session) = session else { return };
        match message.error {
            Some(refusal) => session.answer(id, Err((refusal.code, refusal.text()))),
            None => session.answer(id, Ok(message.result.unwrap_or(empty_object()))),
        }
    }

    fn end(&self, reason: &Closed) {
        let first = self.closed.send_if_modified(|closed| {
            let first = closed.is_none();
            closed.get_or_insert_with(|| reason.clone());
            first
        });
        if !first {
            return;
        }
        let sessions = std::mem::take(&mut *self.lock());
        for session in sessions.into_values() {
            session.close(reason);
        }
        self.root.close(reason);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.end(&Closed::ByUs);
        self.outbox.hang_up();
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detached<'a> {
    session_id: &'a str,
}

fn empty_object() -> &'static RawValue {
    static EMPTY: std::sync::OnceLock<Box<RawValue>> = std::sync::OnceLock::new();
    EMPTY.get_or_init(|| RawValue::from_string("{}".to_owned()).unwrap_or_default())
}

/// Where calls put their messages; the writer sends them in this order.
#[derive(Clone)]
pub(crate) struct Outbox {
    queue: mpsc::UnboundedSender<Option<String>>,
    ids: Arc<AtomicU64>,
}

impl Outbox {
    pub fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    pub fn send(&self, id: u64, method: &str, params: &(impl Serialize + ?Sized), session_id: Option<&str>) {
        match serde_json::to_string(&Outgoing { id, method, params, session_id }) {
            // A closed queue means a closed connection, which rejects the call.
            Ok(text) => drop(self.queue.send(Some(text))),
            Err(error) => tracing::error!(target: "cdp", "{method} cannot be written as JSON: {error}"),
        }
    }

    fn hang_up(&self) {
        // Already gone is as good as hung up.
        let _ = self.queue.send(None);
    }
}

async fn write_all(
    mut writer: Writer,
    mut queued: mpsc::UnboundedReceiver<Option<String>>,
    shared: Weak<Shared>,
) {
    while let Some(Some(text)) = queued.recv().await {
        wire_log::sent(&text);
        if let Err(error) = writer.send(text).await {
            if let Some(shared) = shared.upgrade() {
                shared.end(&Closed::Io(error.to_string().into()));
            }
            return;
        }
    }
    writer.close().await;
}

async fn read_all(mut reader: Reader, shared: Weak<Shared>) {
    let reason = loop {
        match reader.next().await {
            Ok(Some(message)) => {
                let Some(shared) = shared.upgrade() else { return };
                take_in(&shared, message.bytes());
            }
            Ok(None) => break Closed::ByBrowser,
            Err(error) => break Closed::Io(error.to_string().into()),
        }
    };
    if let Some(shared) = shared.upgrade() {
        shared.end(&reason);
        shared.outbox.hang_up();
    }
}

fn take_in(shared: &Shared, bytes: &[u8]) {
    // Lone surrogates of page text arrive escaped, so the bytes are UTF-8; a bridge may still garble them.
    let text = String::from_utf8_lossy(bytes);
    wire_log::received(&text);
    match serde_json::from_str::<Incoming<'_>>(&text) {
        Ok(message) => match message.id {
            Some(id) => shared.answer(id, message),
            None => shared.dispatch(&message),
        },
        Err(error) => tracing::warn!(target: "cdp", "a message that is not protocol: {error}"),
    }
}
