//! JSON schemas of arguments, as small as they can be: a model reads all of them before it does anything.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The schema of a tool's arguments, without what says nothing.
pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(shorten).transform(&mut schema);
    match Value::from(schema) {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// What all structured answers have in common; the rest is told by the answers themselves.
pub(crate) fn of_answer() -> Map<String, Value> {
    let schema = serde_json::json!({
        "type": "object", "properties": { "tabId": { "type": "string" } }, "required": ["tabId"],
    });
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Titles repeat names, formats like `uint32` tell a model nothing, and what may be absent need not be null as well.
fn shorten(schema: &mut Schema) {
    let Some(map) = schema.as_object_mut() else { return };
    map.remove("title");
    if map
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.contains("int") || format == "double")
    {
        map.remove("format");
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(names) = map.get("oneOf").and_then(Value::as_array).and_then(|kinds| plain_names(kinds)) {
        map.remove("oneOf");
        map.insert("type".to_owned(), "string".into());
        map.insert("enum".to_owned(), names);
    }
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
}

/// The names of a choice among plain words; what each means is in the words.
fn plain_names(kinds: &[Value]) -> Option<Value> {
    kinds.iter().map(|kind| kind.get("const").filter(|name| name.is_string()).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema counts")]
    struct Arguments {
        /// How many
        count: Option<u32>,
    }

    #[test]
    fn schemas_are_short() {
        let schema = Value::Object(of::<Arguments>());
        let expected = serde_json::json!({
            "type": "object",
            "properties": { "count": { "type": "integer", "minimum": 0, "description": "How many" } },
        });
        assert_eq!(schema, expected);
    }
}
