//! Variables: where texts refer to them, what they stand for, and which of several of the same name wins.
//!
//! Substitution is a single pass: what a variable brings in is never looked through again. A value that would become a
//! reference to a secret is refused, because the tools resolve those later; one that the author of a playbook wrote may be
//! handed on by variables.

mod reference;
mod scope;
mod value;

pub(crate) use reference::is_name;
pub use reference::{Piece, Reference, is_variable_name, pieces, references};
pub use scope::{Binding, Filling, LARGEST_TEXT, Mark, NoSecrets, Scope, Secrets, TooMuch, Unfillable};
pub use value::Value;

use std::collections::BTreeMap;
use std::fmt;

/// An entry of `--vars` that is no `KEY=VALUE`. Neither is repeated: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("number {number} of the variables is not KEY=VALUE: {what}")]
pub struct BadOverride {
    /// Which one, from 1.
    pub number: usize,
    /// What is missing.
    pub what: &'static str,
}

/// Variables given on the command line. They win over those of files.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Overrides(pub(crate) BTreeMap<String, String>);

impl Overrides {
    /// From `KEY=VALUE` entries; of several with the same key the last wins. A key may be `SECRET:NAME`, and a value may
    /// hold `=`.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<Self, BadOverride> {
        let mut map = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let bad = |what| BadOverride { number: index + 1, what };
            let (key, value) = entry.as_ref().split_once('=').ok_or_else(|| bad("it has no `=`"))?;
            if key.is_empty() {
                return Err(bad("nothing is before the `=`"));
            }
            map.insert(key.to_owned(), value.to_owned());
        }
        Ok(Self(map))
    }
}

/// Names only: values may be secrets.
impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// What has to be said about a secret that no secrets layer has.
pub fn secret_warning(name: &str) -> String {
    format!(
        "[playbook] WARNING: SECRET:{name} is a secret reference, and masking (#834) is not in force for it. \
         The value is used as-is from the variables if present."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_are_keys_and_values() {
        let given = Overrides::parse(&["a=1", "b=x=y", "SECRET:N=s", "a=2", "c="]).unwrap();
        let expected = [("SECRET:N", "s"), ("a", "2"), ("b", "x=y"), ("c", "")];
        assert!(given.0.iter().map(|(key, value)| (key.as_str(), value.as_str())).eq(expected));
        assert!(!format!("{given:?}").contains("x=y"));
    }

    #[test]
    fn other_entries_are_errors_that_do_not_repeat_them() {
        let error = Overrides::parse(&["a=1", "hunter2"]).unwrap_err();
        assert_eq!(error.to_string(), "number 2 of the variables is not KEY=VALUE: it has no `=`");
        assert!(Overrides::parse(&["=x"]).is_err());
    }
}
