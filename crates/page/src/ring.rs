//! A bounded ring: the newest entries of a stream that may never end, with a count of what was dropped.

use std::collections::VecDeque;

/// See the module.
#[derive(Debug)]
pub struct Ring<T> {
    entries: VecDeque<T>,
    capacity: usize,
    dropped: u64,
    pushed: u64,
}

impl<T> Ring<T> {
    /// A ring that keeps the newest `capacity` entries.
    pub fn new(capacity: usize) -> Self {
        Self { entries: VecDeque::new(), capacity, dropped: 0, pushed: 0 }
    }

    /// Adds an entry; the oldest goes when the ring is full.
    pub fn push(&mut self, entry: T) {
        if self.entries.len() == self.capacity {
            self.entries.pop_front();
            self.dropped += 1;
        }
        self.entries.push_back(entry);
        self.pushed += 1;
    }

    /// How many entries were ever pushed: a mark for [`Ring::since`].
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// What was pushed since a mark and is still there, oldest first.
    pub fn since(&self, mark: u64) -> impl Iterator<Item = &T> {
        let first = self.pushed - self.entries.len() as u64;
        let skip = usize::try_from(mark.saturating_sub(first)).unwrap_or(usize::MAX);
        self.entries.iter().skip(skip)
    }

    /// How many entries since a mark were pushed out by newer ones.
    pub fn missing_since(&self, mark: u64) -> u64 {
        let first = self.pushed - self.entries.len() as u64;
        first.saturating_sub(mark).min(self.dropped)
    }

    /// Oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.entries.iter()
    }

    /// Oldest first.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.entries.iter_mut()
    }

    /// How many entries were pushed out by newer ones since the last [`Ring::clear`].
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.dropped = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_newest_and_counts_the_rest() {
        let mut ring = Ring::new(2);
        for n in 0..5 {
            ring.push(n);
        }
        assert_eq!(ring.iter().copied().collect::<Vec<_>>(), [3, 4]);
        assert_eq!(ring.dropped(), 3);
        assert_eq!(ring.since(4).copied().collect::<Vec<_>>(), [4]);
        assert_eq!(ring.since(1).copied().collect::<Vec<_>>(), [3, 4]);
        assert_eq!([0, 2, 3, 4].map(|mark| ring.missing_since(mark)), [3, 1, 0, 0]);
        ring.clear();
        assert_eq!(ring.missing_since(0), 0, "who clears does not miss anything");
        assert_eq!((ring.iter().count(), ring.dropped()), (0, 0));
    }
}
