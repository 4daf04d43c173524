//! Values in few words: arguments on one line, durations as people say them.

use serde_json::{Map, Value};

use crate::clean::{cut, one_line};

/// The arguments of a step on one line: what a reader needs to recognise it. The identifier of the tab is left
/// out, since the runner put it there.
pub fn arguments(args: &Value, most: usize) -> String {
    let Value::Object(fields) = args else { return value(args, most) };
    let fields = match fields.get("contract") {
        Some(Value::Object(contract)) => contract,
        _ => fields,
    };
    cut(&listed(fields, most), most)
}

/// A value on one line; a text without its quotes.
pub fn value(value: &Value, most: usize) -> String {
    let long = match value {
        Value::Null => String::new(),
        // More than can be shown after the white space is folded is not looked at.
        Value::String(text) => cut(text, most.saturating_mul(4)),
        other => other.to_string(),
    };
    cut(&one_line(&long), most)
}

fn listed(fields: &Map<String, Value>, most: usize) -> String {
    let told: Vec<(&String, &Value)> = fields.iter().filter(|(name, _)| *name != "tabId").collect();
    if let [(_, only)] = told.as_slice()
        && !only.is_array()
        && !only.is_object()
    {
        return value(only, most);
    }
    let words = told.iter().map(|(name, content)| match (name.as_str(), content) {
        // The kind of a contract reads best without its name.
        ("kind", Value::String(kind)) => one_line(kind),
        _ => format!("{}: {}", one_line(name), value(content, most)),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A duration as a person says it: `45 ms`, `1.24 s`, `2 m 05 s`.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{:02} s", ms / 1_000, ms % 1_000 / 10),
        _ => format!("{} m {:02} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `1 step`, `2 steps`.
pub fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_argument_is_told_by_its_value() {
        assert_eq!(arguments(&json!({ "url": "http://a/", "tabId": "T1" }), 80), "http://a/");
        assert_eq!(arguments(&json!({}), 80), "");
        assert_eq!(arguments(&json!(null), 80), "");
    }

    #[test]
    fn several_arguments_are_told_with_their_names() {
        let args = json!({ "fields": { "user": "ada" }, "submit": "Log in" });
        assert_eq!(arguments(&args, 80), r#"fields: {"user":"ada"}, submit: Log in"#);
    }

    #[test]
    fn a_contract_is_told_without_its_wrapper() {
        let args = json!({ "contract": { "kind": "dom_text", "selector": "h1", "pattern": "Example" } });
        let told = arguments(&args, 80);
        assert!(
            told.contains("dom_text") && told.contains("selector: h1") && !told.contains("contract"),
            "{told}"
        );
    }

    #[test]
    fn long_and_many_lined_values_are_cut() {
        assert_eq!(arguments(&json!({ "code": "let a = 1;\n  a + 1" }), 12), "let a = 1; a…");
    }

    #[test]
    fn durations_are_said_as_people_say_them() {
        let said: Vec<String> = [0, 999, 1_000, 1_249, 59_999, 125_000].into_iter().map(duration).collect();
        assert_eq!(said, ["0 ms", "999 ms", "1.00 s", "1.24 s", "59.99 s", "2 m 05 s"]);
    }
}
