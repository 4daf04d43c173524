//! The browsers that calls named: one connection each while it is used, and the numbers of the last snapshots.
//!
//! Calls on different tabs do not wait for each other. A tab that no call named for a while is given back, and the
//! connection with the last of them; the numbers outlive that, but not the browser.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use surehand_page::{Deadline, Page};
use surehand_session::{Borrowed, BorrowedTarget, Fault, Kind};
use tokio::sync::Mutex as AsyncMutex;

use super::uids::Uids;

/// Whether there is a browser, and the tab in it, is known in this time.
const REACHING: Duration = Duration::from_millis(4500);

/// How long a tab is kept that no call names.
const IDLE: Duration = Duration::from_secs(60);

/// The elements of a page that does not answer are not worth a longer wait.
const KEEPING: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug)]
pub struct Endpoints {
    idle: Duration,
    known: Mutex<HashMap<String, Arc<Endpoint>>>,
}

impl Default for Endpoints {
    fn default() -> Self {
        Self::with_idle(IDLE)
    }
}

#[derive(Debug)]
struct Endpoint {
    url: String,
    idle: Duration,
    /// Held while the connection is made or let go, and only then.
    link: AsyncMutex<Option<Arc<Borrowed>>>,
    targets: Mutex<HashMap<String, Arc<Target>>>,
    /// How many calls are under way.
    calls: AtomicUsize,
}

/// A tab that a call named.
#[derive(Debug)]
struct Target {
    id: String,
    usage: Mutex<Usage>,
    /// The elements of the last snapshot.
    uids: Mutex<Option<Uids>>,
}

#[derive(Debug)]
struct Usage {
    calls: usize,
    last: Instant,
    /// Have we taken it over?
    is_taken: bool,
}

/// A tab while a call works with it.
#[derive(Debug)]
pub(super) struct Tab {
    pub page: Page,
    in_use: InUse,
}

#[derive(Debug)]
struct InUse(Arc<Target>);

struct Calling<'a>(&'a Endpoint);

impl Endpoints {
    /// As the default, with another time after which tabs are given back.
    pub fn with_idle(idle: Duration) -> Self {
        Self { idle, known: Mutex::default() }
    }

    /// The page targets of a browser, the one that was used last first.
    pub(super) async fn pages(&self, browser_url: &str) -> Result<Vec<BorrowedTarget>, Fault> {
        self.endpoint(browser_url)?.pages(&Deadline::after(REACHING)).await
    }

    /// The tab with this id, or the first one.
    pub(super) async fn tab(&self, browser_url: &str, target_id: Option<&str>) -> Result<Tab, Fault> {
        let reaching = Deadline::after(REACHING);
        let endpoint = self.endpoint(browser_url)?;
        let _calling = Calling::new(&endpoint);
        let id = match target_id {
            Some(id) => id.to_owned(),
            None => endpoint.first_page(&reaching).await?,
        };
        let link = endpoint.link(&reaching).await?;
        let in_use = InUse::new(endpoint.target(&id));
        match link.page(&id, &reaching).await {
            Ok(page) => Ok(Tab { page, in_use }),
            Err(fault) if fault.kind == Kind::NoTab => {
                locked(&endpoint.targets).remove(&id);
                Err(endpoint.name_pages(fault, &reaching).await)
            }
            Err(fault) => Err(fault),
        }
    }

    fn endpoint(&self, browser_url: &str) -> Result<Arc<Endpoint>, Fault> {
        let key = Borrowed::key(browser_url)?;
        let fresh = || {
            Arc::new(Endpoint {
                url: key.clone(),
                idle: self.idle,
                link: AsyncMutex::default(),
                targets: Mutex::default(),
                calls: AtomicUsize::new(0),
            })
        };
        Ok(locked(&self.known).entry(key.clone()).or_insert_with(fresh).clone())
    }
}

impl Endpoint {
    async fn pages(&self, reaching: &Deadline) -> Result<Vec<BorrowedTarget>, Fault> {
        let open = reaching.run("the connection", self.link.lock()).await?.clone();
        let open = open.filter(|link| link.is_open());
        let targets = Borrowed::targets(&self.url, open.as_deref(), reaching).await?;
        Ok(targets.into_iter().filter(|target| target.kind == "page").collect())
    }

    async fn first_page(&self, reaching: &Deadline) -> Result<String, Fault> {
        let first = self.pages(reaching).await?.into_iter().next();
        let none = || Fault::new(Kind::NoTab, format!("no page target at {}", self.url));
        Ok(first.ok_or_else(none)?.id)
    }

    /// Says which ids there are.
    async fn name_pages(&self, mut fault: Fault, reaching: &Deadline) -> Fault {
        let pages = self.pages(reaching).await.unwrap_or_default();
        let ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).take(10).collect();
        match ids.as_slice() {
            [] => fault.message.push_str("; it has no page target"),
            ids => fault.message.push_str(&format!("; its page targets are {}", ids.join(", "))),
        }
        fault
    }

    /// The connection; made anew if it is gone.
    async fn link(self: &Arc<Self>, reaching: &Deadline) -> Result<Arc<Borrowed>, Fault> {
        let mut held = reaching.run("the connection", self.link.lock()).await?;
        if let Some(link) = held.as_ref().filter(|link| link.is_open()) {
            return Ok(link.clone());
        }
        if held.take().is_some() {
            // The browser went, and with it everything that was known of it.
            locked(&self.targets).clear();
        }
        let link = Arc::new(Borrowed::connect(&self.url, reaching).await?);
        *held = Some(link.clone());
        tokio::spawn(let_go_when_idle(Arc::downgrade(self), Arc::downgrade(&link), self.idle));
        Ok(link)
    }

    fn target(&self, id: &str) -> Arc<Target> {
        let fresh = || {
            let usage = Usage { calls: 0, last: Instant::now(), is_taken: false };
            Arc::new(Target { id: id.to_owned(), usage: Mutex::new(usage), uids: Mutex::default() })
        };
        locked(&self.targets).entry(id.to_owned()).or_insert_with(fresh).clone()
    }

    /// Gives back the tabs that nobody named for a while; true when the connection went, too.
    async fn let_go_of_idle(&self, of: &Weak<Borrowed>) -> bool {
        let mut held = self.link.lock().await;
        let is_meant = |link: &&Arc<Borrowed>| link.is_open() && Arc::as_ptr(link) == of.as_ptr();
        let Some(link) = held.as_ref().filter(is_meant) else { return true };
        let targets: Vec<Arc<Target>> = locked(&self.targets).values().cloned().collect();
        for target in &targets {
            if target.is_idle(self.idle) {
                target.give_back(link, self.idle).await;
            }
        }
        let is_needed = targets.iter().any(|target| locked(&target.usage).is_taken);
        if is_needed || self.calls.load(Ordering::SeqCst) > 0 {
            return false;
        }
        *held = None;
        true
    }
}

/// Runs as long as a connection does.
async fn let_go_when_idle(endpoint: Weak<Endpoint>, link: Weak<Borrowed>, idle: Duration) {
    loop {
        tokio::time::sleep(idle / 4).await;
        let Some(endpoint) = endpoint.upgrade() else { return };
        if endpoint.let_go_of_idle(&link).await {
            return;
        }
    }
}

impl Target {
    fn is_idle(&self, limit: Duration) -> bool {
        let usage = locked(&self.usage);
        usage.is_taken && usage.calls == 0 && usage.last.elapsed() >= limit
    }

    async fn give_back(&self, link: &Borrowed, limit: Duration) {
        let deadline = Deadline::after(KEEPING);
        let uids = locked(&self.uids).clone();
        let kept = match (uids, link.page(&self.id, &deadline).await) {
            (Some(uids), Ok(page)) => Some(uids.kept(&page, &deadline).await),
            _ => None,
        };
        // From here on no call can begin with it until it is given back.
        let mut usage = locked(&self.usage);
        if usage.calls == 0 && usage.last.elapsed() >= limit {
            *locked(&self.uids) = kept;
            link.give_back(&self.id);
            usage.is_taken = false;
        }
    }
}

impl Tab {
    /// Keeps the elements of a new snapshot, and forgets those of the one before.
    pub fn keep(&self, uids: Uids) {
        *locked(&self.in_use.0.uids) = Some(uids);
    }

    /// The elements of the last snapshot.
    pub fn uids(&self) -> Result<Uids, Fault> {
        locked(&self.in_use.0.uids).clone().ok_or_else(|| {
            Fault::new(Kind::StaleRef, "there is no snapshot of this target yet; call browser_snapshot first")
        })
    }
}

impl InUse {
    fn new(target: Arc<Target>) -> Self {
        {
            let mut usage = locked(&target.usage);
            usage.calls += 1;
            usage.is_taken = true;
        }
        Self(target)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut usage = locked(&self.0.usage);
        usage.calls -= 1;
        usage.last = Instant::now();
    }
}

impl<'a> Calling<'a> {
    fn new(endpoint: &'a Endpoint) -> Self {
        endpoint.calls.fetch_add(1, Ordering::SeqCst);
        Self(endpoint)
    }
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
