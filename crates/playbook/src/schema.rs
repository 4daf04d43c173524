//! The JSON Schema of playbooks, for editors: made from the tools, so that it says what they take.

use serde_json::{Map, Value, json};
use surehand_tools::{Spec, Toolset, specs};

use crate::document::{VERBS, tool_of};

/// The schema.
pub fn schema() -> Value {
    let page = specs(&[Toolset::Page]);
    let verbs = specs(&[Toolset::Verbs]);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Surehand playbook",
        "type": "object",
        "additionalProperties": false,
        "required": ["steps"],
        "properties": {
            "name": { "type": "string", "description": "What reports call it" },
            "vars": { "$ref": "#/definitions/vars" },
            "viewport": { "type": "string", "pattern": "^[0-9]+x[0-9]+$", "description": "The size of the window, e.g. 1280x720" },
            "device": { "type": "string", "description": "The device to be like, e.g. Pixel 7" },
            "serve": { "$ref": "#/definitions/serve" },
            "setup": { "$ref": "#/definitions/steps", "description": "Done first" },
            "steps": { "$ref": "#/definitions/steps" },
            "teardown": { "$ref": "#/definitions/steps", "description": "Done in any case at the end" },
        },
        "definitions": {
            "vars": {
                "type": "object",
                "description": "Variables for ${name}; --vars NAME=VALUE wins",
                "additionalProperties": { "type": "string" },
            },
            "serve": serve(),
            "steps": { "type": "array", "items": { "$ref": "#/definitions/step" } },
            "contract": contract(&page),
            "step": step(&page, &verbs),
        },
    })
}

fn serve() -> Value {
    let var = json!({ "type": "string", "description": "The variable that gets the address", "default": "base_url" });
    json!({
        "description": "What is served on loopback while the playbook runs",
        "anyOf": [
            { "type": "string", "description": "A directory, relative to the playbook" },
            {
                "type": "object",
                "additionalProperties": false,
                "required": ["dir"],
                "properties": { "dir": { "type": "string" }, "var": var },
            },
            {
                "type": "object",
                "additionalProperties": false,
                "required": ["command", "url"],
                "properties": {
                    "command": { "type": "string" },
                    "url": { "type": "string", "description": "Where it answers when it is ready" },
                    "timeout": { "type": "integer", "minimum": 1, "description": "Milliseconds" },
                    "var": var,
                },
            },
        ],
    })
}

/// What the tool that judges contracts says a contract is.
fn contract(page: &[Spec]) -> Value {
    let tool = page.iter().find(|spec| spec.name == tool_of("assert"));
    tool.and_then(|spec| spec.input_schema.get("properties")?.get("contract").cloned())
        .unwrap_or(json!({ "type": "object" }))
}

/// A step has one key that says what is done, and others that say how. Which go together is told by the reader.
fn step(page: &[Spec], verbs: &[Spec]) -> Value {
    let mut properties = Map::new();
    for (verb, _) in VERBS {
        let tool = tool_of(verb);
        if let Some(spec) = page.iter().find(|spec| spec.name == tool) {
            properties
                .insert(verb.to_owned(), if verb == "assert" { assertion(spec) } else { arguments(spec) });
        }
    }
    for spec in verbs {
        properties.insert(spec.name.to_string(), words_or(arguments(spec)));
    }
    let actions: Vec<Value> = properties.keys().map(|key| json!({ "required": [key] })).collect();
    let control = ["if", "repeat", "for_each", "parallel", "use"].map(|key| json!({ "required": [key] }));
    let one_of: Vec<Value> = actions.into_iter().chain(control).collect();
    properties.extend(modifiers());
    properties.extend(constructs());
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "oneOf": one_of })
}

fn arguments(spec: &Spec) -> Value {
    let mut schema = spec.input_schema.clone();
    schema.insert("description".to_owned(), json!(spec.description));
    if schema.get("required").is_none() {
        schema.insert("type".to_owned(), json!(["object", "null"]));
    }
    Value::Object(schema)
}

/// An assertion is a contract, or the arguments of the tool that judges it.
fn assertion(spec: &Spec) -> Value {
    json!({ "description": spec.description, "anyOf": [{ "$ref": "#/definitions/contract" }, spec.input_schema] })
}

/// Verbs of the command line take its words, too.
fn words_or(arguments: Value) -> Value {
    let word = json!({ "type": ["string", "number", "boolean"] });
    let words = json!({ "type": "array", "items": word });
    json!({ "description": arguments["description"], "anyOf": [arguments, word, words, { "type": "null" }] })
}

fn modifiers() -> Map<String, Value> {
    object(json!({
        "id": { "type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$", "description": "Unique in the file" },
        "name": { "type": "string", "description": "What reports call it" },
        "timeout": count("How long its tool may take, in milliseconds"),
        "retries": { "type": "integer", "minimum": 0, "maximum": 100, "description": "How often it is tried again" },
        "capture": {
            "description": "A variable for the result, or variables for its parts, by JSON pointer",
            "anyOf": [{ "type": "string" }, { "type": "object", "additionalProperties": { "type": "string" } }],
        },
    }))
}

fn constructs() -> Map<String, Value> {
    let steps = json!({ "$ref": "#/definitions/steps" });
    let contract = json!({ "$ref": "#/definitions/contract" });
    object(json!({
        "if": contract,
        "then": steps,
        "else": steps,
        "repeat": {
            "description": "So many times, or until a contract passes",
            "anyOf": [
                count("How often"),
                { "type": "object", "additionalProperties": false, "required": ["times"],
                  "properties": { "times": count("How often") } },
                { "type": "object", "additionalProperties": false, "required": ["until"],
                  "properties": { "until": contract, "max": count("How often at most, 10 if nothing is said") } },
            ],
        },
        "for_each": {
            "type": "object", "minProperties": 1, "maxProperties": 1,
            "additionalProperties": { "type": "array", "items": { "type": "string" } },
            "description": "A variable and its values: the steps run once for each",
        },
        "steps": steps,
        "parallel": {
            "type": "array",
            "description": "Branches side by side, each in a session of its own",
            "items": { "anyOf": [steps, {
                "type": "object", "additionalProperties": false, "required": ["steps"],
                "properties": { "name": { "type": "string" }, "steps": steps },
            }] },
        },
        "use": { "type": "string", "description": "Another playbook in place, relative to this one" },
        "vars": { "$ref": "#/definitions/vars" },
    }))
}

/// A number, or a variable that is one.
fn count(description: &str) -> Value {
    json!({
        "description": description,
        "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": "^\\$\\{[A-Za-z_][A-Za-z0-9_:]*\\}$" }],
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_it_once() {
        let schema = schema();
        let step = &schema["definitions"]["step"];
        for (verb, argument) in VERBS {
            let arguments = &step["properties"][verb];
            let has = |place: &str| arguments.pointer(place).is_some();
            assert!(has(&format!("/properties/{argument}")) || has("/anyOf/0/$ref"), "{verb}");
        }
        assert!(step["properties"]["click"]["anyOf"][0]["properties"]["selector"].is_object());
        assert!(step["oneOf"].as_array().unwrap().contains(&json!({ "required": ["parallel"] })));
        assert!(schema["definitions"]["contract"]["properties"]["kind"].is_object());
    }
}
