//! Where secrets belong in the arguments of which tool, as the tools themselves say.

use serde_json::Value;
use surehand_guard::{SecretPlaces, misplaced};

use crate::tool::Toolset;
use crate::verbs;

/// Where they may stand; nowhere, if nobody here knows the tool.
pub fn secret_places(tool: &str) -> SecretPlaces {
    let mut entries = [Toolset::Page, Toolset::Direct].into_iter().flat_map(Toolset::entries);
    match entries.find(|entry| entry.name == tool) {
        Some(entry) => entry.secrets,
        None => verbs::specs().iter().find(|spec| spec.name == tool).map_or(&[], |spec| spec.secrets),
    }
}

/// Every placeholder that stands where its tool takes none: a JSON pointer to it, and the name of the secret.
pub fn misplaced_secrets(tool: &str, arguments: &Value) -> Vec<(String, String)> {
    misplaced(secret_places(tool), arguments)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_tool_that_types_takes_secrets_where_it_types() {
        for (tool, arguments) in [
            ("fill_form", json!({ "fields": { "a": "${SECRET:Q}" } })),
            ("act", json!({ "action": "type ${SECRET:Q} into A" })),
            ("act", json!({ "instruction": "type ${SECRET:Q} into A" })),
            ("javascript_tool", json!({ "code": "f('${SECRET:Q}')" })),
            ("javascript_tool", json!({ "text": "f('${SECRET:Q}')" })),
            ("browser_fill", json!({ "value": "${SECRET:Q}" })),
            ("browser_eval", json!({ "expression": "f('${SECRET:Q}')" })),
            ("fill", json!({ "selector": "#a", "value": "${SECRET:Q}" })),
            ("type", json!({ "selector": "#a", "text": "${SECRET:Q}" })),
            ("keyboard", json!({ "how": { "type": { "text": "${SECRET:Q}" } } })),
            ("set", json!({ "what": { "credentials": { "user": "u", "password": "${SECRET:Q}" } } })),
            ("cookies", json!({ "action": { "set": { "name": "n", "value": "${SECRET:Q}" } } })),
            (
                "storage",
                json!({ "area": "local", "action": { "set": { "key": "n", "value": "${SECRET:Q}" } } }),
            ),
        ] {
            assert_eq!(misplaced_secrets(tool, &arguments), [], "{tool}");
        }
        for (tool, arguments) in [
            ("navigate", json!({ "url": "${SECRET:Q}" })),
            ("fill", json!({ "selector": "${SECRET:Q}", "value": "" })),
            ("nobody_knows", json!({ "value": "${SECRET:Q}" })),
        ] {
            assert_eq!(misplaced_secrets(tool, &arguments).len(), 1, "{tool}");
        }
    }
}
