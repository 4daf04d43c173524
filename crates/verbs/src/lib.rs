//! The vocabulary: one file per verb, one list, one `execute`.
//!
//! What lives here: what each verb takes, says, does and returns. From the list below follow the subcommands and their
//! help, `batch` lines, the reference page, completions, and what later fronts expose.
//! What must not: sockets, the terminal, how a browser is found. A verb does not know which front called it.
//!
//! To add a verb: write its file (`Args` fields with doc comments, an output, `impl Verb`) and add its line to
//! `verbs!` in `list.rs`. See CONTRIBUTING.md.

mod arrange;
mod context;
mod flaw;
mod list;
mod output;
mod parse;
mod pointing;
mod target;
mod verb;
mod words;

pub use arrange::arrange_find;
pub use context::{Context, Settings};
pub use flaw::Flaw;
pub use list::open::{checked_address, full_address};
pub use list::{Command, VerbFacts, VerbVisitor};
pub use output::{Output, Report};
pub use parse::{Misread, parse_line, read_line, usage_fault};
pub use target::{Followed, Hit};
pub use verb::{Effect, Hints, Verb};
pub use words::{join_words, split_words};
