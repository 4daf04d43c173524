//! The tools of this program, for playbooks: the page tools and every verb of the command line.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};
use surehand_tools::{Misfit, Toolset, specs, words_to_arguments};

use crate::catalog::{Catalog, Finding, Unread};
use crate::document::ASSERT_TOOL;
use crate::typed::Sort;

/// The sets that playbooks call.
pub const TOOLSETS: [Toolset; 2] = [Toolset::Page, Toolset::Verbs];

/// See the module.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnCatalog;

impl Catalog for OwnCatalog {
    fn verbs(&self) -> &[String] {
        static VERBS: LazyLock<Vec<String>> = LazyLock::new(|| {
            specs(&[Toolset::Verbs]).into_iter().map(|spec| spec.name.into_owned()).collect()
        });
        &VERBS
    }

    fn words(&self, verb: &str, words: &[String]) -> Result<Value, Unread> {
        words_to_arguments(verb, words).map_err(|misread| Unread {
            message: misread.fault.message,
            // The verb is the first word there.
            word: misread.word.and_then(|word| word.checked_sub(1)),
        })
    }

    fn sort_of(&self, tool: &str, pointer: &str) -> Option<Sort> {
        static SCHEMAS: LazyLock<HashMap<String, Map<String, Value>>> = LazyLock::new(|| {
            specs(&TOOLSETS).into_iter().map(|spec| (spec.name.into_owned(), spec.input_schema)).collect()
        });
        if tool == ASSERT_TOOL && pointer.starts_with("/contract/") {
            return sort_in_contract(pointer);
        }
        let schema = SCHEMAS.get(tool)?;
        let (name, rest) = split(pointer)?;
        sort_in(schema.get("properties")?.get(&name)?, rest)
    }

    fn misplaced(&self, tool: &str, arguments: &Value) -> Vec<(String, String)> {
        surehand_tools::misplaced_secrets(tool, arguments)
    }

    fn check(&self, tool: &str, arguments: &Value) -> Vec<Finding> {
        let finding = |misfit: Misfit| Finding {
            pointer: misfit.pointer,
            message: misfit.message,
            is_about_key: misfit.is_about_name,
        };
        surehand_tools::check(&TOOLSETS, tool, arguments.clone()).into_iter().map(finding).collect()
    }
}

/// The schema of contracts is for models, and does not go into its members.
fn sort_in_contract(pointer: &str) -> Option<Sort> {
    let name = pointer.split('/').rfind(|part| part.parse::<usize>().is_err())?;
    match name {
        "value" | "distance_max" | "max_age_ms" | "status_in" => Some(Sort::Number),
        "uncaught" => Some(Sort::Switch),
        _ => None,
    }
}

/// The first name of a pointer, and what comes behind it.
fn split(pointer: &str) -> Option<(String, &str)> {
    let inside = pointer.strip_prefix('/')?;
    let end = inside.find('/').unwrap_or(inside.len());
    Some((inside[..end].replace("~1", "/").replace("~0", "~"), &inside[end..]))
}

/// What a schema wants at a place. Of a choice, the first that knows the place.
fn sort_in(schema: &Value, pointer: &str) -> Option<Sort> {
    let choices = ["oneOf", "anyOf"].iter().filter_map(|name| schema.get(name)?.as_array()).flatten();
    let of_choice = || choices.into_iter().find_map(|choice| sort_in(choice, pointer));
    let Some((name, rest)) = split(pointer) else {
        return match schema.get("type").and_then(Value::as_str) {
            Some("integer" | "number") => Some(Sort::Number),
            Some("boolean") => Some(Sort::Switch),
            Some(_) => None,
            None => of_choice(),
        };
    };
    let inner = schema.get("properties").and_then(|known| known.get(&name)).or_else(|| schema.get("items"));
    inner.and_then(|inner| sort_in(inner, rest)).or_else(of_choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_are_those_of_the_schemas() {
        let sort = |tool: &str, pointer: &str| OwnCatalog.sort_of(tool, pointer);
        assert_eq!(sort("interact", "/timeout"), Some(Sort::Number));
        assert_eq!(sort("wait_for", "/visible"), Some(Sort::Switch));
        assert_eq!(sort("set", "/what/viewport/width"), Some(Sort::Number));
        assert_eq!(sort("oc_assert", "/contract/children/0/value"), Some(Sort::Number));
        assert_eq!(sort("oc_assert", "/contract/status_in/0"), Some(Sort::Number));
        assert_eq!(sort("oc_assert", "/timeout_ms"), Some(Sort::Number));
        for (tool, pointer) in [
            ("interact", "/ref"),
            ("interact", "/none"),
            ("fill_form", "/fields/Zip"),
            ("none", "/x"),
            ("oc_assert", "/contract/pattern"),
            ("click", ""),
        ] {
            assert_eq!(sort(tool, pointer), None, "{tool} {pointer}");
        }
    }
}
