//! All sessions of one owner (a daemon, an MCP server): found by name, made when first needed, ended when idle.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use surehand_browser::Notes;
use surehand_guard::egress::{Proxy, Resolve, System};
use tokio::sync::Mutex as AsyncMutex;

use crate::lease::Lease;
use crate::link::Link;
use crate::options::{Places, SessionOptions};
use crate::session::{Folders, Inherited, Place};
use crate::shared::SharedBrowser;
use crate::{Fault, Kind, Session, SessionInfo};

/// See the module.
#[derive(Debug)]
pub struct Sessions {
    places: Places,
    /// Where the guards of all sessions have the addresses of names from.
    resolver: Arc<dyn Resolve>,
    /// One slot per name. The slot's lock is held while its session is made or ended, and only then: sessions do not
    /// wait for each other.
    slots: Mutex<HashMap<String, Slot>>,
    /// Browsers of several sessions, one for each way of starting it.
    shared: Mutex<Vec<Arc<SharedBrowser>>>,
    /// How many want them to stay between sessions.
    leases: AtomicUsize,
}

type Slot = Arc<AsyncMutex<Option<Arc<Session>>>>;

impl Sessions {
    /// No sessions yet, and no browser until one needs it.
    pub fn new(places: Places) -> Self {
        Self {
            places,
            resolver: Arc::new(System::default()),
            slots: Mutex::default(),
            shared: Mutex::default(),
            leases: AtomicUsize::new(0),
        }
    }

    /// The same with another resolver than the system's. It is asked by the guards of sessions; browsers without a guard ask
    /// whom they like.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolve>) -> Self {
        Self { resolver, ..self }
    }

    /// Where things are kept.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The session of that name; made if there is none, or if its browser is gone.
    pub async fn open(
        self: &Arc<Self>,
        name: &str,
        options: &SessionOptions,
        notes: &Arc<dyn Notes>,
    ) -> Result<Arc<Session>, Fault> {
        self.open_or_start(name, options, notes, async { Ok(None) }).await
    }

    /// The same where not everybody finds a place at once: one that is made waits for its place first, and gives it back
    /// when it is gone. One that takes over from another has its place.
    pub async fn open_in_place<E: From<Fault>>(
        self: &Arc<Self>,
        name: &str,
        options: &SessionOptions,
        notes: &Arc<dyn Notes>,
        place: impl Future<Output = Result<Place, E>>,
    ) -> Result<Arc<Session>, E> {
        self.open_or_start(name, options, notes, async { place.await.map(Some) }).await
    }

    async fn open_or_start<E: From<Fault>>(
        self: &Arc<Self>,
        name: &str,
        options: &SessionOptions,
        notes: &Arc<dyn Notes>,
        place: impl Future<Output = Result<Option<Place>, E>>,
    ) -> Result<Arc<Session>, E> {
        let slot = self.slots_in_use().entry(name.to_owned()).or_default().clone();
        let mut held = slot.lock_owned().await;
        let mut inherited = Inherited::default();
        let mut options = options.clone();
        if let Some(session) = held.as_ref() {
            if session.is_alive() {
                agree(session, &options)?;
                return Ok(session.clone());
            }
            inherited = session.inheritance();
            // One that lost its browser does not lose its guard with it.
            options.egress = options.egress.or_else(|| session.options().egress.clone());
        }
        options.check()?;
        if inherited.place.is_none() {
            inherited.place = place.await?;
        }
        let (sessions, name, notes) = (self.clone(), name.to_owned(), notes.clone());
        // Who stops waiting does not stop a browser in the middle of making a context: the session is made, and ended by
        // whoever ends what has its name.
        let starting = tokio::spawn(async move {
            if let Some(dead) = held.take() {
                sessions.end(&dead).await;
            }
            let session = Arc::new(sessions.start(&name, &options, inherited, &notes).await?);
            *held = Some(session.clone());
            Ok::<_, Fault>(session)
        });
        let started = starting.await.map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
        Ok(started?)
    }

    /// The session of that name, if there is one.
    pub async fn get(&self, name: &str, options: &SessionOptions) -> Result<Arc<Session>, Fault> {
        let slot = self.slots().get(name).cloned();
        let session = match slot {
            Some(slot) => slot.lock().await.clone(),
            None => None,
        };
        let session = session.ok_or_else(|| {
            Fault::new(Kind::NoSession, format!("no page is open in session {name:?}"))
                .hint("open one with `surehand open URL`")
        })?;
        agree(&session, options)?;
        Ok(session)
    }

    async fn start(
        &self,
        name: &str,
        options: &SessionOptions,
        inherited: Inherited,
        notes: &Arc<dyn Notes>,
    ) -> Result<Session, Fault> {
        let folders = || Folders {
            downloads: self.places.downloads.join(format!("{name}-{}", std::process::id())),
            journals: self.places.journals.clone(),
        };
        if let Some(endpoint) = &options.connect {
            let link = Arc::new(Link::attach(endpoint).await?);
            return Ok(Session::in_own(name, options.clone(), link, inherited, folders(), None));
        }
        if !self.shares(options) {
            let fence = self.fence_of(options).await?;
            let link = Arc::new(Link::launch(options, &self.places, fence.as_ref(), notes).await?);
            return Ok(Session::in_own(name, options.clone(), link, inherited, folders(), fence));
        }
        let shared = self.shared_for(options);
        let mut tries = 0;
        loop {
            tries += 1;
            let link = shared.enter(&self.places, notes).await?;
            let started = async {
                let fence = self.fence_of(options).await?;
                Session::in_shared(name, options.clone(), link.clone(), inherited.clone(), folders(), fence)
                    .await
            };
            let started = started.await;
            if let Err(fault) = &started {
                shared.leave(&link, self.is_leased()).await;
                if fault.kind == Kind::Timeout {
                    shared.end_if_hung(&link).await;
                }
            }
            match started {
                // It may have died while nobody used it: another one takes its place.
                Err(fault) if fault.kind == Kind::BrowserGone && tries == 1 => {}
                started => return started,
            }
        }
    }

    /// The guard that these options ask for.
    async fn fence_of(&self, options: &SessionOptions) -> Result<Option<Proxy>, Fault> {
        match &options.egress {
            Some(egress) => Ok(Some(egress.fence(&self.resolver).await?)),
            None => Ok(None),
        }
    }

    /// Keeps the shared browser, once there is one, until the lease ends: sessions after each other find it running.
    pub fn keep_warm(self: &Arc<Self>) -> Lease {
        self.leases.fetch_add(1, Ordering::SeqCst);
        Lease(Some(self.clone()))
    }

    /// Is the session a context beside others? One with wishes of its own has a browser for itself, unless somebody said
    /// with a lease that many like it will come.
    fn shares(&self, options: &SessionOptions) -> bool {
        let is_like_others = options.profile.is_none() && options.headed != Some(true);
        !options.needs_own_browser() || (self.is_leased() && is_like_others)
    }

    fn shared_for(&self, options: &SessionOptions) -> Arc<SharedBrowser> {
        let start = options.start();
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.iter().find(|browser| *browser.start() == start) {
            return known.clone();
        }
        let new = Arc::new(SharedBrowser::new(start));
        all.push(new.clone());
        new
    }

    fn is_leased(&self) -> bool {
        self.leases.load(Ordering::SeqCst) > 0
    }

    async fn end(&self, session: &Session) {
        session.end().await;
        if session.is_shared() {
            self.shared_for(session.options()).leave(&session.link, self.is_leased()).await;
        }
    }

    /// Ends the session of that name; false if there is none.
    pub async fn close(self: &Arc<Self>, name: &str) -> bool {
        self.close_if(name, |_| true).await
    }

    /// Ends the session of that name if it is the one that is meant. Who stops waiting does not stop the ending: half ended,
    /// it would belong to nobody.
    async fn close_if(
        self: &Arc<Self>,
        name: &str,
        is_meant: impl FnOnce(&Arc<Session>) -> bool + Send + 'static,
    ) -> bool {
        let Some(slot) = self.slots().get(name).cloned() else { return false };
        let sessions = self.clone();
        let closing = tokio::spawn(async move {
            let mut held = slot.lock_owned().await;
            let Some(session) = held.take_if(|session| is_meant(session)) else { return false };
            sessions.end(&session).await;
            true
        });
        closing.await.unwrap_or(false)
    }

    /// Ends all sessions and returns their names.
    pub async fn close_all(self: &Arc<Self>) -> Vec<String> {
        let names: Vec<String> = self.slots().keys().cloned().collect();
        let mut closed = Vec::new();
        for name in names {
            if self.close(&name).await {
                closed.push(name);
            }
        }
        closed.sort();
        closed
    }

    /// Ends the sessions that have been idle for too long.
    pub async fn close_idle(self: &Arc<Self>) -> Vec<String> {
        let mut closed = Vec::new();
        for session in self.all().into_iter().filter(|session| session.is_idle()) {
            let name = session.name().to_owned();
            // It may be in use again, or another may have its name by now.
            let is_meant = move |present: &Arc<Session>| Arc::ptr_eq(present, &session) && session.is_idle();
            if self.close_if(&name, is_meant).await {
                closed.push(name);
            }
        }
        closed
    }

    /// How long until the next session may have been idle for too long.
    pub fn next_idle(&self) -> Option<std::time::Duration> {
        self.all().iter().map(|session| session.idle_left()).min()
    }

    /// All sessions, by name. One that is just being made or ended is left out: nobody waits for it.
    pub fn all(&self) -> Vec<Arc<Session>> {
        let mut sessions: Vec<Arc<Session>> = self.slots().values().filter_map(present).collect();
        sessions.sort_by(|a, b| a.name().cmp(b.name()));
        sessions
    }

    /// The session of that name as it is now, without waiting for one that is just being made or ended.
    pub fn present(&self, name: &str) -> Option<Arc<Session>> {
        self.slots().get(name).and_then(present)
    }

    /// Facts of all sessions, by name.
    pub fn infos(&self) -> Vec<SessionInfo> {
        self.all().iter().map(|session| session.info()).collect()
    }

    /// Is there any session, or one being made?
    pub fn is_empty(&self) -> bool {
        self.slots_in_use().is_empty()
    }

    /// Slots without those that are empty, because a session ended or could not be made, and that nobody is about to use.
    fn slots_in_use(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        let mut slots = self.slots();
        // Who waits for a slot, or makes or ends a session in it, has it, too.
        slots.retain(|_, slot| Arc::strong_count(slot) > 1 || present(slot).is_some());
        slots
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is in a slot in which nothing changes.
fn present(slot: &Slot) -> Option<Arc<Session>> {
    slot.try_lock().ok().and_then(|held| held.clone())
}

/// What a lease may do.
impl Sessions {
    /// Starts the browser that sessions with these options share, if it does not run.
    pub(crate) async fn warm_up(
        &self,
        options: &SessionOptions,
        notes: &Arc<dyn Notes>,
    ) -> Result<(), Fault> {
        self.shared_for(options).warm_up(&self.places, notes).await
    }

    /// Forgets a lease; browsers stay until [`Self::cool_down`].
    pub(crate) fn release(&self) {
        self.leases.fetch_sub(1, Ordering::SeqCst);
    }

    /// Ends the shared browsers that nobody uses.
    pub(crate) async fn cool_down(&self) {
        if !self.is_leased() {
            let all = self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for browser in all {
                browser.cool_down().await;
            }
        }
    }
}

/// An option is applied at once where that is possible; it is never changed by restarting the browser behind the user's back.
fn agree(session: &Session, asked: &SessionOptions) -> Result<(), Fault> {
    let Some(flag) = session.options().conflict_with(asked) else {
        if asked.idle_timeout.is_some() {
            session.set_idle_limit(asked.idle());
        }
        return Ok(());
    };
    let name = session.name();
    Err(Fault::new(Kind::OptionConflict, format!("session {name:?} was started with another {flag}")).hint(
        format!("end it with `surehand --session {name} close` and run this again, or use another --session"),
    ))
}
