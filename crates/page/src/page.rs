//! The handle to a tab: how it is taken over, and how a command waits for its state.

use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use surehand_cdp::protocol::{emulation, network, page as cdp, runtime, target};
use surehand_cdp::{Call, Closed, Connection, Empty, Session, WeakConnection};
use tokio::sync::watch;

use crate::events::TabSink;
use crate::frames::Frames;
use crate::state::State;
use crate::{ConsoleMessage, Deadline, Error, PageError, Request, Result, SharedSurroundings};

/// One tab. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Page(pub(crate) Arc<Inner>);

#[derive(Clone, Debug)]
pub(crate) struct WeakPage(Weak<Inner>);

impl WeakPage {
    pub fn upgrade(&self) -> Option<Page> {
        self.0.upgrade().map(Page)
    }
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub connection: WeakConnection,
    pub myself: WeakPage,
    session: OnceLock<Session>,
    target_id: String,
    pub surroundings: SharedSurroundings,
    state: Mutex<Option<State>>,
    /// Held while the tab navigates.
    pub navigating: tokio::sync::Mutex<()>,
    /// Bumped with every change of the state; commands wait for it.
    changes: watch::Sender<u64>,
}

/// A new tab has its address as soon as its server answers; who looks at it does not wait longer.
const ADDRESS_TIME: Duration = Duration::from_secs(1);

/// What the browser says when it attaches us to a tab.
pub type Attachment = target::AttachedToTarget;

impl Page {
    /// Takes over a tab that the browser just attached. Call it while the event is being handled, so that
    /// nothing of the tab is missed.
    pub fn take_over(
        connection: &Connection,
        attachment: &Attachment,
        surroundings: &SharedSurroundings,
    ) -> Self {
        let info = &attachment.target_info;
        let inner = Arc::new_cyclic(|myself| Inner {
            connection: connection.downgrade(),
            myself: WeakPage(myself.clone()),
            session: OnceLock::new(),
            target_id: info.target_id.clone(),
            surroundings: surroundings.clone(),
            state: Mutex::new(None),
            navigating: tokio::sync::Mutex::default(),
            changes: watch::channel(0).0,
        });
        let sink = TabSink { page: inner.myself.clone(), is_main: true };
        let session = connection.adopt(&attachment.session_id, Arc::new(sink));
        let frames = Frames::new(&info.target_id, &info.url, session.clone());
        *inner.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(State::new(frames));
        // Set once, here.
        let _ = inner.session.set(session.clone());
        surroundings.lock().prepare(&session, true);
        Self::set_up(&session);
        let page = Self(inner);
        // A tab that a link opened may have its document already, and waits only with running it.
        page.learn_frames(&session, attachment.waiting_for_debugger);
        page.tell_when_ready(session.call(&runtime::RunIfWaitingForDebugger {}));
        if !attachment.waiting_for_debugger {
            // It runs already; one that is stuck in its script would never answer.
            page.lock().ready = true;
        }
        page
    }

    fn tell_when_ready(&self, running: Call<Empty>) {
        let page = self.clone();
        tokio::spawn(async move {
            match running.await {
                Ok(_) => page.0.change(|state| state.ready = true),
                Err(error) => tracing::debug!("the tab went before it ran: {error}"),
            }
        });
    }

    /// Everything a session needs before its page runs, sent in one go.
    pub(crate) fn set_up(session: &Session) {
        session.post(&cdp::Enable::default());
        session.post(&cdp::SetLifecycleEventsEnabled { enabled: true });
        session.post(&runtime::Enable {});
        session.post(&network::Enable::default());
        // A tab in the background must behave like one in front, or its animation frames stop.
        session.post(&emulation::SetFocusEmulationEnabled { enabled: true });
        session.post(&target::SetAutoAttach {
            auto_attach: true,
            wait_for_debugger_on_start: true,
            flatten: Some(true),
            filter: Some(frames_and_workers()),
        });
    }

    /// A tab that was there before us has frames whose events we missed, and so have frames in other processes. One that is
    /// held has not run its document yet; what became of its request is asked for.
    pub(crate) fn learn_frames(&self, session: &Session, is_held: bool) {
        let page = self.clone();
        let session = session.clone();
        self.lock().learning += 1;
        let call = session.call(&cdp::GetFrameTree {});
        tokio::spawn(async move {
            let answer = call.await;
            page.0.change(|state| {
                state.learning -= 1;
                match answer {
                    Ok(answer) => learn_tree(state, answer.frame_tree, &session, is_held),
                    Err(error) => tracing::debug!("no frame tree: {error}"),
                }
            });
            if is_held {
                page.recall_document().await;
            }
        });
    }

    /// Waits until a tab that was there before us runs and its frames are known.
    pub async fn wait_known(&self, deadline: &Deadline) -> Result<()> {
        let is_known = |state: &State| (state.ready && state.learning == 0).then_some(());
        self.until(deadline, "the tab to tell of its frames", is_known).await
    }

    /// Waits until a tab that somebody opened has an address: it is not there before its first answer came.
    pub async fn wait_addressed(&self) {
        let has_address = |state: &State| {
            (state.ready && state.learning == 0 && !is_nowhere(&state.frames.main().url)).then_some(())
        };
        // One that gets none is shown without.
        let _ = self.until(&Deadline::after(ADDRESS_TIME), "the tab to have an address", has_address).await;
    }

    /// A command that acts begins: what comes from now on is what a wait after it is for.
    pub fn begin_action(&self) {
        let mut state = self.lock();
        state.acted_at = crate::state::ActedAt {
            requests: state.network.requests.pushed(),
            downloads: state.downloads.pushed(),
            navigations: state.navigation.done(),
        };
    }

    /// Shows the tab in its window: one behind others gets hardly a frame.
    pub fn bring_to_front(&self) {
        self.session().post(&cdp::BringToFront {});
    }

    /// The browser's id of the tab.
    pub fn target_id(&self) -> &str {
        &self.0.target_id
    }

    /// The tab's own session.
    pub fn session(&self) -> &Session {
        self.0.session()
    }

    /// The address of the main frame's document.
    pub fn url(&self) -> String {
        self.lock().frames.main().url.clone()
    }

    /// The origins of all documents since the tab was opened.
    pub fn origins(&self) -> std::collections::BTreeSet<String> {
        self.lock().frames.origins().clone()
    }

    /// Why the tab cannot be used any more, if so.
    pub fn closed(&self) -> Option<Closed> {
        self.lock().closed.clone()
    }

    /// Waits until the tab is gone.
    pub async fn wait_closed(&self, deadline: &Deadline) -> Result<()> {
        match self.until(deadline, "the tab to close", |state| state.closed.as_ref().map(drop)).await {
            Err(Error::TabClosed | Error::Crashed | Error::BrowserGone(_)) => Ok(()),
            other => other,
        }
    }

    /// Waits until nothing can be done with the tab any more, and says why.
    pub async fn wait_lost(&self, deadline: &Deadline) -> Error {
        match self.until(deadline, "the tab to close", |state| gone(state).err().map(drop)).await {
            Err(error) => error,
            Ok(()) => gone(&self.lock()).err().unwrap_or(Error::TabClosed),
        }
    }

    /// Console messages so far, oldest first, and how many older ones were dropped.
    pub fn console(&self) -> (Vec<ConsoleMessage>, u64) {
        let state = self.lock();
        (state.console.iter().cloned().collect(), state.console.dropped())
    }

    /// Uncaught errors so far, oldest first, and how many older ones were dropped.
    pub fn errors(&self) -> (Vec<PageError>, u64) {
        let state = self.lock();
        (state.errors.iter().cloned().collect(), state.errors.dropped())
    }

    /// Requests so far, oldest first, and how many older ones were dropped.
    pub fn requests(&self) -> (Vec<Request>, u64) {
        let state = self.lock();
        (state.network.requests.iter().cloned().collect(), state.network.requests.dropped())
    }

    /// How many requests there were so far: a mark for [`Page::requests_since`].
    pub fn request_mark(&self) -> u64 {
        self.lock().network.requests.pushed()
    }

    /// The mark of the moment when the last command that acts began.
    pub fn acted_mark(&self) -> u64 {
        self.lock().acted_at.requests
    }

    /// Requests that were sent since a mark, oldest first, and how many of them were dropped.
    pub fn requests_since(&self, mark: u64) -> (Vec<Request>, u64) {
        let state = self.lock();
        let requests = &state.network.requests;
        (requests.since(mark).cloned().collect(), requests.missing_since(mark))
    }

    /// Forgets the console messages.
    pub fn clear_console(&self) {
        self.lock().console.clear();
    }

    /// Forgets the errors.
    pub fn clear_errors(&self) {
        self.lock().errors.clear();
    }

    /// Forgets the requests.
    pub fn clear_requests(&self) {
        self.lock().network.requests.clear();
    }

    pub(crate) fn lock(&self) -> StateGuard<'_> {
        self.0.lock()
    }

    /// Waits until `look` finds what it looks for in the state. Ends early when the tab is gone.
    pub(crate) async fn until<T>(
        &self,
        deadline: &Deadline,
        what: impl Display,
        mut look: impl FnMut(&State) -> Option<T>,
    ) -> Result<T> {
        let mut changes = self.0.changes.subscribe();
        let waiting = async {
            loop {
                {
                    let state = self.lock();
                    if let Some(found) = look(&state) {
                        return Ok(found);
                    }
                    gone(&state)?;
                }
                // The sender lives as long as this page.
                let _ = changes.changed().await;
            }
        };
        deadline.run(what, waiting).await?
    }

    /// Runs `work` unless a dialog opens, the tab goes away or the deadline passes first: a call into a page
    /// that is blocked by a dialog or by its own script would never come back. When the deadline leaves no time the page is
    /// asked all the same, so that the real reason is told, and it is not blamed if it does not answer.
    pub(crate) async fn unless_blocked<T>(
        &self,
        deadline: &Deadline,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let blocked = async {
            let never = Deadline::after(Duration::MAX);
            self.until(&never, "a dialog", |state| state.dialog.clone()).await
        };
        let is_too_short = deadline.is_too_short();
        let limit = if is_too_short { deadline.for_last_word() } else { deadline.clone() };
        tokio::select! {
            biased;
            result = limit.run("the page to answer", work) => match result {
                Err(timeout @ Error::Timeout { .. }) if is_too_short => Err(timeout),
                Err(Error::Timeout { .. }) => Err(Error::Unresponsive { after: deadline.elapsed() }),
                Ok(result) => result,
                Err(error) => Err(error),
            },
            dialog = blocked => Err(dialog.map_or_else(|error| error, Error::DialogOpen)),
        }
    }
}

/// Why a command on this tab cannot go on.
fn gone(state: &State) -> Result<()> {
    match &state.closed {
        None if state.crashed => Err(Error::Crashed),
        None => Ok(()),
        Some(Closed::TargetGone) => Err(Error::TabClosed),
        Some(Closed::TargetCrashed) => Err(Error::Crashed),
        Some(reason) => Err(Error::BrowserGone(reason.clone())),
    }
}

impl Inner {
    #[expect(clippy::expect_used, reason = "set by `take_over` before anybody else has the page")]
    pub fn session(&self) -> &Session {
        self.session.get().expect("`take_over` sets the session before it returns")
    }

    pub fn lock(&self) -> StateGuard<'_> {
        StateGuard(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changes.send_modify(|count| *count += 1);
    }
}

/// The state, locked. It is only absent inside `take_over`.
pub(crate) struct StateGuard<'a>(MutexGuard<'a, Option<State>>);

impl std::ops::Deref for StateGuard<'_> {
    type Target = State;
    #[expect(clippy::expect_used, reason = "set by `take_over` before anybody else has the page")]
    fn deref(&self) -> &State {
        self.0.as_ref().expect("`take_over` sets the state before it returns")
    }
}

impl std::ops::DerefMut for StateGuard<'_> {
    #[expect(clippy::expect_used, reason = "set by `take_over` before anybody else has the page")]
    fn deref_mut(&mut self) -> &mut State {
        self.0.as_mut().expect("`take_over` sets the state before it returns")
    }
}

/// What a tab has for an address before it is anywhere.
pub(crate) fn is_nowhere(url: &str) -> bool {
    matches!(url, "" | ":")
}

/// Events that came meanwhile know better: only a frame that none told of is learnt.
fn learn_tree(state: &mut State, tree: cdp::FrameTree, session: &Session, is_held: bool) {
    let id = tree.frame.id.clone();
    let was_told = state.frames.get(&id).is_some_and(|frame| frame.is_told);
    if !was_told {
        if tree.frame.parent_id.is_none() {
            state.missed_document = is_held.then(|| tree.frame.clone());
        }
        state.frames.learnt(tree.frame, session);
        if !is_held {
            state.frames.restored(&id);
        }
    }
    for child in tree.child_frames.unwrap_or_default() {
        learn_tree(state, child, session, is_held);
    }
}

/// Workers are no frames, but they are held until somebody attaches to them and lets them run (seen on Chromium 156:
/// where a filter leaves them out they never do).
fn frames_and_workers() -> Vec<target::FilterEntry> {
    vec![
        target::FilterEntry { r#type: Some("iframe".into()), exclude: None },
        target::FilterEntry { r#type: Some("worker".into()), exclude: None },
        target::FilterEntry { r#type: None, exclude: Some(true) },
    ]
}
