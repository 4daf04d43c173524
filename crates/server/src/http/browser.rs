//! Can a browser be had? Told to who asks whether the service is ready, and tried again while it cannot.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use surehand_session::{Fault, Lease};

use super::{Service, notes};

/// How often it is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct BrowserHealth {
    trouble: Mutex<Option<String>>,
}

impl BrowserHealth {
    /// What came of the last time that somebody wanted one.
    pub fn note<T>(&self, tried: &Result<T, Fault>) {
        let trouble = tried.as_ref().err().map(ToString::to_string);
        let before = std::mem::replace(&mut *self.lock(), trouble.clone());
        match (before, trouble) {
            (before, Some(now)) if before.as_ref() != Some(&now) => tracing::error!("no browser: {now}"),
            (Some(_), None) => tracing::info!("there is a browser again"),
            _ => {}
        }
    }

    pub fn is_well(&self) -> bool {
        self.lock().is_none()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Tries to have a browser again while there is none; never ends itself. Who looks whether the service is ready sends
    /// nobody who would try.
    pub(super) async fn keep_ready(&self, lease: &Lease) {
        loop {
            tokio::time::sleep(AGAIN).await;
            if !self.browser.is_well() {
                self.browser.note(&lease.warm_up(&self.options.session(), &notes()).await);
            }
        }
    }
}
