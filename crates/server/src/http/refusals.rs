//! What the egress guard refused, as rows of the audit.

use std::sync::atomic::Ordering;

use serde_json::json;
use surehand_session::Session;
use surehand_store::{Severity, event};

use super::Service;
use super::record::Actor;

/// Every request that the guard refused is written down, whatever came of the call, and even if nobody waits for it. What a page
/// asked for between two calls is written down with the second.
pub(super) struct Refusals<'a> {
    service: &'a Service,
    session: &'a Session,
    actor: &'a Actor,
}

impl<'a> Refusals<'a> {
    /// Of this session, when this is dropped.
    pub fn of(service: &'a Service, session: &'a Session, actor: &'a Actor) -> Self {
        Self { service, session, actor }
    }
}

impl Drop for Refusals<'_> {
    fn drop(&mut self) {
        let secrets = self.session.lent();
        let (all, listed) = self.session.untold_refusals();
        self.service.metrics.blocked.fetch_add(all, Ordering::Relaxed);
        for refused in listed {
            let mut entry = self.actor.entry(event::EGRESS);
            entry.severity = Severity::Warning;
            entry.outcome = Some("blocked".to_owned());
            entry.code = Some(refused.denied.reason.code().to_owned());
            entry.cause = Some(secrets.mask(&refused.denied.to_string()).into_owned());
            // A page can ask for what was typed into it.
            let url = secrets.mask(&refused.url);
            let payload = json!({ "url": url, "method": refused.method, "count": refused.count });
            entry.payload = payload.as_object().cloned().unwrap_or_default().into();
            self.service.recorder.add(entry);
        }
    }
}
