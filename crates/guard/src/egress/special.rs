//! Addresses that are not out in the world: what is blocked unless a rule allows it.
//!
//! After the registries of special-purpose addresses at IANA, and where these say "partly reachable" blocked. Of IPv6 only
//! 2000::/3 is in use as global unicast, so the rest is blocked as a whole.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::network::Network;

/// A range that is blocked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Special {
    pub network: Network,
    /// Reads on behind "is".
    pub what: &'static str,
    /// Whether a rule that names a host lifts the block. Where no server of an operator can live, or where the keys of a
    /// cloud are handed out, it does not: whoever controls the name's DNS would choose the address. An address rule
    /// lifts every block.
    pub nameable: bool,
}

const fn open(network: Network, what: &'static str) -> Special {
    Special { network, what, nameable: true }
}

const fn shut(network: Network, what: &'static str) -> Special {
    Special { network, what, nameable: false }
}

const CLOUD: &str = "a service of the cloud for its own machines";
const PRIVATE: &str = "a private address";
const LINK: &str = "a link-local address, where clouds hand out keys";
const EXAMPLE: &str = "an address for documentation";
const RESERVED: &str = "a reserved address";
const MULTICAST: &str = "a multicast address";
const LOOPBACK: &str = "a loopback address";

/// The first that fits counts, so single addresses come first.
static V4: [Special; 18] = [
    shut(Network::v4(100, 100, 100, 200, 32), CLOUD),
    shut(Network::v4(168, 63, 129, 16, 32), CLOUD),
    shut(Network::v4(0, 0, 0, 0, 8), "an address of this machine"),
    open(Network::v4(10, 0, 0, 0, 8), PRIVATE),
    open(Network::v4(100, 64, 0, 0, 10), "an address behind a carrier's NAT"),
    open(Network::v4(127, 0, 0, 0, 8), LOOPBACK),
    shut(Network::v4(169, 254, 0, 0, 16), LINK),
    open(Network::v4(172, 16, 0, 0, 12), PRIVATE),
    shut(Network::v4(192, 0, 0, 0, 24), RESERVED),
    open(Network::v4(192, 0, 2, 0, 24), EXAMPLE),
    shut(Network::v4(192, 88, 99, 0, 24), "an address of 6to4 relays"),
    open(Network::v4(192, 168, 0, 0, 16), PRIVATE),
    open(Network::v4(198, 18, 0, 0, 15), "an address for benchmarks"),
    open(Network::v4(198, 51, 100, 0, 24), EXAMPLE),
    open(Network::v4(203, 0, 113, 0, 24), EXAMPLE),
    shut(Network::v4(224, 0, 0, 0, 4), MULTICAST),
    shut(Network::v4(255, 255, 255, 255, 32), "the broadcast address"),
    shut(Network::v4(240, 0, 0, 0, 4), RESERVED),
];

static V6: [Special; 17] = [
    shut(Network::v6([0xfd00, 0xec2, 0, 0], 0x254, 128), CLOUD),
    open(Network::v6([0; 4], 1, 128), LOOPBACK),
    shut(Network::v6([0; 4], 0, 128), "the unspecified address"),
    shut(Network::v6([0x64, 0xff9b, 1, 0], 0, 48), "an address of local NAT64"),
    shut(Network::v6([0x100, 0, 0, 0], 0, 64), "an address whose packets are discarded"),
    shut(Network::v6([0x2001, 0, 0, 0], 0, 32), "an address of Teredo"),
    shut(Network::v6([0x2001, 0, 0, 0], 0, 23), RESERVED),
    open(Network::v6([0x2001, 0xdb8, 0, 0], 0, 32), EXAMPLE),
    open(Network::v6([0x3fff, 0, 0, 0], 0, 20), EXAMPLE),
    open(Network::v6([0xfc00, 0, 0, 0], 0, 7), PRIVATE),
    shut(Network::v6([0xfe80, 0, 0, 0], 0, 10), LINK),
    shut(Network::v6([0xfec0, 0, 0, 0], 0, 10), "a site-local address"),
    shut(Network::v6([0xff00, 0, 0, 0], 0, 8), MULTICAST),
    shut(Network::v6([0; 4], 0, 96), "an IPv4 address in a form that is no longer used"),
    shut(Network::v6([0; 4], 0, 3), RESERVED),
    shut(Network::v6([0x4000, 0, 0, 0], 0, 2), RESERVED),
    shut(Network::v6([0x8000, 0, 0, 0], 0, 1), RESERVED),
];

/// What blocks the address, if anything does. What carries an IPv4 address is judged as that.
pub(crate) fn special(address: IpAddr) -> Option<&'static Special> {
    let judged = carried(address).map_or(address.to_canonical(), IpAddr::V4);
    let table: &[Special] = if judged.is_ipv4() { &V4 } else { &V6 };
    table.iter().find(|one| one.network.contains(judged))
}

/// The IPv4 address to which packets for this one go on: mapped, NAT64 and 6to4.
pub(crate) fn carried(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(v6) = address else { return None };
    match v6.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => Some(join(high, low)),
        _ => Ipv6Addr::to_ipv4_mapped(&v6),
    }
}

fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}
