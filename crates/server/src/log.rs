//! Logging: a file for what nobody asked for, and taps through which a client sees what it asked for while it waits.
//!
//! Neither shows a secret that a call brought along, not even after the call: its page may still say it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use surehand_guard::{Secrets, Spelling};
use tokio::sync::mpsc;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::wire::Message;

/// Those who want to see the log, and what nobody may see there.
#[derive(Clone, Default)]
pub(crate) struct Taps(Arc<Mutex<Vec<Tap>>>, Veil);

/// Secrets that calls brought along, the latest last.
#[derive(Clone, Default)]
struct Veil(Arc<Mutex<VecDeque<Arc<Secrets>>>>);

/// As many files of secrets are remembered; nobody uses as many at once.
const MOST_VEILED: usize = 16;

impl Veil {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Secrets>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are known already are given back, and are the latest again.
    fn learn(&self, secrets: Secrets) -> Arc<Secrets> {
        if secrets.names().next().is_none() {
            return Arc::default();
        }
        let mut known = self.lock();
        let same = known.iter().position(|one| one.reveal().eq(secrets.reveal()));
        let secrets = same.and_then(|at| known.remove(at)).unwrap_or_else(|| Arc::new(secrets));
        known.push_back(secrets.clone());
        if known.len() > MOST_VEILED {
            known.pop_front();
        }
        secrets
    }

    fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known: Vec<Arc<Secrets>> = self.lock().iter().cloned().chain([LENT.mask()]).collect();
        known.iter().fold(Cow::Borrowed(text), |text, secrets| match secrets.mask(&text) {
            Cow::Owned(masked) => Cow::Owned(masked),
            Cow::Borrowed(_) => text,
        })
    }
}

/// What the vault gave to anybody in this process: pages may say it at any time, so it is never shown.
static LENT: LazyLock<Lendings> = LazyLock::new(Lendings::default);

#[derive(Default)]
struct Lendings(Mutex<Lending>);

#[derive(Default)]
struct Lending {
    known: Vec<(String, String)>,
    mask: Arc<Secrets>,
}

impl Lendings {
    fn mask(&self) -> Arc<Secrets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).mask.clone()
    }

    fn add(&self, name: String, value: String) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Lending { known, mask } = &mut *held;
        let more = (name, value);
        if known.contains(&more) {
            return;
        }
        known.push(more);
        match Secrets::for_masking(known.iter().cloned(), Spelling::Vault) {
            Ok(all) => *mask = Arc::new(all),
            // What could not be masked is not used either: see `PackContext::filled`.
            Err(_) => _ = known.pop(),
        }
    }
}

/// From now on this is not shown in any log of this process.
pub(crate) fn never_show(name: &str, value: &str) {
    LENT.add(name.to_owned(), value.to_owned());
}

/// Standard error, where each write is one line of the log.
#[derive(Clone)]
struct VeiledError(Veil);

impl std::io::Write for VeiledError {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        std::io::stderr().write_all(self.0.mask(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

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

    /// From now on these are not shown.
    pub fn veil(&self, secrets: Secrets) -> Arc<Secrets> {
        self.1.learn(secrets)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Tap>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Warnings go to the daemon's log, which is its standard error; the rest only to taps.
pub(crate) fn install() -> Taps {
    let taps = Taps::default();
    let veiled = VeiledError(taps.1.clone());
    let file = tracing_subscriber::fmt::layer()
        .with_writer(move || veiled.clone())
        .with_ansi(false)
        .with_filter(Targets::new().with_default(Level::WARN));
    let subscriber = tracing_subscriber::registry().with(file).with(TapLayer(taps.clone()));
    if let Err(error) = subscriber.try_init() {
        tracing::debug!("logging was set up already: {error}");
    }
    taps
}

/// The log of a service: lines of `name=value` on standard error, with every request unless `SUREHAND_LOG` says
/// otherwise.
pub(crate) fn install_for_service(wanted: Option<&str>) -> Result<(), String> {
    let usual = format!("warn,{}=info", module_path!().trim_end_matches("::log"));
    let wanted: Targets =
        wanted.unwrap_or(&usual).parse().map_err(|error| format!("SUREHAND_LOG: {error}"))?;
    let veiled = VeiledError(Veil::default());
    let lines = tracing_subscriber::fmt::layer().with_writer(move || veiled.clone()).with_ansi(false);
    // Who set it up before may keep it.
    let _ = tracing_subscriber::registry().with(lines.with_filter(wanted)).try_init();
    Ok(())
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
        let line = self.0.1.mask(&line);
        for tap in wanting {
            // A client that went away closes its tap.
            let _ = tap.to.send(Message::Log(line.clone().into_owned()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_brought_along_is_not_logged() {
        let veil = Veil::default();
        assert_eq!(veil.mask("a hunter2 b"), "a hunter2 b");
        let first = veil.learn(Secrets::parse("PW=hunter2").unwrap());
        veil.learn(Secrets::parse("PIN=73519264").unwrap());
        assert_eq!(veil.mask("a hunter2 b 73519264"), "a ${SECRET:PW} b ${SECRET:PIN}");
        // The same file again is not another one, and many others do not fill the memory.
        assert!(Arc::ptr_eq(&first, &veil.learn(Secrets::parse("PW=hunter2").unwrap())));
        for n in 0..MOST_VEILED {
            veil.learn(Secrets::parse(&format!("K=value-{n}")).unwrap());
        }
        assert_eq!(veil.lock().len(), MOST_VEILED);
    }
}
