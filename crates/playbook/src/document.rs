//! A playbook that was understood: what its steps are, with the places that messages may point at.
//!
//! Nothing is substituted here; texts are as they are written. [`mod@crate::parse`] makes these, [`mod@crate::check`] looks
//! through them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::node::Node;
use crate::source::{Position, Source};

/// The verbs of the document, each with the argument that it is mostly about.
pub const VERBS: [(&str, &str); 9] = [
    ("navigate", "url"),
    ("interact", "ref"),
    ("act", "action"),
    ("fill_form", "fields"),
    ("wait_for", "condition"),
    ("page_screenshot", "path"),
    ("read_page", "mode"),
    ("javascript_tool", "code"),
    ("assert", "kind"),
];

/// The tool that judges contracts.
pub const ASSERT_TOOL: &str = "oc_assert";

/// The tool behind a verb.
pub fn tool_of(verb: &str) -> &str {
    if verb == "assert" { ASSERT_TOOL } else { verb }
}

/// A whole file.
#[derive(Debug, Clone)]
pub struct Playbook {
    /// The text it was read from.
    pub source: Arc<Source>,
    /// What reports call it.
    pub name: Option<String>,
    /// Variables and what they are if nobody says otherwise.
    pub vars: Vec<Variable>,
    /// The size of the window.
    pub viewport: Option<Viewport>,
    /// The device to be like.
    pub device: Option<Text>,
    /// What is served meanwhile.
    pub serve: Option<Serve>,
    /// What is done first.
    pub setup: Vec<Step>,
    /// What it is about.
    pub steps: Vec<Step>,
    /// What is done in any case at the end.
    pub teardown: Vec<Step>,
    /// Variables of places that were not understood; empty if all were. Nobody shall hear that they are unknown as well.
    pub(crate) uncertain: Vec<String>,
}

impl Playbook {
    /// What it says about the world around its steps, and where: a playbook that is used says nothing of that.
    pub(crate) fn surroundings(&self) -> Vec<(&'static str, Position)> {
        let viewport = self.viewport.map(|viewport| ("viewport", viewport.at));
        let device = self.device.as_ref().map(|device| ("device", device.at));
        let serve = self.serve.as_ref().map(|serve| ("serve", serve.at));
        viewport.into_iter().chain(device).chain(serve).collect()
    }

    /// The arguments of the calls of `set` with which every session of its run begins, in this order.
    pub(crate) fn stage(&self) -> Vec<Value> {
        let device = self.device.as_ref().map(|device| json!({ "device": { "name": device.text } }));
        let viewport =
            self.viewport.map(|size| json!({ "viewport": { "width": size.width, "height": size.height } }));
        device.into_iter().chain(viewport).map(|what| json!({ "what": what })).collect()
    }
}

/// A text and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// What it says.
    pub text: String,
    /// Where it stands.
    pub at: Position,
}

/// A whole number, as it is written or as a variable says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// This.
    Is(u64),
    /// What the variable is that stands there alone.
    Variable {
        /// `${name}`.
        text: Text,
        /// What it is the number of, for messages.
        what: &'static str,
        /// At least this.
        least: u64,
        /// At most this.
        most: u64,
    },
}

/// Which whole numbers are meant, in words.
pub(crate) fn range(least: u64, most: u64) -> String {
    match most {
        u64::MAX => format!("of at least {least}"),
        most => format!("from {least} to {most}"),
    }
}

/// A variable and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// What it is called; `SECRET:NAME` for one that stands in for a secret.
    pub name: String,
    /// Its value and where that stands.
    pub value: Text,
}

/// The size of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewport {
    /// In CSS pixels.
    pub width: u32,
    /// In CSS pixels.
    pub height: u32,
    /// Where it stands.
    pub at: Position,
}

/// What is served on loopback while the playbook runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serve {
    /// A directory or a command.
    pub what: Served,
    /// The variable that gets the address.
    pub var: String,
    /// Where it stands.
    pub at: Position,
}

/// What there is to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// Files below a directory, relative to the playbook.
    Directory(Text),
    /// A program with a server of its own.
    Command {
        /// The command line.
        command: Text,
        /// Where it answers when it is ready.
        url: Text,
        /// How long that may take, in milliseconds.
        timeout_ms: u64,
    },
}

/// One thing to do.
#[derive(Debug, Clone)]
pub struct Step {
    /// Where it begins.
    pub at: Position,
    /// Which one it is, for messages: `step 3`, or `step 3/then/0` inside of another.
    pub label: String,
    /// What it can be referred to by.
    pub id: Option<String>,
    /// What reports call it.
    pub name: Option<String>,
    /// What is done.
    pub action: Action,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum Action {
    /// One call of a tool.
    Plain(Plain),
    /// Steps on a condition.
    If(If),
    /// Steps several times.
    Repeat(Repeat),
    /// Steps for each of some values.
    ForEach(ForEach),
    /// Steps side by side, each branch in a session of its own.
    Parallel(Vec<Branch>),
    /// Another playbook in place.
    Use(Use),
}

/// One call of a tool.
#[derive(Debug, Clone)]
pub struct Plain {
    /// As it is written.
    pub verb: String,
    /// Where it is written.
    pub verb_at: Position,
    /// What it is called with.
    pub arguments: Arguments,
    /// How long it may take, in milliseconds.
    pub timeout_ms: Option<Count>,
    /// How often it is tried again.
    pub retries: u32,
    /// What becomes of its result.
    pub capture: Option<Capture>,
}

impl Plain {
    /// The tool behind the verb.
    pub fn tool(&self) -> &str {
        tool_of(&self.verb)
    }
}

/// What a verb is called with.
#[derive(Debug, Clone)]
pub enum Arguments {
    /// A mapping.
    Object(Node),
    /// Words, as on the command line.
    Words {
        /// Each with its place.
        words: Vec<Text>,
        /// Where they begin.
        at: Position,
    },
}

impl Arguments {
    /// Where they begin.
    pub fn at(&self) -> Position {
        match self {
            Self::Object(node) => node.at,
            Self::Words { at, .. } => *at,
        }
    }
}

/// Variables that a result goes into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capture {
    /// All of it.
    Whole(String),
    /// Parts of it: a variable and a JSON pointer each.
    Parts(Vec<(String, String)>),
}

impl Capture {
    /// The variables.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Whole(name) => vec![name],
            Self::Parts(parts) => parts.iter().map(|(name, _)| name.as_str()).collect(),
        }
    }
}

/// Steps on a condition.
#[derive(Debug, Clone)]
pub struct If {
    /// The contract that decides.
    pub contract: Node,
    /// What is done if it passes.
    pub then: Vec<Step>,
    /// What is done if it does not.
    pub otherwise: Vec<Step>,
}

/// Steps several times.
#[derive(Debug, Clone)]
pub struct Repeat {
    /// How often.
    pub until: Until,
    /// What is done each time.
    pub steps: Vec<Step>,
}

/// How often something is repeated.
#[derive(Debug, Clone)]
pub enum Until {
    /// So often.
    Times(Count),
    /// Until a contract passes, but not more often than this.
    Passes {
        /// The contract, asked after each time.
        contract: Node,
        /// How often at most.
        max: Count,
    },
}

impl Until {
    /// How often at most.
    pub fn most(&self) -> &Count {
        match self {
            Self::Times(times) => times,
            Self::Passes { max, .. } => max,
        }
    }
}

/// Steps for each of some values.
#[derive(Debug, Clone)]
pub struct ForEach {
    /// What the value is called inside.
    pub variable: String,
    /// The values, which may hold references.
    pub values: Vec<Text>,
    /// What is done for each.
    pub steps: Vec<Step>,
}

/// One of several that run side by side.
#[derive(Debug, Clone)]
pub struct Branch {
    /// What reports call it.
    pub name: Option<String>,
    /// What is done in it.
    pub steps: Vec<Step>,
}

/// Another playbook in place.
///
/// Its `vars` are defaults and those of the step win. It has no `serve`, `viewport` and `device`.
#[derive(Debug, Clone)]
pub struct Use {
    /// As it is written.
    pub path: Text,
    /// What the playbook shall have for its variables; values may hold references.
    pub vars: Vec<Variable>,
    /// What was found there. The same file used twice is the same here.
    pub playbook: Arc<Playbook>,
}
