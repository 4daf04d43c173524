//! The egress guard of a session: a proxy of its own that every request of its pages must pass.

use std::sync::{Arc, PoisonError};

use serde::{Deserialize, Serialize};
use surehand_guard::egress::{Blocked, Denied, EgressPolicy, Limits, Mark, Proxy, Resolve};

use crate::{Fault, Kind, Session, Tab};

/// Where a session may send requests, and how much.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Egress {
    /// Where.
    pub policy: EgressPolicy,
    /// How many bytes in both directions together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

impl Egress {
    /// The proxy that holds a session to it, with addresses of names from there.
    pub(crate) async fn fence(&self, resolver: &Arc<dyn Resolve>) -> Result<Proxy, Fault> {
        let limits = Limits { max_bytes: self.max_bytes, ..Limits::default() };
        Proxy::start_within(self.policy.clone(), resolver.clone(), limits).await.map_err(|error| {
            Fault::new(Kind::BrowserFailed, format!("the egress guard cannot listen on loopback: {error}"))
                .hint("is loopback up, and are there descriptors left? See `ulimit -n`")
        })
    }
}

/// As Chromium is told of a proxy.
pub(crate) fn server(proxy: &Proxy) -> String {
    format!("http://{}", proxy.address())
}

/// Also what leads to this machine goes through the proxy.
pub(crate) const NO_BYPASS: &str = "<-loopback>";

/// A navigation that the guard watches.
#[derive(Debug)]
pub struct Going<'s> {
    session: &'s Session,
    before: Mark,
}

impl Session {
    /// Before a navigation: refused at once where the address itself says that nobody may go there. An empty page is
    /// nowhere.
    pub fn going_to(&self, address: &str) -> Result<Going<'_>, Fault> {
        if let Some(fence) = self.fence().filter(|_| address != "about:blank") {
            fence.check_url(address).map_err(|denied| refusal(&denied))?;
        }
        Ok(self.going())
    }

    /// Before one whose address only the browser knows: back, forward, reload.
    pub fn going(&self) -> Going<'_> {
        Going { session: self, before: self.refusals() }
    }

    /// How far its guard is with refusing, for [`Self::refused_since`].
    pub fn refusals(&self) -> Mark {
        self.fence().map(Proxy::mark).unwrap_or_default()
    }

    /// Requests of its pages that were refused since then, each with how often since then.
    pub fn refused_since(&self, before: &Mark) -> Vec<Blocked> {
        self.fence().map(|fence| fence.blocked_since(before)).unwrap_or_default()
    }

    /// Requests of its pages that were refused and that nobody was told of by this: how many, and the list of them, which has
    /// no room for all.
    pub fn untold_refusals(&self) -> (u64, Vec<Blocked>) {
        let Some(fence) = self.fence() else { return (0, Vec::new()) };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *told, fence.mark());
        (fence.refusals_since(&before), fence.blocked_since(&before))
    }
}

impl Going<'_> {
    /// After it: what was opened, unless the guard refused the page itself. A proxy answers for the server, so a page that
    /// was refused looks like one that was opened, or like a connection that failed.
    pub fn arrived<T>(self, tab: &Tab, opened: Result<T, Fault>) -> Result<T, Fault> {
        let refused = self.session.refused_since(&self.before);
        let here = tab.page.url();
        let no_tunnel = opened.as_ref().is_err_and(|fault| fault.message.contains(NO_TUNNEL));
        let is_here = |blocked: &&Blocked| no_tunnel && blocked.method == "CONNECT" || blocked.is_of(&here);
        match refused.iter().find(is_here) {
            Some(blocked) => Err(refusal(&blocked.denied)),
            // A page that was cut off in the middle never comes to its end.
            None if opened.is_err() && self.session.fence().is_some_and(Proxy::is_spent) => Err(Fault::new(
                Kind::EgressDenied,
                "egress denied: the byte budget of the session is used up",
            )
            .hint("use another session, or give more with --max-bytes")),
            None => match self.session.fence().and_then(|fence| fence.lost(&here, &self.before)) {
                Some(why) => Err(Fault::new(Kind::UnreachableHost, why)
                    .hint("check that the server runs, its port, and the spelling of the address")),
                None => opened,
            },
        }
    }
}

/// What Chromium says of a page whose tunnel was refused; what else fails is not the guard's doing.
const NO_TUNNEL: &str = "ERR_TUNNEL_CONNECTION_FAILED";

fn refusal(denied: &Denied) -> Fault {
    Fault::new(Kind::EgressDenied, denied.to_string())
        .hint("if it is meant to be reached, allow it: --egress-allow HOST[:PORT]")
}
