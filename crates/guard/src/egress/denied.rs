//! Why a request was not let out, in words that can be shown to who asked for it.

use std::fmt;
use std::net::IpAddr;

use super::host::BadHost;
use super::network::Network;
use super::rule::Rule;

/// A request that the policy does not let out. `Display` begins with `egress denied:` and does not show the address
/// that a name resolved to: it may be the caller's business that it is private, but not what it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[error("egress denied: {}", Words(self))]
pub struct Denied {
    /// The host as it was judged; empty where there was none.
    pub host: String,
    /// The port; 0 where there was none.
    pub port: u16,
    /// The address that was judged; for the audit log.
    pub address: Option<IpAddr>,
    /// Why.
    pub reason: Reason,
}

/// Why a request is not let out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// This rule denies it.
    Rule(Rule),
    /// The address is not out in the world.
    Special {
        /// The range it is in.
        network: Network,
        /// What that range is; reads on behind "is".
        what: &'static str,
    },
    /// Only what is allowed may be reached, and this is not.
    NotAllowed,
    /// Another scheme than those of the web.
    Scheme(String),
    /// Not an absolute address of the web.
    Malformed(String),
    /// A proxy of this process: requests would go round in circles, or through the policy of another session.
    Itself,
    /// The bytes that this proxy may carry are used up.
    Budget,
}

impl Reason {
    /// A word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rule(_) => "rule",
            Self::Special { .. } => "address",
            Self::NotAllowed => "not_allowed",
            Self::Scheme(_) => "scheme",
            Self::Malformed(_) => "malformed",
            Self::Itself => "loop",
            Self::Budget => "budget",
        }
    }
}

impl Denied {
    pub(crate) fn malformed(why: impl Into<String>) -> Self {
        Self { host: String::new(), port: 0, address: None, reason: Reason::Malformed(why.into()) }
    }
}

impl From<BadHost> for Denied {
    fn from(bad: BadHost) -> Self {
        Self::malformed(bad.to_string())
    }
}

/// What stands behind `egress denied: `.
struct Words<'a>(&'a Denied);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Denied { host, port, address, reason } = self.0;
        match reason {
            Reason::Rule(rule) => write!(f, "{host}:{port} is denied by the rule {rule}"),
            Reason::Special { network, what } => {
                let literal =
                    address.is_some_and(|address| host.trim_matches(['[', ']']) == address.to_string());
                let verb = if literal { "is" } else { "resolves to" };
                write!(f, "{host}:{port} {verb} {what} ({network}), and no rule allows it")
            }
            Reason::NotAllowed => write!(f, "{host}:{port} is not among what is allowed"),
            Reason::Scheme(scheme) => {
                write!(f, "{scheme}: is not a scheme that may be opened; http and https are")
            }
            Reason::Malformed(why) => write!(f, "this is not an absolute http or https address: {why}"),
            Reason::Itself => write!(f, "{host}:{port} is a proxy of the egress guard itself"),
            Reason::Budget => write!(f, "{host}:{port} was not asked because the byte budget is used up"),
        }
    }
}
