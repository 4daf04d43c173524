//! Calls tools of this program, in this process or in the daemon.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use surehand_browser::Notes;
use surehand_session::Fault;
use surehand_tools::{Answer, Caller, Pending, Toolset, specs};
use surehand_verbs::Settings;

use crate::Executor;

/// See the module.
#[derive(Clone)]
pub struct Own {
    executor: Executor,
    toolsets: Vec<Toolset>,
    /// Which session, and how.
    settings: Settings,
    notes: Arc<dyn Notes>,
    /// Does the session end with this caller? One that somebody named stays.
    owns_session: bool,
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Own").field("session", &self.settings.session).finish_non_exhaustive()
    }
}

impl Own {
    /// With the session that the settings name.
    pub fn new(executor: Executor, toolsets: &[Toolset], settings: Settings, notes: Arc<dyn Notes>) -> Self {
        Self { executor, toolsets: toolsets.to_vec(), settings, notes, owns_session: false }
    }

    /// The same with a session that nobody else has, and that ends with it.
    #[must_use]
    pub fn with_fresh_session(mut self) -> Self {
        static SESSIONS: AtomicU64 = AtomicU64::new(1);
        let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
        self.settings.session = format!("playbook-{}-{number}", std::process::id());
        self.owns_session = true;
        self
    }
}

/// A limit as settings have it.
pub(super) fn milliseconds(limit: Duration) -> u64 {
    u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)
}

impl Caller for Own {
    fn tools(&self) -> Pending<'_, Result<Vec<String>, Fault>> {
        let names = specs(&self.toolsets).into_iter().map(|spec| spec.name.into_owned()).collect();
        Box::pin(std::future::ready(Ok(names)))
    }

    fn call_within<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        limit: Option<Duration>,
    ) -> Pending<'a, Result<Answer, Fault>> {
        let mut settings = self.settings.clone();
        settings.timeout = limit.map(milliseconds).or(settings.timeout);
        Box::pin(self.executor.call(&self.toolsets, name, arguments, settings, self.notes.clone()))
    }

    fn apart(&self) -> Pending<'_, Result<Box<dyn Caller>, Fault>> {
        let apart: Box<dyn Caller> = Box::new(self.clone().with_fresh_session());
        Box::pin(std::future::ready(Ok(apart)))
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            if self.owns_session {
                self.executor.close(&self.settings).await;
            }
        })
    }
}
