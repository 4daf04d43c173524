//! Logging: a file for what nobody asked for, and taps through which a client sees what it asked for while it waits.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::wire::Message;

/// Those who want to see the log.
#[derive(Clone, Default)]
pub(crate) struct Taps(Arc<Mutex<Vec<Tap>>>);

struct Tap {
    id: u64,
    wanted: Targets,
    to: mpsc::UnboundedSender<Message>,
}

/// A tap is open as long as this lives.
pub(crate) struct OpenTap {
    id: u64,
    taps: Taps,
}

impl Drop for OpenTap {
    fn drop(&mut self) {
        self.taps.lock().retain(|tap| tap.id != self.id);
    }
}

impl Taps {
    /// Sends what `filter` (`cdp=trace,info`) lets through to a client.
    pub fn open(&self, filter: &str, to: mpsc::UnboundedSender<Message>) -> OpenTap {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let wanted = filter.parse().unwrap_or_else(|error| {
            let _ = to.send(Message::Note(format!("SUREHAND_LOG={filter} is not understood: {error}")));
            Targets::new()
        });
        self.lock().push(Tap { id, wanted, to });
        OpenTap { id, taps: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Tap>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Warnings go to the daemon's log, which is its standard error; the rest only to taps.
pub(crate) fn install() -> Taps {
    let taps = Taps::default();
    let file = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_filter(Targets::new().with_default(Level::WARN));
    let subscriber = tracing_subscriber::registry().with(file).with(TapLayer(taps.clone()));
    if let Err(error) = subscriber.try_init() {
        tracing::debug!("logging was set up already: {error}");
    }
    taps
}

struct TapLayer(Taps);

impl<S: Subscriber> Layer<S> for TapLayer {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> tracing::subscriber::Interest {
        // Taps come and go, so the answer must not be remembered.
        tracing::subscriber::Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // The file's own filter decides for itself; here it is enough that nobody is asked in vain.
        *metadata.level() <= Level::WARN || self.0.lock().iter().any(|tap| wants(tap, metadata))
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let taps = self.0.lock();
        let wanting: Vec<&Tap> = taps.iter().filter(|tap| wants(tap, metadata)).collect();
        if wanting.is_empty() {
            return;
        }
        let mut line = format!("{} {}: ", metadata.level(), metadata.target());
        event.record(&mut Words(&mut line));
        for tap in wanting {
            // A client that went away closes its tap.
            let _ = tap.to.send(Message::Log(line.clone()));
        }
    }
}

fn wants(tap: &Tap, metadata: &Metadata<'_>) -> bool {
    tap.wanted.would_enable(metadata.target(), metadata.level())
}

struct Words<'a>(&'a mut String);

impl Visit for Words<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
