//! A place for a session, from the line; or what its caller is told.

use axum::http::StatusCode;

use super::Service;
use super::admission::{Busy, KeptPermit, Permit};
use super::answer::Refused;

impl Service {
    /// A place to work, or the reason why there is none now.
    pub(super) async fn admit(&self, subject: &str) -> Result<Permit, Refused> {
        self.in_line(self.admission.enter(subject)).await
    }

    /// The same for longer than a call.
    pub(super) async fn admit_to_keep(&self, subject: &str) -> Result<KeptPermit, Refused> {
        self.in_line(self.admission.enter_and_keep(subject)).await
    }

    async fn in_line<P>(&self, entering: impl Future<Output = Result<P, Busy>>) -> Result<P, Refused> {
        let patience = self.options.queue_time;
        // Who waits when the end is announced does not get a place any more.
        let entered = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(draining()),
            entered = tokio::time::timeout(patience, entering) => entered,
        };
        let busy = match entered {
            Ok(Ok(permit)) => return Ok(permit),
            Ok(Err(busy)) => Some(busy),
            Err(_) => None,
        };
        let (status, code, message) = match busy {
            Some(Busy::Caller) => (
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_requests",
                "you have your share of the line; wait for your calls to end".to_owned(),
            ),
            Some(Busy::Keeper) => (
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_sessions",
                "you keep half of all sessions already; end one of them".to_owned(),
            ),
            Some(Busy::Everybody) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "overloaded",
                "all sessions are taken and the line is full".to_owned(),
            ),
            None => (
                StatusCode::SERVICE_UNAVAILABLE,
                "overloaded",
                format!("no session became free within {} ms", patience.as_millis()),
            ),
        };
        Err(Refused::new(status, code, message).retry_after(self.usual_wait()))
    }
}

fn draining() -> Refused {
    Refused::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "the service is about to end").retry_after(10)
}
