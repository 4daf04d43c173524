//! One session: a browser context of its own, its tabs, its references.

use std::any::Any;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use surehand_cdp::protocol::target;
use surehand_guard::egress::{Mark, Proxy};
use surehand_guard::redact;
use surehand_guard::{Secrets, SecretsError};
use surehand_page::{Acted, Deadline, Locator};

use crate::hidden::Hidden;
use crate::journal::{Done, Journal};
use crate::link::Link;
use crate::options::SessionOptions;
use crate::{Fault, Kind, RefTable, Tab, TabInfo, Tabs, egress, refs};

/// See the module.
#[derive(Debug)]
pub struct Session {
    name: String,
    options: SessionOptions,
    pub(crate) link: Arc<Link>,
    /// Its context in a shared browser; `None` where it has the browser for itself.
    context: Option<String>,
    tabs: Arc<Tabs>,
    /// Where the browser writes downloads; made with the first one, and gone with the session.
    downloads: PathBuf,
    refs: Arc<Mutex<RefTable>>,
    place: Mutex<Option<Place>>,
    journal: Journal,
    /// What was entered here and nobody may read.
    hidden: Mutex<Hidden>,
    /// The last snapshot of each tab, for `--delta`.
    seen: Mutex<VecDeque<SeenSnapshot>>,
    last_used: Mutex<Instant>,
    running: AtomicUsize,
    idle: Mutex<Duration>,
    /// What every request of its pages must pass, if it is guarded.
    fence: Option<Proxy>,
    /// Which refusals of it were told.
    pub(crate) told: Mutex<Mark>,
    /// Held while the first tab is opened, so that commands at the same time open one.
    first_tab: tokio::sync::Mutex<()>,
}

/// A session, as a listing shows it.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// Its name.
    pub name: String,
    /// How many tabs it has.
    pub tabs: usize,
    /// Where its active tab is.
    pub url: String,
    /// Is its browser alive?
    pub alive: bool,
    /// The browser's process number, if we started it.
    pub browser_pid: Option<u32>,
    /// Is the browser shared with other sessions?
    pub shared: bool,
    /// Milliseconds since the last command.
    pub idle_ms: u64,
}

/// The browser answers calls about contexts and tabs at once.
const BROWSER_TIME: Duration = Duration::from_secs(10);

/// Where a session keeps its things.
#[derive(Debug)]
pub(crate) struct Folders {
    pub downloads: PathBuf,
    pub journals: PathBuf,
}

/// What a session takes over from the one that had its name and lost its browser.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inherited {
    pub refs: Arc<Mutex<RefTable>>,
    pub place: Option<Place>,
}

/// A snapshot that somebody saw: the next of its kind may be told as a difference to it.
#[derive(Debug)]
struct SeenSnapshot {
    tab: u32,
    /// What was asked for.
    kind: String,
    text: String,
}

/// More are not kept, the latest of them.
const MOST_SEEN: usize = 32;

/// Something that is given back when the session is gone, such as a place among so many sessions.
pub type Place = Arc<dyn Any + Send + Sync>;

impl Session {
    /// A session with a context of its own in a shared browser.
    pub(crate) async fn in_shared(
        name: &str,
        options: SessionOptions,
        link: Arc<Link>,
        inherited: Inherited,
        folders: Folders,
        fence: Option<Proxy>,
    ) -> Result<Self, Fault> {
        let deadline = Deadline::after(BROWSER_TIME);
        let create = target::CreateBrowserContext {
            dispose_on_detach: Some(true),
            proxy_server: fence.as_ref().map(egress::server),
            proxy_bypass_list: fence.as_ref().map(|_| egress::NO_BYPASS.to_owned()),
            ..Default::default()
        };
        let made = deadline.run("a browser context", link.connection.browser().call(&create)).await??;
        let context = Some(made.browser_context_id);
        let session = Self::new(name, options, link, context, inherited, folders, fence);
        session.link.route(session.context.as_deref(), &session.tabs);
        session.link.keep_downloads(session.context.as_deref(), &session.downloads);
        Ok(session)
    }

    /// A session that has a browser for itself: one of ours, or one that it is connected to.
    pub(crate) fn in_own(
        name: &str,
        options: SessionOptions,
        link: Arc<Link>,
        inherited: Inherited,
        folders: Folders,
        fence: Option<Proxy>,
    ) -> Self {
        let session = Self::new(name, options, link, None, inherited, folders, fence);
        session.link.route(None, &session.tabs);
        session.direct_downloads(false);
        session
    }

    /// Where somebody else's browser keeps its downloads is not ours to change, except while the user asks for one.
    pub fn direct_downloads(&self, is_asked_for: bool) {
        if self.options.connect.is_none() || is_asked_for {
            self.link.keep_downloads(self.context.as_deref(), &self.downloads);
        } else {
            self.link.watch_downloads();
        }
    }

    fn new(
        name: &str,
        options: SessionOptions,
        link: Arc<Link>,
        context: Option<String>,
        inherited: Inherited,
        folders: Folders,
        fence: Option<Proxy>,
    ) -> Self {
        let idle = options.idle();
        let surroundings = crate::surroundings::at_first(&link, &options);
        Self {
            name: name.to_owned(),
            options,
            link,
            context,
            tabs: Arc::new(Tabs::new(surroundings)),
            downloads: folders.downloads,
            refs: inherited.refs,
            place: Mutex::new(inherited.place),
            journal: Journal::new(&folders.journals, name),
            hidden: Mutex::default(),
            seen: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
            running: AtomicUsize::new(0),
            idle: Mutex::new(idle),
            fence,
            told: Mutex::default(),
            first_tab: tokio::sync::Mutex::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it was started.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// Its tabs.
    pub fn tabs(&self) -> &Tabs {
        &self.tabs
    }

    /// Where the browser writes downloads.
    pub fn downloads(&self) -> &std::path::Path {
        &self.downloads
    }

    /// Its references.
    pub fn refs(&self) -> MutexGuard<'_, RefTable> {
        self.refs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn inheritance(&self) -> Inherited {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Inherited { refs: self.refs.clone(), place }
    }

    /// Is its browser alive?
    pub fn is_alive(&self) -> bool {
        self.link.is_open()
    }

    pub(crate) fn context_id(&self) -> Option<String> {
        self.context.clone()
    }

    /// What every request of its pages must pass, if it is guarded.
    pub(crate) fn fence(&self) -> Option<&Proxy> {
        self.fence.as_ref()
    }

    /// Is its browser shared with other sessions?
    pub(crate) fn is_shared(&self) -> bool {
        self.context.is_some()
    }

    /// The address at which other programs reach the browser.
    pub fn endpoint(&self) -> Result<String, Fault> {
        self.link.endpoint().ok_or_else(|| {
            Fault::new(Kind::NoPort, "the browser has no port: it is driven over a pipe").hint(
                "start a session with one: `surehand --session NAME --args=--remote-debugging-port=0 open URL`",
            )
        })
    }

    /// The tab that commands go to; a fault says what to do when there is none.
    pub fn active_tab(&self) -> Result<Tab, Fault> {
        if !self.is_alive() {
            return Err(Fault::new(
                Kind::BrowserGone,
                format!("the browser of session {:?} is gone", self.name),
            )
            .hint("start again with `surehand open URL`"));
        }
        self.tabs.active().ok_or_else(|| {
            Fault::new(Kind::TabClosed, "the session has no open tab")
                .hint("open one with `surehand open URL`")
        })
    }

    /// Waits until the tabs that a browser had before us have shown up.
    pub async fn settle_tabs(&self, deadline: &Deadline) -> Result<(), Fault> {
        let call = self.link.connection.browser().call(&target::GetTargets::default());
        let targets = deadline.run("the browser's tabs", call).await??;
        for info in targets.target_infos.iter().filter(|info| info.r#type == "page") {
            self.tabs.wait_for_target(&info.target_id, deadline).await?;
        }
        Ok(())
    }

    /// The tab that commands go to; opened if there is none.
    pub async fn some_tab(&self) -> Result<Tab, Fault> {
        let _turn = self.first_tab.lock().await;
        match self.tabs.active() {
            Some(tab) => Ok(tab),
            None => self.new_tab(false).await,
        }
    }

    /// A tab for our own work, that no listing shows and no command goes to. Close it with [`Session::close_tab`].
    pub(crate) async fn hidden_tab(&self) -> Result<Tab, Fault> {
        // Nobody may take it for the first tab of the session.
        let _turn = self.first_tab.lock().await;
        let tab = self.new_tab(false).await?;
        self.tabs.withdraw(tab.number);
        Ok(tab)
    }

    /// Waits until the browser is gone.
    pub async fn wait_gone(&self) -> Fault {
        let reason = self.link.connection.wait_closed().await;
        surehand_page::Error::BrowserGone(reason).into()
    }

    /// Opens a tab, in the same window or in one of its own.
    pub async fn new_tab(&self, in_window: bool) -> Result<Tab, Fault> {
        let deadline = Deadline::after(BROWSER_TIME);
        let create = target::CreateTarget {
            url: "about:blank".to_owned(),
            browser_context_id: self.context.clone(),
            new_window: in_window.then_some(true),
            ..Default::default()
        };
        let made = deadline.run("a new tab", self.link.connection.browser().call(&create)).await??;
        self.tabs.wait_for_target(&made.target_id, &deadline).await
    }

    /// Closes a tab and waits until it is gone.
    pub async fn close_tab(&self, tab: &Tab) -> Result<(), Fault> {
        let close = target::CloseTarget { target_id: tab.page.target_id().to_owned() };
        let deadline = Deadline::after(BROWSER_TIME);
        deadline.run("the tab to close", self.link.connection.browser().call(&close)).await??;
        tab.page.wait_closed(&deadline).await?;
        Ok(())
    }

    /// The locator of a selector or a reference, for a tab.
    pub fn locator(&self, selector: &str, tab: &Tab) -> Result<Locator, Fault> {
        let Some(number) = refs::parse(selector) else { return Ok(Locator::parse(selector)) };
        let name = format!("@e{number}");
        let Some(handle) = self.refs().handle(number) else {
            return Err(Fault::new(Kind::StaleRef, format!("there is no reference {name} in this session"))
                .hint("take a `surehand snapshot -i` and use its references"));
        };
        if !tab.page.has(handle) {
            if let Some(other) = self.tabs.all().into_iter().find(|other| other.page.has(handle)) {
                return Err(Fault::new(
                    Kind::OtherTab,
                    format!("{name} is in tab {}, not in {}", other.id(), tab.id()),
                )
                .hint(format!("switch with `surehand tab {}`", other.id())));
            }
            return Err(surehand_page::Error::Stale { what: name }.into());
        }
        Ok(Locator::handle(handle, &name))
    }

    /// Writes the elements that a fault offers into its message, each with a reference: selectors are unique only in
    /// their own frame.
    pub fn name_matches(&self, fault: Fault) -> Fault {
        fault.listing(|one| format!("@e{}  ", self.refs().number(one.handle())))
    }

    /// The reference of what an action hit.
    pub fn reference(&self, acted: &Acted) -> Option<String> {
        (acted.handle.world != 0).then(|| format!("@e{}", self.refs().number(acted.handle)))
    }

    /// Notes in the journal what was done.
    pub fn note(&self, done: Done<'_>) {
        self.journal.note(done, &mut self.hidden());
    }

    /// From now on this value is not written down: it went into a field that hides what it holds.
    pub fn hide_entered(&self, field: &str, value: &str) {
        self.hidden().entered(field, value);
    }

    /// The same with secrets that a caller uses.
    pub fn hide_secrets(&self, secrets: &Arc<Secrets>) {
        self.hidden().secrets(secrets);
    }

    /// The same with a credential that goes into its pages: from now on, whoever asks, it is masked. Fails if it could not
    /// be.
    pub fn lend(&self, name: &str, value: &str) -> Result<(), SecretsError> {
        self.hidden().lend(name.to_owned(), value.to_owned())
    }

    /// What masks the credentials that went into its pages.
    pub fn lent(&self) -> Arc<Secrets> {
        self.hidden().lent()
    }

    /// What masks every secret that callers ever used here: its pages may still say them.
    pub fn masks(&self) -> Vec<Arc<Secrets>> {
        self.hidden().masks()
    }

    pub(crate) fn hidden(&self) -> MutexGuard<'_, Hidden> {
        self.hidden.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a tab's snapshot and returns the one before of the same kind.
    pub fn keep_snapshot(&self, tab: &Tab, kind: String, text: &str) -> Option<String> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let same = seen.iter().position(|one| one.tab == tab.number && one.kind == kind);
        let before = same.and_then(|at| seen.remove(at));
        seen.push_back(SeenSnapshot { tab: tab.number, kind, text: text.to_owned() });
        if seen.len() > MOST_SEEN {
            seen.pop_front();
        }
        before.map(|before| before.text)
    }

    /// Facts for listings.
    pub fn info(&self) -> SessionInfo {
        let tabs = self.tabs.all();
        SessionInfo {
            name: self.name.clone(),
            tabs: tabs.len(),
            // A list of sessions is read by others than who went there.
            url: redact::mask_queries(&self.tabs.active().map(|tab| tab.page.url()).unwrap_or_default())
                .into_owned(),
            alive: self.is_alive(),
            browser_pid: self.link.pid(),
            shared: self.is_shared(),
            idle_ms: u64::try_from(self.idle_for().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The tabs, as a listing shows them. A tab that does not answer is shown without its title.
    pub async fn tab_infos(&self) -> Vec<TabInfo> {
        const TITLE_TIME: Duration = Duration::from_millis(500);
        let active = self.tabs.active().map(|tab| tab.number);
        let describe = async |tab: Tab| {
            let deadline = Deadline::after(TITLE_TIME);
            tab.page.wait_addressed().await;
            TabInfo {
                tab_id: tab.id(),
                label: tab.label.clone(),
                title: tab.page.title(&deadline).await.unwrap_or_default(),
                url: tab.page.url(),
                kind: "page",
                active: Some(tab.number) == active,
            }
        };
        futures_util::future::join_all(self.tabs.all().into_iter().map(describe)).await
    }

    /// Marks a command as running, so that the session is not idle; the guard ends it.
    pub fn begin(self: &Arc<Self>) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        self.touch();
        Running(self.clone())
    }

    /// Has it been without a command for longer than it may?
    pub fn is_idle(&self) -> bool {
        self.running.load(Ordering::Relaxed) == 0 && self.idle_for() > self.idle_limit()
    }

    /// How long it may still be without a command.
    pub(crate) fn idle_left(&self) -> Duration {
        self.idle_limit().saturating_sub(self.idle_for())
    }

    fn idle_limit(&self) -> Duration {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes how long it may be without a command: an option that needs no restart.
    pub(crate) fn set_idle_limit(&self, limit: Duration) {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = limit;
    }

    fn idle_for(&self) -> Duration {
        self.last_used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn touch(&self) {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Ends the session: its context, or its own browser. Somebody else's browser is only let go.
    pub(crate) async fn end(&self) {
        match &self.context {
            Some(context) => {
                self.link.unroute(Some(context));
                let dispose = target::DisposeBrowserContext { browser_context_id: context.clone() };
                let disposed = self.link.connection.browser().call(&dispose);
                match tokio::time::timeout(BROWSER_TIME, disposed).await {
                    Ok(Err(error)) => tracing::debug!("the context went already: {error}"),
                    Err(_) => tracing::warn!("the browser does not close the context of {:?}", self.name),
                    Ok(Ok(_)) => {}
                }
            }
            None => self.link.close().await,
        }
        match fs_err::remove_dir_all(&self.downloads) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => tracing::warn!("{error}"),
            _ => {}
        }
        // Somebody may still hold the session; nobody works in it any more.
        self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A command under way; see [`Session::begin`].
#[derive(Debug)]
pub struct Running(Arc<Session>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}
