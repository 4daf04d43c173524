//! References: `e1`, `e2` … One counter for the life of a session; a number is never used twice.

use std::collections::HashMap;

use surehand_page::Handle;

/// See the module.
#[derive(Debug, Default)]
pub struct RefTable {
    /// The element of `e1` is at 0.
    handles: Vec<Handle>,
    numbers: HashMap<Handle, u32>,
    /// What each was in the last whole snapshot, in the order of the document.
    seen: Vec<Seen>,
}

/// An element as a snapshot showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub number: u32,
    pub role: String,
    pub name: String,
}

impl RefTable {
    /// The number of an element: the one it has, or the next.
    pub fn number(&mut self, handle: Handle) -> u32 {
        let next = u32::try_from(self.handles.len() + 1).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(handle).or_insert(next);
        if number == next {
            self.handles.push(handle);
        }
        number
    }

    /// Remembers what a whole snapshot showed.
    pub(crate) fn remember(&mut self, seen: Vec<Seen>) {
        self.seen = seen;
    }

    /// A selector that means the same element after the reference is gone: by its role and name, and by its place among
    /// those that are alike. `None` where the last whole snapshot did not show it, or nothing can be said about it.
    pub fn lasting_selector(&self, number: u32) -> Option<String> {
        let shown = self.seen.iter().find(|seen| seen.number == number)?;
        let Seen { role, name, .. } = shown;
        let is_plain = matches!(role.as_str(), "generic" | "none" | "presentation" | "text" | "");
        let selector = match (is_plain, name.is_empty()) {
            (true, true) => return None,
            (true, false) => format!("text=\"{name}\""),
            (false, true) => format!("role={role}"),
            (false, false) => format!("role={role}[name=\"{name}\"]"),
        };
        // Without a name, all of the same role are alike.
        let is_alike = |seen: &&Seen| seen.role == *role && (name.is_empty() || seen.name == *name);
        let alike: Vec<u32> = self.seen.iter().filter(is_alike).map(|seen| seen.number).collect();
        let place = alike.iter().position(|other| *other == number)?;
        Some(if alike.len() > 1 { format!("{selector} >> nth={place}") } else { selector })
    }

    /// The element of a number.
    pub fn handle(&self, number: u32) -> Option<Handle> {
        self.handles.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
    }
}

/// Reads `@e5`, `e5` or `ref=e5`.
pub(crate) fn parse(text: &str) -> Option<u32> {
    let text = text.trim();
    let text = text.strip_prefix('@').or_else(|| text.strip_prefix("ref=")).unwrap_or(text);
    // No element is called `e5`: who writes that means the reference.
    text.strip_prefix('e')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_keeps_its_number_and_numbers_are_never_used_again() {
        let mut refs = RefTable::default();
        let (a, b) = (Handle { world: 1, element: 1 }, Handle { world: 2, element: 1 });
        assert_eq!((refs.number(a), refs.number(b), refs.number(a)), (1, 2, 1));
        assert_eq!(refs.handle(2), Some(b));
        assert_eq!(refs.handle(0), None);
        assert_eq!(refs.handle(3), None);
    }

    #[test]
    fn selectors_last_longer_than_references() {
        let seen = |number, role: &str, name: &str| Seen { number, role: role.into(), name: name.into() };
        let mut refs = RefTable::default();
        refs.remember(vec![
            seen(4, "button", "Save"),
            seen(2, "button", "Delete"),
            seen(9, "button", "Delete"),
            seen(5, "textbox", ""),
            seen(6, "generic", "Card"),
            seen(7, "generic", ""),
        ]);
        let lasting = |number| refs.lasting_selector(number).unwrap_or_default();
        assert_eq!(lasting(4), "role=button[name=\"Save\"]");
        assert_eq!(lasting(9), "role=button[name=\"Delete\"] >> nth=1");
        assert_eq!(lasting(5), "role=textbox");
        assert_eq!(lasting(6), "text=\"Card\"");
        assert_eq!((lasting(7), lasting(1)), (String::new(), String::new()));
    }

    #[test]
    fn references_are_told_from_selectors() {
        assert_eq!(parse("@e12"), Some(12));
        assert_eq!(parse("ref=e3"), Some(3));
        assert_eq!(parse("e12"), Some(12));
        assert_eq!(parse("em"), None);
        assert_eq!(parse("@export"), None);
    }
}
