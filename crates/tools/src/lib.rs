//! Named tools over the engine: what MCP clients, playbooks and `surehand tool` call by name with a JSON object.
//!
//! What lives here: the tool sets (`page`, `direct`, `verbs`, `packs`, `dynamic`), contracts and their evaluation, the sentences of `act`, the
//! finding of elements by label. What must not: transports, JSON-RPC, the terminal.

mod answer;
mod caller;
mod check;
mod dynamic;
mod label;
mod picture;
mod schema;
mod secrets;
mod sentence;
mod shape;
mod tool;
mod verbs;
mod wire;
mod wording;

pub mod contract;
pub mod direct;
pub mod packs;
pub mod page;

pub use answer::{Answer, Image};
pub use caller::{Caller, Pending};
pub use check::Misfit;
pub use dynamic::Toolsets;
pub use secrets::{misplaced_secrets, secret_places};
pub use surehand_verbs::Hints;
pub use surehand_verbs::Misread;
pub use tool::{Spec, Tool, ToolContext, Toolset, call, check, is_step, specs};
pub use verbs::words_to_arguments;
pub use wire::AnswerBody;
