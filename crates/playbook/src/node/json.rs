//! JSON into a [`Node`].
//!
//! The YAML reader is not used for it: its keys are bounded in length, it knows no surrogate pairs, and it accepts what
//! is no JSON. serde_json says first whether the text is JSON, then a small walk over the same text finds the places; texts
//! and numbers are serde_json's in the end, too.

use std::collections::HashSet;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::{DEEPEST, Key, MOST_NODES, Node, Value};
use crate::problem::{Problem, Problems};
use crate::source::{Position, Source};

/// Reads a document; an empty one is null, as in YAML.
pub(crate) fn read(source: &Source, problems: &mut Problems) -> Result<Node, Problem> {
    let text = source.text();
    if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        return Ok(Node { at: Position::START, value: Value::Null });
    }
    // Looking without keeping takes no stack, however deep the text is.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        let at = source.position_of_byte_column(error.line(), error.column());
        return Err(source.problem(at, format!("this is not JSON that can be read: {}", sentence(&error))));
    }
    let mut walk = Walk { source, problems, text, offset: 0, nodes: 0, cursor: Cursor::default() };
    walk.node(0)
}

/// serde_json's message without the place, which is told already.
fn sentence(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Over a text that is known to be JSON.
struct Walk<'a> {
    source: &'a Source,
    /// What is wrong with single values.
    problems: &'a mut Problems,
    text: &'a str,
    offset: usize,
    nodes: usize,
    cursor: Cursor,
}

/// The place of the last byte that was asked for. Places are asked for in order, so a long line is counted once.
#[derive(Default)]
struct Cursor {
    offset: usize,
    line: u32,
    column: u32,
}

impl Cursor {
    fn go(&mut self, text: &str, to: usize) -> Position {
        for character in text.get(self.offset..to).unwrap_or_default().chars() {
            (self.line, self.column) =
                if character == '\n' { (self.line + 1, 0) } else { (self.line, self.column + 1) };
        }
        self.offset = to.max(self.offset);
        Position { line: self.line + 1, column: self.column + 1 }
    }
}

impl<'a> Walk<'a> {
    fn node(&mut self, depth: usize) -> Result<Node, Problem> {
        let next = self.peek();
        let at = self.here();
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.source.problem(at, format!("a playbook has at most {MOST_NODES} values")));
        }
        let is_nested = matches!(next, Some(b'[' | b'{'));
        if is_nested && depth >= DEEPEST {
            return Err(self.source.problem(at, format!("this is nested deeper than {DEEPEST} levels")));
        }
        let value = match next {
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::String(self.string(at).unwrap_or_default()),
            Some(b't') => self.word("true", Value::Bool(true, "true".into())),
            Some(b'f') => self.word("false", Value::Bool(false, "false".into())),
            Some(b'n') => self.word("null", Value::Null),
            _ => self.number(at),
        };
        Ok(Node { at, value })
    }

    fn map(&mut self, depth: usize) -> Result<Value, Problem> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        self.offset += 1;
        while self.peek().is_some_and(|byte| byte != b'}') {
            let at = self.here();
            let text = self.string(at);
            self.skip(b':');
            let value = self.node(depth + 1)?;
            self.skip(b',');
            let Some(text) = text else { continue };
            let key = Key { at, text };
            if seen.insert(key.text.clone()) {
                entries.push((key, value));
            } else {
                super::say_repeated(&key, self.source, self.problems);
            }
        }
        self.offset += 1;
        Ok(Value::Map(entries))
    }

    fn list(&mut self, depth: usize) -> Result<Value, Problem> {
        let mut items = Vec::new();
        self.offset += 1;
        while self.peek().is_some_and(|byte| byte != b']') {
            items.push(self.node(depth + 1)?);
            self.skip(b',');
        }
        self.offset += 1;
        Ok(Value::List(items))
    }

    fn string(&mut self, at: Position) -> Option<String> {
        let inside = self.text.as_bytes().iter().enumerate().skip(self.offset + 1);
        let mut escaped = false;
        let mut end = self.text.len();
        for (index, byte) in inside {
            if !escaped && *byte == b'"' {
                end = index + 1;
                break;
            }
            escaped = !escaped && *byte == b'\\';
        }
        self.token(end, at)
    }

    fn number(&mut self, at: Position) -> Value {
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = self.text.as_bytes().iter().skip(self.offset).take_while(|byte| is_part(byte)).count();
        let end = self.offset + length;
        let written = self.text.get(self.offset..end).unwrap_or_default();
        // Everything is said about one that means nothing, and as a text it fits where a word does.
        let text = || Value::String(written.to_owned());
        self.token(end, at).map_or_else(text, |number| Value::Number(number, written.into()))
    }

    /// What stands from here to `end`. Even in valid JSON half a surrogate pair and `1e999` mean nothing.
    fn token<T: DeserializeOwned>(&mut self, end: usize, at: Position) -> Option<T> {
        let token = self.text.get(self.offset..end).unwrap_or_default();
        self.offset = end;
        let refuse = |error| {
            let message = format!("this is not JSON that can be read: {}", sentence(&error));
            self.problems.settle(self.source.problem(at, message));
        };
        serde_json::from_str(token).map_err(refuse).ok()
    }

    fn word(&mut self, word: &str, value: Value) -> Value {
        self.offset += word.len();
        value
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().iter().skip(self.offset);
        self.offset += rest.take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.offset).copied()
    }

    fn skip(&mut self, byte: u8) {
        if self.peek() == Some(byte) {
            self.offset += 1;
        }
    }

    fn here(&mut self) -> Position {
        self.cursor.go(self.text, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    use super::*;

    fn source(text: &str) -> Source {
        Source::from_bytes(Path::new("a.json"), text.into()).unwrap()
    }

    /// As the tests of this file mean it: nothing is wrong at all.
    fn read(source: &Source) -> Result<Node, Problems> {
        let mut problems = Problems::default();
        match super::read(source, &mut problems) {
            Ok(node) if problems.is_empty() => Ok(node),
            Ok(_) => Err(problems),
            Err(problem) => Err(problem.into()),
        }
    }

    fn refusal(text: &str) -> String {
        read(&source(text)).unwrap_err().to_string().lines().next().unwrap().to_owned()
    }

    #[test]
    fn everything_that_is_odd_is_told_at_once() {
        let problems = read(&source("{\"a\": [1e999, \"\\ud83d\"],\n \"a\": 2, \"a\": 3}")).unwrap_err();
        let places: Vec<_> = problems.iter().map(|problem| problem.at.unwrap().to_string()).collect();
        assert_eq!(places, ["1:8", "1:15", "2:2", "2:10"]);
    }

    #[test]
    fn numbers_keep_their_spelling() {
        let node = read(&source("[1.50, -0, 1E2, 99999999999999999999999, true]")).unwrap();
        let Value::List(items) = node.value else { panic!() };
        let words: Vec<_> = items.into_iter().filter_map(Node::into_word).collect();
        assert_eq!(words, ["1.50", "-0", "1E2", "99999999999999999999999", "true"]);
    }

    #[test]
    fn what_yaml_would_read_otherwise_is_right() {
        let long = "k".repeat(3_000);
        let text = format!(
            "{{\"\\ud83d\\ude00\":\t\"\\/\\u00e9\", \"{long}\":1, \"e\":[1E2, -0.0], \"t\":\"a: b # c\"}}"
        );
        let expected = serde_json::from_str::<Json>(&text).unwrap();
        let node = read(&source(&text)).unwrap();
        assert_eq!(node.to_json(), expected);
        assert_eq!(node.at_pointer("/😀"), Position { line: 1, column: 18 });
        assert_eq!(read(&source(" ")).unwrap().to_json(), Json::Null);
    }

    #[test]
    fn errors_have_places() {
        assert_eq!(
            refusal("{\"ä\": 1,\n \"b\" 2}"),
            "a.json:2:6: this is not JSON that can be read: expected `:`"
        );
        assert_eq!(refusal("{\"a\": 1,\n \"a\": 2}"), "a.json:2:2: the key \"a\" is there twice");
        assert_eq!(refusal("{\"a\": 1, \"\\u0061\": 2}"), "a.json:1:10: the key \"a\" is there twice");
        assert!(refusal("[1,\n \"\\ud83d\"]").starts_with("a.json:2:2: this is not JSON"));
        assert!(refusal("[1e999]").starts_with("a.json:1:2: this is not JSON"));
        assert!(refusal("[1] x").starts_with("a.json:1:5: this is not JSON"));
        assert!(refusal("# comment\n{}").starts_with("a.json:1:1: this is not JSON"));
        assert!(refusal("{\"a\": 1").starts_with("a.json:1:"));
        // To JSON these are no spaces.
        assert!(refusal("\u{2028}").starts_with("a.json:1:1: this is not JSON"));
        assert!(refusal("\u{c}").starts_with("a.json:1:1: this is not JSON"));
    }

    #[test]
    fn deep_documents_are_refused() {
        for depth in [100, 100_000] {
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(refusal(&nested), "a.json:1:65: this is nested deeper than 64 levels");
            refusal(&"{\"a\":".repeat(depth));
        }
        assert!(read(&source(&format!("{}{}", "[".repeat(DEEPEST), "]".repeat(DEEPEST)))).is_ok());
    }

    #[test]
    fn long_lines_take_no_quadratic_time() {
        let items = vec!["\"x\""; 200_000].join(",");
        let effort = surehand_testkit::Effort::begin();
        assert!(read(&source(&format!("[{items}]"))).is_ok());
        assert!(effort.spent().as_secs() < 5, "{:?}", effort.spent());
    }

    fn documents() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<f64>().prop_map(Json::from),
            "\\PC{0,8}|[\"\\\\\n\t]{0,3}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
                proptest::collection::btree_map("\\PC{0,6}", inner, 0..5)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_document_is_read_as_serde_json_reads_it(document in documents(), pretty in any::<bool>()) {
            let text = if pretty { format!("{document:#}") } else { document.to_string() };
            let expected: Json = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read(&source(&text)).unwrap().to_json(), expected);
        }

        #[test]
        fn nothing_panics(text in "[\\[\\]{}:,\"\\\\0-9eE.+tfn \n-]{0,30}|\\PC{0,20}") {
            let read = read(&source(&text));
            let valid = serde_json::from_str::<Json>(&text).is_ok();
            // Duplicate keys are what serde_json accepts and we do not.
            prop_assert!(valid || read.is_err() || text.trim().is_empty());
        }
    }

    #[test]
    fn places_are_those_of_values() {
        let node = read(&source("{ \"a\" : [ 10,\n\t{\"b\":null} ] }")).unwrap();
        assert_eq!(node.to_json(), json!({ "a": [10, { "b": null }] }));
        assert_eq!(node.at_pointer("/a"), Position { line: 1, column: 9 });
        assert_eq!(node.at_pointer("/a/1/b"), Position { line: 2, column: 7 });
        assert_eq!(node.key_at_pointer("/a/1/b"), Position { line: 2, column: 3 });
    }
}
