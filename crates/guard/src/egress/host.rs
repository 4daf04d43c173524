//! A host as browsers understand it. Everything that is judged went through here first, so that `0x7f.1`, `LOCALHOST.`
//! and `[::ffff:127.0.0.1]` are judged as what they mean.

use std::fmt;
use std::net::IpAddr;

/// A name in ASCII and lower case without the dot at its end, or an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// `example.com`; names beyond ASCII are in their `xn--` form.
    Name(String),
    /// An address; one of IPv4 that is mapped into IPv6 is here as IPv4.
    Address(IpAddr),
}

/// Why a text is no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadHost {
    /// Nothing there.
    #[error("there is no host")]
    Empty,
    /// Not what a browser takes for a host; zone ids are among these.
    #[error("{host:?} is not a host: {why}")]
    Malformed {
        /// As it was given.
        host: String,
        /// What the parser says.
        why: String,
    },
}

/// The longest name that DNS knows.
const LONGEST: usize = 253;

impl Host {
    /// Reads a host the way browsers do (WHATWG): percent-encoding, IDNA, and every notation of an IPv4 address are
    /// understood. An IPv6 address stands in brackets.
    pub fn parse(text: &str) -> Result<Self, BadHost> {
        let bad =
            |why: &str| BadHost::Malformed { host: text.chars().take(80).collect(), why: why.to_owned() };
        match url::Host::parse(text) {
            Ok(url::Host::Ipv4(address)) => Ok(Self::Address(address.into())),
            Ok(url::Host::Ipv6(address)) => Ok(Self::Address(IpAddr::from(address).to_canonical())),
            Ok(url::Host::Domain(name)) => {
                let name = name.strip_suffix('.').unwrap_or(&name);
                if name.is_empty() {
                    Err(BadHost::Empty)
                } else if name.split('.').any(str::is_empty) {
                    Err(bad("two dots in a row"))
                } else if name.len() > LONGEST || name.split('.').any(|label| label.len() > 63) {
                    Err(bad("it is too long"))
                } else {
                    Ok(Self::Name(name.to_owned()))
                }
            }
            Err(url::ParseError::EmptyHost) => Err(BadHost::Empty),
            Err(_) if text.is_empty() => Err(BadHost::Empty),
            Err(error) => Err(bad(&error.to_string())),
        }
    }

    /// The name, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Address(_) => None,
        }
    }

    /// `localhost` and the names below it: always this machine, whatever a resolver says.
    pub(crate) fn is_localhost(&self) -> bool {
        self.name().is_some_and(|name| name == "localhost" || name.ends_with(".localhost"))
    }
}

/// As it stands in an address: IPv6 in brackets.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}
