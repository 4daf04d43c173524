//! One deadline for everything that one command waits for, with a log for the failure message.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::{Error, Result};

/// How long a command may take in all. Clones share the log.
#[derive(Debug, Clone)]
pub struct Deadline {
    began: Instant,
    at: Instant,
    total: Duration,
    log: Arc<Mutex<Vec<String>>>,
}

/// A failure message with more lines than this is not read.
const LOG_LINES: usize = 20;

/// Far enough to be "no limit", near enough that adding it to a clock never overflows.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// On a busy machine a page that is well may need this long to say why it gave up.
const GRACE: Duration = Duration::from_secs(2);

/// Nobody can tell from less than this that a page does not answer.
const LEAST: Duration = Duration::from_millis(100);

/// What a page gets to answer one question for which there is no time left.
const LAST_WORD: Duration = Duration::from_secs(1);

impl Deadline {
    /// A deadline that passes after `total`.
    pub fn after(total: Duration) -> Self {
        let total = total.min(LONGEST);
        let began = Instant::now();
        Self { began, at: began + total, total, log: Arc::default() }
    }

    /// How much is left; zero when it has passed.
    pub fn remaining(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// How long it was at the start, or the shorter limit that holds instead.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// How long it has been running, as a person would say it.
    pub(crate) fn elapsed(&self) -> Duration {
        const UNIT: u128 = 100;
        let tenths = (self.began.elapsed().as_millis() + UNIT / 2) / UNIT;
        Duration::from_millis(u64::try_from(tenths * UNIT).unwrap_or(u64::MAX))
    }

    /// Has it passed?
    pub fn passed(&self) -> bool {
        self.remaining().is_zero()
    }

    /// A deadline that passes with this one or after `limit`, whichever is sooner; same log.
    pub fn at_most(&self, limit: Duration) -> Self {
        let limit = limit.min(LONGEST);
        let began = Instant::now();
        let at = began + limit;
        // Whichever it is, a failure tells of that one.
        if at < self.at { Self { began, at, total: limit, ..self.clone() } } else { self.clone() }
    }

    /// The same, later by the time that the work itself takes.
    pub(crate) fn extended(&self, by: Duration) -> Self {
        Self { at: self.at + by.min(LONGEST), total: self.total + by.min(LONGEST), ..self.clone() }
    }

    /// The same, a little later: a wait inside the page that ends with this deadline has time to tell why it failed.
    pub fn with_grace(&self) -> Self {
        Self { at: self.at + GRACE, ..self.clone() }
    }

    /// The same, with at least this much left.
    pub(crate) fn at_least(&self, time: Duration) -> Self {
        Self { at: self.at.max(Instant::now() + time), ..self.clone() }
    }

    /// Is too little left for even one question to the page?
    pub(crate) fn is_too_short(&self) -> bool {
        self.remaining() < LEAST
    }

    /// The same, with the time for one question to the page from now on.
    pub(crate) fn for_last_word(&self) -> Self {
        Self { at: self.at.max(Instant::now() + LAST_WORD), ..self.clone() }
    }

    /// What is left, as the injected script wants it.
    pub(crate) fn remaining_ms(&self) -> u64 {
        u64::try_from(self.remaining().as_millis()).unwrap_or(u64::MAX)
    }

    /// Adds a line that the failure message will show.
    pub fn note(&self, line: impl Display) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let line = line.to_string();
        if log.len() < LOG_LINES && log.last() != Some(&line) {
            log.push(line);
        }
    }

    /// What was noted on the way.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for `work` until the deadline passes; `what` completes "timed out waiting for …".
    pub async fn run<T>(&self, what: impl Display, work: impl Future<Output = T>) -> Result<T> {
        match tokio::time::timeout_at(self.at, work).await {
            Ok(value) => Ok(value),
            Err(_) => Err(self.timeout(what)),
        }
    }

    /// The error of this deadline having passed.
    pub fn timeout(&self, what: impl Display) -> Error {
        Error::Timeout { what: what.to_string(), after: self.total, log: self.log() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_passed_deadline_says_what_it_waited_for_and_what_happened() {
        let deadline = Deadline::after(Duration::from_millis(1));
        deadline.note("the button is covered");
        deadline.note("the button is covered");
        let error = deadline.run("a click", std::future::pending::<()>()).await.unwrap_err();
        assert!(matches!(&error, Error::Timeout { what, log, .. } if what == "a click" && log.len() == 1));
    }

    #[tokio::test]
    async fn the_limit_that_was_in_force_is_the_one_that_is_told() {
        let told = async |deadline: Deadline| {
            let error = deadline.run("x", std::future::pending::<()>()).await.unwrap_err();
            error.to_string()
        };
        let whole = Deadline::after(Duration::from_secs(86_400));
        whole.note("noted");
        let message = told(whole.at_most(Duration::from_millis(2))).await;
        assert!(message.contains("after 2 ms") && message.contains("noted"), "{message}");
        let old = Deadline { began: Instant::now() - Duration::from_secs(9), ..whole.clone() };
        // In tenths; how many more there are by now is up to the machine.
        assert!(old.elapsed() >= Duration::from_secs(9) && old.elapsed().subsec_millis().is_multiple_of(100));
        assert!(old.at_most(Duration::from_secs(60)).elapsed() < Duration::from_secs(9));
        let brief = Deadline::after(Duration::from_millis(3));
        let message = told(brief.at_most(Duration::from_secs(86_400))).await;
        assert!(message.contains("after 3 ms"), "{message}");
        let message = told(whole.at_most(Duration::from_secs(60)).at_most(Duration::from_millis(4))).await;
        assert!(message.contains("after 4 ms"), "{message}");
    }

    #[test]
    fn absurd_durations_do_not_overflow() {
        assert!(!Deadline::after(Duration::MAX).passed());
    }
}
