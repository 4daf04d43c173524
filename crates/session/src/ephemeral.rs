//! A session that ends with whoever holds it, however that goes: in order, by a failure, or because nobody waits any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use surehand_browser::Notes;

use crate::{Fault, Kind, Session, SessionOptions, Sessions};

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
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{purpose}-{}-{number}", std::process::id());
        let (sessions, options, notes) = (sessions.clone(), options.clone(), notes.clone());
        // Who stops waiting does not stop a browser in the middle of making a context: it is made, and ended with the
        // answer that nobody takes.
        let opening = tokio::spawn(async move {
            let session = sessions.open(&name, &options, &notes).await?;
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
            let ending = end(self.sessions.clone(), session.name().to_owned());
            // Who stops waiting does not stop the ending.
            let _ = tokio::spawn(ending).await;
        }
    }
}

impl Drop for Ephemeral {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            end_in_background(&self.sessions, session.name());
        }
    }
}

fn end_in_background(sessions: &Arc<Sessions>, name: &str) {
    // Without a runtime the process is ending, and the browser with it.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(end(sessions.clone(), name.to_owned()));
    }
}

async fn end(sessions: Arc<Sessions>, name: String) {
    sessions.close(&name).await;
}
