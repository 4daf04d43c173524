//! JSON schemas of arguments, as small as they can be: a model reads all of them before it does anything.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The schema of a tool's arguments, without what says nothing.
pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    made_with::<T>(SchemaSettings::draft2020_12())
}

/// The schema of what comes out: what may be left out need not be there.
pub(crate) fn of_output<T: JsonSchema>() -> Map<String, Value> {
    made_with::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn made_with<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
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
    without_null(map);
    map.shift_remove("title");
    if map
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.contains("int") || format == "double")
    {
        map.shift_remove("format");
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.shift_remove("default");
    }
    if let Some(names) = map.get("oneOf").and_then(Value::as_array).and_then(|kinds| plain_names(kinds)) {
        map.shift_remove("oneOf");
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

/// What may be absent is a choice between itself and null: only itself stays, with the description of its place.
fn without_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(names)) = map.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
    let Some(Value::Array(kinds)) = map.get_mut("anyOf") else { return };
    kinds.retain(|kind| kind.get("type").is_none_or(|kind| kind != "null"));
    let only = match kinds.as_mut_slice() {
        [Value::Object(only)] => std::mem::take(only),
        _ => return,
    };
    map.shift_remove("anyOf");
    for (name, value) in only {
        map.entry(name).or_insert(value);
    }
}

/// Says of every object with known members that it has no others.
pub(crate) fn close(schema: &mut Map<String, Value>) {
    if schema.contains_key("properties") {
        schema.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    for value in schema.values_mut() {
        match value {
            Value::Object(inner) => close(inner),
            Value::Array(inner) => inner.iter_mut().filter_map(Value::as_object_mut).for_each(close),
            _ => {}
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
        /// Which
        which: Option<Which>,
        how: Option<How>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema counts")]
    enum Which {
        One,
        Two,
    }

    /// A choice.
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema counts")]
    enum How {
        /// Slowly
        Slow,
        /// Quickly
        Fast { speed: f64 },
    }

    #[test]
    fn schemas_are_short() {
        let schema = Value::Object(of::<Arguments>());
        let how = &schema["properties"]["how"];
        assert_eq!(how["oneOf"].as_array().map(Vec::len), Some(2), "{schema}");
        assert!(!schema.to_string().contains("null"), "{schema}");
        let expected = serde_json::json!({
            "type": "object",
            "properties": {
                "count": { "type": "integer", "minimum": 0, "description": "How many" },
                "which": { "type": "string", "enum": ["One", "Two"], "description": "Which" },
                "how": how,
            },
        });
        assert_eq!(schema, expected);
    }
}
