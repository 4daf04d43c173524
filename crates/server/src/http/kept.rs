//! Sessions that callers keep across calls: each has an owner, a deadline and a place of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use surehand_page::Deadline;
use surehand_session::Ephemeral;

use super::admission::KeptPermit;

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
    _place: KeptPermit,
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

impl Kept {
    pub fn new(id: String, owner: &str, session: Ephemeral, time: Duration, place: KeptPermit) -> Self {
        Self {
            id,
            owner: owner.to_owned(),
            session,
            deadline: Deadline::after(time),
            created: SystemTime::now(),
            turn: Arc::default(),
            _place: place,
        }
    }

    pub fn info(&self) -> KeptInfo {
        let seconds = |at: SystemTime| at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let left = self.deadline.remaining();
        KeptInfo {
            session_id: self.id.clone(),
            url: self.session.session().info().url,
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
