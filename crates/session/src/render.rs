//! A snapshot as text for people and models, with references.

use std::collections::HashMap;
use std::fmt::Write;

use serde::{Serialize, Serializer};
use surehand_guard::redact;
use surehand_page::{Node, Snapshot};

use crate::RefTable;

/// A snapshot, rendered.
#[derive(Debug, Default)]
pub struct RenderedSnapshot {
    /// One line per node, two spaces per level.
    pub text: String,
    /// What each reference in it is.
    pub refs: Refs,
}

/// `{ "e1": { "role": …, "name": … }, … }` in document order.
#[derive(Debug, Default)]
pub struct Refs(Vec<(u32, String, String)>);

impl Refs {
    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Serialize)]
struct RefFacts<'a> {
    role: &'a str,
    name: &'a str,
}

impl Serialize for Refs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_map(self.0.iter().map(|(n, role, name)| (format!("e{n}"), RefFacts { role, name })))
    }
}

impl RenderedSnapshot {
    /// Renders a snapshot; `with_refs` also collects what each reference is (JSON wants it, text does not).
    pub fn new(snapshot: &Snapshot, table: &mut RefTable, with_refs: bool) -> Self {
        let mut out = Self::default();
        snapshot.walk(|node| {
            let number = node.handle.map(|handle| table.number(handle));
            out.line(node, number);
            if let Some(number) = number.filter(|_| with_refs) {
                out.refs.0.push((number, node.role.to_owned(), node.name.to_owned()));
            }
        });
        out
    }

    fn line(&mut self, node: &Node<'_>, number: Option<u32>) {
        let out = &mut self.text;
        for _ in 0..node.depth {
            out.push_str("  ");
        }
        out.push_str("- ");
        out.push_str(node.role);
        if !node.name.is_empty() {
            out.push_str(" \"");
            push_escaped(out, node.name);
            out.push('"');
        }
        let (states, hints): (Vec<&str>, Vec<&str>) =
            node.flags.split(' ').filter(|flag| !flag.is_empty()).partition(|flag| !is_hint(flag));
        if !states.is_empty() || number.is_some() {
            out.push_str(" [");
            for state in &states {
                // Addresses of links may carry secrets.
                out.push_str(&redact::mask_queries(state));
                out.push_str(", ");
            }
            match number {
                // Writing to a string cannot fail.
                Some(number) => drop(write!(out, "ref=e{number}")),
                None => out.truncate(out.len() - 2),
            }
            out.push(']');
        }
        for hint in hints {
            out.push(' ');
            out.push_str(hint);
        }
        if !node.value.is_empty() {
            out.push_str(": ");
            out.push_str(node.value);
        }
        out.push('\n');
    }
}

fn is_hint(flag: &str) -> bool {
    matches!(flag, "clickable" | "editable" | "focusable" | "draggable")
}

fn push_escaped(out: &mut String, name: &str) {
    for character in name.chars() {
        if matches!(character, '"' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
}

/// What changed between two snapshots: lines that went (`-`) and lines that came (`+`), in order; empty if nothing did.
pub fn delta(before: &str, after: &str) -> String {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    for line in before.lines() {
        *counts.entry(line).or_default() += 1;
    }
    let mut came = Vec::new();
    for line in after.lines() {
        let left = counts.entry(line).or_default();
        if *left > 0 {
            *left -= 1;
        } else {
            came.push(line);
        }
    }
    let mut out = String::new();
    for line in before.lines() {
        if let Some(left) = counts.get_mut(line).filter(|left| **left > 0) {
            *left -= 1;
            out.push_str("- ");
            out.push_str(line);
            out.push('\n');
        }
    }
    for line in came {
        out.push_str("+ ");
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use surehand_page::Handle;

    fn line(role: &str, name: &str, flags: &str, value: &str, number: Option<u32>) -> String {
        let handle = number.map(|_| Handle { world: 1, element: 1 });
        let mut out = RenderedSnapshot::default();
        out.line(&Node { depth: 1, role, name, flags, value, handle }, number);
        out.text
    }

    #[test]
    fn lines_have_the_documented_form() {
        assert_eq!(
            line("textbox", "Email", "required", "", Some(15)),
            "  - textbox \"Email\" [required, ref=e15]\n"
        );
        assert_eq!(
            line("combobox", "Color", "expanded=false", "Green", Some(17)),
            "  - combobox \"Color\" [expanded=false, ref=e17]: Green\n"
        );
        assert_eq!(line("list", "", "", "", None), "  - list\n");
        assert_eq!(
            line("heading", "Say \"hi\"", "level=1", "", None),
            "  - heading \"Say \\\"hi\\\"\" [level=1]\n"
        );
        assert_eq!(
            line("generic", "Box", "clickable", "", Some(3)),
            "  - generic \"Box\" [ref=e3] clickable\n"
        );
    }

    #[test]
    fn a_delta_shows_what_went_and_what_came() {
        assert_eq!(delta("a\nb\nb\n", "b\nc\na\n"), "- b\n+ c\n");
        assert_eq!(delta("a\n", "a\n"), "");
    }
}
