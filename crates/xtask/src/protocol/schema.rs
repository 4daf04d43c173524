//! The part of CDP's own description (`/json/protocol`) that the generator reads, and the form of the
//! trimmed copy that is committed. Sentences, enum values and stability marks are left behind.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Protocol {
    /// `Chrome/156.0.…`; only in the committed copy.
    #[serde(default)]
    pub browser: String,
    pub domains: Vec<Domain>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    #[serde(rename = "domain")]
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<Type>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Type {
    pub id: String,
    #[serde(flatten)]
    pub shape: Shape,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Command {
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Field>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    #[serde(flatten)]
    pub shape: Shape,
}

/// What a field, an array's item or a named type looks like. An object's properties are not part of it:
/// only named types have them where it matters, and an object that nobody named stays raw JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Shape {
    Ref {
        /// `Frame` within its own domain, `Page.Frame` elsewhere and always in the committed copy.
        #[serde(rename = "$ref")]
        to: String,
    },
    Array {
        #[serde(rename = "type")]
        kind: ArrayKind,
        items: Box<Shape>,
    },
    Plain {
        #[serde(rename = "type")]
        kind: Kind,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrayKind {
    Array,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Any,
    /// An array without a word about its items.
    Array,
    Binary,
    Boolean,
    Integer,
    Number,
    Object,
    String,
}

impl Shape {
    /// The named type that this shape leads to, directly or through arrays.
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Ref { to } => Some(to),
            Self::Array { items, .. } => items.target(),
            Self::Plain { .. } => None,
        }
    }

    /// The same shape with its reference spelled `Domain.Type`.
    pub fn qualified(&self, domain: &str) -> Self {
        match self {
            Self::Ref { to } if !to.contains('.') => Self::Ref { to: format!("{domain}.{to}") },
            Self::Array { kind, items } => {
                Self::Array { kind: *kind, items: Box::new(items.qualified(domain)) }
            }
            other => other.clone(),
        }
    }
}

impl Protocol {
    pub fn find_type(&self, name: &str) -> Option<&Type> {
        let (domain, id) = name.split_once('.')?;
        self.domain(domain)?.types.iter().find(|candidate| candidate.id == id)
    }

    /// JSON with one member per line, so that a browser update reads well as a diff.
    pub fn to_text(&self) -> serde_json::Result<String> {
        let domains = self.domains.iter().map(Domain::to_text).collect::<serde_json::Result<Vec<_>>>()?;
        let browser = serde_json::to_string(&self.browser)?;
        Ok(format!("{{\"browser\":{browser},\"domains\":[\n{}\n]}}\n", domains.join(",\n")))
    }

    pub fn domain(&self, name: &str) -> Option<&Domain> {
        self.domains.iter().find(|candidate| candidate.name == name)
    }
}

impl Domain {
    fn to_text(&self) -> serde_json::Result<String> {
        let mut text = format!("{{\"domain\":{}", serde_json::to_string(&self.name)?);
        for (key, lines) in [
            ("types", lines(&self.types)?),
            ("commands", lines(&self.commands)?),
            ("events", lines(&self.events)?),
        ] {
            if !lines.is_empty() {
                text += &format!(",\"{key}\":[\n{}\n]", lines.join(",\n"));
            }
        }
        Ok(text + "}")
    }
}

fn lines<T: Serialize>(entries: &[T]) -> serde_json::Result<Vec<String>> {
    entries.iter().map(serde_json::to_string).collect()
}
