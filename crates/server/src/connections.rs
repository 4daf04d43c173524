//! Connections of callers: so many at once, each with a limit on how long it may keep us waiting.
//!
//! axum's own loop has no such limits. Somebody who opens connections and sends a byte now and then would have them all.

mod stall;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use stall::Stalling;

/// What callers may do to us.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once; more wait in the system's queue.
    pub connections: usize,
    /// How long a caller may take for the head of a request, for its body, for the next request, and for taking any byte
    /// of an answer.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 512, time: Duration::from_secs(30) }
    }
}

/// No descriptors left, most likely. Trying again at once would take a whole processor.
const BREATH: Duration = Duration::from_millis(50);

/// Places for connections.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: Limits,
    places: Arc<Semaphore>,
}

impl Connections {
    pub fn new(limits: Limits) -> Self {
        let limits = Limits { connections: limits.connections.clamp(1, Semaphore::MAX_PERMITS), ..limits };
        Self { limits, places: Arc::new(Semaphore::new(limits.connections)) }
    }

    /// How many there are.
    pub fn open(&self) -> usize {
        self.limits.connections - self.places.available_permits()
    }

    /// How long a body may take.
    pub fn time(&self) -> Duration {
        self.limits.time
    }

    /// Takes connections until it is told to stop. Then nobody new comes in, idle ones are closed, and what is under way
    /// is waited for.
    pub async fn serve(&self, listener: TcpListener, app: Router, stop: &CancellationToken) {
        let under_way = GracefulShutdown::new();
        while let Some((stream, place)) = stop.run_until_cancelled(self.next(&listener)).await {
            let connection = connection(stream, app.clone(), self.limits.time, under_way.watcher());
            tokio::spawn(async move {
                connection.await;
                drop(place);
            });
        }
        drop(listener);
        under_way.shutdown().await;
    }

    /// The next one, once there is room for it.
    async fn next(&self, listener: &TcpListener) -> (TcpStream, Option<OwnedSemaphorePermit>) {
        // The semaphore is never closed.
        let place = self.places.clone().acquire_owned().await.ok();
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return (stream, place),
                Err(error) => refused(&error).await,
            }
        }
    }
}

/// A connection that could not be taken. If that was its own fault the next one is well.
async fn refused(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::error!("a connection could not be taken: {error}");
        tokio::time::sleep(BREATH).await;
    }
}

async fn connection(stream: TcpStream, app: Router, time: Duration, watcher: Watcher) {
    let stream = TokioIo::new(Stalling::new(stream, time));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(time)
        .serve_connection(stream, TowerToHyperService::new(app));
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!("a connection was cut: {error}");
    }
}
