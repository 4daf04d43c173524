//! From what a caller wrote to the element that is meant: a reference, a selector, or what a person would call it.

use surehand_page::Locator;
use surehand_session::{Fault, Session, Tab};
use surehand_verbs::Flaw;

use crate::Misfit;

/// Something to act on.
pub(crate) fn actionable(session: &Session, tab: &Tab, written: &str) -> Result<Locator, Fault> {
    if is_explicit(written) { session.locator(written, tab) } else { Ok(Locator::query(written)) }
}

/// A field.
pub(crate) fn field(session: &Session, tab: &Tab, written: &str) -> Result<Locator, Fault> {
    if is_explicit(written) { session.locator(written, tab) } else { Ok(Locator::field(written)) }
}

/// What is wrong with how an element is called, as far as that can be known without a page.
pub(crate) fn doubt(pointer: &str, written: &str) -> Option<Misfit> {
    if written.trim().is_empty() {
        return Some(Misfit::value(
            pointer.to_owned(),
            "is empty; name the element by its visible label".to_owned(),
        ));
    }
    let flaw = is_explicit(written).then(|| Flaw::of_selector(pointer, written))?;
    flaw.map(Misfit::from)
}

/// Nobody calls a button `#save` or `@e5`; everything else may be a label.
fn is_explicit(written: &str) -> bool {
    let is_reference = |text: &str| {
        let number = text.strip_prefix("ref=").unwrap_or(text).trim_start_matches('@').strip_prefix('e');
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    const PREFIXES: [&str; 11] = [
        "css=",
        "xpath=",
        "text=",
        "role=",
        "label=",
        "placeholder=",
        "alt=",
        "title=",
        "testid=",
        "//",
        "(//",
    ];
    is_reference(written)
        || PREFIXES.iter().any(|prefix| written.starts_with(prefix))
        || (written.starts_with(['#', '.', '[']) && !written.contains(' ') && has_name(written))
}

/// `#save` and `[name]` name something, `...` does not.
fn has_name(selector: &str) -> bool {
    selector.chars().nth(1).is_some_and(|second| second.is_alphabetic() || matches!(second, '_' | '-' | '\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_from_selectors() {
        for explicit in
            ["@e5", "e12", "ref=e3", "#save", ".primary", "[name=q]", "//a", "role=button[name=Go]"]
        {
            assert!(is_explicit(explicit), "{explicit}");
        }
        for label in ["Save", "#1 best seller", "e-mail", "Continue…", "...", "text", "e"] {
            assert!(!is_explicit(label), "{label}");
        }
    }
}
