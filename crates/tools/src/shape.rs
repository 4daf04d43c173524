//! What arguments should look like, read off their schema: members that it does not know, and its words for a person.

use serde_json::{Map, Value};

use crate::check::Misfit;

/// Members, at any depth, that mean nothing: what would do nothing is refused, never ignored.
pub(crate) fn strangers(schema: &Value, value: &Value, at: &str, found: &mut Vec<Misfit>) {
    let known = chosen(schema, value).and_then(|schema| schema.get("properties")?.as_object());
    if let Some(known) = known {
        strange_members(known, value, at, found);
    }
}

/// Those among the members of a value that are not known, and the same inside of those that are.
pub(crate) fn strange_members(known: &Map<String, Value>, value: &Value, at: &str, found: &mut Vec<Misfit>) {
    for (name, inner) in value.as_object().into_iter().flatten() {
        let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        match known.get(name) {
            Some(schema) => strangers(schema, inner, &place, found),
            None => found.push(Misfit::unknown(name, place, known.keys().map(String::as_str))),
        }
    }
}

/// Of a choice, the one that a value is: it has the same one member.
fn chosen<'s>(schema: &'s Value, value: &Value) -> Option<&'s Value> {
    match choices(schema) {
        None => Some(schema),
        Some(choices) => choices.iter().find(|choice| {
            let known = choice.get("properties").and_then(Value::as_object);
            known.is_some_and(|known| known.keys().any(|name| value.get(name).is_some()))
        }),
    }
}

fn choices(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array)
}

/// What is wanted at a place, or at the nearest place above it that the schema speaks of.
pub(crate) fn wanted(schema: &Map<String, Value>, pointer: &str) -> Option<String> {
    let mut at = schema.get("properties")?.get(pointer.split('/').nth(1)?)?;
    for name in pointer.split('/').skip(2) {
        let inner =
            |schema: &'_ Value| schema.get("properties").is_some_and(|known| known.get(name).is_some());
        let holder = choices(at).and_then(|choices| choices.iter().find(|one| inner(one))).unwrap_or(at);
        match holder.get("properties").and_then(|known| known.get(name)) {
            // A choice that was written without what belongs to it: the choice itself is what to show.
            Some(next) if choices(at).is_none() => at = next,
            _ => break,
        }
    }
    Some(described(at))
}

/// `"get" | {"set": {name, value, url?}} | "clear"`
fn described(schema: &Value) -> String {
    let text = |value: &Value| value.to_string();
    let list = |values: &Vec<Value>, say: &dyn Fn(&Value) -> String| {
        values.iter().map(say).collect::<Vec<_>>().join(" | ")
    };
    if let Some(choices) = choices(schema) {
        return list(choices, &described);
    }
    if let Some(name) = schema.get("const") {
        return text(name);
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return list(names, &text);
    }
    match (schema.get("properties").and_then(Value::as_object), schema.get("type").and_then(Value::as_str)) {
        (Some(members), _) => object(schema, members),
        (None, Some("array")) => match schema.get("items") {
            Some(items) => format!("[{}, …]", described(items)),
            None => "a list".to_owned(),
        },
        (None, Some("string")) => "a text".to_owned(),
        (None, Some("integer")) => "a whole number".to_owned(),
        (None, Some("boolean")) => "true or false".to_owned(),
        (None, Some(kind)) => format!("a {kind}"),
        (None, None) => "anything".to_owned(),
    }
}

fn object(schema: &Value, members: &Map<String, Value>) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let inner = |name: &String, schema: &Value| match schema.get("properties").is_some() {
        // A choice with something in it is shown as it is written.
        true => format!("{name:?}: {}", described(schema)),
        false if is_required(name) => name.clone(),
        false => format!("{name}?"),
    };
    let members: Vec<String> = members.iter().map(|(name, schema)| inner(name, schema)).collect();
    format!("{{{}}}", members.join(", "))
}
