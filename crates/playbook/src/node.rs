//! A document as a tree in which everything knows its place.
//!
//! Both formats become the same tree (`yaml` and `json` read them). What the tree means is not known here.

pub(crate) mod json;
pub(crate) mod yaml;

use serde_json::{Map, Number, Value as Json};

use crate::problem::{Problem, Problems};
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
    Bool(bool, Written),
    /// Whole or not.
    Number(Number, Written),
    /// A text.
    String(String),
    /// Values in a row.
    List(Vec<Node>),
    /// Keys, each once, in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// A number, `true` or `false` as it stands in the file: where a text is wanted, `01234` is not `1234`.
pub type Written = Box<str>;

/// A key and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Where it begins.
    pub at: Position,
    /// What it is called.
    pub text: String,
}

/// Complains about a key that its mapping has already.
fn say_repeated(key: &Key, source: &Source, problems: &mut Problems) {
    match problems.is_full() {
        true => problems.count(),
        false => problems.push(source.problem(key.at, format!("the key {:?} is there twice", key.text))),
    }
}

impl Node {
    /// Reads a document of either format. What is wrong with single values goes to `problems`, and reading goes on.
    pub fn read(source: &Source, problems: &mut Problems) -> Result<Self, Problem> {
        match source.format() {
            Format::Yaml => yaml::read(source, problems),
            Format::Json => json::read(source, problems),
        }
    }

    /// The sort of the value, in words.
    pub fn sort(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(..) => "true or false",
            Value::Number(..) => "a number",
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

    /// The text of something that may stand for one: what it says, or as it is written.
    pub fn into_word(self) -> Option<String> {
        match self.value {
            Value::String(text) => Some(text),
            Value::Number(_, written) | Value::Bool(_, written) => Some(written.into()),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Makes texts of the numbers in it that are not written as they would be told: `01234`, `1.50`, `0x1F`.
    pub(crate) fn keep_spelling(&mut self) {
        match &mut self.value {
            Value::Number(number, written) if number.to_string() != **written => {
                self.value = Value::String(std::mem::take(written).into());
            }
            Value::List(items) => items.iter_mut().for_each(Self::keep_spelling),
            Value::Map(entries) => entries.iter_mut().for_each(|(_, value)| value.keep_spelling()),
            _ => {}
        }
    }

    /// The same value without places; `write` says what becomes of each text.
    pub(crate) fn to_json_with(&self, write: &mut dyn FnMut(&str, Position) -> String) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value, _) => Json::Bool(*value),
            Value::Number(number, _) => Json::Number(number.clone()),
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
        let mut problems = Problems::default();
        let node = Node::read(&Source::from_bytes(Path::new(name), text.into()).unwrap(), &mut problems);
        assert!(problems.is_empty(), "{problems}");
        node.unwrap()
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
