//! How much this thread has worked, whatever else the machine does.

use std::time::Duration;

/// A measure for limits on work: time on a processor, not by the clock, which goes on while others have their turn.
#[derive(Debug)]
pub struct Effort {
    begun: Duration,
}

impl Effort {
    /// Begins to measure what this thread does.
    #[must_use]
    pub fn begin() -> Self {
        Self { begun: worked() }
    }

    /// How long it has worked since; to be asked by the same thread.
    #[must_use]
    pub fn spent(&self) -> Duration {
        worked().saturating_sub(self.begun)
    }
}

#[cfg(unix)]
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// By the clock, where nothing better is known.
#[cfg(not(unix))]
fn worked() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_no_work_and_working_is() {
        let effort = Effort::begin();
        std::thread::sleep(Duration::from_millis(300));
        assert!(effort.spent() < Duration::from_millis(300), "{:?}", effort.spent());
        let mut number = 1_u64;
        while effort.spent() < Duration::from_millis(300) {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
    }
}
