//! Whose sessions of MCP are whose: nobody listens to, goes on with or ends what somebody else began.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::mcp::Identity;

/// More are not remembered: the oldest are long gone, or are known by their first call.
const MOST: usize = 10_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Owners {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    owners: HashMap<String, Identity>,
    /// The oldest first.
    order: VecDeque<String>,
}

impl Owners {
    /// It was begun by this client.
    pub fn add(&self, session: &str, owner: Identity) {
        let mut known = self.lock();
        if known.owners.insert(session.to_owned(), owner).is_none() {
            known.order.push_back(session.to_owned());
        }
        while known.order.len() > MOST
            && let Some(oldest) = known.order.pop_front()
        {
            known.owners.remove(&oldest);
        }
    }

    /// Is it somebody else's?
    pub fn is_foreign(&self, session: &str, who: &Identity) -> bool {
        self.lock().owners.get(session).is_some_and(|owner| owner != who)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_are_remembered() {
        let owners = Owners::default();
        let who = |subject: &str, client: &str| Identity { subject: subject.into(), client: client.into() };
        let (ann, bob) = (who("ann", ""), who("bob", ""));
        for number in 0..=MOST {
            owners.add(&number.to_string(), ann.clone());
        }
        assert!(!owners.is_foreign("0", &bob) && owners.is_foreign("1", &bob));
        assert!(!owners.is_foreign("1", &ann) && !owners.is_foreign("none", &ann));
        assert!(owners.is_foreign("1", &who("ann", "another program")));
        assert_eq!(owners.lock().owners.len(), MOST);
    }
}
