//! What is wrong with arguments of the right shape, as far as that can be known before anything runs.

use serde_json::Value;
use surehand_page::Locator;
use surehand_session::{Fault, parse_reference};

/// Something in the arguments of a verb that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// What is wrong, in a sentence without the place.
    pub message: String,
}

impl Flaw {
    /// At a place.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }

    /// What a fault would say when the verb runs, with the nearest that it names.
    pub fn of<T, E: Into<Fault>>(pointer: impl Into<String>, result: Result<T, E>) -> Option<Self> {
        let fault = result.err()?.into();
        let near = fault.hints.iter().find(|hint| hint.starts_with("did you mean"));
        let near = near.map(|hint| format!("; {hint}")).unwrap_or_default();
        Some(Self::new(pointer, format!("{}{near}", fault.message)))
    }

    /// What is wrong with a selector. References are known to their session only.
    pub fn of_selector(pointer: impl Into<String>, selector: &str) -> Option<Self> {
        if parse_reference(selector).is_some() {
            return None;
        }
        let why = Locator::flaw(selector)?;
        Some(Self::new(pointer, format!("{selector:?} is no selector: {why}")))
    }

    /// What is wrong with selectors anywhere in arguments: everything that takes one calls it `selector`.
    pub fn of_selectors(arguments: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        look(arguments, "", &mut found);
        found
    }
}

fn look(value: &Value, at: &str, found: &mut Vec<Flaw>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                match value {
                    Value::String(selector) if name == "selector" => {
                        found.extend(Flaw::of_selector(pointer, selector));
                    }
                    value => look(value, &pointer, found),
                }
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                look(value, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}
