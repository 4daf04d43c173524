//! A document as a tree in which everything knows its place.
//!
//! Both formats become the same tree (`yaml` and `json` read them). What the tree means is not known here.

pub(crate) mod json;
pub(crate) mod yaml;

use serde_json::{Map, Number, Value as Json};

use crate::problem::Problem;
use crate::source::{Format, Position, Source};

/// Deeper documents are a mistake, and would cost stack.
pub(crate) const DEEPEST: usize = 64;

/// Documents with more values are a mistake, and would cost memory.
pub(crate) const MOST_NODES: usize = 250_000;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub at: Position,
    /// What it is.
    pub value: Value,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing, or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Whole or not.
    Number(Number),
    /// A text.
    String(String),
    /// Values in a row.
    List(Vec<Node>),
    /// Keys, each once, in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// A key and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Where it begins.
    pub at: Position,
    /// What it is called.
    pub text: String,
}

impl Node {
    /// Reads a document of either format.
    pub fn read(source: &Source) -> Result<Self, Problem> {
        match source.format() {
            Format::Yaml => yaml::read(source),
            Format::Json => json::read(source),
        }
    }

    /// The sort of the value, in words.
    pub fn sort(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The same value without places; `write` says what becomes of each text.
    pub(crate) fn to_json_with(&self, write: &mut dyn FnMut(&str, Position) -> String) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.clone()),
            Value::String(text) => Json::String(write(text, self.at)),
            Value::List(items) => items.iter().map(|item| item.to_json_with(write)).collect(),
            Value::Map(entries) => {
                let entries =
                    entries.iter().map(|(key, value)| (key.text.clone(), value.to_json_with(write)));
                Json::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// The same value without places.
    pub fn to_json(&self) -> Json {
        self.to_json_with(&mut |text, _| text.to_owned())
    }

    /// The place of the value that a JSON pointer leads to, or of the nearest value on the way there.
    pub fn at_pointer(&self, pointer: &str) -> Position {
        self.follow(pointer).0
    }

    /// The place of the key that a JSON pointer ends with. Where it ends at no key, as [`Node::at_pointer`].
    pub fn key_at_pointer(&self, pointer: &str) -> Position {
        let (value, key) = self.follow(pointer);
        key.unwrap_or(value)
    }

    fn follow(&self, pointer: &str) -> (Position, Option<Position>) {
        let (mut node, mut key) = (self, None);
        for token in pointer.split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            let next = match &node.value {
                Value::Map(entries) => {
                    entries.iter().find(|(key, _)| key.text == name).map(|(key, value)| (value, Some(key.at)))
                }
                Value::List(items) => {
                    name.parse().ok().and_then(|index: usize| items.get(index)).map(|item| (item, None))
                }
                _ => None,
            };
            let Some((value, its_key)) = next else { return (node.at, None) };
            (node, key) = (value, its_key);
        }
        (node.at, key)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn read(name: &str, text: &str) -> Node {
        Node::read(&Source::from_bytes(Path::new(name), text.into()).unwrap()).unwrap()
    }

    fn place(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    #[test]
    fn pointers_lead_to_places() {
        let node = read("a.yaml", "url: x\nfields:\n  email: ada\n  a/b: [1, {c: 2}]\n");
        assert_eq!(node.at_pointer("/fields/email"), place(3, 10));
        assert_eq!(node.key_at_pointer("/fields/email"), place(3, 3));
        assert_eq!(node.at_pointer("/fields/a~1b/1/c"), place(4, 16));
        assert_eq!(node.at_pointer("/fields/none/deeper"), place(3, 3));
        assert_eq!(node.at_pointer(""), place(1, 1));
        assert_eq!(node.at_pointer("/"), place(1, 1));
        assert_eq!(node.key_at_pointer("/fields/a~1b/0"), place(4, 9));
    }

    #[test]
    fn both_formats_become_the_same_tree() {
        let text = "{\"a\": [1, 2.5, -3, true, null, \"x\"],\n \"b\": {\"c\": \"ä\"}}";
        let (yaml, json) = (read("a.yaml", text), read("a.json", text));
        assert_eq!(yaml, json);
        assert_eq!(yaml.to_json(), json!({ "a": [1, 2.5, -3, true, null, "x"], "b": { "c": "ä" } }));
        assert_eq!(json.at_pointer("/b/c"), place(2, 13));
    }
}
