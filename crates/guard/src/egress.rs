//! Where a page may send requests: rules, and the policy made of them.
//!
//! [`EgressPolicy`] is pure: names, addresses and ports in, a verdict out.

mod denied;
mod host;
mod navigation;
mod network;
mod policy;
mod rule;
mod special;

#[cfg(test)]
mod tests;

pub use denied::{Denied, Reason};
pub use host::{BadHost, Host};
pub use navigation::Destination;
pub use network::{Network, NetworkError};
pub use policy::{EgressPolicy, Otherwise};
pub use rule::{Rule, RuleError, RuleProblem};
