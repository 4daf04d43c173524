//! The wish that a run ends early: first in order, then at once.

use std::sync::Arc;

use surehand_session::{Fault, Kind};
use tokio::sync::watch;

/// See the module. Clones share the wish.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<u32>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Stop {
    /// Asks it to end: what runs is cut off and what cleans up still runs. Asking again cuts that off, too.
    pub fn ask(&self) {
        self.0.send_modify(|times| *times += 1);
    }

    /// Was it asked?
    pub fn is_asked(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Does the work, unless it is asked to end before that is done.
    pub async fn unless_asked<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.asked() => Err(interrupted()),
        }
    }

    /// Waits until it is asked.
    pub(super) async fn asked(&self) {
        self.times(1).await;
    }

    /// Waits until it is asked again.
    pub(super) async fn insisted(&self) {
        self.times(2).await;
    }

    async fn times(&self, wanted: u32) {
        // The sender lives as long as this, so the only end is the one that is waited for.
        let _ = self.0.subscribe().wait_for(|times| *times >= wanted).await;
    }
}

/// Why a run that was asked to end did not come to its own end.
pub(crate) fn interrupted() -> Fault {
    Fault::new(Kind::Interrupted, "the run was interrupted").hint("run it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_is_done_counts_and_other_work_is_cut_off() {
        let stop = Stop::default();
        assert_eq!(stop.unless_asked(async { Ok(5) }).await.unwrap(), 5);
        stop.ask();
        assert!(stop.is_asked());
        let cut = stop.unless_asked(std::future::pending::<Result<(), Fault>>()).await.unwrap_err();
        assert_eq!(cut.kind, Kind::Interrupted);
        assert!(futures_util::FutureExt::now_or_never(stop.insisted()).is_none());
        stop.ask();
        stop.insisted().await;
    }
}
