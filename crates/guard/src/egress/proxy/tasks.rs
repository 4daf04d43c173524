//! Tasks that end together, whoever started them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::JoinSet;

/// Tasks that can be ended at any time. After the end no more are started.
pub(super) struct Tasks(Mutex<Option<JoinSet<()>>>);

impl Default for Tasks {
    fn default() -> Self {
        Self(Mutex::new(Some(JoinSet::new())))
    }
}

impl Tasks {
    fn set(&self) -> MutexGuard<'_, Option<JoinSet<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a task, unless the end has come: then it is dropped.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(set) = self.set().as_mut() {
            // Those that have ended would add up otherwise.
            while set.try_join_next().is_some() {}
            set.spawn(task);
        }
    }

    /// Ends those that run; others may be started. May be called by one of them.
    pub fn abort(&self) {
        if let Some(set) = self.set().as_mut() {
            set.abort_all();
        }
    }

    /// Ends all without waiting.
    pub fn cut(&self) {
        // Dropped outside of the lock: a task that ends may want it.
        let set = self.set().take();
        drop(set);
    }

    /// Ends all and waits for it.
    pub async fn end(&self) {
        let set = self.set().take();
        if let Some(mut set) = set {
            set.shutdown().await;
        }
    }
}
