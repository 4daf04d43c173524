//! The audit: a thread that writes rows, so that nobody waits for the disk, and the witness that makes rows of actions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use surehand_guard::redact;
use surehand_store::{AuditEntry, Severity, Store, event};
use surehand_tools::packs::{Witness, Witnessed};

use super::metrics::Metrics;

/// More rows than this do not wait: whoever makes them does.
const WAITING: usize = 10_000;

/// As many rows are written at once.
const BATCH: usize = 256;

/// See the module.
#[derive(Debug)]
pub(super) struct Recorder {
    rows: SyncSender<Message>,
    healthy: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Message {
    Row(Box<AuditEntry>),
    /// Tells when everything before it is written, by going away.
    Flush(tokio::sync::oneshot::Sender<()>),
}

impl Recorder {
    /// Writes to this store from now on.
    pub fn start(store: Arc<dyn Store>, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let (rows, received) = sync_channel(WAITING);
        let healthy = Arc::new(AtomicBool::new(true));
        let flag = healthy.clone();
        let writer = std::thread::Builder::new().name("audit".to_owned());
        writer.spawn(move || write_all(&received, &*store, &flag, &metrics))?;
        Ok(Self { rows, healthy })
    }

    /// One more row.
    pub fn add(&self, entry: AuditEntry) {
        let message = Message::Row(Box::new(entry));
        if let Err(TrySendError::Full(message)) = self.rows.try_send(message) {
            // The disk is slower than the callers: from now on they wait for it.
            let _ = tokio::task::block_in_place(|| self.rows.send(message));
        }
    }

    /// Could the last row be written? Work that cannot be written down is not done.
    pub fn is_healthy(&self) -> bool {
        self.healthy.load(Ordering::Relaxed)
    }

    /// Waits until everything is written.
    pub async fn flush(&self) {
        let (done, written) = tokio::sync::oneshot::channel();
        let rows = self.rows.clone();
        // The queue may be full.
        let _ = tokio::task::spawn_blocking(move || rows.send(Message::Flush(done))).await;
        let _ = written.await;
    }

    /// The same where no runtime is any more, for at most so long.
    pub fn flush_within(&self, limit: Duration) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let flushed = runtime.is_ok_and(|runtime| {
            let flushed = runtime.block_on(async { tokio::time::timeout(limit, self.flush()).await }).is_ok();
            runtime.shutdown_background();
            flushed
        });
        if !flushed {
            tracing::error!("the last rows of the audit were not written in time");
        }
    }
}

fn write_all(received: &Receiver<Message>, store: &dyn Store, healthy: &AtomicBool, metrics: &Metrics) {
    while let Ok(first) = received.recv() {
        let (mut entries, mut flushed) = (Vec::new(), Vec::new());
        let mut message = Some(first);
        while let Some(one) = message {
            match one {
                Message::Row(entry) => entries.push(*entry),
                Message::Flush(done) => flushed.push(done),
            }
            message = if entries.len() < BATCH { received.try_recv().ok() } else { None };
        }
        if !entries.is_empty() {
            healthy.store(append(store, &entries, metrics), Ordering::Relaxed);
        }
        drop(flushed);
    }
}

fn append(store: &dyn Store, entries: &[AuditEntry], metrics: &Metrics) -> bool {
    match store.append_audit(entries) {
        Ok(_) => true,
        Err(error) => {
            metrics.audit_failures.fetch_add(entries.len() as u64, Ordering::Relaxed);
            for entry in entries {
                // What cannot be kept is at least said.
                tracing::error!(
                    event = entry.event_type,
                    request_id = entry.request_id,
                    "the audit cannot be written: {error}"
                );
            }
            false
        }
    }
}

/// Who asked, for rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Actor {
    pub request_id: String,
    pub subject: String,
    pub client: String,
    pub session_id: Option<String>,
}

/// What is known of who asked, as soon as it is known: who hangs up in the middle was somebody, too.
#[derive(Debug, Clone)]
pub(super) struct Seen(Arc<Mutex<Actor>>);

impl Seen {
    pub fn new(request_id: &str) -> Self {
        Self(Arc::new(Mutex::new(Actor { request_id: request_id.to_owned(), ..Actor::default() })))
    }

    pub fn actor(&self) -> Actor {
        self.lock().clone()
    }

    pub fn is(&self, subject: &str, client: &str) {
        let mut actor = self.lock();
        subject.clone_into(&mut actor.subject);
        client.clone_into(&mut actor.client);
    }

    pub fn works_in(&self, session_id: &str) {
        self.lock().session_id = Some(session_id.to_owned());
    }

    fn lock(&self) -> MutexGuard<'_, Actor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Actor {
    pub fn entry(&self, event_type: &str) -> AuditEntry {
        AuditEntry {
            request_id: Some(self.request_id.clone()),
            actor_subject: Some(self.subject.clone()).filter(|subject| !subject.is_empty()),
            actor_client: Some(self.client.clone()).filter(|client| !client.is_empty()),
            session_id: self.session_id.clone(),
            ..AuditEntry::now(event_type)
        }
    }
}

/// Makes rows of the actions of one call.
pub(super) struct Scribe<'a> {
    pub recorder: &'a Recorder,
    pub metrics: &'a Metrics,
    pub actor: Actor,
}

impl Witness for Scribe<'_> {
    fn saw(&self, action: &Witnessed<'_>) {
        self.metrics.actions.fetch_add(1, Ordering::Relaxed);
        let mut payload = Map::new();
        if let Some(index) = action.index {
            payload.insert("index".to_owned(), index.into());
        }
        payload.insert("action".to_owned(), action.action.into());
        if let Some(to) = action.to {
            let to: String = redact::mask_queries(to).chars().take(LONGEST).collect();
            payload.insert("to".to_owned(), Value::String(to));
        }
        let failed = action.fault.is_some();
        self.recorder.add(AuditEntry {
            severity: if failed { Severity::Error } else { Severity::Info },
            duration_ms: u64::try_from(action.took.as_millis()).ok(),
            outcome: Some(if failed { "failed" } else { "ok" }.to_owned()),
            code: action.fault.map(|fault| fault.kind.pack_code().name().to_owned()),
            cause: action.fault.map(|fault| format!("{}: {}", fault.kind.code(), fault.message)),
            payload: payload.into(),
            ..self.actor.entry(event::ACTION)
        });
    }
}

/// More of a selector is not kept.
pub(super) const LONGEST: usize = 500;
