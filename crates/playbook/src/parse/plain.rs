//! Plain steps: one call of a tool.

use super::File;
use super::fields::Fields;
use crate::document::{Arguments, Capture, Plain, Text, VERBS};
use crate::node::{Key, Node, Value};

/// Trying again and again does not help.
const MOST_RETRIES: u64 = 100;

impl File<'_, '_> {
    pub(super) fn plain(
        &mut self,
        verb: Key,
        value: Node,
        fields: &mut Fields,
        label: &str,
    ) -> Option<Plain> {
        let document = VERBS.iter().find(|(name, _)| *name == verb.text);
        let arguments = match document {
            Some((_, about)) => self.object(&verb, value, about, label),
            None => self.words(&verb, value, label),
        };
        let timeout_ms =
            fields.take("timeout").and_then(|(_, node)| self.count(node, "`timeout`", 1, u64::MAX));
        let retries =
            fields.take("retries").and_then(|(_, node)| self.whole(&node, "`retries`", 0, MOST_RETRIES));
        let capture = fields.take("capture").and_then(|(_, node)| self.capture(node));
        let retries = retries.and_then(|retries| u32::try_from(retries).ok()).unwrap_or(0);
        Some(Plain { verb: verb.text, verb_at: verb.at, arguments: arguments?, timeout_ms, retries, capture })
    }

    /// A mapping; nothing is an empty one.
    fn object(&mut self, verb: &Key, mut value: Node, about: &str, label: &str) -> Option<Arguments> {
        if let Value::Map(entries) = &mut value.value
            && verb.text == "fill_form"
        {
            // What goes into a field is a text, and `01234` is one in which each digit counts.
            let fields = entries.iter_mut().filter(|(key, _)| key.text == "fields");
            fields.for_each(|(_, fields)| fields.keep_spelling());
        }
        match value.value {
            Value::Map(_) => Some(Arguments::Object(value)),
            Value::Null => Some(Arguments::Object(Node { at: verb.at, value: Value::Map(Vec::new()) })),
            _ => {
                let sort = value.sort();
                self.wrong(
                    value.at,
                    format!(
                        "{:?} in {label} takes a mapping such as {{ {about}: … }}, not {sort}",
                        verb.text
                    ),
                );
                None
            }
        }
    }

    /// A mapping, or one word, or a list of words, or none.
    fn words(&mut self, verb: &Key, value: Node, label: &str) -> Option<Arguments> {
        let at = if value.value == Value::Null { verb.at } else { value.at };
        let words = match value.value {
            Value::Map(_) => return Some(Arguments::Object(value)),
            Value::Null => Vec::new(),
            Value::List(items) => {
                let words: Vec<_> = items.into_iter().map(|item| self.word(item, verb, label)).collect();
                words.into_iter().collect::<Option<_>>()?
            }
            _ => vec![self.word(value, verb, label)?],
        };
        Some(Arguments::Words { words, at })
    }

    fn word(&mut self, node: Node, verb: &Key, label: &str) -> Option<Text> {
        let (at, sort) = (node.at, node.sort());
        let text = node.into_word();
        if text.is_none() {
            self.wrong(at, format!("a word of {:?} in {label} is a text, not {sort}", verb.text));
        }
        text.map(|text| Text { text, at })
    }

    fn capture(&mut self, node: Node) -> Option<Capture> {
        let sort = node.sort();
        match node.value {
            Value::String(name) => self.variable_name(&name, node.at).map(Capture::Whole),
            Value::Map(entries) => {
                let mut parts = Vec::new();
                for (key, node) in entries {
                    let name = self.variable_name(&key.text, key.at);
                    let pointer = self.pointer(node);
                    match (name, pointer) {
                        (Some(name), Some(pointer)) => parts.push((name, pointer)),
                        // The name is known all the same: one problem is enough.
                        (Some(name), None) => self.uncertain.push(name),
                        (None, _) => {}
                    }
                }
                Some(Capture::Parts(parts))
            }
            _ => {
                self.wrong(
                    node.at,
                    format!("`capture` is a variable, or a mapping such as {{ total: /result }}, not {sort}"),
                );
                None
            }
        }
    }

    fn pointer(&mut self, node: Node) -> Option<String> {
        let pointer = self.text(node, "what to capture")?;
        if pointer.text.is_empty() || pointer.text.starts_with('/') {
            return Some(pointer.text);
        }
        self.wrong(
            pointer.at,
            format!("{:?} is no JSON pointer into the result: it begins with /", pointer.text),
        );
        None
    }
}
