//! The forward proxy that holds a browser to a policy: one for each session, on loopback.
//!
//! It speaks HTTP/1.1 as proxies do: whole addresses for http, `CONNECT` for everything else. Each request is judged by
//! the host it names, resolved here, and connected only to addresses that were judged; the `Host` that goes on is the
//! one that was judged. `hyper` reads and writes all messages, so nothing goes on as it came: a request that two servers
//! could read in two ways is refused, or written anew in one way.

mod answer;
mod client;
mod forward;
mod gate;
mod headers;
mod kin;
mod ledger;
mod metered;
mod tasks;
mod tunnel;
mod upstream;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use url::Url;

use super::denied::Denied;
use super::policy::EgressPolicy;
use super::resolve::Resolve;
use ledger::Ledger;
pub use ledger::{Blocked, Mark};
use metered::Meter;
pub use metered::Traffic;
use tasks::Tasks;

/// An address as the proxy would have been asked for it, without what is secret in it: a password, a query.
fn as_asked(address: &str, denied: &Denied) -> String {
    let Denied { host, port, .. } = denied;
    match Url::parse(address) {
        Ok(url) => format!("{}://{host}:{port}{}", url.scheme(), url.path()),
        Err(_) => format!("{host}:{port}"),
    }
}

/// What a proxy grants to those who use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections of the browser at a time; more wait.
    pub connections: usize,
    /// Bytes in both directions together; when they are used up, everything ends and nothing more is let out.
    pub max_bytes: Option<u64>,
    /// How long connecting may take, all addresses of a name together.
    pub connect: Duration,
    /// How long a connection to a server lives without a byte.
    pub idle: Duration,
    /// How long the head of a request may take, and a connection of the browser wait for its next one.
    pub head: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            max_bytes: None,
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(600),
            head: Duration::from_secs(60),
        }
    }
}

/// See the module. Dropping it ends its listener and everything that goes through it.
pub struct Proxy {
    shared: Arc<Shared>,
}

/// What all connections of a proxy have in common.
struct Shared {
    address: SocketAddr,
    policy: EgressPolicy,
    resolver: Arc<dyn Resolve>,
    limits: Limits,
    meter: Meter,
    ledger: Ledger,
    /// The listener and the connections of the browser.
    clients: Tasks,
    /// Connections to servers, and tunnels: these end when the bytes are used up.
    upstreams: Tasks,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1. Must be called within a runtime of tokio, with its timers and sockets.
    pub async fn start(policy: EgressPolicy, resolver: Arc<dyn Resolve>) -> io::Result<Self> {
        Self::start_within(policy, resolver, Limits::default()).await
    }

    /// The same with other limits.
    pub async fn start_within(
        policy: EgressPolicy,
        resolver: Arc<dyn Resolve>,
        limits: Limits,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let meter = Meter::new(limits.max_bytes);
        let shared = Arc::new(Shared {
            address,
            policy,
            resolver,
            limits,
            meter,
            ledger: Ledger::default(),
            clients: Tasks::default(),
            upstreams: Tasks::default(),
        });
        kin::add(address);
        shared.clients.spawn(listen(shared.clone(), listener));
        Ok(Self { shared })
    }

    /// Where it listens: `http://` and this is what the browser is told.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// The policy that it holds to.
    pub fn policy(&self) -> &EgressPolicy {
        &self.shared.policy
    }

    /// May a page go there, as far as the address itself tells it? What may not is refused like a request that was made.
    pub fn check_url(&self, address: &str) -> Result<(), Denied> {
        let checked = self.policy().check_url(address);
        checked
            .inspect_err(|denied| self.shared.ledger.record("GET", &as_asked(address, denied), denied))
            .map(drop)
    }

    /// How far it is now, for who wants to know later what came since.
    pub fn mark(&self) -> Mark {
        self.shared.ledger.mark()
    }

    /// What was not let out, the oldest first; repeats are counted in one entry.
    pub fn blocked(&self) -> Vec<Blocked> {
        self.blocked_since(&Mark::default())
    }

    /// The same since a mark: what was refused before does not count.
    pub fn blocked_since(&self, mark: &Mark) -> Vec<Blocked> {
        self.shared.ledger.since(mark)
    }

    /// How many refusals there were since a mark, also of what the list has no room for.
    pub fn refusals_since(&self, mark: &Mark) -> u64 {
        self.shared.ledger.count_since(mark)
    }

    /// Why a page got no answer since a mark, if it got none. The browser believes that it did: the proxy answered for the
    /// server.
    pub fn lost(&self, page: &str, since: &Mark) -> Option<String> {
        self.shared.ledger.lost(page, since)
    }

    /// How many refusals are not in [`blocked`](Self::blocked) any more: it keeps the latest.
    pub fn blocked_dropped(&self) -> u64 {
        self.shared.ledger.dropped()
    }

    /// What went to servers and came from them.
    pub fn bytes(&self) -> Traffic {
        self.shared.meter.traffic()
    }

    /// Whether the bytes that it may carry are used up.
    pub fn is_spent(&self) -> bool {
        self.shared.meter.is_spent()
    }

    /// Ends everything and waits until it has ended.
    pub async fn close(self) {
        self.shared.clients.end().await;
        self.shared.upstreams.end().await;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.clients.cut();
        self.shared.upstreams.cut();
        kin::remove(self.shared.address);
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("address", &self.shared.address)
            .field("policy", &self.shared.policy)
            .finish()
    }
}

/// Takes connections while there is room for them; more wait in the system's queue.
async fn listen(shared: Arc<Shared>, listener: TcpListener) {
    let slots = Arc::new(Semaphore::new(shared.limits.connections.max(1)));
    while let Ok(slot) = slots.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => shared.clients.spawn(client::serve(shared.clone(), stream, slot)),
            // No descriptors left, most likely. Trying again at once would take a whole processor.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
