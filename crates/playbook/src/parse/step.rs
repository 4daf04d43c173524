//! One step: which verb it has, and what may stand beside it.

use super::File;
use super::fields::Fields;
use crate::document::{Action, Step, VERBS};
use crate::nearest::{did_you_mean, nearest};
use crate::node::{Key, Node, Value};
use crate::source::Position;

/// Steps that hold steps, each with the keys that belong to it.
const CONTROLS: [(&str, &[&str]); 5] = [
    ("if", &["then", "else"]),
    ("repeat", &["steps"]),
    ("for_each", &["steps"]),
    ("parallel", &[]),
    ("use", &["vars"]),
];

/// Beside every verb.
const COMMON: [&str; 2] = ["id", "name"];

/// Beside the verb of a plain step.
const MODIFIERS: [&str; 3] = ["timeout", "retries", "capture"];

impl File<'_, '_> {
    /// The steps of a list; those that are not understood are left out.
    pub(super) fn steps(&mut self, node: Node, what: &str, prefix: &str) -> Vec<Step> {
        let sort = node.sort();
        let Value::List(items) = node.value else {
            self.wrong(node.at, format!("{what} is a list of steps, not {sort}"));
            return Vec::new();
        };
        let numbered = items.into_iter().enumerate();
        numbered.filter_map(|(index, item)| self.step(item, format!("{prefix}{index}"))).collect()
    }

    fn step(&mut self, node: Node, label: String) -> Option<Step> {
        let (at, sort) = (node.at, node.sort());
        let Value::Map(entries) = node.value else {
            self.wrong(
                at,
                format!("{label} is a mapping with one verb such as `navigate: {{ url: … }}`, not {sort}"),
            );
            return None;
        };
        let mut fields = Fields::new(entries);
        let captured = fields.get("capture").map(names_of).unwrap_or_default();
        let step = self.understood(&mut fields, at, label);
        if step.is_none() {
            self.uncertain.extend(captured);
        }
        step
    }

    fn understood(&mut self, fields: &mut Fields, at: Position, label: String) -> Option<Step> {
        let id = fields.take("id").and_then(|(_, node)| self.id(node));
        let name = fields.take("name").and_then(|(_, node)| self.text(node, "`name`")).map(|name| name.text);
        let (verb, value) = self.verb(fields, at, &label)?;
        let action = match control(&verb.text) {
            Some(own) => {
                let action = self.control(&verb, value, fields, &label);
                self.superfluous(fields, &verb.text, &label, &[&COMMON[..], own].concat(), false);
                action
            }
            None => {
                let is_bare = value.value == Value::Null;
                let plain = self.plain(verb.clone(), value, fields, &label);
                self.superfluous(fields, &verb.text, &label, &[&COMMON[..], &MODIFIERS].concat(), is_bare);
                plain.map(Action::Plain)
            }
        };
        Some(Step { at, label, id, name, action: action? })
    }

    fn id(&mut self, node: Node) -> Option<String> {
        let id = self.text(node, "`id`")?;
        let mut letters = id.text.bytes();
        let begins = letters.next().is_some_and(|first| first.is_ascii_lowercase());
        let goes_on = letters
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'));
        if !begins || !goes_on || id.text.len() > 64 {
            self.wrong_with(
                id.at,
                format!("{:?} is no id", id.text),
                "an id is a small letter, then small letters, digits, _ and -, at most 64 in all",
            );
            return None;
        }
        if let Some(first) = self.ids.get(&id.text) {
            let note = format!("its first use is at {first}");
            self.wrong_with(id.at, format!("the id {:?} is used twice", id.text), note);
            return None;
        }
        self.ids.insert(id.text.clone(), id.at);
        Some(id.text)
    }

    /// Takes the one verb of a step.
    fn verb(&mut self, fields: &mut Fields, at: Position, label: &str) -> Option<(Key, Node)> {
        let is_head = |key: &&Key| control(&key.text).is_some() || self.session.is_verb(&key.text);
        let heads: Vec<Key> = fields.keys().filter(is_head).cloned().collect();
        match heads.as_slice() {
            [] => self.no_verb(fields, at, label),
            [verb] => return fields.take(&verb.text),
            [_, second, ..] => {
                let named: Vec<String> =
                    heads.iter().map(|verb| format!("{:?} at {}", verb.text, verb.at)).collect();
                self.wrong_with(
                    second.at,
                    format!("{label} has {} verbs: {}", count(heads.len()), named.join(" and ")),
                    "a step has exactly one; make a step of each",
                );
            }
        }
        None
    }

    fn no_verb(&mut self, fields: &Fields, at: Position, label: &str) {
        // Finding out what was meant costs, and nobody reads it.
        if self.session.problems.is_full() {
            return self.session.problems.count();
        }
        let nine = VERBS.map(|(verb, _)| verb);
        let controls = CONTROLS.map(|(control, _)| control);
        let notes = [
            format!("the verbs are {}", nine.join(", ")),
            format!("and {}, and those of the command line such as click and fill", controls.join(", ")),
        ];
        let mut candidates = 0;
        for key in fields.keys().filter(|key| !MODIFIERS.contains(&key.text.as_str())) {
            if let Some((head, _)) = CONTROLS.iter().find(|(_, own)| own.contains(&key.text.as_str())) {
                self.wrong(
                    key.at,
                    format!("{:?} belongs to {head:?}, which {label} does not have", key.text),
                );
                candidates += 1;
                continue;
            }
            if self.session.problems.is_full() {
                self.wrong(key.at, "unknown verb");
                candidates += 1;
                continue;
            }
            let verbs = nine.iter().chain(&controls).copied().chain(self.session.verbs.iter().copied());
            let verb = nearest(&key.text, verbs);
            let modifier = nearest(&key.text, COMMON.iter().chain(&MODIFIERS).copied());
            if modifier.map(|(score, _)| score) > verb.map(|(score, _)| score) {
                let hint = did_you_mean(&key.text, modifier.map(|(_, name)| name));
                self.wrong(key.at, format!("unknown key {:?} in {label}{hint}", key.text));
                continue;
            }
            candidates += 1;
            let hint = did_you_mean(&key.text, verb.map(|(_, name)| name));
            self.say(key.at, format!("unknown verb {:?} in {label}{hint}", key.text), notes.clone());
        }
        if candidates == 0 {
            self.say(at, format!("{label} has no verb"), notes);
        }
    }

    /// Complains about what may not stand beside a verb.
    fn superfluous(&mut self, fields: &Fields, verb: &str, label: &str, allowed: &[&str], is_bare: bool) {
        for key in fields.keys() {
            let name = key.text.as_str();
            if MODIFIERS.contains(&name) {
                self.wrong(key.at, format!("{name:?} is for plain steps, and {label} is {verb:?}"));
            } else if let Some((head, _)) = CONTROLS.iter().find(|(_, own)| own.contains(&name)) {
                self.wrong(key.at, format!("{name:?} belongs to {head:?}, and {label} is {verb:?}"));
            } else {
                let hint = did_you_mean(name, allowed.iter().copied());
                let below = format!("the arguments of {verb:?} stand below it, further to the right");
                let beside = format!("beside the verb may be {}", allowed.join(", "));
                let notes = is_bare.then_some(below).into_iter().chain([beside]);
                self.say(key.at, format!("unknown key {name:?} in {label}{hint}"), notes);
            }
        }
    }
}

fn control(verb: &str) -> Option<&'static [&'static str]> {
    CONTROLS.iter().find(|(name, _)| *name == verb).map(|(_, own)| *own)
}

fn count(number: usize) -> String {
    if number == 2 { "two".to_owned() } else { number.to_string() }
}

/// The variables that a `capture` would bind, right or wrong.
fn names_of(capture: &Node) -> Vec<String> {
    match &capture.value {
        Value::String(name) => vec![name.clone()],
        Value::Map(entries) => entries.iter().map(|(key, _)| key.text.clone()).collect(),
        _ => Vec::new(),
    }
}
