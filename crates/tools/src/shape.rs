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
        let place = place(at, name);
        match known.get(name) {
            Some(schema) => strangers(schema, inner, &place, found),
            None => found.push(Misfit::unknown(name, place, known.keys().map(String::as_str))),
        }
    }
}

/// Lists and objects, at any depth, where something else belongs: who reads would take the members of a list for those of
/// an object.
pub(crate) fn misshapen(schema: &Value, value: &Value, at: &str) -> Vec<Misfit> {
    if let Some(choices) = choices(schema) {
        let tried = choices.iter().filter(|choice| has_its_names(choice, value));
        let tried = tried.map(|choice| misshapen(choice, value, at)).min_by_key(Vec::len);
        return tried.unwrap_or_default();
    }
    let sort = match value {
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        _ => return Vec::new(),
    };
    if schema.get("type").is_some_and(|wanted| wanted != sort && !is_among(wanted, sort)) {
        return vec![Misfit::value(at.to_owned(), format!("must be {}", described(schema)))];
    }
    let (known, others) = (schema.get("properties"), schema.get("additionalProperties"));
    let member = |name: &str| known.and_then(|known| known.get(name)).or(others);
    let members = value.as_object().into_iter().flatten();
    let members = members.filter_map(|(name, inner)| Some((name.clone(), member(name)?, inner)));
    let items = value.as_array().into_iter().flatten().enumerate();
    let items = items.filter_map(|(index, inner)| Some((index.to_string(), schema.get("items")?, inner)));
    members
        .chain(items)
        .flat_map(|(name, schema, inner)| misshapen(schema, inner, &place(at, &name)))
        .collect()
}

fn is_among(wanted: &Value, sort: &str) -> bool {
    wanted.as_array().is_some_and(|wanted| wanted.iter().any(|one| one == sort))
}

/// Does a value name itself as a choice does, `"action": "click"`?
fn has_its_names(choice: &Value, value: &Value) -> bool {
    let members = choice.get("properties").and_then(Value::as_object);
    members.into_iter().flatten().all(|(name, schema)| match (schema.get("const"), value.get(name)) {
        (Some(own), Some(given)) => own == given,
        _ => true,
    })
}

fn place(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
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
