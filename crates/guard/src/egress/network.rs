//! A range of addresses, `10.0.0.0/8`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// Why a range cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// More bits than there are, or no number.
    #[error("the number behind / is 0 to {most}, not {found:?}")]
    Prefix {
        /// 32 or 128.
        most: u8,
        /// What stands there.
        found: String,
    },
    /// Bits behind the prefix: perhaps one address was meant, perhaps the range.
    #[error("{given} is an address inside of {meant}; write {meant}, or the address without /")]
    HostBits {
        /// As written.
        given: String,
        /// The range that it is in.
        meant: Network,
    },
}

impl Network {
    pub(crate) const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Self {
        Self { address: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
    }

    pub(crate) const fn v6(head: [u16; 4], last: u16, prefix: u8) -> Self {
        let [a, b, c, d] = head;
        Self { address: IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, last)), prefix }
    }

    /// One address; one of IPv4 that is mapped into IPv6 is taken as IPv4.
    pub(crate) fn single(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self { address, prefix: width(address) }
    }

    /// A range by its beginning and the text behind `/`.
    pub(crate) fn parse(address: IpAddr, prefix: &str) -> Result<Self, NetworkError> {
        let most = width(address);
        let plain = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
        let bits = prefix.parse().ok().filter(|bits| plain && *bits <= most);
        let bits = bits.ok_or_else(|| NetworkError::Prefix { most, found: prefix.to_owned() })?;
        let meant = Self { address: first(address, bits), prefix: bits };
        if meant.address != address {
            return Err(NetworkError::HostBits { given: format!("{address}/{prefix}"), meant });
        }
        match (address, address.to_canonical()) {
            // All of it is mapped IPv4.
            (IpAddr::V6(_), inner @ IpAddr::V4(_)) if bits >= 96 => {
                Ok(Self { address: inner, prefix: bits - 96 })
            }
            _ => Ok(meant),
        }
    }

    /// Whether the address is in it. IPv4 is never inside of IPv6.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && first(address, self.prefix) == self.address
    }

    pub(crate) fn is_single(&self) -> bool {
        self.prefix == width(self.address)
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The address with everything behind the prefix set to zero.
fn first(address: IpAddr, prefix: u8) -> IpAddr {
    let shift = u32::from(width(address).saturating_sub(prefix));
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(shift).unwrap_or(0);
            Ipv4Addr::from_bits(v4.to_bits() & mask).into()
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(shift).unwrap_or(0);
            Ipv6Addr::from_bits(v6.to_bits() & mask).into()
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}
