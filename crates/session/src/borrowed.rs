//! A browser that somebody else started and that we only borrow: one connection, and of its tabs only those that a call
//! named. All others are left alone, nothing is ever closed, and a tab that is given back is as it was before, because
//! what was set for it goes with the session that set it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use surehand_browser::attach;
use surehand_cdp::protocol::target;
use surehand_cdp::{Closed, Connection, Event, EventSink, Session, Transport, WeakConnection};
use surehand_guard::redact;
use surehand_page::{Deadline, Page, SharedSurroundings};
use tokio::sync::Mutex as AsyncMutex;

use crate::{Fault, Kind};

/// A tab that answers at all tells of its frames in this time; one that does not is told by the command.
const KNOWN: Duration = Duration::from_secs(2);

/// Kinds of targets that show a document in a frame of their own.
const WITH_DOCUMENT: [&str; 5] = ["page", "webview", "app", "background_page", "other"];

/// Something that a browser has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BorrowedTarget {
    /// The browser's id of it.
    pub id: String,
    /// `page`, `iframe`, `service_worker` and the like.
    pub kind: String,
    /// The document's title.
    pub title: String,
    /// Its address.
    pub url: String,
}

/// See the module.
#[derive(Debug)]
pub struct Borrowed {
    connection: Connection,
    arrivals: Arc<Arrivals>,
    /// One slot per tab that was named. Its lock is held while the tab is taken over, and only then.
    pages: Mutex<HashMap<String, Slot>>,
}

type Slot = Arc<AsyncMutex<Option<Page>>>;

impl Borrowed {
    /// One text for all the ways to write an endpoint.
    pub fn key(endpoint: &str) -> Result<String, Fault> {
        Ok(attach::canonical(endpoint)?)
    }

    /// What a browser has open, the tab that was used last first. Needs no connection, except where the endpoint is the
    /// address of a socket: `over` is one that is there already.
    pub async fn targets(
        endpoint: &str,
        over: Option<&Self>,
        deadline: &Deadline,
    ) -> Result<Vec<BorrowedTarget>, Fault> {
        let key = Self::key(endpoint)?;
        if key.starts_with("http") {
            let listed = attach::list(&key, deadline.remaining()).await?;
            let target = |one: attach::Listed| BorrowedTarget {
                id: one.id,
                kind: one.kind,
                title: one.title,
                url: redact::mask_logins(&one.url).into_owned(),
            };
            return Ok(listed.into_iter().map(target).collect());
        }
        match over {
            Some(borrowed) => borrowed.targets_of_socket(deadline).await,
            None => Self::connect(endpoint, deadline).await?.targets_of_socket(deadline).await,
        }
    }

    async fn targets_of_socket(&self, deadline: &Deadline) -> Result<Vec<BorrowedTarget>, Fault> {
        let call = self.connection.browser().call(&target::GetTargets::default());
        let listed = deadline.run("the browser's tabs", call).await??;
        let target = |one: target::TargetInfo| BorrowedTarget {
            id: one.target_id,
            kind: one.r#type,
            title: one.title,
            url: redact::mask_logins(&one.url).into_owned(),
        };
        Ok(listed.target_infos.into_iter().map(target).collect())
    }

    /// Connects to a browser, and touches none of its tabs.
    pub async fn connect(endpoint: &str, deadline: &Deadline) -> Result<Self, Fault> {
        let target = attach::resolve(endpoint, deadline.remaining()).await?;
        let ws_url = &target.ws_url;
        let silent = |_| {
            Fault::new(Kind::EndpointUnreachable, format!("{ws_url} did not finish its handshake"))
                .hint(crate::fault::START_A_BROWSER)
        };
        let transport = deadline.run("the handshake", Transport::websocket(ws_url)).await.map_err(silent)?;
        let transport = transport.map_err(|error| {
            Fault::new(Kind::NotABrowser, error.to_string()).hint(crate::fault::START_A_BROWSER)
        })?;
        let arrivals = Arc::new(Arrivals::default());
        let connection = Connection::open(transport, Some(arrivals.clone()));
        // Set once, here, before the first event can want it.
        let _ = arrivals.connection.set(connection.downgrade());
        Ok(Self { connection, arrivals, pages: Mutex::default() })
    }

    /// Is the browser still there?
    pub fn is_open(&self) -> bool {
        self.connection.closed().is_none()
    }

    /// The tab with this id, taken over if it was not yet.
    pub async fn page(&self, target_id: &str, deadline: &Deadline) -> Result<Page, Fault> {
        let slot = self.pages().entry(target_id.to_owned()).or_default().clone();
        let mut held = deadline.run("the tab", slot.lock()).await?;
        if let Some(page) = held.as_ref().filter(|page| page.closed().is_none()) {
            return Ok(page.clone());
        }
        *held = None;
        let page = self.take_over(target_id, deadline).await?;
        *held = Some(page.clone());
        Ok(page)
    }

    async fn take_over(&self, target_id: &str, deadline: &Deadline) -> Result<Page, Fault> {
        let attach = target::AttachToTarget { target_id: target_id.to_owned(), flatten: Some(true) };
        let attached = deadline.run("the tab", self.connection.browser().call(&attach)).await?;
        let session_id = match attached {
            Ok(attached) => attached.session_id,
            Err(surehand_cdp::Error::Refused { .. }) => return Err(no_target(target_id)),
            Err(error) => return Err(error.into()),
        };
        let arrived = self.arrivals.lock().remove(&session_id);
        let page = match arrived {
            Some(Arrival::Page(page)) => page,
            Some(Arrival::Other(kind)) => {
                return Err(Fault::new(Kind::NoTab, format!("target {target_id:?} is a {kind}, not a page")));
            }
            None => return Err(no_target(target_id)),
        };
        match page.wait_known(&deadline.at_most(KNOWN)).await {
            Err(surehand_page::Error::Timeout { .. }) | Ok(()) => Ok(page),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a tab back. Who still works with it sees it closed.
    pub fn give_back(&self, target_id: &str) {
        let Some(slot) = self.pages().remove(target_id) else { return };
        // Locked: somebody takes it over this very moment, and so it is in use.
        let Some(page) = slot.try_lock().ok().and_then(|mut held| held.take()) else { return };
        let session_id = page.session().id().map(ToOwned::to_owned);
        self.connection.browser().post(&target::DetachFromTarget { session_id, ..Default::default() });
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // Pages that are still held somewhere must not keep the browser's tabs.
        self.connection.close();
    }
}

fn no_target(target_id: &str) -> Fault {
    Fault::new(Kind::NoTab, format!("the browser has no target {target_id:?}"))
}

/// Hears the browser itself: takes over what was attached for us before any of its events can be missed.
#[derive(Debug, Default)]
struct Arrivals {
    connection: OnceLock<WeakConnection>,
    /// By session, until the call that asked for it fetches it.
    arrived: Mutex<HashMap<String, Arrival>>,
}

#[derive(Debug)]
enum Arrival {
    Page(Page),
    /// Its kind. It was given back at once.
    Other(String),
}

impl Arrivals {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arrival>> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attached(&self, attachment: &target::AttachedToTarget) {
        let Some(connection) = self.connection.get().and_then(WeakConnection::upgrade) else { return };
        let kind = &attachment.target_info.r#type;
        let session_id = attachment.session_id.clone();
        let arrival = if WITH_DOCUMENT.contains(&kind.as_str()) {
            Arrival::Page(Page::take_over(&connection, attachment, &SharedSurroundings::default()))
        } else {
            let session_id = Some(session_id.clone());
            connection.browser().post(&target::DetachFromTarget { session_id, ..Default::default() });
            Arrival::Other(kind.clone())
        };
        self.lock().insert(session_id, arrival);
    }
}

impl EventSink for Arrivals {
    fn event(&self, _: &Session, method: &str, params: &RawValue) {
        if method == target::AttachedToTarget::METHOD {
            match serde_json::from_str(params.get()) {
                Ok(attachment) => self.attached(&attachment),
                Err(error) => tracing::warn!("{method} has an unexpected shape: {error}"),
            }
        }
    }

    fn closed(&self, reason: &Closed) {
        tracing::debug!("the connection to a borrowed browser ended: {reason}");
    }
}
