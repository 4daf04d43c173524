//! The service: browser work for other programs over HTTP, authenticated, guarded, audited, many callers at once.
//!
//! What lives here: addresses, who may ask, whose turn it is, what is written down. What must not: what a pack does.

mod admission;
mod answer;
mod answers;
mod artifacts;
mod body;
mod browser;
mod gate;
mod guest;
mod kept;
mod metrics;
mod openapi;
mod operating;
mod owners;
mod packs;
mod places;
mod record;
mod refusals;
mod router;
mod routes;
mod sessions;
mod shares;
mod vault;

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use surehand_browser::Notes;
use surehand_browser::profile::{self, TempProfile};
use surehand_session::{Egress, Ephemeral, Fault, Kind, Place, SessionOptions, Sessions};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::auth::{Algorithm, KeyRing};
use crate::connections::Connections;
pub use crate::connections::Limits;
use crate::door::{Names, PublicUrl, check_host};
use crate::home::Home;
use crate::ipc;
use crate::safe::Safe;

use admission::Admission;
pub use admission::Capacity;
use answer::Refused;
use artifacts::ArtifactStore;
use browser::BrowserHealth;
use kept::KeptSessions;
use metrics::Metrics;
use owners::Owners;
use record::Recorder;
use shares::Shares;

/// How the service is to be.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// Where it keeps its things.
    pub home: Home,
    /// Where to listen.
    pub address: SocketAddr,
    /// Names, with or without a port, under which callers reach it beside its own address.
    pub allowed_hosts: Vec<String>,
    /// Where callers reach it, if others stand in front of it; addresses of files begin with it.
    pub public_url: Option<String>,
    /// Where pages may send requests; `None` lets them go everywhere.
    pub egress: Option<Egress>,
    /// How many at once.
    pub capacity: Capacity,
    /// How many connections, and how slow they may be.
    pub limits: Limits,
    /// How long one waits in line.
    pub queue_time: Duration,
    /// How long a session lives, and so a call.
    pub session_time: Duration,
    /// How long one action waits.
    pub action_time: Duration,
    /// How long work that is under way may take to end.
    pub drain_time: Duration,
    /// HS256, from the environment.
    pub jwt_secret: Option<String>,
    /// What the log shows, as `SUREHAND_LOG` says it.
    pub log: Option<String>,
    /// How browsers are started.
    pub browser: SessionOptions,
}

impl ServiceOptions {
    /// How sessions are started.
    fn session(&self) -> SessionOptions {
        SessionOptions { egress: self.egress.clone(), idle_timeout: Some(0), ..self.browser.clone() }
    }
}

/// The service while it runs.
#[derive(Debug)]
struct Service {
    options: ServiceOptions,
    names: Names,
    base: String,
    is_loopback: bool,
    sessions: Arc<Sessions>,
    admission: Admission,
    connections: Connections,
    keys: KeyRing,
    safe: Safe,
    recorder: Recorder,
    artifacts: ArtifactStore,
    kept: KeptSessions,
    owners: Owners,
    /// Requests of agents, and the streams that answer them.
    agents: Shares,
    metrics: Arc<Metrics>,
    _downloads: TempProfile,
    browser: BrowserHealth,
    /// The end was announced.
    stop: CancellationToken,
}

/// Serves until the process is told to end, and then until everything is in order.
pub fn serve(options: ServiceOptions) -> Result<(), Fault> {
    options.home.create()?;
    options.allowed_hosts.iter().try_for_each(|host| check_host(host))?;
    options.public_url.as_deref().map(PublicUrl::parse).transpose()?;
    options.session().check()?;
    crate::log::install_for_service(options.log.as_deref()).map_err(|why| Fault::new(Kind::Usage, why))?;
    ipc::raise_descriptor_limit();
    // What one left that was killed.
    let swept = profile::sweep(&options.home.scratch());
    tracing::debug!("swept {swept:?}");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(crate::internal)?;
    let served = runtime.block_on(run(options));
    // Work that was cut off is over now, and written down as such.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served?.recorder.flush_within(LAST_ROWS);
    Ok(())
}

async fn run(options: ServiceOptions) -> Result<Arc<Service>, Fault> {
    let wish = hear_the_wish_to_end().await;
    let listener = TcpListener::bind(options.address).await.map_err(|error| {
        Fault::new(Kind::EndpointUnreachable, format!("cannot listen on {}: {error}", options.address))
            .hint("choose another address with --listen; port 0 lets the system choose")
    })?;
    let bound = listener.local_addr().map_err(crate::internal)?;
    let service = Arc::new(Service::new(options, bound)?);
    let stop = &service.stop;
    let lease = service.sessions.keep_warm();
    // Without a browser it serves all the same, and says that it is not ready.
    service.browser.note(&lease.warm_up(&service.options.session(), &notes()).await);
    let app = router::router(&service, stop);
    crate::say(&format!("http://{bound}"));
    let asked = async {
        wish.await;
        stop.cancel();
    };
    let serving = async { tokio::join!(asked, service.connections.serve(listener, app, stop)) };
    let late = async {
        stop.cancelled().await;
        tokio::time::sleep(service.options.drain_time).await;
    };
    tokio::select! {
        () = service.keep_tidy() => {}
        () = service.keep_ready(&lease) => {}
        _ = serving => {}
        () = late => tracing::warn!("some work did not end in time and is cut off"),
    }
    service.end().await;
    lease.end().await;
    Ok(service)
}

/// The wish to end is heard from now on: who is told where we listen may utter it in the same moment.
async fn hear_the_wish_to_end() -> impl Future<Output = ()> {
    let mut asked = Box::pin(ipc::asked_to_end());
    let is_early = poll_fn(|cx| Poll::Ready(asked.as_mut().poll(cx).is_ready())).await;
    async move {
        if !is_early {
            // Whatever it is, it means the end.
            let _ = asked.await;
        }
    }
}

impl Service {
    fn new(options: ServiceOptions, bound: SocketAddr) -> Result<Self, Fault> {
        let home = &options.home;
        let keys = open_keys(home, options.jwt_secret.as_deref())?;
        let safe = Safe::of(home);
        let metrics = Arc::new(Metrics::default());
        let recorder = Recorder::start(safe.store()?, metrics.clone()).map_err(crate::internal)?;
        let public = options.public_url.as_deref().map(PublicUrl::parse).transpose()?;
        let base =
            public.as_ref().map_or_else(|| own_address(bound, &options.allowed_hosts), PublicUrl::to_string);
        let names = Names::of(bound, &options.allowed_hosts);
        let artifacts = ArtifactStore::open(&home.artifacts(), &base)?;
        artifacts.tidy();
        let downloads = home.own_downloads()?;
        let places = home.places(downloads.path().to_owned());
        Ok(Self {
            names: match &public {
                Some(public) => names.and_public(public),
                None => names,
            },
            is_loopback: bound.ip().is_loopback(),
            base,
            sessions: Arc::new(Sessions::new(places)),
            admission: Admission::new(options.capacity),
            connections: Connections::new(options.limits),
            keys,
            safe,
            recorder,
            artifacts,
            kept: KeptSessions::default(),
            owners: Owners::default(),
            agents: Shares::new((options.limits.connections / 4).max(1)),
            metrics,
            _downloads: downloads,
            browser: BrowserHealth::default(),
            stop: CancellationToken::new(),
            options,
        })
    }

    fn is_draining(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Work that cannot be written down is not done.
    fn refuse_if_unaudited(&self) -> Result<(), Refused> {
        if self.recorder.is_healthy() {
            return Ok(());
        }
        // The disk may be well again: this row finds out, for the next who asks.
        self.recorder.add(surehand_store::AuditEntry::now("audit_probe"));
        let status = axum::http::StatusCode::SERVICE_UNAVAILABLE;
        Err(Refused::new(status, "audit_unavailable", "the audit cannot be written, so nothing is done")
            .retry_after(5))
    }

    /// A session for one caller, on a warm browser; its place is free again when it is gone.
    async fn open_session(&self, purpose: &str, place: Place) -> Result<Ephemeral, Fault> {
        let options = self.options.session();
        let opened = Ephemeral::open_in_place(&self.sessions, purpose, &options, &notes(), place).await;
        self.browser.note(&opened);
        opened
    }

    /// How long work takes that one waits for, roughly.
    fn usual_wait(&self) -> u64 {
        let (_, waiting) = self.admission.load();
        let rounds = waiting / self.admission.capacity().sessions.max(1) + 1;
        (rounds as u64 * 2).clamp(1, 60)
    }

    /// Ends sessions in which nothing happens any more, and takes away old files; never ends itself.
    async fn keep_tidy(&self) {
        let mut tidied = Instant::now();
        loop {
            if tidied.elapsed() > TIDY {
                tidied = Instant::now();
                self.artifacts.tidy();
            }
            let next = self.sessions.next_idle().unwrap_or(LOOK);
            tokio::time::sleep(next.clamp(Duration::from_millis(100), LOOK)).await;
            for name in self.sessions.close_idle().await {
                tracing::info!(session_id = name, "nothing happened in a session for too long");
            }
        }
    }

    async fn end(&self) {
        self.kept.drain();
        self.sessions.close_all().await;
        self.recorder.flush().await;
    }
}

/// The disk gets this long for the last rows of the audit.
const LAST_ROWS: Duration = Duration::from_secs(5);

/// Somebody new may have come with a shorter time.
const LOOK: Duration = Duration::from_secs(1);

/// How often old files are looked for.
const TIDY: Duration = Duration::from_secs(60 * 60);

/// What addresses of files begin with. Every address of the machine is none that anybody could ask.
fn own_address(bound: SocketAddr, allowed: &[String]) -> String {
    match allowed.first() {
        _ if !bound.ip().is_unspecified() => format!("http://{bound}"),
        Some(host) if host.contains(':') => format!("http://{host}"),
        Some(host) => format!("http://{host}:{}", bound.port()),
        None => format!("http://localhost:{}", bound.port()),
    }
}

fn notes() -> Arc<dyn Notes> {
    Arc::new(())
}

/// The keys of the home. Where there is none one is made, and its owner is told once how to use it.
fn open_keys(home: &Home, secret: Option<&str>) -> Result<KeyRing, Fault> {
    let refused = |error: crate::auth::KeyError| Fault::new(Kind::Usage, error.to_string());
    let keys = KeyRing::open(&home.keys(), secret).map_err(refused)?;
    if keys.keys().map_err(refused)?.is_empty() {
        let path = keys.make(Algorithm::Hs256, None).map_err(refused)?;
        crate::say(&format!("A key that signs tokens was made: {}", path.display()));
        crate::say("Make a token with: surehand token mint --sub NAME --scope 'packs:*'");
    }
    Ok(keys)
}
