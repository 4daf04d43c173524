//! The keys of a mapping, taken one by one, and the sorts of values that they hold.

use super::File;
use crate::document::{Count, Text, Variable, range};
use crate::nearest::did_you_mean;
use crate::node::{Key, Node, Value};
use crate::source::Position;
use crate::typed::is_lone_variable;
use crate::vars::{is_name, is_variable_name, references};

/// The keys of a mapping that were not taken yet.
pub(super) struct Fields(Vec<(Key, Node)>);

impl Fields {
    pub(super) fn new(entries: Vec<(Key, Node)>) -> Self {
        Self(entries)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<(Key, Node)> {
        let index = self.0.iter().position(|(key, _)| key.text == name)?;
        Some(self.0.remove(index))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.0.iter().find(|(key, _)| key.text == name).map(|(_, node)| node)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.0.iter().map(|(key, _)| key)
    }
}

impl File<'_, '_> {
    /// The keys of something that must be a mapping.
    pub(super) fn mapping(&mut self, node: Node, what: &str) -> Option<Fields> {
        match node.value {
            Value::Map(entries) => Some(Fields::new(entries)),
            _ => {
                self.wrong(node.at, format!("{what} is a mapping, not {}", node.sort()));
                None
            }
        }
    }

    /// Complains about keys that nobody took.
    pub(super) fn no_more(&mut self, fields: Fields, what: &str, known: &[&str]) {
        for key in fields.keys() {
            self.session.problems.push_with(|| {
                let hint = did_you_mean(&key.text, known.iter().copied());
                let problem =
                    self.source.problem(key.at, format!("unknown key {:?} in {what}{hint}", key.text));
                problem.note(format!("the keys are {}", known.join(", ")))
            });
        }
    }

    pub(super) fn text(&mut self, node: Node, what: &str) -> Option<Text> {
        let sort = node.sort();
        match node.value {
            Value::String(text) => Some(Text { text, at: node.at }),
            Value::Number(..) | Value::Bool(..) => {
                self.wrong(node.at, format!("{what} is a text, not {sort}; put it in quotes"));
                None
            }
            _ => {
                self.wrong(node.at, format!("{what} is a text, not {sort}"));
                None
            }
        }
    }

    /// A text that is needed before there are variables.
    pub(super) fn fixed(&mut self, node: Node, what: &str) -> Option<Text> {
        let text = self.text(node, what)?;
        let Some(reference) = references(&text.text).next() else { return Some(text) };
        self.wrong(text.at, format!("{what} takes no variables, and this refers to {:?}", reference.key()));
        None
    }

    /// A whole number, or a variable alone that is one.
    pub(super) fn count(&mut self, node: Node, what: &'static str, least: u64, most: u64) -> Option<Count> {
        match node.value {
            Value::String(text) if is_lone_variable(&text) => {
                Some(Count::Variable { text: Text { text, at: node.at }, what, least, most })
            }
            _ => self.whole(&node, what, least, most).map(Count::Is),
        }
    }

    pub(super) fn whole(&mut self, node: &Node, what: &str, least: u64, most: u64) -> Option<u64> {
        let number = match &node.value {
            Value::Number(number, _) => number.as_u64().filter(|number| (least..=most).contains(number)),
            _ => None,
        };
        if number.is_none() {
            let range = range(least, most);
            let found = match &node.value {
                Value::Number(_, written) => written.to_string(),
                _ => node.sort().to_owned(),
            };
            self.wrong(node.at, format!("{what} is a whole number {range}, not {found}"));
        }
        number
    }

    /// The name of a variable that something is put into.
    pub(super) fn variable_name(&mut self, name: &str, at: Position) -> Option<String> {
        if is_variable_name(name) {
            return Some(name.to_owned());
        }
        self.wrong(
            at,
            format!("{name:?} is no name for a variable: letters, digits and _, not a digit first"),
        );
        None
    }

    /// Variables with their values. Those that are wrong are known all the same: one problem is enough.
    pub(super) fn variables(&mut self, node: Node, what: &str) -> Vec<Variable> {
        // `vars:` with everything commented out.
        if node.value == Value::Null {
            return Vec::new();
        }
        let Some(fields) = self.mapping(node, what) else { return Vec::new() };
        let mut variables = Vec::new();
        for (key, node) in fields.0 {
            if !is_name(&key.text) {
                self.variable_name(&key.text, key.at);
                continue;
            }
            match self.text(node, &format!("the variable {:?}", key.text)) {
                Some(value) => variables.push(Variable { name: key.text, value }),
                None => self.uncertain.push(key.text),
            }
        }
        variables
    }
}
