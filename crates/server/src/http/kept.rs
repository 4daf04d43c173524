//! Sessions that callers keep across calls: each has an owner and a deadline of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use surehand_page::Deadline;
use surehand_session::Ephemeral;
use tokio_util::sync::{CancellationToken, DropGuard};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct KeptSessions {
    sessions: Mutex<HashMap<String, Arc<Kept>>>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Kept {
    pub id: String,
    pub owner: String,
    pub session: Ephemeral,
    pub deadline: Deadline,
    created: SystemTime,
    /// Held by the call that works in it.
    pub turn: Arc<tokio::sync::Mutex<()>>,
    _expiry: Expiry,
}

/// What is done when the time of a session is over. Who ends it earlier drops this, and nothing waits any more; an ending
/// that began comes to its end all the same.
#[derive(Debug)]
pub(super) struct Expiry {
    _dropped: DropGuard,
}

/// One of them, as callers see it.
#[derive(Debug, Serialize)]
pub(super) struct KeptInfo {
    session_id: String,
    url: String,
    created_at: u64,
    expires_at: u64,
    expires_in_ms: u64,
}

impl Expiry {
    pub fn after(time: Duration, ending: impl Future<Output = ()> + Send + 'static) -> Self {
        let dropped = CancellationToken::new();
        let waiting = dropped.clone();
        tokio::spawn(async move {
            // Only the wait can be cut off: the ending drops this value itself.
            if waiting.run_until_cancelled(tokio::time::sleep(time)).await.is_some() {
                ending.await;
            }
        });
        Self { _dropped: dropped.drop_guard() }
    }
}

impl Kept {
    pub fn new(id: String, owner: &str, session: Ephemeral, time: Duration, expiry: Expiry) -> Self {
        Self {
            id,
            owner: owner.to_owned(),
            session,
            deadline: Deadline::after(time),
            created: SystemTime::now(),
            turn: Arc::default(),
            _expiry: expiry,
        }
    }

    pub fn info(&self) -> KeptInfo {
        let seconds = |at: SystemTime| at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let left = self.deadline.remaining();
        KeptInfo {
            session_id: self.id.clone(),
            // What was typed into the page may stand in its address.
            url: self.session.session().lent().mask(&self.session.session().info().url).into_owned(),
            created_at: seconds(self.created),
            expires_at: seconds(SystemTime::now() + left),
            expires_in_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl KeptSessions {
    pub fn add(&self, kept: Kept) -> Arc<Kept> {
        let kept = Arc::new(kept);
        self.lock().insert(kept.id.clone(), kept.clone());
        kept
    }

    /// The caller's own session of that name; somebody else's is none.
    pub fn get(&self, id: &str, owner: &str) -> Option<Arc<Kept>> {
        self.lock().get(id).filter(|kept| kept.owner == owner).cloned()
    }

    pub fn of(&self, owner: &str) -> Vec<Arc<Kept>> {
        let mut sessions: Vec<_> = self.lock().values().filter(|kept| kept.owner == owner).cloned().collect();
        sessions.sort_by_key(|kept| kept.created);
        sessions
    }

    pub fn remove(&self, id: &str) -> Option<Arc<Kept>> {
        self.lock().remove(id)
    }

    pub fn drain(&self) -> Vec<Arc<Kept>> {
        self.lock().drain().map(|(_, kept)| kept).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Kept>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn nothing_waits_for_the_time_of_a_session_that_ended() {
        let (held, dropped) = oneshot::channel::<()>();
        let expiry = Expiry::after(Duration::from_secs(86_400), async move { drop(held) });
        drop(expiry);
        assert!(dropped.await.is_err());
    }

    #[tokio::test]
    async fn an_ending_that_began_is_not_cut_off() {
        let (begin, begun) = oneshot::channel();
        let (allow, allowed) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let expiry = Expiry::after(Duration::ZERO, async move {
            begin.send(()).unwrap();
            allowed.await.unwrap();
            end.send(()).unwrap();
        });
        begun.await.unwrap();
        drop(expiry);
        allow.send(()).unwrap();
        assert!(ended.await.is_ok());
    }
}
