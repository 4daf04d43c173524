//! One rule, and how it is written.
//!
//! | text | stands for |
//! |---|---|
//! | `example.com` | this name, not those below it |
//! | `*.example.com` | every name below it, at any depth, not itself |
//! | `.example.com` | itself and every name below it |
//! | `10.1.2.3`, `[::1]`, `::1` | this address |
//! | `10.0.0.0/8`, `fc00::/7` | the addresses of this range |
//! | `*` | everything |
//!
//! Each may be followed by `:443` or `:8000-8099`; without, all ports are meant. An IPv6 address with a port stands in
//! brackets. Names beyond ASCII are turned into their `xn--` form, as browsers do; an address is written in the usual
//! way only, because `192.168.1` is more likely a mistake than 192.168.0.1.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::host::{BadHost, Host};
use super::network::{Network, NetworkError};

/// See the module. `Display` gives the text back, and so does serde.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rule {
    pattern: Pattern,
    ports: Option<(u16, u16)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Pattern {
    Everything,
    Name(String),
    Below(String),
    Within(String),
    Network(Network),
}

/// Why a rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the egress rule {rule:?} cannot be used: {problem}")]
pub struct RuleError {
    /// As it was written.
    pub rule: String,
    /// What is wrong with it.
    pub problem: RuleProblem,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleProblem {
    /// Nothing before the port, or nothing at all.
    #[error("it names no host; * stands for all")]
    Empty,
    /// `http://…`
    #[error("a rule has no scheme, only host:port")]
    Scheme,
    /// `user@…`
    #[error("a rule has no user name")]
    User,
    /// A `/` behind something that is no address.
    #[error("only an address may be followed by /, and a rule has no path")]
    Path,
    /// `ex*mple.com`, `*example.com`
    #[error("* stands alone, or as *. before a name")]
    Wildcard,
    /// A port that is none.
    #[error("the part behind the host is a port of 1 to 65535 or a range like 8000-8099, not {0:?}")]
    Port(String),
    /// `fd00::5:8000`
    #[error("it can be read in two ways; write [{address}]:{port} or [{address}:{port}]")]
    Ambiguous {
        /// If the last group is a port.
        address: Ipv6Addr,
        /// The last group.
        port: String,
    },
    /// `127.1`, `0x7f000001`
    #[error("write the address as {0}")]
    OddAddress(IpAddr),
    /// What should be an IPv6 address is none.
    #[error("{0:?} is not an IPv6 address")]
    NotIpv6(String),
    /// A range that is none.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A name that is none.
    #[error(transparent)]
    Host(#[from] BadHost),
}

impl Rule {
    /// Whether it speaks of everything on this port.
    pub(crate) fn takes_everything(&self, port: u16) -> bool {
        self.pattern == Pattern::Everything && self.takes_port(port)
    }

    /// Whether it names this host.
    pub(crate) fn takes_name(&self, name: &str, port: u16) -> bool {
        let fits = match &self.pattern {
            Pattern::Name(own) => own == name,
            Pattern::Below(own) => is_below(name, own),
            Pattern::Within(own) => own == name || is_below(name, own),
            Pattern::Everything | Pattern::Network(_) => false,
        };
        fits && self.takes_port(port)
    }

    /// Whether it names this address or a range that it is in.
    pub(crate) fn takes_address(&self, address: IpAddr, port: u16) -> bool {
        matches!(self.pattern, Pattern::Network(network) if network.contains(address))
            && self.takes_port(port)
    }

    /// Whether it speaks of addresses on this port.
    pub(crate) fn may_take_addresses(&self, port: u16) -> bool {
        matches!(self.pattern, Pattern::Network(_)) && self.takes_port(port)
    }

    fn takes_port(&self, port: u16) -> bool {
        self.ports.is_none_or(|(from, to)| (from..=to).contains(&port))
    }
}

fn is_below(name: &str, above: &str) -> bool {
    name.strip_suffix(above).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        parse(text).map_err(|problem| RuleError { rule: text.chars().take(200).collect(), problem })
    }
}

fn parse(text: &str) -> Result<Rule, RuleProblem> {
    if text.contains("://") {
        return Err(RuleProblem::Scheme);
    }
    if text.contains('@') {
        return Err(RuleProblem::User);
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (inside, rest) = rest.split_once(']').ok_or_else(|| RuleProblem::NotIpv6(text.to_owned()))?;
        let address = ipv6(inside)?.into();
        return match rest.strip_prefix('/') {
            Some(rest) => range(address, rest),
            None => Ok(Rule { pattern: Pattern::Network(Network::single(address)), ports: ports(rest)? }),
        };
    }
    if let Some((address, rest)) = text.split_once('/') {
        return range(address.parse().map_err(|_| RuleProblem::Path)?, rest);
    }
    match text.split_once(':') {
        Some((_, rest)) if rest.contains(':') => bare_ipv6(text),
        Some((host, rest)) => Ok(Rule { pattern: pattern(host)?, ports: Some(port_range(rest)?) }),
        None => Ok(Rule { pattern: pattern(text)?, ports: None }),
    }
}

/// `8`, `8:443`: what stands behind the `/`.
fn range(address: IpAddr, rest: &str) -> Result<Rule, RuleProblem> {
    let end = rest.find(':').unwrap_or(rest.len());
    let (prefix, behind) = rest.split_at(end);
    Ok(Rule { pattern: Pattern::Network(Network::parse(address, prefix)?), ports: ports(behind)? })
}

fn bare_ipv6(text: &str) -> Result<Rule, RuleProblem> {
    let other = text.rsplit_once(':').and_then(|(before, last)| Some((ipv6(before).ok()?, last)));
    match (ipv6(text), other) {
        (_, Some((address, port))) if port_range(port).is_ok() => {
            Err(RuleProblem::Ambiguous { address, port: port.to_owned() })
        }
        (address, _) => Ok(Rule { pattern: Pattern::Network(Network::single(address?.into())), ports: None }),
    }
}

fn ipv6(text: &str) -> Result<Ipv6Addr, RuleProblem> {
    text.parse().map_err(|_| RuleProblem::NotIpv6(text.to_owned()))
}

fn pattern(text: &str) -> Result<Pattern, RuleProblem> {
    if text.is_empty() {
        return Err(RuleProblem::Empty);
    }
    if text == "*" {
        return Ok(Pattern::Everything);
    }
    if let Some(above) = text.strip_prefix("*.") {
        return Ok(Pattern::Below(name(above)?));
    }
    if let Some(above) = text.strip_prefix('.') {
        return Ok(Pattern::Within(name(above)?));
    }
    match text.parse::<Ipv4Addr>() {
        Ok(address) => Ok(Pattern::Network(Network::single(address.into()))),
        Err(_) => Ok(Pattern::Name(name(text)?)),
    }
}

fn name(text: &str) -> Result<String, RuleProblem> {
    if text.contains('*') {
        return Err(RuleProblem::Wildcard);
    }
    match Host::parse(text)? {
        Host::Name(name) => Ok(name),
        Host::Address(address) => Err(RuleProblem::OddAddress(address)),
    }
}

/// Nothing, or `:443`, or `:8000-8099`.
fn ports(text: &str) -> Result<Option<(u16, u16)>, RuleProblem> {
    match text.strip_prefix(':') {
        Some(rest) => port_range(rest).map(Some),
        None if text.is_empty() => Ok(None),
        None => Err(RuleProblem::Port(text.to_owned())),
    }
}

fn port_range(text: &str) -> Result<(u16, u16), RuleProblem> {
    let bad = || RuleProblem::Port(text.to_owned());
    let one = |text: &str| {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|port| plain && *port > 0).ok_or_else(bad)
    };
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (one(from)?, one(to)?);
    if from > to { Err(bad()) } else { Ok((from, to)) }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Pattern::Everything => f.write_str("*")?,
            Pattern::Name(name) => f.write_str(name)?,
            Pattern::Below(name) => write!(f, "*.{name}")?,
            Pattern::Within(name) => write!(f, ".{name}")?,
            Pattern::Network(one) if one.is_single() => Host::Address(one.address()).fmt(f)?,
            Pattern::Network(network) => network.fmt(f)?,
        }
        match self.ports {
            None => Ok(()),
            Some((from, to)) if from == to => write!(f, ":{from}"),
            Some((from, to)) => write!(f, ":{from}-{to}"),
        }
    }
}

impl TryFrom<String> for Rule {
    type Error = RuleError;

    fn try_from(text: String) -> Result<Self, RuleError> {
        text.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> Self {
        rule.to_string()
    }
}
