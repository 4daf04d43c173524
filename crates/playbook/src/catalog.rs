//! What the reader has to be told about the tools: it knows none of them by itself.

use serde_json::Value;

use crate::typed::Sort;

/// The tools that steps can call.
pub trait Catalog {
    /// The verbs of the command line, which are steps besides the nine of the document.
    fn verbs(&self) -> &[String];

    /// Turns what follows a verb on the command line into its arguments, or says why that cannot be.
    fn words(&self, verb: &str, words: &[String]) -> Result<Value, Unread>;

    /// Everything that is wrong with the arguments of a tool.
    fn check(&self, tool: &str, arguments: &Value) -> Vec<Finding>;

    /// What an argument of a tool must be, if it is no text: a JSON pointer leads to it.
    fn sort_of(&self, _tool: &str, _pointer: &str) -> Option<Sort> {
        None
    }

    /// Every reference to a secret that stands where the tool takes none: a JSON pointer to it, and the name of the secret.
    fn misplaced(&self, _tool: &str, _arguments: &Value) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Why words are no arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// In one sentence.
    pub message: String,
    /// Because of which word; nothing where one is missing.
    pub word: Option<usize>,
}

/// Something that is wrong with arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// A JSON pointer to it; empty for the arguments as a whole.
    pub pointer: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Whether the key is wrong rather than what it holds.
    pub is_about_key: bool,
}

impl Finding {
    /// A value is wrong, or is missing.
    pub fn value(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), is_about_key: false }
    }

    /// A key is wrong.
    pub fn key(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), is_about_key: true }
    }
}
