//! A lease on the browser that sessions share: while somebody holds one it stays between sessions, so that the next does not
//! wait for a start. A run of many tests holds one, and so may a service that wants to answer at once.

use std::sync::Arc;

use surehand_browser::Notes;

use crate::{Fault, SessionOptions, Sessions};

/// See the module. Sessions with a browser of their own have nothing to do with it.
#[derive(Debug)]
#[must_use = "the browser goes with the lease"]
pub struct Lease(pub(crate) Option<Arc<Sessions>>);

impl Lease {
    /// Starts the browser that sessions with these options share, now. Without this the first session does.
    pub async fn warm_up(&self, options: &SessionOptions, notes: &Arc<dyn Notes>) -> Result<(), Fault> {
        match &self.0 {
            Some(sessions) => sessions.warm_up(options, notes).await,
            None => Ok(()),
        }
    }

    /// Gives the lease back, and waits until the browser is gone if nobody else uses it.
    pub async fn end(mut self) {
        if let Some(sessions) = self.0.take() {
            sessions.release();
            sessions.cool_down().await;
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(sessions) = self.0.take() else { return };
        sessions.release();
        // Without a runtime nothing can be waited for; then the browser goes with the process.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { sessions.cool_down().await });
        }
    }
}
