//! Folds the browser's events into the state of a tab. Called by the reader: no waiting, no calls that wait.

use serde_json::value::RawValue;
use surehand_cdp::protocol::{network, page as cdp, runtime, target};
use surehand_cdp::{Closed, Event, EventSink, Session};
use surehand_guard::redact;

use crate::Dialog;
use crate::console::{ConsoleMessage, PageError};
use crate::page::{Inner, Page, WeakPage};

/// Hears one session of a tab: its own, or that of an out-of-process frame in it.
pub(crate) struct TabSink {
    pub page: WeakPage,
    /// Does this session end with the tab itself?
    pub is_main: bool,
}

impl EventSink for TabSink {
    fn event(&self, session: &Session, method: &str, params: &RawValue) {
        if let Some(page) = self.page.upgrade() {
            page.0.fold(session, method, params);
        }
    }

    fn closed(&self, reason: &Closed) {
        if let Some(page) = self.page.upgrade()
            && self.is_main
        {
            page.0.change(|state| state.closed = Some(reason.clone()));
        }
    }
}

pub(crate) fn parse<E: Event>(params: &RawValue) -> Option<E> {
    match serde_json::from_str(params.get()) {
        Ok(event) => Some(event),
        Err(error) => {
            tracing::warn!("{} has an unexpected shape: {error}", E::METHOD);
            None
        }
    }
}

/// What a drag carries is handed back as it came.
#[derive(serde::Deserialize)]
struct Dragged {
    data: serde_json::Value,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorldDetails {
    frame_id: String,
    is_default: bool,
}

impl Inner {
    fn fold(&self, session: &Session, method: &str, params: &RawValue) {
        match method.split_once('.') {
            Some(("Page", _)) => self.fold_page(session, method, params),
            Some(("Network", _)) => self.fold_network(session, method, params),
            Some(("Runtime", _)) => self.fold_runtime(method, params),
            Some(("Target", _)) => self.fold_target(session, method, params),
            Some(("Fetch", _)) => self.fold_fetch(session, method, params),
            Some(("Input", "dragIntercepted")) => {
                let Ok(event) = serde_json::from_str::<Dragged>(params.get()) else { return };
                self.change(|state| state.drag = Some(event.data));
            }
            Some(("Inspector", "targetCrashed")) => self.change(|state| state.crashed = true),
            _ => {}
        }
    }

    fn fold_page(&self, session: &Session, method: &str, params: &RawValue) {
        match method {
            cdp::FrameAttached::METHOD => {
                let Some(event) = parse::<cdp::FrameAttached>(params) else { return };
                let parent = Some(event.parent_frame_id.as_str());
                self.change(|state| state.frames.attached(&event.frame_id, parent, session));
            }
            cdp::FrameNavigated::METHOD => {
                let Some(event) = parse::<cdp::FrameNavigated>(params) else { return };
                self.frame_navigated(event, session);
            }
            cdp::NavigatedWithinDocument::METHOD => {
                let Some(event) = parse::<cdp::NavigatedWithinDocument>(params) else { return };
                self.navigated_within_document(event);
            }
            cdp::FrameDetached::METHOD => {
                let Some(event) = parse::<cdp::FrameDetached>(params) else { return };
                // A swap means that another process goes on with the frame.
                if event.reason != "swap" {
                    self.change(|state| state.frames.detached(&event.frame_id));
                }
            }
            cdp::LifecycleEvent::METHOD => {
                let Some(event) = parse::<cdp::LifecycleEvent>(params) else { return };
                self.change(|state| state.frames.lifecycle(&event));
            }
            cdp::FrameRequestedNavigation::METHOD => {
                let Some(event) = parse::<cdp::FrameRequestedNavigation>(params) else { return };
                if event.disposition == "currentTab" {
                    self.navigation_requested(&event.frame_id, event.url);
                }
            }
            cdp::FrameStartedNavigating::METHOD => {
                let Some(event) = parse::<cdp::FrameStartedNavigating>(params) else { return };
                if !event.navigation_type.contains("sameDocument")
                    && !event.navigation_type.contains("SameDocument")
                {
                    self.navigation_requested(&event.frame_id, event.url);
                }
            }
            cdp::FrameStoppedLoading::METHOD => {
                let Some(event) = parse::<cdp::FrameStoppedLoading>(params) else { return };
                self.stopped_loading(&event.frame_id);
            }
            cdp::JavascriptDialogOpening::METHOD => {
                let Some(event) = parse::<cdp::JavascriptDialogOpening>(params) else { return };
                self.dialog_opened(Dialog::from_event(event));
            }
            cdp::FileChooserOpened::METHOD => {
                let Some(event) = parse::<cdp::FileChooserOpened>(params) else { return };
                let Some(node) = event.backend_node_id else { return };
                let is_multiple = event.mode == "selectMultiple";
                let chooser = crate::choice::Chooser { frame: event.frame_id.into(), node, is_multiple };
                self.change(|state| state.chooser = Some(chooser));
            }
            cdp::JavascriptDialogClosed::METHOD => self.change(|state| {
                state.dialog = None;
                state.dialogs_closed += 1;
            }),
            _ => {}
        }
    }

    fn frame_navigated(&self, event: cdp::FrameNavigated, session: &Session) {
        let frame = event.frame;
        let id = frame.id.clone();
        self.change(|state| {
            if frame.parent_id.is_none() {
                state.navigation.committed += 1;
                state.navigation.pending = false;
                state.scope = None;
                state.crashed = false;
                state.network.new_document(&frame.loader_id);
                // Only the first document of a tab can have been asked for before anybody listened.
                let is_first = state.navigation.committed == 1;
                if is_first && state.network.document(&frame.loader_id).is_none() {
                    state.missed_document = Some(frame.clone());
                }
            }
            state.frames.navigated(frame, session);
            if event.r#type == "BackForwardCacheRestore" {
                state.frames.restored(&id);
            }
        });
        let is_missed = self.lock().missed_document.is_some();
        if let Some(page) = self.myself.upgrade().filter(|_| is_missed) {
            tokio::spawn(async move { page.recall_document().await });
        }
    }

    fn navigated_within_document(&self, event: cdp::NavigatedWithinDocument) {
        self.change(|state| {
            let main = state.frames.main().id.clone();
            if *main == *event.frame_id {
                state.navigation.within_document += 1;
                state.navigation.pending = false;
            }
            if let Some(frame) = state.frames.get_mut(&event.frame_id) {
                frame.show(&event.url);
            }
        });
    }

    fn navigation_requested(&self, frame_id: &str, url: String) {
        self.change(|state| {
            if *state.frames.main().id == *frame_id {
                state.navigation.towards = redact::mask_logins(&url).into_owned();
                state.navigation.requested += 1;
                state.navigation.pending = true;
            }
        });
    }

    /// A navigation that became a download or got no content ends without a commit.
    fn stopped_loading(&self, frame_id: &str) {
        self.change(|state| {
            if *state.frames.main().id == *frame_id {
                state.navigation.pending = false;
            }
        });
    }

    fn dialog_opened(&self, dialog: Dialog) {
        if dialog.needs_no_decision() {
            self.session().post(&cdp::HandleJavaScriptDialog { accept: true, prompt_text: None });
            self.change(|state| state.accepted_dialogs.push(dialog));
            return;
        }
        self.change(|state| state.dialog = Some(dialog));
    }

    fn fold_network(&self, session: &Session, method: &str, params: &RawValue) {
        match method {
            network::RequestWillBeSent::METHOD => {
                let Some(event) = parse(params) else { return };
                self.change(|state| state.network.sent(Some(session), event));
            }
            network::ResponseReceived::METHOD => {
                let Some(event) = parse(params) else { return };
                self.change(|state| state.network.answered(Some(session), event));
            }
            network::DataReceived::METHOD => self.change(|state| state.network.went_on()),
            network::LoadingFinished::METHOD => {
                let Some(event) = parse(params) else { return };
                self.change(|state| state.network.finished(&event));
            }
            network::LoadingFailed::METHOD => {
                let Some(event) = parse(params) else { return };
                self.change(|state| state.network.failed(event));
            }
            _ => {}
        }
    }

    fn fold_runtime(&self, method: &str, params: &RawValue) {
        match method {
            runtime::ConsoleApiCalled::METHOD => {
                let Some(event) = parse(params) else { return };
                self.change(|state| state.console.push(ConsoleMessage::from_event(event)));
            }
            runtime::ExecutionContextCreated::METHOD => {
                let Some(event) = parse::<runtime::ExecutionContextCreated>(params) else { return };
                self.context_created(&event.context);
            }
            runtime::ExceptionThrown::METHOD => {
                let Some(event) = parse(params) else { return };
                self.change(|state| state.errors.push(PageError::from_event(event)));
            }
            _ => {}
        }
    }

    /// Of all the worlds of a frame, the one of the page's own scripts is kept.
    fn context_created(&self, context: &runtime::ExecutionContextDescription) {
        let details = context.aux_data.as_ref().and_then(|raw| serde_json::from_str(raw.get()).ok());
        let Some(WorldDetails { frame_id, is_default: true }) = details else { return };
        self.change(|state| {
            if let Some(frame) = state.frames.get_mut(&frame_id) {
                frame.page_context = Some(context.id);
            }
        });
    }

    fn fold_target(&self, session: &Session, method: &str, params: &RawValue) {
        match method {
            target::AttachedToTarget::METHOD => {
                let Some(event) = parse(params) else { return };
                self.child_attached(session, &event);
            }
            target::DetachedFromTarget::METHOD => {
                let Some(event) = parse::<target::DetachedFromTarget>(params) else { return };
                self.change(|state| state.frames.session_gone(&event.session_id));
            }
            _ => {}
        }
    }

    /// An out-of-process frame or a worker: its session is set up like the tab's own and told to run.
    fn child_attached(&self, parent: &Session, event: &target::AttachedToTarget) {
        let Some(connection) = self.connection.upgrade() else { return };
        let sink = TabSink { page: self.myself.clone(), is_main: false };
        let child = connection.adopt(&event.session_id, std::sync::Arc::new(sink));
        let info = &event.target_info;
        if info.r#type == "iframe" {
            self.change(|state| {
                let parent_frame = info.parent_frame_id.as_deref();
                state.frames.taken_over(&info.target_id, parent_frame, &child);
            });
        }
        tracing::debug!("{:?} attached under {parent:?}: {}", child, info.url);
        self.surroundings.lock().prepare(&child, false);
        Page::set_up(&child);
        child.post(&runtime::RunIfWaitingForDebugger {});
        if let Some(page) = self.myself.upgrade().filter(|_| !event.waiting_for_debugger) {
            page.learn_frames(&child, false);
        }
    }
}
