//! How much of something each caller has: nobody has all of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// See the module.
#[derive(Debug)]
pub struct Shares {
    most: usize,
    counts: Arc<Mutex<HashMap<String, usize>>>,
}

/// One of it; it is given back when this is dropped.
#[derive(Debug)]
pub struct Share {
    counts: Arc<Mutex<HashMap<String, usize>>>,
    caller: String,
}

impl Shares {
    /// So many for each caller.
    pub fn new(most: usize) -> Self {
        Self { most, counts: Arc::default() }
    }

    /// One more for this caller, if there is one left for it.
    pub fn take(&self, caller: &str) -> Option<Share> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = counts.get(caller).copied().unwrap_or(0);
        if mine >= self.most {
            return None;
        }
        counts.insert(caller.to_owned(), mine + 1);
        Some(Share { counts: self.counts.clone(), caller: caller.to_owned() })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(&self.caller) {
            Some(count) if *count > 1 => *count -= 1,
            _ => _ = counts.remove(&self.caller),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_has_its_share_and_gives_it_back() {
        let shares = Shares::new(2);
        let (one, two) = (shares.take("a").unwrap(), shares.take("a").unwrap());
        assert!(shares.take("a").is_none());
        let other = shares.take("b").unwrap();
        drop(one);
        let again = shares.take("a").unwrap();
        assert!(shares.take("a").is_none());
        drop((two, again, other));
        assert!(shares.counts.lock().unwrap().is_empty());
    }
}
