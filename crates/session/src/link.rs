//! A connected browser, ours or somebody else's, and the way its new tabs find their session.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use serde_json::value::RawValue;
use surehand_browser::launch::{LaunchOptions, launch_with_fallback};
use surehand_browser::{BrowserProcess, Channel, Found, Machine, Notes, attach, find, install};
use surehand_cdp::protocol::{browser as cdp, runtime, target};
use surehand_cdp::{Closed, Connection, Event, EventSink, Session, Transport, WeakConnection};
use surehand_guard::egress::Proxy;
use surehand_page::{Page, Screen};

use crate::fault::START_A_BROWSER;
use crate::options::{Places, SessionOptions};
use crate::{Fault, Kind, Tabs, egress};

/// A browser that asked to close ends within this, or is killed.
const CLOSING: Duration = Duration::from_secs(3);

/// An endpoint on this machine answers at once.
const ATTACHING: Duration = Duration::from_secs(4);

/// What a page without a window shows: the size that most people's tools use.
const USUAL_SCREEN: (u32, u32) = (1280, 720);

/// See the module.
#[derive(Debug)]
pub(crate) struct Link {
    pub connection: Connection,
    router: Arc<Router>,
    /// Ours to end; `None` for a browser that somebody else started.
    process: Mutex<Option<BrowserProcess>>,
    /// Its address, where the way to it is a WebSocket.
    endpoint: Option<String>,
    /// The size that pages have unless told otherwise; `None` where a person can see and size the window.
    pub screen: Option<Screen>,
}

impl Link {
    /// Finds (or installs) a browser, starts it and connects to it.
    pub async fn launch(
        options: &SessionOptions,
        places: &Places,
        fence: Option<&Proxy>,
        notes: &Arc<dyn Notes>,
    ) -> Result<Self, Fault> {
        let found = match find::find(&places.machine, options.executable_path.as_deref()) {
            Err(surehand_browser::Error::NotFound { .. }) => install_one(&places.machine, notes).await?,
            found => found?,
        };
        let headed = options.headed.unwrap_or(false);
        let launch = LaunchOptions {
            headed,
            profile: options.profile.clone(),
            args: options.args.clone().unwrap_or_default(),
            proxy: fence.map(egress::server).or_else(|| options.proxy.clone()),
            guarded: options.egress.is_some(),
            user_agent: options.user_agent.clone(),
            ignore_https_errors: options.ignore_https_errors.unwrap_or(false),
            ..LaunchOptions::new(found.path, places.scratch.clone())
        };
        let launched = launch_with_fallback(launch, notes.as_ref()).await?;
        let (transport, endpoint) = match launched.channel {
            #[cfg(unix)]
            Channel::Pipe(to_browser, from_browser) => (Transport::pipe(to_browser, from_browser), None),
            Channel::WebSocket(url) => (Transport::websocket(&url).await?, Some(url)),
        };
        // Who gives the window a size wants the page to have it.
        let sized = options.args.iter().flatten().any(|arg| arg.starts_with("--window-size"));
        let (width, height) = USUAL_SCREEN;
        let screen = (!headed && !sized).then(|| Screen::desktop(width, height, 1.0));
        Ok(Self::over(transport, endpoint, Some(launched.process), screen))
    }

    /// Connects to a browser that somebody else started.
    pub async fn attach(endpoint: &str) -> Result<Self, Fault> {
        let target = attach::resolve(endpoint, ATTACHING).await?;
        let transport = tokio::time::timeout(ATTACHING, Transport::websocket(&target.ws_url)).await;
        let transport = transport.map_err(|_| {
            Fault::new(Kind::EndpointUnreachable, format!("{} did not finish its handshake", target.ws_url))
                .hint(START_A_BROWSER)
        })?;
        let transport = transport
            .map_err(|error| Fault::new(Kind::NotABrowser, error.to_string()).hint(START_A_BROWSER))?;
        Ok(Self::over(transport, Some(target.ws_url), None, None))
    }

    fn over(
        transport: Transport,
        endpoint: Option<String>,
        process: Option<BrowserProcess>,
        screen: Option<Screen>,
    ) -> Self {
        let router = Arc::new(Router::default());
        let connection = Connection::open(transport, Some(router.clone()));
        // Set once, here, before the first event can want it.
        let _ = router.connection.set(connection.downgrade());
        connection.browser().post(&target::SetAutoAttach {
            auto_attach: true,
            wait_for_debugger_on_start: true,
            flatten: Some(true),
            filter: Some(only_tabs()),
        });
        Self { connection, router, process: Mutex::new(process), endpoint, screen }
    }

    /// Downloads of this context are written to this folder, each under its id.
    pub fn keep_downloads(&self, context: Option<&str>, folder: &std::path::Path) {
        self.connection.browser().post(&cdp::SetDownloadBehavior {
            behavior: "allowAndName".to_owned(),
            browser_context_id: context.map(ToOwned::to_owned),
            download_path: Some(folder.to_string_lossy().into_owned()),
            events_enabled: Some(true),
        });
    }

    /// Downloads are told, and go where the browser puts them anyway.
    pub fn watch_downloads(&self) {
        self.connection.browser().post(&cdp::SetDownloadBehavior {
            behavior: "default".to_owned(),
            events_enabled: Some(true),
            ..Default::default()
        });
    }

    /// Tabs of this context go to this list; `None` takes those of contexts that nobody claimed.
    pub fn route(&self, context: Option<&str>, tabs: &Arc<Tabs>) {
        let mut routes = self.router.routes.lock().unwrap_or_else(PoisonError::into_inner);
        routes.insert(context.map(ToOwned::to_owned), Arc::downgrade(tabs));
    }

    /// Forgets a context.
    pub fn unroute(&self, context: Option<&str>) {
        let mut routes = self.router.routes.lock().unwrap_or_else(PoisonError::into_inner);
        routes.remove(&context.map(ToOwned::to_owned));
    }

    /// Does the browser say anything within this time?
    pub async fn answers(&self, limit: Duration) -> bool {
        let asked = self.connection.browser().call(&cdp::GetVersion {});
        tokio::time::timeout(limit, asked).await.is_ok_and(|answer| answer.is_ok())
    }

    /// Is the browser still there?
    pub fn is_open(&self) -> bool {
        self.connection.closed().is_none()
    }

    /// The browser's process number, if it is ours.
    pub fn pid(&self) -> Option<u32> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|process| process.pid)
    }

    /// The address at which other programs reach the browser, if it has one.
    pub fn endpoint(&self) -> Option<String> {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        self.endpoint.clone().or_else(|| process.as_ref()?.devtools_url())
    }

    /// Ends our browser and waits until it is gone; lets go of somebody else's.
    pub async fn close(&self) {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(process) = process else {
            self.connection.close();
            return;
        };
        if self.is_open() {
            // It may be stuck or dying: `end` has the last word.
            let _ = tokio::time::timeout(CLOSING, self.connection.browser().call(&cdp::Close {})).await;
        }
        self.connection.close();
        process.end(CLOSING).await;
    }
}

async fn install_one(machine: &Machine, notes: &Arc<dyn Notes>) -> Result<Found, Fault> {
    notes.note("No browser was found on this machine, so one is installed now; this happens once.");
    let (machine, notes) = (machine.clone(), notes.clone());
    let installing = tokio::task::spawn_blocking(move || install::install(&machine, notes.as_ref()));
    let installed = installing.await.map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
    Ok(installed?)
}

/// A page that opens more than this does not do so for anybody to look at; each would be a process.
const MOST_TABS: usize = 50;

/// A tab that is opened only for a download begins it soon; who opened older ones nobody asks for.
const MOST_OPENERS: usize = 4 * MOST_TABS;

/// Hears the browser itself, and hands new tabs to the session whose context they are in.
#[derive(Debug, Default)]
struct Router {
    connection: OnceLock<WeakConnection>,
    routes: Mutex<HashMap<Option<String>, Weak<Tabs>>>,
    /// Who opened a tab, by their target ids, the latest last.
    openers: Mutex<VecDeque<(String, String)>>,
}

impl Router {
    fn tabs_of(&self, context: Option<&str>) -> Option<Arc<Tabs>> {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let named = routes.get(&context.map(ToOwned::to_owned)).and_then(Weak::upgrade);
        named.or_else(|| routes.get(&None).and_then(Weak::upgrade))
    }

    fn attached(&self, attachment: &target::AttachedToTarget) {
        let Some(connection) = self.connection.get().and_then(WeakConnection::upgrade) else { return };
        let info = &attachment.target_info;
        if let Some(opener) = &info.opener_id {
            let mut openers = self.openers.lock().unwrap_or_else(PoisonError::into_inner);
            openers.push_back((info.target_id.clone(), opener.clone()));
            if openers.len() > MOST_OPENERS {
                openers.pop_front();
            }
        }
        let tabs = self.tabs_of(info.browser_context_id.as_deref());
        match tabs.filter(|_| info.r#type == "page") {
            Some(tabs) if info.opener_id.is_some() && self.is_ours(info) && tabs.all().len() >= MOST_TABS => {
                Self::turn_away(&connection, attachment);
            }
            Some(tabs) => tabs.add(Page::take_over(&connection, attachment, tabs.surroundings())),
            None => Self::leave_alone(&connection, attachment),
        }
    }

    fn pages(&self) -> Vec<Page> {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let lists: Vec<Arc<Tabs>> = routes.values().filter_map(Weak::upgrade).collect();
        drop(routes);
        lists.iter().flat_map(|tabs| tabs.all()).map(|tab| tab.page).collect()
    }

    /// A download belongs to the tab that asked for it. A link may open a tab only for the file: that tab has no page and is
    /// gone at once, so its download is its opener's.
    fn download_began(&self, event: cdp::DownloadWillBegin) {
        let pages = self.pages();
        let own = pages.iter().find(|page| page.has_frame(&event.frame_id));
        let has_page = own.is_some_and(|page| !matches!(page.url().as_str(), "" | ":" | "about:blank"));
        let openers = self.openers.lock().unwrap_or_else(PoisonError::into_inner);
        let opener = openers.iter().rfind(|(tab, _)| *tab == event.frame_id && !has_page);
        let opener = opener.and_then(|(_, opener)| pages.iter().find(|page| page.target_id() == opener));
        if let Some(page) = opener.or(own) {
            page.download_began(event);
        }
    }

    /// In a context that a session made; what is in a person's own browser stays as it is.
    fn is_ours(&self, info: &target::TargetInfo) -> bool {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        info.browser_context_id.is_some() && routes.contains_key(&info.browser_context_id)
    }

    /// One more than a page may open: it is closed before it has run.
    fn turn_away(connection: &Connection, attachment: &target::AttachedToTarget) {
        let target_id = attachment.target_info.target_id.clone();
        connection.browser().post(&target::CloseTarget { target_id });
        Self::leave_alone(connection, attachment);
    }

    /// Not ours to drive, but it must run on.
    fn leave_alone(connection: &Connection, attachment: &target::AttachedToTarget) {
        let session = connection.adopt(&attachment.session_id, Arc::new(Deaf));
        session.post(&runtime::RunIfWaitingForDebugger {});
        let session_id = Some(attachment.session_id.clone());
        connection.browser().post(&target::DetachFromTarget { session_id, ..Default::default() });
    }
}

impl EventSink for Router {
    fn event(&self, _: &Session, method: &str, params: &RawValue) {
        let unexpected =
            |error: serde_json::Error| tracing::warn!("{method} has an unexpected shape: {error}");
        match method {
            target::AttachedToTarget::METHOD => match serde_json::from_str(params.get()) {
                Ok(attachment) => self.attached(&attachment),
                Err(error) => unexpected(error),
            },
            cdp::DownloadWillBegin::METHOD => match serde_json::from_str(params.get()) {
                Ok(event) => self.download_began(event),
                Err(error) => unexpected(error),
            },
            cdp::DownloadProgress::METHOD => match serde_json::from_str(params.get()) {
                Ok(event) => self.pages().iter().for_each(|page| page.download_went_on(&event)),
                Err(error) => unexpected(error),
            },
            _ => {}
        }
    }

    fn closed(&self, reason: &Closed) {
        tracing::debug!("the connection to the browser ended: {reason}");
    }
}

struct Deaf;

impl EventSink for Deaf {
    fn event(&self, _: &Session, _: &str, _: &RawValue) {}
    fn closed(&self, _: &Closed) {}
}

fn only_tabs() -> Vec<target::FilterEntry> {
    vec![
        target::FilterEntry { r#type: Some("page".into()), exclude: None },
        target::FilterEntry { r#type: None, exclude: Some(true) },
    ]
}
