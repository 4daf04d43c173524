//! References: `e1`, `e2` … One counter for the life of a session; a number is never used twice.

use std::collections::HashMap;

use surehand_page::Handle;

/// See the module.
#[derive(Debug, Default)]
pub struct RefTable {
    /// The element of `e1` is at 0.
    handles: Vec<Handle>,
    numbers: HashMap<Handle, u32>,
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

    /// The element of a number.
    pub fn handle(&self, number: u32) -> Option<Handle> {
        self.handles.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
    }
}

/// Reads `@e5`, `e5` or `ref=e5`.
pub fn parse(text: &str) -> Option<u32> {
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
    fn references_are_told_from_selectors() {
        assert_eq!(parse("@e12"), Some(12));
        assert_eq!(parse("ref=e3"), Some(3));
        assert_eq!(parse("e12"), Some(12));
        assert_eq!(parse("em"), None);
        assert_eq!(parse("@export"), None);
    }
}
