//! Who owns a browser: named sessions, how each gets its browser, its tabs, and the references it gave out.
//!
//! What lives here: acquiring and ending browsers and contexts, tabs and their short ids, `eN` references, the journal of what was done, and the one
//! error type with a stable code that every front shows.
//! What must not: sockets, the terminal, the environment, verbs.

mod borrowed;
mod cookies;
mod device;
mod egress;
mod ephemeral;
mod fault;
mod hidden;
mod hidden_keys;
mod journal;
mod lease;
mod link;
mod naming;
mod options;
mod refs;
mod render;
mod session;
mod sessions;
mod shared;
mod state;
mod surroundings;
mod tabs;

pub use borrowed::{Borrowed, BorrowedTarget};
pub use cookies::{Cookie, NewCookie};
pub use device::{Device, device, devices};
pub use egress::{Egress, Going};
pub use ephemeral::Ephemeral;
pub use fault::{Fault, Kind, PackCode};
pub use journal::{Done, Entry as JournalEntry, read as read_journal};
pub use lease::Lease;
pub use naming::{Named, has_references};
pub use options::{Limits, Places, SessionOptions};
pub use refs::{RefTable, parse as parse_reference};
pub use render::{Refs, RenderedSnapshot, delta};
pub use session::{Place, Session, SessionInfo};
pub use sessions::Sessions;
pub use state::{SavedState, StateSummary};
pub use tabs::{Tab, TabInfo, Tabs};
