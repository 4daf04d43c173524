//! Going somewhere: open, back, forward, reload, and waiting until a page is there.

use std::time::Duration;

use surehand_cdp::protocol::{page as cdp, runtime};
use surehand_guard::redact;
use tokio::time::Instant;

use crate::aftermath::Mark;
use crate::page::Page;
use crate::state::State;
use crate::{Deadline, Dialog, Error, NavigationFailure, Result};

/// How far a page must have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoadState {
    /// The document has come, and may still be on its way.
    Commit,
    /// The document is parsed.
    DomContentLoaded,
    /// The document and what it refers to are there.
    #[default]
    Load,
    /// And nothing was requested for half a second.
    NetworkIdle,
}

/// Where a navigation led.
#[derive(Debug, Clone)]
pub struct Navigated {
    /// The address, after redirects.
    pub url: String,
    /// The document's title.
    pub title: String,
    /// The HTTP status, where there is one.
    pub status: Option<i64>,
    /// A dialog that the page opened while it loaded, and that waits for an answer.
    pub dialog: Option<Dialog>,
    /// Dialogs that asked nothing and were accepted.
    pub accepted: Vec<Dialog>,
}

/// A title is a courtesy: a page that is already stuck in its own script must not hold up the answer.
const TITLE_TIME: Duration = Duration::from_secs(1);

/// A page that does not answer for this long is stuck in its own script.
const STUCK: Duration = Duration::from_secs(1);

/// An address that answers with an error status and no body: the browser shows its own page, but it did get there.
const EMPTY_ERROR_PAGE: &str = "net::ERR_HTTP_RESPONSE_CODE_FAILURE";

impl Page {
    /// Opens an address and waits until the page is there.
    pub async fn open(&self, url: &str, until: LoadState, deadline: &Deadline) -> Result<Navigated> {
        self.lead_to(url, until, Stop::IfLate, deadline).await
    }

    /// Leads the tab to an address and waits until its document has come. One that is late keeps coming: `None`.
    pub async fn set_out(&self, url: &str, deadline: &Deadline) -> Result<Option<Navigated>> {
        match self.lead_to(url, LoadState::Commit, Stop::Never, deadline).await {
            Ok(navigated) => Ok(Some(navigated)),
            Err(Error::Timeout { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn lead_to(
        &self,
        url: &str,
        until: LoadState,
        stop: Stop,
        deadline: &Deadline,
    ) -> Result<Navigated> {
        let _turn = self.begin_navigation(deadline).await?;
        // A renderer that is told to navigate before it runs crashes (seen on Chromium 156).
        self.until(deadline, "the tab to start", |state| state.ready.then_some(())).await?;
        self.end_stuck_script().await;
        let mark = self.mark();
        let before = self.lock().frames.main().loader_id.clone();
        let loading = Loading(Some(self.session().clone()));
        let call = self.session().call(&cdp::Navigate { url: url.to_owned(), ..Default::default() });
        let answer = match deadline.run(format!("{} to answer", redact::mask_logins(url)), call).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                loading.goes_on();
                return Err(unreadable(error, url));
            }
            Err(timeout) => {
                if stop == Stop::Never {
                    loading.goes_on();
                }
                return Err(timeout);
            }
        };
        if let Some(reason) = answer.error_text.filter(|reason| reason != EMPTY_ERROR_PAGE) {
            loading.goes_on();
            if NavigationFailure::from_net_error(&reason) != NavigationFailure::Aborted {
                self.wait_for_error_page(&before).await;
            }
            return Err(navigation_error(url, &reason, answer.is_download == Some(true)));
        }
        // Without a loader only the fragment changed, and the document is there already.
        if let Some(loader) = answer.loader_id {
            let arrived = |state: &State| {
                let now = &state.frames.main().loader_id;
                *now == loader || *now != before
            };
            let reached = self.come(until, deadline, arrived).await;
            loading.goes_on();
            reached?;
        } else {
            loading.goes_on();
        }
        Ok(self.whereabouts(&mark).await)
    }

    /// The browser shows its own page for an address that failed. The next command must not meet it half-way.
    async fn wait_for_error_page(&self, before: &str) {
        let shown = |state: &State| {
            (state.frames.main().loader_id != before && !state.navigation.pending).then_some(())
        };
        // If it does not come, the failure is told all the same.
        let _ = self.until(&Deadline::after(STUCK), "the error page", shown).await;
    }

    /// Navigations of one tab come one after the other: a second one would only abort the first.
    async fn begin_navigation(&self, deadline: &Deadline) -> Result<tokio::sync::MutexGuard<'_, ()>> {
        let turn = deadline.run("another navigation of this tab", self.0.navigating.lock()).await?;
        // A crash is over when the tab is led elsewhere.
        self.lock().crashed = false;
        Ok(turn)
    }

    /// A page that is stuck in its own script would never let go: the script is ended. It must be done before the browser
    /// prepares the next document, because from then on it listens to that one.
    async fn end_stuck_script(&self) {
        let probe = runtime::Evaluate { expression: "0".to_owned(), ..Default::default() };
        if tokio::time::timeout(STUCK, self.session().call(&probe)).await.is_err() {
            self.session().post(&runtime::TerminateExecution {});
        }
    }

    /// Loads the page again.
    pub async fn reload(&self, until: LoadState, deadline: &Deadline) -> Result<Navigated> {
        let _turn = self.begin_navigation(deadline).await?;
        self.end_stuck_script().await;
        let mark = self.mark();
        let loading = Loading(Some(self.session().clone()));
        deadline.run("the reload", self.session().call(&cdp::Reload::default())).await??;
        let reached = self.come(until, deadline, |state| mark.has_committed(state)).await;
        loading.goes_on();
        reached?;
        self.checked_whereabouts(&mark).await
    }

    /// Goes back (`-1`) or forward (`1`) in the tab's history.
    pub async fn go(&self, step: i64, until: LoadState, deadline: &Deadline) -> Result<Navigated> {
        let direction = if step < 0 { "back" } else { "forward" };
        let _turn = self.begin_navigation(deadline).await?;
        let history =
            deadline.run("the history", self.session().call(&cdp::GetNavigationHistory {})).await??;
        let index = usize::try_from(history.current_index + step).ok();
        let Some(entry) = index.and_then(|index| history.entries.get(index)) else {
            return Err(Error::NoHistory { direction });
        };
        self.end_stuck_script().await;
        let mark = self.mark();
        let go = cdp::NavigateToHistoryEntry { entry_id: entry.id };
        let loading = Loading(Some(self.session().clone()));
        deadline.run(direction, self.session().call(&go)).await??;
        let reached = self.come(until, deadline, |state| mark.has_moved(state)).await;
        loading.goes_on();
        reached?;
        self.checked_whereabouts(&mark).await
    }

    /// Waits for the page that a navigation of ours leads to. One that asks something while it loads has come, and waits.
    async fn come(
        &self,
        until: LoadState,
        deadline: &Deadline,
        arrived: impl Fn(&State) -> bool,
    ) -> Result<()> {
        match self.reached(until, deadline, &arrived).await {
            Err(Error::DialogOpen(_)) if arrived(&self.lock()) => Ok(()),
            other => other,
        }
    }

    /// Waits until the present document has come that far. Ends early with the dialog that the page opens meanwhile.
    pub async fn wait_for_load(&self, until: LoadState, deadline: &Deadline) -> Result<()> {
        self.reached(until, deadline, |state| !state.navigation.pending).await
    }

    async fn reached(
        &self,
        until: LoadState,
        deadline: &Deadline,
        arrived: impl Fn(&State) -> bool,
    ) -> Result<()> {
        loop {
            // The browser's own word for idleness never comes where a body is never read: then silence says it.
            let idle_at = |state: &State| until.idle_at(state).filter(|_| arrived(state));
            let silent = |state: &State| idle_at(state).is_some_and(|at| at <= Instant::now());
            let holds = |state: &State| arrived(state) && (until.holds(state) || silent(state));
            let due = idle_at(&self.lock());
            let look = |state: &State| match &state.dialog {
                _ if holds(state) => Some(Ok(true)),
                // A page that asks something gets no further.
                Some(dialog) => Some(Err(Error::DialogOpen(dialog.clone()))),
                None => match broken_off(state).filter(|_| arrived(state)) {
                    Some(broken_off) => Some(Err(broken_off)),
                    None => (idle_at(state) != due).then_some(Ok(false)),
                },
            };
            let silence = async {
                match due {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                looked = self.until(deadline, until.words(), look) => match looked {
                    Ok(Ok(true)) => return Ok(()),
                    Ok(Ok(false)) => {}
                    Ok(Err(error)) => return Err(error),
                    Err(Error::Timeout { .. }) => {
                        deadline.note(self.loading_so_far());
                        return Err(deadline.timeout(until.words()));
                    }
                    Err(error) => return Err(error),
                },
                () = silence => {}
            }
        }
    }

    /// What a page that does not finish looks like.
    fn loading_so_far(&self) -> String {
        let state = self.lock();
        let parsed = if state.frames.main().progress.dom_content_loaded { "is" } else { "is not" };
        let open: Vec<_> = state
            .network
            .requests
            .iter()
            .filter(|request| state.network.in_flight.contains_key(&request.request_id))
            .map(|request| request.url.as_str())
            .take(3)
            .collect();
        let waiting =
            if open.is_empty() { String::new() } else { format!(", still loading {}", open.join(", ")) };
        format!("{} {parsed} parsed{waiting}", state.frames.main().url)
    }

    async fn whereabouts(&self, before: &Mark) -> Navigated {
        let title = self.title(&Deadline::after(TITLE_TIME)).await.unwrap_or_default();
        let state = self.lock();
        let main = state.frames.main();
        let status = state.network.document(&main.loader_id).and_then(|request| request.status);
        Navigated {
            url: main.url.clone(),
            title,
            status,
            dialog: state.dialog.clone(),
            accepted: before.accepted_since(&state),
        }
    }

    /// Like `whereabouts`, where the browser did not say itself whether the page could be reached.
    async fn checked_whereabouts(&self, before: &Mark) -> Result<Navigated> {
        let failed = failed_load(&self.lock());
        match failed {
            Some(failed) => Err(navigation_error(&failed.url, &failed.error, false)),
            None => Ok(self.whereabouts(before).await),
        }
    }

    /// Changes the address without loading a page, and tells the page so; returns the address that it has then.
    pub async fn push_state(&self, url: &str, deadline: &Deadline) -> Result<String> {
        let argument = crate::world::to_json(url)?;
        let script = format!(
            "history.pushState(history.state, '', {argument}); \
             dispatchEvent(new PopStateEvent('popstate', {{ state: history.state }})); location.href"
        );
        let evaluated = self.peek(&script, deadline).await?;
        Ok(serde_json::from_str(evaluated.result.get()).unwrap_or_default())
    }
}

/// Is a navigation stopped whose document does not come in time?
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stop {
    IfLate,
    Never,
}

/// A navigation under way. Whoever drops it stops it: the next command must not find a page that changes under its hands.
struct Loading(Option<surehand_cdp::Session>);

impl Loading {
    /// It is over, or goes on by itself.
    fn goes_on(mut self) {
        self.0 = None;
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        if let Some(session) = &self.0 {
            session.post(&cdp::StopLoading {});
        }
    }
}

/// A load that came to nothing: the browser shows its own page instead.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FailedLoad {
    /// Where to.
    pub url: String,
    /// Why not, in the browser's words.
    pub error: String,
}

/// The load that the present page is an error page for. An error status without a body is an answer all the same.
pub(crate) fn failed_load(state: &State) -> Option<FailedLoad> {
    let main = state.frames.main();
    let url = main.unreachable.clone()?;
    let document = state.network.document(&main.loader_id);
    if document.is_some_and(|request| request.status.is_some()) {
        return None;
    }
    let error = document.and_then(|request| request.error.clone());
    Some(FailedLoad { url, error: error.unwrap_or_else(|| "the browser could not load it".to_owned()) })
}

/// The present document, if its end will never come: whoever sent it broke off in the middle. The browser shows what there is
/// and never says that it is parsed or loaded (seen on Chromium 156). One that leads on by itself will be another document.
fn broken_off(state: &State) -> Option<Error> {
    let main = state.frames.main();
    let request = state.network.document(&main.loader_id).filter(|_| !state.navigation.pending)?;
    let reason = request.error.as_deref().filter(|_| request.status.is_some())?;
    // What is aborted was given up by the browser or the page, mostly for the next document.
    let is_torn = NavigationFailure::from_net_error(reason) != NavigationFailure::Aborted;
    is_torn.then(|| Error::BrokenOff { url: main.url.clone(), reason: reason.to_owned() })
}

impl LoadState {
    fn holds(self, state: &State) -> bool {
        let progress = state.frames.main().progress;
        match self {
            LoadState::Commit => true,
            LoadState::DomContentLoaded => progress.dom_content_loaded,
            LoadState::Load => progress.load,
            LoadState::NetworkIdle => progress.network_idle,
        }
    }

    /// When a page that has loaded will count as idle if nothing more comes.
    fn idle_at(self, state: &State) -> Option<Instant> {
        let may_be = self == LoadState::NetworkIdle && state.frames.main().progress.load;
        state.network.idle_at().filter(|_| may_be)
    }

    fn words(self) -> &'static str {
        match self {
            LoadState::Commit => "the document to come",
            LoadState::DomContentLoaded => "the document to be parsed (domcontentloaded)",
            LoadState::Load => "the page to load (load)",
            LoadState::NetworkIdle => "the network to be idle (networkidle)",
        }
    }
}

/// The browser has no error number for this; its words are the only interface there is.
fn unreadable(error: surehand_cdp::Error, url: &str) -> Error {
    match &error {
        surehand_cdp::Error::Refused { message, .. } if message.contains("invalid URL") => {
            Error::BadUrl { url: redact::mask_logins(url).into_owned() }
        }
        _ => error.into(),
    }
}

fn navigation_error(url: &str, reason: &str, is_download: bool) -> Error {
    let failure = NavigationFailure::from_net_error(reason);
    let reason = if is_download { "it is a download, not a page".to_owned() } else { reason.to_owned() };
    Error::Navigation { url: redact::mask_logins(url).into_owned(), failure, reason }
}
