//! The numbers of a snapshot: its text, and the elements that the numbers stand for. They count from 1 in each snapshot.

use std::fmt::Write;
use std::sync::Arc;

use surehand_page::{Deadline, Handle, Keepsake, Locator, Node, Page, Snapshot};
use surehand_session::{Fault, Kind};

/// The elements of one snapshot. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Uids(Arc<Vec<Element>>);

#[derive(Debug, Clone)]
struct Element {
    name: String,
    anchor: Anchor,
}

/// How an element is found.
#[derive(Debug, Clone)]
enum Anchor {
    /// While we have the tab.
    Held(Handle),
    /// After we gave it back.
    Kept(Keepsake),
    /// Not any more.
    Gone,
}

/// An element that a call means.
#[derive(Debug)]
pub(super) struct Meant {
    /// `[3] "Send"`
    pub words: String,
    pub locator: Locator,
}

impl Uids {
    /// Numbers a snapshot and writes it down, one line per node.
    pub fn of(snapshot: &Snapshot) -> (Self, String) {
        let mut elements = Vec::new();
        let mut text = String::new();
        snapshot.walk(|node| {
            if let Some(handle) = node.handle {
                elements.push(Element { name: node.name.to_owned(), anchor: Anchor::Held(handle) });
            }
            push_line(&mut text, node, node.handle.map(|_| elements.len()));
        });
        (Self(Arc::new(elements)), text)
    }

    /// The element of a number.
    pub async fn meant(&self, uid: u32, page: &Page, deadline: &Deadline) -> Result<Meant, Fault> {
        let at = usize::try_from(uid).ok().and_then(|uid| uid.checked_sub(1));
        let Some(element) = at.and_then(|at| self.0.get(at)) else {
            let known = match self.0.len() {
                0 => "it has none".to_owned(),
                count => format!("it has 1 to {count}"),
            };
            let message = format!("UID {uid} is not in the latest snapshot of this target; {known}");
            return Err(Fault::new(Kind::StaleRef, message));
        };
        let words = format!("[{uid}] {:?}", element.name);
        let handle = match &element.anchor {
            Anchor::Held(handle) => Some(*handle).filter(|handle| page.has(*handle)),
            Anchor::Kept(keepsake) => page.recognise(keepsake, deadline).await?,
            Anchor::Gone => None,
        };
        let gone = || surehand_page::Error::Stale { what: words.clone() };
        let locator = Locator::handle(handle.ok_or_else(gone)?, &words);
        Ok(Meant { words, locator })
    }

    /// The same for the time after the tab was given back.
    pub async fn kept(&self, page: &Page, deadline: &Deadline) -> Self {
        let handles: Vec<Handle> = self.0.iter().filter_map(|element| element.anchor.held()).collect();
        let mut keepsakes = page.keepsakes(&handles, deadline).await.into_iter();
        let keep = |element: &Element| {
            let anchor = match &element.anchor {
                Anchor::Held(_) => keepsakes.next().flatten().map_or(Anchor::Gone, Anchor::Kept),
                other => other.clone(),
            };
            Element { name: element.name.clone(), anchor }
        };
        Self(Arc::new(self.0.iter().map(keep).collect()))
    }
}

impl Anchor {
    fn held(&self) -> Option<Handle> {
        match self {
            Anchor::Held(handle) => Some(*handle),
            _ => None,
        }
    }
}

/// `  [3] textbox "Name" value="Ada" required`
fn push_line(out: &mut String, node: &Node<'_>, uid: Option<usize>) {
    for _ in 0..node.depth {
        out.push_str("  ");
    }
    // Writing to a string cannot fail.
    if let Some(uid) = uid {
        let _ = write!(out, "[{uid}] ");
    }
    out.push_str(node.role);
    if !node.name.is_empty() {
        out.push(' ');
        push_quoted(out, node.name);
    }
    if !node.value.is_empty() {
        out.push_str(" value=");
        push_quoted(out, node.value);
    }
    for state in node.flags.split(' ').filter(|flag| !flag.is_empty() && !is_hint(flag)) {
        out.push(' ');
        out.push_str(state);
    }
    out.push('\n');
}

/// That something can be acted on is told by its number.
fn is_hint(flag: &str) -> bool {
    matches!(flag, "clickable" | "editable" | "focusable" | "draggable")
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_documented_form() {
        let line = |depth, role, name, value, flags, uid| {
            let mut out = String::new();
            push_line(&mut out, &Node { depth, role, name, flags, value, handle: None }, uid);
            out
        };
        assert_eq!(line(1, "textbox", "Name", "Ada", "", Some(3)), "  [3] textbox \"Name\" value=\"Ada\"\n");
        assert_eq!(
            line(0, "button", "Say \"hi\"", "", "clickable", Some(1)),
            "[1] button \"Say \\\"hi\\\"\"\n"
        );
        assert_eq!(line(0, "checkbox", "On", "", "checked", Some(2)), "[2] checkbox \"On\" checked\n");
        assert_eq!(line(2, "list", "", "", "", None), "    list\n");
    }
}
