//! The proxies of this process. A page that may reach loopback may not reach these: through its own proxy requests would
//! go in circles, through another it would go by the rules of another session.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

static LISTENING: LazyLock<Mutex<HashSet<SocketAddr>>> = LazyLock::new(Mutex::default);

fn all() -> MutexGuard<'static, HashSet<SocketAddr>> {
    LISTENING.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn add(address: SocketAddr) {
    all().insert(address);
}

pub(super) fn remove(address: SocketAddr) {
    all().remove(&address);
}

/// Whether one of them listens there. Connecting to 0.0.0.0 or :: means this machine.
pub(super) fn is_one(address: SocketAddr) -> bool {
    let ip = address.ip().to_canonical();
    let ip = if ip.is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { ip };
    all().contains(&SocketAddr::new(ip, address.port()))
}
