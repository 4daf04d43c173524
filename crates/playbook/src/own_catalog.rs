//! The tools of this program, for playbooks: the page tools and every verb of the command line.

use std::sync::LazyLock;

use serde_json::Value;
use surehand_tools::{Misfit, Toolset, specs, words_to_arguments};

use crate::catalog::{Catalog, Finding, Unread};

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
