//! The frame tree of a tab, as the browser reports it across all the processes that render it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use surehand_cdp::Session;
use surehand_cdp::protocol::page as cdp;
use surehand_guard::redact;

use crate::world::World;

/// The browser's id of a frame; it survives navigations of the frame.
pub type FrameId = Arc<str>;

/// How far the document of a frame has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub dom_content_loaded: bool,
    pub load: bool,
    pub network_idle: bool,
}

#[derive(Debug)]
pub(crate) struct Frame {
    pub id: FrameId,
    pub parent: Option<FrameId>,
    /// The session of the process that renders this frame.
    pub session: Session,
    pub url: String,
    /// The document load; a new one means a new document.
    pub loader_id: String,
    pub progress: Progress,
    /// Did the browser tell of this document when it came?
    pub is_told: bool,
    /// The address that could not be opened, where the document is the browser's own error page.
    pub unreachable: Option<String>,
    /// The isolated world of the present document, once somebody needed it.
    pub world: Option<World>,
    /// The page's own world: where its scripts run.
    pub page_context: Option<i64>,
    /// The `<iframe>` element in the parent's document: the parent's world and the element's id in it.
    pub owner: Option<crate::Handle>,
    /// Order of appearance, so that listings are stable.
    order: u64,
}

impl Frame {
    /// It shows what is at this address. A password in it is nobody's business: addresses are told everywhere.
    pub fn show(&mut self, url: &str) {
        self.url = redact::mask_logins(url).into_owned();
    }
}

/// All frames of a tab; the main frame is always there.
#[derive(Debug)]
pub(crate) struct Frames {
    main: FrameId,
    by_id: HashMap<FrameId, Frame>,
    appeared: u64,
    /// Documents that were committed in any frame.
    documents: u64,
    /// Where its documents came from, since the tab was opened.
    origins: BTreeSet<String>,
}

impl Frames {
    pub fn new(main: &str, url: &str, session: Session) -> Self {
        let main: FrameId = main.into();
        let mut frames = Self {
            main: main.clone(),
            by_id: HashMap::new(),
            appeared: 0,
            documents: 0,
            origins: BTreeSet::new(),
        };
        frames.insert(main, None, session);
        frames.main_mut().url = redact::mask_logins(url).into_owned();
        frames
    }

    #[expect(clippy::indexing_slicing, reason = "the main frame is inserted by `new` and never removed")]
    pub fn main(&self) -> &Frame {
        &self.by_id[&self.main]
    }

    #[expect(clippy::expect_used, reason = "the main frame is inserted by `new` and never removed")]
    pub fn main_mut(&mut self) -> &mut Frame {
        self.by_id.get_mut(&self.main).expect("the main frame is inserted by `new` and never removed")
    }

    pub fn get(&self, id: &str) -> Option<&Frame> {
        self.by_id.get(id)
    }

    pub fn get_mut(&mut self, id: &str) -> Option<&mut Frame> {
        self.by_id.get_mut(id)
    }

    /// Where the documents of all frames came from, since the tab was opened.
    pub fn origins(&self) -> &BTreeSet<String> {
        &self.origins
    }

    /// The sessions of the processes that render frames beside the main one's.
    pub fn other_sessions(&self) -> Vec<Session> {
        let main = self.main().session.id();
        let mut others: Vec<Session> = Vec::new();
        for frame in self.by_id.values() {
            let is_new = others.iter().all(|session| session.id() != frame.session.id());
            if frame.session.id() != main && is_new {
                others.push(frame.session.clone());
            }
        }
        others
    }

    /// Changes whenever a frame comes, goes or gets another document.
    pub fn generation(&self) -> (u64, usize) {
        (self.documents, self.by_id.len())
    }

    /// Main frame first, then in order of appearance.
    pub fn ids(&self) -> Vec<FrameId> {
        let mut frames: Vec<&Frame> = self.by_id.values().collect();
        frames.sort_by_key(|frame| frame.order);
        frames.iter().map(|frame| frame.id.clone()).collect()
    }

    /// A frame and the frames inside it; empty if it is gone.
    pub fn ids_within(&self, outer: &FrameId) -> Vec<FrameId> {
        let is_within = |id: &FrameId| {
            let mut at = Some(id.clone());
            while let Some(id) = at {
                if id == *outer {
                    return true;
                }
                at = self.by_id.get(&id).and_then(|frame| frame.parent.clone());
            }
            false
        };
        self.ids().into_iter().filter(is_within).collect()
    }

    pub fn attached(&mut self, id: &str, parent: Option<&str>, session: &Session) {
        if !self.by_id.contains_key(id) {
            self.insert(id.into(), parent.map(Into::into), session.clone());
        }
    }

    fn insert(&mut self, id: FrameId, parent: Option<FrameId>, session: Session) {
        self.appeared += 1;
        let frame = Frame {
            id: id.clone(),
            parent,
            session,
            url: String::new(),
            loader_id: String::new(),
            progress: Progress::default(),
            is_told: false,
            unreachable: None,
            world: None,
            page_context: None,
            owner: None,
            order: self.appeared,
        };
        self.by_id.insert(id, frame);
    }

    /// The process of `session` committed a document in this frame, so from now on it renders the frame.
    pub fn navigated(&mut self, frame: cdp::Frame, session: &Session) {
        self.drop_children(&frame.id);
        self.learnt(frame, session);
    }

    /// The process of `session` shows a document in this frame, which was there before. Frames inside of it may have been
    /// told already: each process tells of its own.
    pub fn learnt(&mut self, frame: cdp::Frame, session: &Session) {
        self.attached(&frame.id, frame.parent_id.as_deref(), session);
        self.documents += 1;
        if frame.security_origin.starts_with("http") {
            self.origins.insert(frame.security_origin.clone());
        }
        let Some(known) = self.by_id.get_mut(frame.id.as_str()) else { return };
        known.session = session.clone();
        known.show(&(frame.url + frame.url_fragment.as_deref().unwrap_or_default()));
        // Chromium commits with `init` first, so the progress of this loader may already have begun.
        if known.loader_id != frame.loader_id {
            known.loader_id = frame.loader_id;
            known.progress = Progress::default();
        }
        known.is_told = true;
        known.unreachable = frame.unreachable_url.map(|url| redact::mask_logins(&url).into_owned());
        known.world = None;
    }

    /// A document came back from the browser's cache as it was left: no lifecycle event will tell.
    pub fn restored(&mut self, id: &str) {
        if let Some(frame) = self.by_id.get_mut(id) {
            frame.progress = Progress { dom_content_loaded: true, load: true, network_idle: true };
        }
    }

    /// Another process took the frame over (`session` is new), and will report its document.
    pub fn taken_over(&mut self, id: &str, parent: Option<&str>, session: &Session) {
        self.attached(id, parent, session);
        if let Some(frame) = self.by_id.get_mut(id) {
            frame.session = session.clone();
            frame.world = None;
        }
    }

    pub fn detached(&mut self, id: &str) {
        if *id == *self.main {
            return;
        }
        self.drop_children(id);
        self.by_id.remove(id);
    }

    /// A process went away, and with it the frames that it rendered.
    pub fn session_gone(&mut self, session_id: &str) {
        let gone: Vec<FrameId> = self
            .by_id
            .values()
            .filter(|frame| frame.session.id() == Some(session_id))
            .map(|frame| frame.id.clone())
            .collect();
        for id in gone {
            self.detached(&id);
        }
    }

    fn drop_children(&mut self, id: &str) {
        let children: Vec<FrameId> = self
            .by_id
            .values()
            .filter(|frame| frame.parent.as_deref() == Some(id))
            .map(|frame| frame.id.clone())
            .collect();
        for child in children {
            self.detached(&child);
        }
    }

    pub fn lifecycle(&mut self, event: &cdp::LifecycleEvent) {
        let Some(frame) = self.by_id.get_mut(event.frame_id.as_str()) else { return };
        match event.name.as_str() {
            "init" => {
                frame.loader_id = event.loader_id.clone();
                frame.progress = Progress::default();
                frame.is_told = true;
            }
            // A document that was there before us tells only how far it has come.
            _ if frame.loader_id.is_empty() => {
                frame.loader_id = event.loader_id.clone();
                frame.progress.note(&event.name);
            }
            _ if frame.loader_id != event.loader_id => {}
            name => frame.progress.note(name),
        }
    }
}

impl Progress {
    fn note(&mut self, event: &str) {
        match event {
            "DOMContentLoaded" => self.dom_content_loaded = true,
            "load" => self.load = true,
            "networkIdle" => self.network_idle = true,
            _ => {}
        }
    }
}
