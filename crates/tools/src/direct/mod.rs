//! Seven tools on a browser that somebody else started: its address is given with every call, and nothing is kept but the
//! numbers of the last snapshot of each tab.
//!
//! Answers are plain texts, also where something failed. What was typed is in none of them.

mod click;
mod dialogs;
mod endpoints;
mod eval;
mod failure;
mod fill;
mod list;
mod navigate;
mod screenshot;
mod snapshot;
mod uids;

pub use endpoints::Endpoints;

use crate::tool::Entry;

pub(crate) const TOOLS: &[Entry] = &[
    Entry::of::<list::List>(),
    Entry::of::<navigate::Navigate>(),
    Entry::of::<snapshot::TakeSnapshot>(),
    Entry::of::<click::Click>(),
    Entry::of::<fill::Fill>(),
    Entry::of::<eval::Eval>(),
    Entry::of::<screenshot::Screenshot>(),
];
