//! A bounded ring: the newest entries of a stream that may never end, with a count of what was dropped.

use std::collections::VecDeque;

/// See the module.
#[derive(Debug)]
pub struct Ring<T> {
    entries: VecDeque<T>,
    capacity: usize,
    dropped: u64,
}

impl<T> Ring<T> {
    /// A ring that keeps the newest `capacity` entries.
    pub fn new(capacity: usize) -> Self {
        Self { entries: VecDeque::new(), capacity, dropped: 0 }
    }

    /// Adds an entry; the oldest goes when the ring is full.
    pub fn push(&mut self, entry: T) {
        if self.entries.len() == self.capacity {
            self.entries.pop_front();
            self.dropped += 1;
        }
        self.entries.push_back(entry);
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
        ring.clear();
        assert_eq!((ring.iter().count(), ring.dropped()), (0, 0));
    }
}
