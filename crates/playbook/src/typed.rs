//! Values of variables are texts. One that stands alone where a number, or true or false, is wanted is read as that.

use serde_json::Value as Json;

use crate::call::{CallError, filled};
use crate::catalog::Catalog;
use crate::document::{Count, range};
use crate::node::{Node, Value};
use crate::vars::{Piece, Reference, Scope, Secrets, pieces};

/// What an argument must be, if it is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Whole or not.
    Number,
    /// True or false.
    Switch,
}

impl Sort {
    /// What a text says, if it is of this sort.
    fn read(self, text: &str) -> Option<Json> {
        let read: Json = serde_json::from_str(text.trim()).ok()?;
        let fits = match self {
            Self::Number => read.is_number(),
            Self::Switch => read.is_boolean(),
        };
        fits.then_some(read)
    }
}

/// Gives the arguments of a tool their sorts, wherever a variable stands alone; `at` is where these stand among all. What is
/// of another sort stays as it is: the tool says what is wrong with it.
pub(crate) fn give_sorts(tool: &str, written: &Node, value: &mut Json, at: &str, catalog: &dyn Catalog) {
    match (&written.value, value) {
        (Value::String(text), value @ Json::String(_)) if is_lone_variable(text) => {
            let sort = catalog.sort_of(tool, at);
            if let Some(read) = sort.and_then(|sort| sort.read(value.as_str()?)) {
                *value = read;
            }
        }
        (Value::List(items), Json::Array(values)) => {
            for (index, (item, value)) in items.iter().zip(values).enumerate() {
                give_sorts(tool, item, value, &format!("{at}/{index}"), catalog);
            }
        }
        (Value::Map(entries), Json::Object(members)) => {
            for (key, inner) in entries {
                if let Some(value) = members.get_mut(&key.text) {
                    let name = key.text.replace('~', "~0").replace('/', "~1");
                    give_sorts(tool, inner, value, &format!("{at}/{name}"), catalog);
                }
            }
        }
        _ => {}
    }
}

/// Is a text nothing but a reference to a variable?
pub(crate) fn is_lone_variable(text: &str) -> bool {
    let mut pieces = pieces(text);
    matches!(pieces.next(), Some(Piece::Reference(Reference::Variable(_)))) && pieces.next().is_none()
}

impl Count {
    /// The number, with its variable put in.
    pub(crate) fn value(&self, scope: &Scope, secrets: &dyn Secrets) -> Result<u64, CallError> {
        match self {
            Self::Is(number) => Ok(*number),
            Self::Variable { text, .. } => self.read(&filled(&text.text, scope, secrets)?),
        }
    }

    /// What a text says that stands for its variable.
    pub(crate) fn read(&self, text: &str) -> Result<u64, CallError> {
        let (written, what, least, most) = match self {
            Self::Is(number) => return Ok(*number),
            Self::Variable { text, what, least, most } => (&text.text, *what, *least, *most),
        };
        let number = text.trim().parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| CallError::NoNumber {
            what,
            written: written.clone(),
            range: range(least, most),
        })
    }
}
