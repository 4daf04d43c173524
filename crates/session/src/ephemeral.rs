//! A session that ends with whoever holds it, however that goes: in order, by a failure, or because nobody waits any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use surehand_browser::Notes;
use tokio::runtime::Handle;

use crate::{Fault, Kind, Place, Session, SessionOptions, Sessions};

/// See the module.
#[derive(Debug)]
pub struct Ephemeral {
    sessions: Arc<Sessions>,
    session: Option<Arc<Session>>,
}

impl Ephemeral {
    /// A session that nobody else has.
    pub async fn open(
        sessions: &Arc<Sessions>,
        purpose: &str,
        options: &SessionOptions,
        notes: &Arc<dyn Notes>,
    ) -> Result<Self, Fault> {
        // Nothing is given back with it.
        Self::open_in_place(sessions, purpose, options, notes, Arc::new(())).await
    }

    /// The same in a place that is given back when the session is gone and not before, also if nobody waits for that: who
    /// hangs up again and again would have more sessions than there are places otherwise.
    pub async fn open_in_place(
        sessions: &Arc<Sessions>,
        purpose: &str,
        options: &SessionOptions,
        notes: &Arc<dyn Notes>,
        place: Place,
    ) -> Result<Self, Fault> {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{purpose}-{}-{number}", std::process::id());
        let (sessions, options, notes) = (sessions.clone(), options.clone(), notes.clone());
        // Who stops waiting does not stop a browser in the middle of making a context: it is made, and ended with the
        // answer that nobody takes.
        let opening = tokio::spawn(async move {
            let place = async { Ok::<_, Fault>(place) };
            let session = sessions.open_in_place(&name, &options, &notes, place).await?;
            Ok(Self { sessions, session: Some(session) })
        });
        opening.await.map_err(|error| Fault::new(Kind::Internal, error.to_string()))?
    }

    /// The session itself.
    pub fn session(&self) -> &Arc<Session> {
        self.session.as_ref().unwrap_or_else(|| unreachable!("it is taken only by what consumes this"))
    }

    /// Ends it and waits until it is gone.
    pub async fn end(mut self) {
        if let Some(session) = self.session.take() {
            self.sessions.close(session.name()).await;
        }
    }
}

impl Drop for Ephemeral {
    fn drop(&mut self) {
        // Without a runtime the process is ending, and the browser with it.
        if let (Some(session), Ok(runtime)) = (self.session.take(), Handle::try_current()) {
            let sessions = self.sessions.clone();
            runtime.spawn(async move { sessions.close(session.name()).await });
        }
    }
}
