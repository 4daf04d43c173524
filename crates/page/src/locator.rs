//! How an element is named: the grammar of selectors, and its form for the injected script.

use std::fmt;

use serde::Serialize;

use crate::Handle;

/// A way to find elements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "by", rename_all = "lowercase")]
pub enum Locator {
    /// An element that a snapshot named. `name` is how the user wrote it (`@e5`).
    Id {
        /// The script's id.
        id: u64,
        /// The world that gave it.
        #[serde(skip)]
        world: u64,
        /// As the user wrote it.
        #[serde(skip)]
        name: String,
    },
    /// CSS, which also looks into open shadow roots.
    Css {
        /// The selector.
        value: String,
    },
    /// XPath.
    Xpath {
        /// The expression.
        value: String,
    },
    /// By visible text.
    Text {
        /// The text.
        value: String,
        /// The whole text, letter by letter?
        exact: bool,
    },
}

impl Locator {
    /// Reads a selector: `xpath=…` or `//…`, `text=…` (quoted: exact), `css=…`, else CSS. References (`@e5`) are resolved
    /// by the session, which knows them.
    pub fn parse(selector: &str) -> Self {
        let selector = selector.trim();
        if let Some(value) = selector.strip_prefix("xpath=") {
            return Self::Xpath { value: value.to_owned() };
        }
        if selector.starts_with("//") || selector.starts_with("(//") {
            return Self::Xpath { value: selector.to_owned() };
        }
        if let Some(value) = selector.strip_prefix("text=") {
            let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            let exact = quoted.is_some();
            return Self::Text { value: quoted.unwrap_or(value).to_owned(), exact };
        }
        Self::Css { value: selector.strip_prefix("css=").unwrap_or(selector).to_owned() }
    }

    /// The locator of an element that a snapshot named.
    pub fn handle(handle: Handle, name: &str) -> Self {
        Self::Id { id: handle.element, world: handle.world, name: name.to_owned() }
    }

    /// The element, when a snapshot named it.
    pub fn as_handle(&self) -> Option<Handle> {
        match self {
            Self::Id { id, world, .. } => Some(Handle { world: *world, element: *id }),
            _ => None,
        }
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id { name, .. } => f.write_str(name),
            Self::Css { value } => write!(f, "`{value}`"),
            Self::Xpath { value } => write!(f, "`xpath={value}`"),
            Self::Text { value, exact: false } => write!(f, "`text={value}`"),
            Self::Text { value, exact: true } => write!(f, "`text=\"{value}\"`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_notation_is_read() {
        let css = |v: &str| Locator::Css { value: v.into() };
        assert_eq!(Locator::parse("#a > b"), css("#a > b"));
        assert_eq!(Locator::parse("css=.x"), css(".x"));
        assert_eq!(Locator::parse("//div"), Locator::Xpath { value: "//div".into() });
        assert_eq!(Locator::parse("xpath=./p"), Locator::Xpath { value: "./p".into() });
        assert_eq!(Locator::parse("text=Send"), Locator::Text { value: "Send".into(), exact: false });
        assert_eq!(Locator::parse("text=\"Send\""), Locator::Text { value: "Send".into(), exact: true });
    }

    #[test]
    fn the_scripts_form_is_tagged() {
        assert_eq!(serde_json::to_string(&Locator::parse("#a")).unwrap(), r##"{"by":"css","value":"#a"}"##);
        let handle = Locator::handle(Handle { world: 7, element: 3 }, "@e5");
        assert_eq!(serde_json::to_string(&handle).unwrap(), r#"{"by":"id","id":3}"#);
    }
}
