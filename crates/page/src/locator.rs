//! How an element is named: the grammar of selectors, and its form for the injected script.

use std::fmt;

use serde::Serialize;

use crate::Handle;

/// A way to find elements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Locator {
    #[serde(flatten)]
    by: By,
    /// Which of several matches: 0 is the first, -1 the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    nth: Option<i64>,
    /// As the user wrote it.
    #[serde(skip)]
    written: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "by", rename_all = "lowercase")]
enum By {
    /// An element that a snapshot named.
    Id {
        id: u64,
        #[serde(skip)]
        world: u64,
    },
    Css {
        value: String,
    },
    Xpath {
        value: String,
    },
    Text {
        value: String,
        exact: bool,
    },
    Role {
        role: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        exact: bool,
    },
    Label {
        value: String,
        exact: bool,
    },
    Placeholder {
        value: String,
        exact: bool,
    },
    Alt {
        value: String,
        exact: bool,
    },
    Title {
        value: String,
        exact: bool,
    },
    Testid {
        value: String,
    },
    /// What a person would call something to act on.
    Query {
        value: String,
    },
    /// What a person would call a field.
    Field {
        value: String,
    },
}

impl Locator {
    /// Reads a selector: `xpath=…` or `//…`, `text=…`, `role=button[name=\"…\"]`, `label=…`, `placeholder=…`, `alt=…`,
    /// `title=…`, `testid=…`, `css=…`, else CSS; a value in double quotes must match as a whole. ` >> nth=N` at the end
    /// chooses one of several matches. References (`@e5`) are resolved by the session, which knows them.
    pub fn parse(selector: &str) -> Self {
        let written = selector.trim();
        let (rest, nth) = split_nth(written);
        Self { by: By::parse(rest), nth, written: format!("`{written}`") }
    }

    /// What is wrong with a selector, as far as that can be known without a page. References are no selectors.
    pub fn flaw(selector: &str) -> Option<String> {
        let written = selector.trim();
        if written.is_empty() {
            return Some("it is empty".to_owned());
        }
        let (rest, nth) = split_nth(written);
        if nth.is_none() && rest.contains(NTH) && !is_quoted(written) {
            return Some("nth= is a whole number: 0 is the first, -1 the last".to_owned());
        }
        match By::parse(rest) {
            By::Role { role, .. } => {
                let is_word = |c: char| c.is_ascii_alphabetic() || c == '-';
                let is_role = !role.is_empty() && role.chars().all(is_word);
                (!is_role).then(|| "it is written role=button or role=button[name=Save]".to_owned())
            }
            By::Css { value } if value.trim().is_empty() => Some("it is empty".to_owned()),
            By::Css { value } => unbalanced(&value, true),
            By::Xpath { value } if value.trim().is_empty() => Some("it is empty".to_owned()),
            By::Xpath { value } => unbalanced(&value, false),
            _ => None,
        }
    }

    /// The locator of something to act on by what a person would call it: `Save`, `Save button`.
    pub fn query(label: &str) -> Self {
        Self { by: By::Query { value: label.to_owned() }, nth: None, written: format!("{label:?}") }
    }

    /// The locator of a field by its label, placeholder or name.
    pub fn field(label: &str) -> Self {
        Self { by: By::Field { value: label.to_owned() }, nth: None, written: format!("the field {label:?}") }
    }

    /// The locator of an element that a snapshot named; `name` is how the user wrote it.
    pub fn handle(handle: Handle, name: &str) -> Self {
        Self { by: By::Id { id: handle.element, world: handle.world }, nth: None, written: name.to_owned() }
    }

    /// Which of several matches it chooses.
    pub(crate) fn nth(&self) -> Option<i64> {
        self.nth
    }

    /// The same with another choice.
    pub(crate) fn with_nth(&self, nth: Option<i64>) -> Self {
        Self { nth, ..self.clone() }
    }

    /// The element, when a snapshot named it.
    pub fn as_handle(&self) -> Option<Handle> {
        match self.by {
            By::Id { id, world } => Some(Handle { world, element: id }),
            _ => None,
        }
    }
}

const NTH: &str = " >> nth=";

fn split_nth(selector: &str) -> (&str, Option<i64>) {
    let split = selector.rsplit_once(NTH).and_then(|(rest, n)| Some((rest, n.trim().parse().ok()?)));
    split.map_or((selector, None), |(rest, n)| (rest, Some(n)))
}

/// Does everything behind the `=` stand in quotes? Then it means itself, whatever it is: names may have quotes, brackets
/// and ` >> nth=` in them, and nothing is escaped.
fn is_quoted(selector: &str) -> bool {
    match By::parse(selector) {
        By::Text { exact, .. }
        | By::Role { exact, .. }
        | By::Label { exact, .. }
        | By::Placeholder { exact, .. }
        | By::Alt { exact, .. }
        | By::Title { exact, .. } => exact,
        By::Testid { .. } => selector.split_once('=').is_some_and(|(_, value)| unquoted(value).1),
        _ => false,
    }
}

impl By {
    fn parse(selector: &str) -> Self {
        if selector.starts_with("//") || selector.starts_with("(//") {
            return Self::Xpath { value: selector.to_owned() };
        }
        let Some((kind, rest)) = selector.split_once('=') else { return Self::css(selector) };
        let (value, exact) = unquoted(rest);
        match kind {
            "css" => Self::css(rest),
            "xpath" => Self::Xpath { value: rest.to_owned() },
            "text" => Self::Text { value, exact },
            "role" => Self::role(rest),
            "label" => Self::Label { value, exact },
            "placeholder" => Self::Placeholder { value, exact },
            "alt" => Self::Alt { value, exact },
            "title" => Self::Title { value, exact },
            "testid" => Self::Testid { value },
            _ => Self::css(selector),
        }
    }

    fn css(selector: &str) -> Self {
        Self::Css { value: selector.to_owned() }
    }

    /// `button`, `button[name=Save]` or, as a whole, `button[name="Save"]`.
    fn role(text: &str) -> Self {
        let named = text.strip_suffix(']').and_then(|text| text.split_once("[name="));
        match named {
            Some((role, name)) => {
                let (name, exact) = unquoted(name);
                Self::Role { role: role.trim().to_owned(), name: Some(name), exact }
            }
            None => Self::Role { role: text.trim().to_owned(), name: None, exact: false },
        }
    }
}

/// Which bracket or quote has no other. Only CSS has escapes.
fn unbalanced(text: &str, has_escapes: bool) -> Option<String> {
    let mut open = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' if has_escapes => drop(characters.next()),
            '(' | '[' => open.push(character),
            ')' | ']' => {
                let wanted = if character == ')' { '(' } else { '[' };
                if open.pop() != Some(wanted) {
                    return Some(format!("a `{character}` closes nothing"));
                }
            }
            '"' | '\'' => loop {
                match characters.next() {
                    None => return Some(format!("a {character} is not closed")),
                    Some('\\') if has_escapes => drop(characters.next()),
                    Some(end) if end == character => break,
                    Some(_) => {}
                }
            },
            _ => {}
        }
    }
    open.last().map(|bracket| format!("a `{bracket}` is not closed"))
}

/// A value in double quotes is meant as a whole.
fn unquoted(text: &str) -> (String, bool) {
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => (inner.to_owned(), true),
        None => (text.to_owned(), false),
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_selector_is_known_without_a_page() {
        for sound in [
            "#a > b",
            "a[href='x]=(1']",
            "[data-x=\"a\\\"]\"]",
            "a:not([b])",
            "#a\\[0\\]",
            "//a[text()='x']",
            "role=button",
            "role=button[name=\"a]b\"]",
            "text=a (b",
            "label=[",
            "li >> nth=-1",
            "role=button[name=\"He said \"hi\" [x] >> nth=2\"]",
            "text=\"a >> nth=b\"",
        ] {
            assert_eq!(Locator::flaw(sound), None, "{sound}");
        }
        for bad in [
            "",
            " ",
            "css=",
            "a[b",
            "a]b",
            "a:not(b",
            "a['b]",
            "//a[1",
            "role=",
            "role=button[",
            "li >> nth=x",
            "text=\"a\" >> nth=\"x",
            "(a]",
        ] {
            assert!(Locator::flaw(bad).is_some(), "{bad}");
        }
    }

    proptest::proptest! {
        /// As recordings write them: what the engine reads is what was meant, and no check finds anything wrong with it.
        #[test]
        fn names_mean_themselves_whatever_is_in_them(
            name in "([a-z \"\\\\\\[\\]\n'=]| >> nth=[0-9]?|\\[name=){1,12}",
            nth in proptest::option::of(0i64..20),
        ) {
            let choice = nth.map(|nth| format!("{NTH}{nth}")).unwrap_or_default();
            for (kind, by) in [
                (format!("role=button[name=\"{name}\"]"), By::Role { role: "button".to_owned(), name: Some(name.clone()), exact: true }),
                (format!("text=\"{name}\""), By::Text { value: name.clone(), exact: true }),
                (format!("label=\"{name}\""), By::Label { value: name, exact: true }),
            ] {
                let selector = format!("{kind}{choice}");
                let read = Locator::parse(&selector);
                proptest::prop_assert_eq!((&read.by, read.nth), (&by, nth), "{}", selector);
                proptest::prop_assert_eq!(Locator::flaw(&selector), None, "{}", selector);
            }
        }
    }

    #[test]
    fn each_notation_has_its_form_for_the_script() {
        for (selector, json) in [
            ("#a > b", r##"{"by":"css","value":"#a > b"}"##),
            ("a[href='x=1']", r#"{"by":"css","value":"a[href='x=1']"}"#),
            ("css=.x", r#"{"by":"css","value":".x"}"#),
            ("//div", r#"{"by":"xpath","value":"//div"}"#),
            ("xpath=./p", r#"{"by":"xpath","value":"./p"}"#),
            ("text=Send", r#"{"by":"text","value":"Send","exact":false}"#),
            ("text=\"Send\"", r#"{"by":"text","value":"Send","exact":true}"#),
            ("role=button", r#"{"by":"role","role":"button","exact":false}"#),
            ("role=button[name=\"a]b\"]", r#"{"by":"role","role":"button","name":"a]b","exact":true}"#),
            ("label=Town", r#"{"by":"label","value":"Town","exact":false}"#),
            ("testid=x", r#"{"by":"testid","value":"x"}"#),
            ("li >> nth=-1", r#"{"by":"css","value":"li","nth":-1}"#),
        ] {
            assert_eq!(serde_json::to_string(&Locator::parse(selector)).unwrap(), json);
        }
        let handle = Locator::handle(Handle { world: 7, element: 3 }, "@e5");
        assert_eq!(serde_json::to_string(&handle).unwrap(), r#"{"by":"id","id":3}"#);
    }
}
