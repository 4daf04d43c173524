//! A flattened session: the calls that are pending on one target, and who hears its events.

use std::collections::HashMap;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::connection::Outbox;
use crate::{Closed, Command, Error};

/// Hears the events of one session.
///
/// It is called by the reader, in the order of the wire, and must not block: state is folded into state,
/// bulk goes into bounded rings. That way no event is lost silently and none waits for a consumer.
pub trait EventSink: Send + Sync {
    /// An event arrived.
    fn event(&self, session: &Session, method: &str, params: &RawValue);
    /// The session is over; no event follows.
    fn closed(&self, reason: &Closed);
}

type Answer = Result<Box<RawValue>, Error>;

/// A handle to one target of the browser, or to the browser itself. Cheap to clone.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    id: Option<Box<str>>,
    outbox: Outbox,
    state: Mutex<State>,
}

struct State {
    pending: HashMap<u64, Pending>,
    sink: Option<Arc<dyn EventSink>>,
    closed: Option<Closed>,
}

struct Pending {
    method: &'static str,
    answer: oneshot::Sender<Answer>,
}

impl Session {
    pub(crate) fn new(id: Option<&str>, outbox: Outbox, sink: Option<Arc<dyn EventSink>>) -> Self {
        let state = Mutex::new(State { pending: HashMap::new(), sink, closed: None });
        Self(Arc::new(Inner { id: id.map(Into::into), outbox, state }))
    }

    /// The protocol's session id; `None` for the browser itself.
    pub fn id(&self) -> Option<&str> {
        self.0.id.as_deref()
    }

    /// Why this session ended, if it did.
    pub fn closed(&self) -> Option<Closed> {
        self.lock().closed.clone()
    }

    /// Sends a command **at once** and returns the future of its answer, so that calls that do not depend on
    /// each other can be sent together. Dropping the future cancels the wait.
    pub fn call<C: Command>(&self, command: &C) -> Call<C::Result> {
        self.call_raw(C::METHOD, command)
    }

    /// Like [`Session::call`], for members that have no generated type, or an answer nobody looks into
    /// (`Box<RawValue>`).
    pub fn call_raw<R>(&self, method: &'static str, params: &(impl Serialize + ?Sized)) -> Call<R> {
        let (sender, answer) = oneshot::channel();
        let id = self.0.outbox.next_id();
        let mut state = self.lock();
        if let Some(reason) = &state.closed {
            let reason = reason.clone();
            // The receiver is alive in this very function.
            let _ = sender.send(Err(Error::Closed { method, reason }));
        } else {
            state.pending.insert(id, Pending { method, answer: sender });
            drop(state);
            self.0.outbox.send(id, method, params, self.id());
        }
        Call { session: self.clone(), id, method, answer, result: PhantomData }
    }

    /// Sends a command whose answer nobody waits for.
    pub fn post<C: Command>(&self, command: &C) {
        self.0.outbox.send(self.0.outbox.next_id(), C::METHOD, command, self.id());
    }

    /// Hands an answer of the browser to the call that waits for it.
    pub(crate) fn answer(&self, id: u64, answer: Result<&RawValue, (i64, String)>) {
        // No entry: the call was cancelled, or was a `post`.
        let Some(pending) = self.lock().pending.remove(&id) else { return };
        let method = pending.method;
        let answer = match answer {
            Ok(result) => Ok(result.to_owned()),
            Err((code, message)) => Err(Error::Refused { method, code, message }),
        };
        // The caller may have gone away in this moment.
        let _ = pending.answer.send(answer);
    }

    pub(crate) fn event(&self, method: &str, params: &RawValue) {
        let sink = self.lock().sink.clone();
        if let Some(sink) = sink {
            sink.event(self, method, params);
        }
    }

    /// Rejects what is pending, but lets the session live: a crashed page answers none of its open calls, but
    /// can be reloaded.
    pub(crate) fn reject_pending(&self, reason: &Closed) {
        let pending = std::mem::take(&mut self.lock().pending);
        reject(pending, reason);
    }

    /// Ends the session: rejects what is pending and lets go of the sink (which often owns this session).
    pub(crate) fn close(&self, reason: &Closed) {
        let (pending, sink) = {
            let mut state = self.lock();
            if state.closed.is_some() {
                return;
            }
            state.closed = Some(reason.clone());
            (std::mem::take(&mut state.pending), state.sink.take())
        };
        reject(pending, reason);
        if let Some(sink) = sink {
            sink.closed(reason);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn reject(pending: HashMap<u64, Pending>, reason: &Closed) {
    for call in pending.into_values() {
        let error = Error::Closed { method: call.method, reason: reason.clone() };
        // A caller that does not wait any more needs no rejection.
        let _ = call.answer.send(Err(error));
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({})", self.id().unwrap_or("browser"))
    }
}

/// The future of a call's answer.
#[derive(Debug)]
#[must_use = "the call is sent, but its failure would go unseen; use `post` if that is meant"]
pub struct Call<R> {
    session: Session,
    id: u64,
    method: &'static str,
    answer: oneshot::Receiver<Answer>,
    result: PhantomData<fn() -> R>,
}

impl<R: DeserializeOwned> Future for Call<R> {
    type Output = Result<R, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let method = self.method;
        Pin::new(&mut self.answer).poll(context).map(|answer| {
            // The sender is only dropped unused when the connection itself is torn down.
            let raw = answer.unwrap_or(Err(Error::Closed { method, reason: Closed::ByUs }))?;
            serde_json::from_str(raw.get()).map_err(|e| Error::Shape { method, detail: e.to_string() })
        })
    }
}

impl<R> Drop for Call<R> {
    fn drop(&mut self) {
        self.session.lock().pending.remove(&self.id);
    }
}
