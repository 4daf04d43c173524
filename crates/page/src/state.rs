//! What the browser has told about a tab so far.

use surehand_cdp::Closed;

use crate::console::{ConsoleMessage, PageError};
use crate::frames::Frames;
use crate::network::NetworkLog;
use crate::{Dialog, Ring};

/// Enough for a person to look back; a page that logs in a loop keeps the newest.
const CONSOLE_CAPACITY: usize = 1000;

/// More downloads than this of one tab are not looked back at.
const DOWNLOADS: usize = 100;

/// Nor are more dialogs.
const DIALOGS: usize = 100;

#[derive(Debug)]
pub(crate) struct State {
    pub frames: Frames,
    pub navigation: Navigation,
    pub dialog: Option<Dialog>,
    /// Dialogs that were accepted because they ask nothing.
    pub accepted_dialogs: Ring<Dialog>,
    /// How many dialogs have closed: the next may open before anybody sees that there is none.
    pub dialogs_closed: u64,
    /// The frame that selectors are looked for in; `None` for all of them.
    pub scope: Option<crate::FrameId>,
    /// Where the pointer is, and which of its buttons and which modifier keys are held.
    pub hands: crate::gestures::Hands,
    /// Downloads, oldest first.
    pub downloads: Ring<crate::Download>,
    /// A file chooser that the page wanted to open.
    pub chooser: Option<crate::choice::Chooser>,
    /// What a drag that the page began carries.
    pub drag: Option<serde_json::Value>,
    pub network: NetworkLog,
    pub interception: crate::interception::Interception,
    pub console: Ring<ConsoleMessage>,
    pub errors: Ring<PageError>,
    /// How far the tab was when the last command that acts began: what came since is what a wait is for.
    pub acted_at: ActedAt,
    pub crashed: bool,
    /// Does the page run? A tab is held until it is set up.
    pub ready: bool,
    /// How many sessions have been asked for the frames that were there before us, and did not answer yet.
    pub learning: u32,
    /// The document that a tab had before we heard of the tab.
    pub missed_document: Option<surehand_cdp::protocol::page::Frame>,
    pub closed: Option<Closed>,
}

impl State {
    pub fn new(frames: Frames) -> Self {
        Self {
            frames,
            navigation: Navigation::default(),
            dialog: None,
            accepted_dialogs: Ring::new(DIALOGS),
            dialogs_closed: 0,
            scope: None,
            hands: Default::default(),
            downloads: Ring::new(DOWNLOADS),
            chooser: None,
            drag: None,
            network: NetworkLog::default(),
            interception: Default::default(),
            console: Ring::new(CONSOLE_CAPACITY),
            errors: Ring::new(CONSOLE_CAPACITY),
            acted_at: ActedAt::default(),
            crashed: false,
            ready: false,
            learning: 0,
            missed_document: None,
            closed: None,
        }
    }
}

/// Marks in the rings.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ActedAt {
    pub requests: u64,
    pub downloads: u64,
    /// Navigations that committed or changed the address.
    pub navigations: u64,
}

/// Navigations of the main frame, counted, so that "did one start since?" is a comparison.
#[derive(Debug, Default, Clone)]
pub(crate) struct Navigation {
    /// How many were asked for (by a script, a link, a form, or by us).
    pub requested: u64,
    /// How many committed a new document.
    pub committed: u64,
    /// How many changed only the address of the document.
    pub within_document: u64,
    /// Where the last one leads.
    pub towards: String,
    /// The one under way: asked for, neither committed nor given up.
    pub pending: bool,
}

impl Navigation {
    /// How many came to an end with another document or address.
    pub fn done(&self) -> u64 {
        self.committed + self.within_document
    }
}
