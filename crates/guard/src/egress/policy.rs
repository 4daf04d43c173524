//! The policy: rules, and what holds where none speaks.
//!
//! In this order, the first that fits decides:
//!
//! 1. A deny rule for the name or the address denies.
//! 2. An allow rule for the address allows, whatever the address is.
//! 3. An allow rule for the name allows its addresses, also private ones: the operator named it. Link-local addresses, the
//!    services of clouds for their own machines and others where no named server can live stay blocked: whoever
//!    controls the name's DNS would choose them.
//! 4. An address that is not out in the world (loopback, private, reserved …) is denied. `*` does not change that;
//!    `0.0.0.0/0` and `::/0` do.
//! 5. An allow rule `*` allows.
//! 6. The default: `allow`, or `deny` for only what is allowed.
//!
//! A name is let out only if every address that it has is.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::denied::{Denied, Reason};
use super::host::Host;
use super::rule::{Rule, RuleError};
use super::special::{carried, special};

/// See the module. The default is no rules and `allow`: everything that is out in the world.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EgressPolicy {
    /// What is let out although it would not be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Rule>,
    /// What is never let out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<Rule>,
    /// What holds where no rule speaks.
    pub default: Otherwise,
}

/// What holds where no rule speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Otherwise {
    /// Everything out in the world may be reached.
    #[default]
    Allow,
    /// Nothing may be reached.
    Deny,
}

impl EgressPolicy {
    /// A policy of rules as they are written.
    pub fn parse<A, D>(allow: A, deny: D, default: Otherwise) -> Result<Self, RuleError>
    where
        A: IntoIterator<Item: AsRef<str>>,
        D: IntoIterator<Item: AsRef<str>>,
    {
        let allow = allow.into_iter().map(|rule| rule.as_ref().parse()).collect::<Result<_, _>>()?;
        let deny = deny.into_iter().map(|rule| rule.as_ref().parse()).collect::<Result<_, _>>()?;
        Ok(Self { allow, deny, default })
    }

    /// What can be known before a name is resolved: whether it is denied whatever its addresses are. An address is
    /// judged in full.
    pub fn judge_name(&self, host: &Host, port: u16) -> Result<(), Denied> {
        let name = match host {
            Host::Address(address) => return self.judge_address(host, *address, port),
            Host::Name(name) => name,
        };
        let rule = self.deny.iter().find(|rule| rule.takes_everything(port) || rule.takes_name(name, port));
        let reason = match rule {
            Some(rule) => Reason::Rule(rule.clone()),
            None if self.may_allow(name, port) => return Ok(()),
            None => Reason::NotAllowed,
        };
        Err(Denied { host: host.to_string(), port, address: None, reason })
    }

    /// Whether this address of this host may be connected to. For a host that is an address, `address` is the same.
    pub fn judge_address(&self, host: &Host, address: IpAddr, port: u16) -> Result<(), Denied> {
        let own = address.to_canonical();
        let address_fits = |rule: &&Rule| {
            let inner = carried(own).map(IpAddr::V4);
            rule.takes_address(own, port) || inner.is_some_and(|inner| rule.takes_address(inner, port))
        };
        let name_fits = |rule: &&Rule| host.name().is_some_and(|name| rule.takes_name(name, port));
        let everything = |rule: &&Rule| rule.takes_everything(port);
        let denied = |reason| Err(Denied { host: host.to_string(), port, address: Some(own), reason });

        let speaks = |rule: &&Rule| everything(rule) || name_fits(rule) || address_fits(rule);
        if let Some(rule) = self.deny.iter().find(speaks) {
            return denied(Reason::Rule(rule.clone()));
        }
        if self.allow.iter().any(|rule| address_fits(&rule)) {
            return Ok(());
        }
        let special = special(own);
        let named = self.allow.iter().any(|rule| name_fits(&rule));
        match special {
            Some(special) if !(named && special.nameable) => {
                denied(Reason::Special { network: special.network, what: special.what })
            }
            _ if named || self.default == Otherwise::Allow => Ok(()),
            _ if self.allow.iter().any(|rule| everything(&rule)) => Ok(()),
            _ => denied(Reason::NotAllowed),
        }
    }

    /// Whether the name could be let out at all: if not, it need not be resolved, and the resolver learns nothing.
    fn may_allow(&self, name: &str, port: u16) -> bool {
        let mut allow = self.allow.iter();
        self.default == Otherwise::Allow
            || allow.any(|rule| {
                rule.takes_everything(port) || rule.takes_name(name, port) || rule.may_take_addresses(port)
            })
    }
}
