//! One tab of a browser: its frames, the script that Surehand injects, and everything a person could do with it.
//!
//! What lives here: frames and their isolated worlds, snapshots, locating, actionability and input, waiting,
//! navigation, the rings of requests and console messages, dialogs, screenshots.
//! What must not: who owns the browser, session names, `eN` references (they span tabs), files, the terminal.
//!
//! State that the browser reports is folded by the reader into its state; a command looks at the state and waits
//! for it to change. Nothing is polled and no lock is held across a wait.

mod aftermath;
mod annotate;
mod choice;
mod closed_roots;
mod console;
mod deadline;
mod dialog;
mod download;
mod error;
mod events;
mod frames;
mod gestures;
mod interception;
mod keepsake;
mod key_names;
mod keyboard;
mod keys;
mod lasting;
mod locate;
mod locator;
mod navigate;
mod network;
mod nth;
mod page;
mod pointer;
mod read;
mod ring;
mod run;
mod screenshot;
mod script;
mod snapshot;
mod state;
mod storage;
mod surroundings;
mod text_entry;
mod touch;
mod wait;
mod world;

pub use aftermath::Aftermath;
pub use annotate::Labelled;
pub use console::{ConsoleMessage, PageError};
pub use deadline::Deadline;
pub use dialog::Dialog;
pub use download::Download;
pub use error::{Error, Match, NavigationFailure, Result};
pub use frames::FrameId;
pub use keepsake::Keepsake;
pub use keys::{KeyChord, Modifier};
pub use lasting::Lasting;
pub use locator::Locator;
pub use navigate::{FailedLoad, LoadState, Navigated};
pub use network::{Request, RequestDetails};
pub use page::{Attachment, Page};
pub use pointer::{Acted, Button, ClickOptions};
pub use read::{BoxRect, Reading};
pub use ring::Ring;
pub use run::Evaluated;
pub use screenshot::{ImageFormat, Picture, ScreenshotOptions};
pub use snapshot::{NameSource, Node, Snapshot, SnapshotOptions};
pub use storage::StorageArea;
pub use surroundings::{
    Agent, AskedBy, Aspect, Login, Media, Place, Screen, SharedSurroundings, Surroundings,
};
pub use text_entry::{Filled, Typed};
pub use wait::{ElementState, UrlPattern};
pub use world::Handle;
