//! What a tool is called with: the arguments of a step with values put in.
//!
//! The run calls this for each step; the check goes the same way with what it knows.

use serde_json::{Map, Value};

use crate::catalog::{Catalog, Unread};
use crate::document::{ASSERT_TOOL, Arguments, Plain, Text};
use crate::node::Node;
use crate::typed::give_sorts;
use crate::vars::{self, Filling, LARGEST_TEXT, Scope, Secrets, Unfillable, references};

/// A call that is ready to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its arguments, an object. References to secrets are still in there if the secrets layer has them.
    pub arguments: Value,
}

/// Why a call cannot be made. No value of a variable is in any of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// A variable has no value, e.g. because the step that captures it did not run.
    #[error("the variable {0:?} has no value")]
    NoValue(String),
    /// Values cannot be put in.
    #[error(transparent)]
    Unfillable(#[from] Unfillable),
    /// More than anybody needs.
    #[error("with their variables put in, the arguments are larger than {} MiB in all", LARGEST_TEXT / 1024 / 1024)]
    TooLarge,
    /// A variable is no number where one is wanted.
    #[error("{what} is a whole number {range}, and with its variable put in {written:?} is none")]
    NoNumber {
        /// What it is the number of.
        what: &'static str,
        /// As it is written.
        written: String,
        /// Which numbers are meant.
        range: String,
    },
    /// A value would have become an option of the command line.
    #[error("with its variables put in, {0:?} would be an option; write the arguments as a mapping instead")]
    Option(String),
    /// The words are not what the verb takes.
    #[error("{message}")]
    Words {
        /// Why.
        message: String,
        /// Because of which word.
        word: Option<usize>,
    },
}

/// The call that a plain step makes.
pub fn call(
    plain: &Plain,
    scope: &Scope,
    secrets: &dyn Secrets,
    catalog: &dyn Catalog,
) -> Result<Call, CallError> {
    let arguments = match &plain.arguments {
        Arguments::Object(node) => typed_node(plain.tool(), node, scope, secrets, catalog)?,
        Arguments::Words { words, .. } => {
            let mut room = Room::default();
            let filled: Result<Vec<_>, _> = words
                .iter()
                .map(|word| {
                    let text = filled_word(&word.text, scope, secrets)?;
                    room.take(&word.text, &text).map(|()| text)
                })
                .collect();
            words_to_arguments(&plain.verb, words, &filled?, catalog)?
        }
    };
    let arguments = if plain.tool() == ASSERT_TOOL { wrapped(arguments) } else { arguments };
    Ok(Call { tool: plain.tool().to_owned(), arguments })
}

/// The arguments of a call that cannot be made, as far as they are known: what has no value stays as it is written. They
/// are an object all the same.
pub fn known_arguments(plain: &Plain, scope: &Scope, secrets: &dyn Secrets, catalog: &dyn Catalog) -> Value {
    match &plain.arguments {
        Arguments::Object(node) => {
            let arguments = node.to_json_with(&mut |text, _| {
                filled(text, scope, secrets).unwrap_or_else(|_| text.to_owned())
            });
            if plain.tool() == ASSERT_TOOL { wrapped(arguments) } else { arguments }
        }
        Arguments::Words { words, .. } => {
            let written: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
            let known: Vec<String> = written
                .iter()
                .map(|word| filled_word(word, scope, secrets).unwrap_or_else(|_| word.clone()))
                .collect();
            let read = catalog.words(&plain.verb, &known).or_else(|_| catalog.words(&plain.verb, &written));
            // A name where a number belongs: nobody knows which argument it is.
            read.unwrap_or_else(|_| serde_json::json!({ "words": known }))
        }
    }
}

/// The call that asks whether a contract passes, for `if` and `until`.
pub fn contract_call(
    contract: &Node,
    scope: &Scope,
    secrets: &dyn Secrets,
    catalog: &dyn Catalog,
) -> Result<Call, CallError> {
    let arguments = wrapped(typed_node(ASSERT_TOOL, contract, scope, secrets, catalog)?);
    Ok(Call { tool: ASSERT_TOOL.to_owned(), arguments })
}

/// A text with all its values put in.
pub fn filled(text: &str, scope: &Scope, secrets: &dyn Secrets) -> Result<String, CallError> {
    known(text, scope, secrets).map(|filling| filling.text)
}

/// The same as the value of a variable: references to secrets that its author wrote stay references.
pub(crate) fn filled_value(
    text: &str,
    scope: &Scope,
    secrets: &dyn Secrets,
) -> Result<vars::Value, CallError> {
    known(text, scope, secrets).map(Filling::into_value)
}

fn known(text: &str, scope: &Scope, secrets: &dyn Secrets) -> Result<Filling, CallError> {
    let filling = scope.fill(text, secrets)?;
    if filling.is_known() {
        return Ok(filling);
    }
    let is_without = |name: &String| !matches!(scope.get(name), Some(vars::Binding::Known(_)));
    let missing = references(text).map(|reference| reference.key()).find(is_without);
    let unknown = filling.unknown.into_iter().next();
    Err(CallError::NoValue(unknown.or(missing).unwrap_or_default()))
}

/// What is left of the room for values in the arguments of one call. Texts without values take none.
#[derive(Debug)]
pub(crate) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(LARGEST_TEXT)
    }
}

impl Room {
    pub(crate) fn take(&mut self, written: &str, filled: &str) -> Result<(), CallError> {
        if written != filled {
            self.0 = self.0.checked_sub(filled.len()).ok_or(CallError::TooLarge)?;
        }
        Ok(())
    }
}

/// The arguments of a tool with values put in, each of the sort that is wanted there.
fn typed_node(
    tool: &str,
    node: &Node,
    scope: &Scope,
    secrets: &dyn Secrets,
    catalog: &dyn Catalog,
) -> Result<Value, CallError> {
    let mut arguments = filled_node(node, scope, secrets)?;
    let at = wrapping(tool, &arguments);
    give_sorts(tool, node, &mut arguments, at, catalog);
    Ok(arguments)
}

/// Where arguments will stand that are wrapped before they are sent.
pub(crate) fn wrapping(tool: &str, arguments: &Value) -> &'static str {
    if tool == ASSERT_TOOL && !is_wrapped(arguments) { "/contract" } else { "" }
}

fn filled_node(node: &Node, scope: &Scope, secrets: &dyn Secrets) -> Result<Value, CallError> {
    let (mut first, mut room) = (None, Room::default());
    let value = node.to_json_with(&mut |text, _| {
        if first.is_some() {
            return String::new();
        }
        let filled =
            filled(text, scope, secrets).and_then(|filled| room.take(text, &filled).map(|()| filled));
        filled.unwrap_or_else(|error| {
            first.get_or_insert(error);
            String::new()
        })
    });
    first.map_or(Ok(value), Err)
}

fn filled_word(word: &str, scope: &Scope, secrets: &dyn Secrets) -> Result<String, CallError> {
    let text = filled(word, scope, secrets)?;
    refuse_option(word, &text)?;
    Ok(text)
}

/// What a page says must not become an option. Negative numbers are none.
pub(crate) fn refuse_option(written: &str, filled: &str) -> Result<(), CallError> {
    let is_option = |word: &str| {
        let mut letters = word.chars();
        letters.next() == Some('-')
            && letters.next().is_some_and(|second| !second.is_ascii_digit() && second != '.')
    };
    if is_option(filled) && !written.starts_with('-') {
        return Err(CallError::Option(written.to_owned()));
    }
    Ok(())
}

/// What words mean. What is said about values is not repeated; what is said about the words as written is.
pub(crate) fn words_to_arguments(
    verb: &str,
    written: &[Text],
    filled: &[String],
    catalog: &dyn Catalog,
) -> Result<Value, CallError> {
    catalog.words(verb, filled).map_err(|Unread { message, word }| {
        let as_written: Vec<String> = written.iter().map(|word| word.text.clone()).collect();
        if as_written == filled {
            return CallError::Words { message, word };
        }
        let generic = || format!("with their variables put in, these words do not fit {verb:?}");
        let message = catalog.words(verb, &as_written).err().map_or_else(generic, |unread| unread.message);
        CallError::Words { message, word }
    })
}

/// A contract by itself becomes the argument of the tool that judges it; the arguments of that tool stay as they are.
pub(crate) fn wrapped(arguments: Value) -> Value {
    if is_wrapped(&arguments) {
        return arguments;
    }
    Value::Object(Map::from_iter([("contract".to_owned(), arguments)]))
}

pub(crate) fn is_wrapped(arguments: &Value) -> bool {
    arguments.get("contract").is_some() || arguments.get("evidence").is_some()
}
