//! Rules, addresses and verdicts, without a socket. The proxy is tested at its edge, in `tests/egress`.

mod addresses;
mod policies;
mod rules;

use super::*;

fn host(text: &str) -> Host {
    Host::parse(text).expect("a host")
}

fn policy(allow: &[&str], deny: &[&str]) -> EgressPolicy {
    EgressPolicy::parse(allow, deny, Otherwise::Allow).expect("a policy")
}

fn strict(allow: &[&str], deny: &[&str]) -> EgressPolicy {
    EgressPolicy { default: Otherwise::Deny, ..policy(allow, deny) }
}
