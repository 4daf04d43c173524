//! Where a page may send requests: rules, the policy made of them, and the proxy that holds a browser to it.
//!
//! [`EgressPolicy`] is pure: names, addresses and ports in, a verdict out. [`Resolve`] is where addresses of names come
//! from, and [`admit`] the one way from a host to addresses that may be connected to. [`Proxy`] is a forward proxy that
//! asks `admit` for every request and connects to nothing else.
//!
//! No browser here, and no other protocol than HTTP/1.1: what is inside a tunnel is not looked at.

mod denied;
mod host;
mod navigation;
mod network;
mod policy;
mod proxy;
mod resolve;
mod rule;
mod special;

#[cfg(test)]
mod tests;

pub use denied::{Denied, Reason};
pub use host::{BadHost, Host};
pub use navigation::Destination;
pub use network::{Network, NetworkError};
pub use policy::{EgressPolicy, Otherwise};
pub use proxy::{Blocked, Limits, Mark, Proxy, Traffic};
pub use resolve::{NotAdmitted, Resolve, Resolving, System, admit};
pub use rule::{Rule, RuleError, RuleProblem};
