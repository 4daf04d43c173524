//! From a host to addresses that may be connected to: the seam to DNS, and the one function that asks it and the policy.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::denied::Denied;
use super::host::Host;
use super::policy::EgressPolicy;

/// The addresses of a name, when they are there.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Somewhere that addresses of names come from.
pub trait Resolve: std::fmt::Debug + Send + Sync {
    /// All addresses of the name. It is asked anew for each connection.
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a>;
}

/// How long a name may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Each look-up holds a thread of the runtime, also when nobody waits for it any more.
const AT_ONCE: usize = 64;

/// The resolver of the operating system, within 5 seconds. Clones share one limit of look-ups at a time, so have one for
/// all proxies.
#[derive(Debug, Clone)]
pub struct System {
    slots: Arc<Semaphore>,
}

impl Default for System {
    fn default() -> Self {
        Self { slots: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Resolve for System {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let too_slow =
                |_| io::Error::new(io::ErrorKind::TimedOut, "the resolver did not answer within 5 s");
            tokio::time::timeout(PATIENCE, self.look_up(name.to_owned())).await.map_err(too_slow)?
        })
    }
}

impl System {
    async fn look_up(&self, name: String) -> io::Result<Vec<IpAddr>> {
        let slot = self.slots.clone().acquire_owned().await.map_err(io::Error::other)?;
        let found = tokio::task::spawn_blocking(move || {
            let found = (name.as_str(), 0).to_socket_addrs();
            drop(slot);
            found
        });
        let mut addresses: Vec<IpAddr> =
            found.await.map_err(io::Error::other)??.map(|found| found.ip()).collect();
        let mut seen = std::collections::HashSet::new();
        addresses.retain(|address| seen.insert(*address));
        Ok(addresses)
    }
}

/// Why there is no address to connect to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAdmitted {
    /// The policy says no.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The name has no address. Nothing was denied.
    #[error("{host} could not be resolved: {source}")]
    Unresolved {
        /// The name.
        host: String,
        /// Why not.
        source: io::Error,
    },
}

/// The addresses of the host, if every one of them may be connected to. Connect to these and ask no resolver again: its
/// next answer may be another.
pub async fn admit(
    policy: &EgressPolicy,
    resolver: &dyn Resolve,
    host: &Host,
    port: u16,
) -> Result<Vec<SocketAddr>, NotAdmitted> {
    policy.judge_name(host, port)?;
    let addresses = match host {
        Host::Address(address) => vec![*address],
        // As browsers do. No resolver has a say in it.
        Host::Name(_) if host.is_localhost() => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        Host::Name(name) => {
            let unresolved = |source| NotAdmitted::Unresolved { host: name.clone(), source };
            let found = resolver.resolve(name).await.map_err(unresolved)?;
            if found.is_empty() {
                return Err(unresolved(io::Error::new(io::ErrorKind::NotFound, "it has no address")));
            }
            found
        }
    };
    for address in &addresses {
        policy.judge_address(host, *address, port)?;
    }
    Ok(addresses.into_iter().map(|address| SocketAddr::new(address.to_canonical(), port)).collect())
}
