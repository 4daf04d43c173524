//! YAML into a [`Node`].
//!
//! The tree is built from the events of serde-saphyr's parser: its deserializer with places takes about three times as
//! long, and in a debug build so much stack that 60 levels overflow a thread of 2 MiB. Here reading takes no stack, and
//! everything that can grow is bounded, also by what aliases repeat. What an alias brings in keeps the place where it is
//! written.

mod scalar;

use std::collections::{HashMap, HashSet};

use serde_saphyr::granit_parser::{ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, Tag};

use super::{DEEPEST, Key, MOST_NODES, Node, Value};
use crate::problem::{Problem, Problems};
use crate::source::{LARGEST, Position, Source};

/// So much text in all, with what aliases repeat.
const MOST_BYTES: usize = 2 * LARGEST as usize;

/// Maps with more keys than this are looked up by hash.
const FEW: usize = 16;

/// Reads a document; an empty one is null.
pub(crate) fn read(source: &Source, problems: &mut Problems) -> Result<Node, Problem> {
    let mut options = Options::default();
    options.flow_nesting_limit = DEEPEST;
    options.set_emit_comments(false);
    let mut parser = Parser::new_from_str_with_options(source.text(), options);
    let mut builder = Builder {
        source,
        problems,
        root: None,
        open: Vec::new(),
        anchors: HashMap::new(),
        size: Size::default(),
    };
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| refused(source, &error))?;
        let at = position(&span.start);
        match event {
            Event::DocumentStart(..) if documents > 0 => {
                return Err(source.problem(at, "a playbook is one YAML document, and here begins a second"));
            }
            Event::DocumentStart(..) => documents += 1,
            Event::Scalar(text, style, anchor, tag) => {
                builder.scalar(&text, style, tag.as_deref(), anchor, at)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                builder.refuse_tag(tag.as_deref(), "seq", at);
                builder.begin(anchor, at, Items::List(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                builder.refuse_tag(tag.as_deref(), "map", at);
                builder.begin(anchor, at, Items::Map(Entries::default()))?;
            }
            Event::SequenceEnd | Event::MappingEnd => builder.end()?,
            Event::Alias(anchor) => builder.alias(anchor, at)?,
            _ => {}
        }
    }
    Ok(builder.root.unwrap_or(Node { at: Position::START, value: Value::Null }))
}

fn refused(source: &Source, error: &ScanError) -> Problem {
    let at = position(error.marker());
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return source.problem(at, too_deep());
    }
    source.problem(at, format!("this is not YAML that can be read: {}", error.info()))
}

fn too_deep() -> String {
    format!("this is nested deeper than {DEEPEST} levels")
}

fn position(marker: &Marker) -> Position {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: number(marker.line().max(1)), column: number(marker.col().saturating_add(1)) }
}

/// How much a value is.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

impl Size {
    fn of(node: &Node) -> Self {
        let mut size = Self { nodes: 1, ..Self::default() };
        match &node.value {
            Value::String(text) => size.bytes = text.len(),
            Value::List(items) => items.iter().for_each(|item| size.hold(Self::of(item))),
            Value::Map(entries) => {
                for (key, value) in entries {
                    size.bytes += key.text.len();
                    size.hold(Self::of(value));
                }
            }
            Value::Null => {}
            Value::Bool(_, written) | Value::Number(_, written) => size.bytes = written.len(),
        }
        size
    }

    fn hold(&mut self, inner: Self) {
        self.nodes += inner.nodes;
        self.bytes += inner.bytes;
        self.depth = self.depth.max(inner.depth + 1);
    }
}

/// A list or mapping that is not at its end.
struct Open {
    at: Position,
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map(Entries),
}

#[derive(Default)]
struct Entries {
    entries: Vec<(Key, Node)>,
    /// The key whose value comes next.
    key: Option<Key>,
    /// Is that key `<<`?
    is_merge: bool,
    /// What is merged, in order.
    merged: Vec<Node>,
}

struct Builder<'s> {
    source: &'s Source,
    /// What is wrong with single values.
    problems: &'s mut Problems,
    root: Option<Node>,
    open: Vec<Open>,
    /// Values that aliases may repeat, once they are at their ends.
    anchors: HashMap<usize, (Node, Size)>,
    /// All that there is so far.
    size: Size,
}

impl Builder<'_> {
    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        anchor: usize,
        at: Position,
    ) -> Result<(), Problem> {
        self.grow(Size { nodes: 1, bytes: text.len(), depth: 0 }, at)?;
        let is_plain = matches!(style, ScalarStyle::Plain);
        if self.awaits_key().is_some() {
            self.refuse_tag(tag, "str", at);
        }
        if let Some(map) = self.awaits_key() {
            map.is_merge = is_plain && text == "<<";
            map.key = Some(Key { at, text: text.to_owned() });
            // This is also how the parser says that there is nothing.
            if is_plain && text == "~" {
                return Err(self.source.problem(at, NO_KEY));
            }
            // The key as a value: `&k a: *k`.
            return self.remember(anchor, || Node { at, value: Value::String(text.to_owned()) }, at);
        }
        let value = scalar::value(text, is_plain, tag).unwrap_or_else(|message| {
            self.problems.settle(self.source.problem(at, message));
            // Everything is said about it, and as a text it fits where a word does.
            Value::String(text.to_owned())
        });
        let node = Node { at, value };
        self.remember(anchor, || node.clone(), at)?;
        self.place(node);
        Ok(())
    }

    /// Complains about a tag that is not the one of this sort of value.
    fn refuse_tag(&mut self, tag: Option<&Tag>, sort: &str, at: Position) {
        if let Some(tag) = tag.filter(|tag| tag.core_suffix() != Some(sort) && tag.parts() != ("", "!")) {
            self.problems.push(self.source.problem(at, scalar::unknown_tag(tag)));
        }
    }

    fn begin(&mut self, anchor: usize, at: Position, items: Items) -> Result<(), Problem> {
        if self.awaits_key().is_some() {
            return Err(self.source.problem(at, NO_KEY));
        }
        if self.open.len() >= DEEPEST {
            return Err(self.source.problem(at, too_deep()));
        }
        self.grow(Size { nodes: 1, ..Size::default() }, at)?;
        self.open.push(Open { at, anchor, items });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Problem> {
        let Some(Open { at, anchor, items }) = self.open.pop() else { return Ok(()) };
        let value = match items {
            Items::List(list) => Value::List(list),
            Items::Map(map) => Value::Map(self.entries(map)?),
        };
        let node = Node { at, value };
        self.remember(anchor, || node.clone(), at)?;
        self.place(node);
        Ok(())
    }

    fn alias(&mut self, anchor: usize, at: Position) -> Result<(), Problem> {
        // Inside of what it stands for, an anchor is not at its end.
        let Some((node, size)) = self.anchors.get(&anchor) else {
            return Err(self.source.problem(at, "this alias is inside of what it stands for"));
        };
        let (node, size) = (node.clone(), *size);
        if self.open.len() + size.depth > DEEPEST {
            return Err(self.source.problem(at, too_deep()));
        }
        self.grow(size, at)?;
        let Some(map) = self.awaits_key() else {
            self.place(node);
            return Ok(());
        };
        let Value::String(text) = node.value else { return Err(self.source.problem(at, NO_KEY)) };
        map.key = Some(Key { at, text });
        map.is_merge = false;
        Ok(())
    }

    /// The mapping that a key comes next in, if it is that.
    fn awaits_key(&mut self) -> Option<&mut Entries> {
        match self.open.last_mut() {
            Some(Open { items: Items::Map(map), .. }) if map.key.is_none() => Some(map),
            _ => None,
        }
    }

    /// Puts a value where it belongs.
    fn place(&mut self, node: Node) {
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.root = Some(node),
            Some(Items::List(list)) => list.push(node),
            Some(Items::Map(map)) => match map.key.take() {
                Some(_) if map.is_merge => map.merged.push(node),
                Some(key) => map.entries.push((key, node)),
                None => {}
            },
        }
    }

    /// Keeps a copy for aliases. It counts, as what they bring in does.
    fn remember(&mut self, anchor: usize, copy: impl FnOnce() -> Node, at: Position) -> Result<(), Problem> {
        if anchor == 0 {
            return Ok(());
        }
        let node = copy();
        let size = Size::of(&node);
        self.grow(size, at)?;
        self.anchors.insert(anchor, (node, size));
        Ok(())
    }

    fn grow(&mut self, size: Size, at: Position) -> Result<(), Problem> {
        self.size.nodes += size.nodes;
        self.size.bytes += size.bytes;
        let what = match () {
            () if self.size.nodes > MOST_NODES => format!("a playbook has at most {MOST_NODES} values"),
            () if self.size.bytes > MOST_BYTES => "the texts of this file are too large".to_owned(),
            () => return Ok(()),
        };
        Err(self.source.problem(at, format!("{what}, and what aliases repeat counts again")))
    }

    /// The entries of a mapping with those that are merged in. Its own win, then those that are merged first.
    fn entries(&mut self, map: Entries) -> Result<Vec<(Key, Node)>, Problem> {
        let Entries { mut entries, merged, .. } = map;
        for key in take_repeated(&mut entries) {
            super::say_repeated(&key, self.source, self.problems);
        }
        if merged.is_empty() {
            return Ok(entries);
        }
        let mut known: HashSet<String> = entries.iter().map(|(key, _)| key.text.clone()).collect();
        for node in merged {
            let parts = match node.value {
                Value::List(parts) => parts,
                value => vec![Node { at: node.at, value }],
            };
            for part in parts {
                let Value::Map(more) = part.value else {
                    let message = format!("`<<` merges a mapping or a list of mappings, not {}", part.sort());
                    return Err(self.source.problem(part.at, message));
                };
                entries.extend(more.into_iter().filter(|(key, _)| known.insert(key.text.clone())));
            }
        }
        Ok(entries)
    }
}

const NO_KEY: &str = "a key must be a text, not a list, a mapping or nothing";

/// Takes away all that have a key which was there before.
fn take_repeated(entries: &mut Vec<(Key, Node)>) -> Vec<Key> {
    let is_repeated = |entries: &[(Key, Node)], index: usize| {
        entries.iter().take(index).any(|(other, _)| other.text == entries[index].0.text)
    };
    // Most mappings are small, and no key is in them twice.
    if entries.len() <= FEW && !(1..entries.len()).any(|index| is_repeated(entries, index)) {
        return Vec::new();
    }
    let (mut seen, mut repeated) = (HashSet::new(), Vec::new());
    entries.retain(|(key, _)| {
        let is_new = seen.insert(key.text.clone());
        if !is_new {
            repeated.push(key.clone());
        }
        is_new
    });
    repeated
}

#[cfg(test)]
mod tests;
