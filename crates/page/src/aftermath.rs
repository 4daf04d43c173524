//! What followed an action: a navigation, a dialog, a download, the end of the tab. Whoever acts takes a mark before and
//! asks afterwards.

use std::time::Duration;

use surehand_cdp::protocol::runtime;

use crate::navigate::{FailedLoad, failed_load};
use crate::page::Page;
use crate::state::{Navigation, State};
use crate::{Deadline, Dialog};

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Aftermath {
    /// The new address, if the action led to one.
    pub navigated: Option<String>,
    /// The address that it led to, if that could not be opened.
    pub failed: Option<FailedLoad>,
    /// Where a navigation leads that has not come to its page yet.
    pub navigating: Option<String>,
    /// A dialog that waits for an answer.
    pub dialog: Option<Dialog>,
    /// Dialogs that asked nothing and were accepted.
    pub accepted: Vec<Dialog>,
    /// Downloads that began: the names that the server gave the files.
    pub downloads: Vec<String>,
    /// Did the tab close?
    pub closed: bool,
    /// Was the element pressed without a click, because the page replaced or covered it under the press?
    pub unclicked: bool,
}

impl Aftermath {
    /// Did anything take the page away from under the element?
    pub fn moved_on(&self) -> bool {
        self.navigated.is_some()
            || self.failed.is_some()
            || self.navigating.is_some()
            || self.dialog.is_some()
            || self.closed
    }
}

/// How far a tab was before an action.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    navigation: Navigation,
    downloads: u64,
    accepted: u64,
    /// Does the action ask for a download? The browser does not tell before the server has answered.
    pub download_asked: bool,
}

/// A page reacts to a key within this, or is stuck.
const REACTION: Duration = Duration::from_millis(500);

/// A new page that has something to say while it loads has said it by then.
const FIRST_WORDS: Duration = Duration::from_millis(300);

/// A page that is left answers within this, or not at all.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// A download that was asked for begins when its server answers; nobody waits longer to hear of it.
const DOWNLOAD_BEGINS: Duration = Duration::from_millis(300);

impl Page {
    /// How far the tab is now.
    pub(crate) fn mark(&self) -> Mark {
        let state = self.lock();
        Mark {
            navigation: state.navigation.clone(),
            downloads: state.downloads.pushed(),
            accepted: state.accepted_dialogs.pushed(),
            download_asked: false,
        }
    }

    /// One task of the page later: what a key set going (a form's submission, say) has begun by then.
    pub(crate) async fn let_page_react(&self, deadline: &Deadline) {
        let task = runtime::Evaluate {
            expression: "new Promise(done => setTimeout(done))".to_owned(),
            await_promise: Some(true),
            ..Default::default()
        };
        let reacted = async { Ok(self.session().call(&task).await.map(drop)?) };
        // A page that is gone, asks something or is stuck has reacted, in its way.
        let _ = self.unless_blocked(&deadline.at_most(REACTION), reacted).await;
    }

    /// Returns when a navigation has begun since and the page had time to say what it has to say.
    pub(crate) async fn leaving(&self, before: &Mark) {
        let never = Deadline::after(Duration::MAX);
        let begun = |state: &State| before.has_left(state).then_some(());
        // A tab that is gone is told by whoever waits for an answer.
        if self.until(&never, "a navigation", begun).await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(LAST_WORDS).await;
    }

    /// A page often says or asks something as soon as it is there: who led to it hears of it.
    async fn hear_out(&self, deadline: &Deadline) {
        let heard =
            |state: &State| (state.frames.main().progress.load || state.dialog.is_some()).then_some(());
        // A page that takes longer is no concern of the action.
        let _ = self.until(&deadline.at_most(FIRST_WORDS), "the new page", heard).await;
    }

    /// What followed since. If a navigation started, waits for it to commit.
    pub(crate) async fn settle(&self, before: &Mark, deadline: &Deadline) -> Aftermath {
        if before.has_left(&self.lock()) {
            let ended = |state: &State| (!state.navigation.pending).then_some(());
            // A page that never answers is no failure of the action; the next command will tell.
            let _ = self.until(deadline, "the navigation", ended).await;
        }
        if before.has_committed(&self.lock()) {
            self.hear_out(deadline).await;
        }
        if before.expects_download(&self.lock()) {
            let begun = |state: &State| (state.downloads.pushed() > before.downloads).then_some(());
            // One that does not begin is told by `wait --download`.
            let _ = self.until(&deadline.at_most(DOWNLOAD_BEGINS), "a download", begun).await;
        }
        let state = self.lock();
        let failed = if before.has_committed(&state) { failed_load(&state) } else { None };
        let has_moved = before.has_moved(&state);
        let navigated = (has_moved && failed.is_none()).then(|| state.frames.main().url.clone());
        let is_on_its_way = !has_moved && before.has_left(&state) && state.navigation.pending;
        Aftermath {
            navigated,
            failed,
            navigating: is_on_its_way.then(|| state.navigation.towards.clone()),
            dialog: state.dialog.clone(),
            accepted: before.accepted_since(&state),
            downloads: state
                .downloads
                .since(before.downloads)
                .map(|one| one.suggested_name.clone())
                .collect(),
            closed: false,
            unclicked: false,
        }
    }
}

impl Mark {
    /// Has a navigation begun since?
    fn has_left(&self, state: &State) -> bool {
        state.navigation.requested > self.navigation.requested
    }

    /// Has another document come since?
    pub fn has_committed(&self, state: &State) -> bool {
        state.navigation.committed > self.navigation.committed
    }

    /// Dialogs that were accepted since, because they ask nothing.
    pub fn accepted_since(&self, state: &State) -> Vec<Dialog> {
        state.accepted_dialogs.since(self.accepted).cloned().collect()
    }

    /// Has the page gone on to another address?
    pub fn has_moved(&self, state: &State) -> bool {
        let (before, now) = (&self.navigation, &state.navigation);
        now.committed > before.committed || now.within_document > before.within_document
    }

    /// A link asked for a download, or a navigation came to an answer that is no page.
    fn expects_download(&self, state: &State) -> bool {
        let (before, now) = (&self.navigation, &state.navigation);
        let no_page = now.requested > before.requested && !now.pending && !self.has_moved(state);
        state.downloads.pushed() == self.downloads
            && (self.download_asked || (no_page && !state.network.last_was_empty()))
    }
}
