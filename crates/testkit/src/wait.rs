//! Bounded waiting for something observable: the only polling that tests may do.

use std::thread;
use std::time::{Duration, Instant};

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Asks `condition` until it holds or `limit` has passed; says whether it held.
/// It is asked at least once, and once more at the very end.
#[must_use = "false means that the limit passed first"]
pub fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    wait_for(limit, || condition().then_some(())).is_some()
}

/// Like [`wait_until`], for a condition that yields a value when it holds.
#[must_use = "None means that the limit passed first"]
pub fn wait_for<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            return None;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_at_once_and_later() {
        assert!(wait_until(Duration::ZERO, || true));
        let mut asked = 0;
        assert!(wait_until(Duration::from_secs(5), || {
            asked += 1;
            asked == 4
        }));
        assert_eq!(wait_for(Duration::from_secs(1), || Some(7)), Some(7));
    }

    #[test]
    fn gives_up_at_the_limit() {
        let started = Instant::now();
        assert!(!wait_until(Duration::from_millis(50), || false));
        assert!(started.elapsed() >= Duration::from_millis(50));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
