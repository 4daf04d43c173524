//! What has to be known about all types together before one of them is written: which are sent, which are
//! received, and which contain themselves.

use std::collections::BTreeSet;

use super::schema::{Field, Protocol, Shape};

#[derive(Debug)]
pub struct Reach<'a> {
    protocol: &'a Protocol,
    /// Reached from a command's parameters, so it must serialize.
    pub sent: BTreeSet<&'a str>,
    /// Reached from an answer or an event, so it must deserialize.
    pub received: BTreeSet<&'a str>,
}

impl<'a> Reach<'a> {
    pub fn of(protocol: &'a Protocol) -> Self {
        let commands = || protocol.domains.iter().flat_map(|domain| &domain.commands);
        let events = protocol.domains.iter().flat_map(|domain| &domain.events);
        let sent = commands().flat_map(|command| &command.parameters);
        let received =
            commands().flat_map(|command| &command.returns).chain(events.flat_map(|event| &event.parameters));
        Self {
            protocol,
            sent: closure(protocol, sent.filter_map(|field| field.shape.target()), Shape::target),
            received: closure(protocol, received.filter_map(|field| field.shape.target()), Shape::target),
        }
    }

    /// Whether a field of `owner` would make it infinitely large. An array is a pointer already.
    pub fn needs_box(&self, owner: &str, field: &'a Field) -> bool {
        closure(self.protocol, direct(&field.shape).into_iter(), direct).contains(owner)
    }
}

fn direct(shape: &Shape) -> Option<&str> {
    match shape {
        Shape::Ref { to } => Some(to),
        Shape::Array { .. } | Shape::Plain { .. } => None,
    }
}

fn closure<'a>(
    protocol: &'a Protocol,
    start: impl Iterator<Item = &'a str>,
    follow: impl Fn(&'a Shape) -> Option<&'a str>,
) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = start.collect();
    while let Some(name) = open.pop() {
        if seen.insert(name)
            && let Some(found) = protocol.find_type(name)
        {
            open.extend(follow(&found.shape));
            open.extend(found.properties.iter().filter_map(|field| follow(&field.shape)));
        }
    }
    seen
}
