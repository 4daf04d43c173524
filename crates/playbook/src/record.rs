//! From the journal of a session to a playbook that does it again.
//!
//! Only what changed something becomes a step, in the order in which it was done; what was looked at becomes an assertion
//! where it says something that will be the same next time. The journal has no references and no secrets any more.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use surehand_session::JournalEntry;

use crate::vars::references;

/// A recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The playbook, in YAML.
    pub text: String,
    /// How many steps it has.
    pub steps: usize,
    /// Secrets that it needs.
    pub secrets: Vec<String>,
    /// What was done and is not in it: why.
    pub left_out: Vec<String>,
}

/// Verbs that only look, or arrange things for the person at the keyboard.
const LOOKS: [&str; 16] = [
    "snapshot",
    "get",
    "is",
    "eval",
    "screenshot",
    "pdf",
    "console",
    "errors",
    "network",
    "cookies",
    "session",
    "connect",
    "close",
    "read_page",
    "page_screenshot",
    "batch",
];

/// Writes a playbook that does what the entries say.
pub fn record(name: &str, entries: &[JournalEntry]) -> Recording {
    let mut writing = Writing::default();
    for entry in entries {
        writing.entry(entry);
    }
    let secrets: BTreeSet<String> =
        writing.steps.iter().flat_map(|(_, arguments)| secrets_of(arguments)).collect();
    let mut text = format!("name: {}\nsteps:", quoted(name));
    if writing.steps.is_empty() {
        text.push_str(" []");
    }
    text.push('\n');
    for (verb, arguments) in &writing.steps {
        write_step(&mut text, verb, arguments);
    }
    Recording {
        text,
        steps: writing.steps.len(),
        secrets: secrets.into_iter().collect(),
        left_out: writing.left_out,
    }
}

#[derive(Default)]
struct Writing {
    steps: Vec<(String, Value)>,
    left_out: Vec<String>,
}

impl Writing {
    fn entry(&mut self, entry: &JournalEntry) {
        if !entry.ok {
            return;
        }
        match entry.what.as_str() {
            "open" => self.step("navigate", json!({ "url": entry.arguments["url"] })),
            "oc_assert" => self.assertion(entry),
            "get" => self.reading(entry),
            "eval" | "javascript_tool" => {
                self.left_out.push(format!(
                    "{}: scripts may change or only read something; add it if it counts",
                    entry.what
                ));
            }
            what if LOOKS.contains(&what) => {}
            what => self.step(what, compact(&entry.arguments)),
        }
        self.arrival(entry);
    }

    fn step(&mut self, verb: &str, arguments: Value) {
        self.steps.push((verb.to_owned(), arguments));
    }

    /// An assertion that held is one of the playbook.
    fn assertion(&mut self, entry: &JournalEntry) {
        let holds = entry.seen.get("verdict").is_some_and(|verdict| verdict == "pass");
        let is_live = entry.arguments.get("evidence").is_none();
        if let Some(contract) = entry.arguments.get("contract").filter(|_| holds && is_live) {
            self.step("assert", contract.clone());
        }
    }

    /// What a person read on the page is what must be there again.
    fn reading(&mut self, entry: &JournalEntry) {
        let selector = entry.arguments.pointer("/what/text/selector").and_then(Value::as_str);
        let text = entry.seen.get("text").and_then(Value::as_str).map(first_line);
        if let (Some(selector), Some(text)) = (selector, text.filter(|text| !text.is_empty())) {
            self.step("assert", json!({ "kind": "dom_text", "selector": selector, "contains": text }));
        }
    }

    /// Where an action led.
    fn arrival(&mut self, entry: &JournalEntry) {
        let Some(url) = entry.seen.get("navigated").and_then(Value::as_str) else { return };
        if let Some(path) = path_of(url) {
            self.step("assert", json!({ "kind": "url", "pattern": escaped(path) }));
        }
    }
}

/// Arguments without those that say nothing: what is not there is what it is by default.
fn compact(arguments: &Value) -> Value {
    let Value::Object(members) = arguments else { return arguments.clone() };
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Bool(on) => !on,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    // Tabs have other names next time.
    let kept = members.iter().filter(|(name, value)| !says_nothing(value) && name.as_str() != "tabId");
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The path of an address: hosts and ports differ between machines, queries between runs.
fn path_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    let path = &rest[rest.find('/')?..];
    let path = path.split(['?', '#']).next().unwrap_or(path);
    (path.len() > 1).then_some(path)
}

fn escaped(path: &str) -> String {
    let mut out = String::new();
    for character in path.chars() {
        if "\\.+*?()|[]{}^$".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

fn secrets_of(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => references(text)
            .map(|reference| reference.key())
            .filter_map(|key| key.strip_prefix("SECRET:").map(ToOwned::to_owned))
            .collect(),
        Value::Array(items) => items.iter().flat_map(secrets_of).collect(),
        Value::Object(members) => members.values().flat_map(secrets_of).collect(),
        _ => Vec::new(),
    }
}

/// JSON texts are YAML texts.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// `- click:` and its arguments below it, one a line; what is inside of those in JSON, which is YAML too.
fn write_step(out: &mut String, verb: &str, arguments: &Value) {
    out.push_str(&format!("  - {verb}:"));
    match arguments.as_object().filter(|members| !members.is_empty()) {
        None => out.push_str(" {}\n"),
        Some(members) => {
            out.push('\n');
            for (name, value) in members {
                out.push_str(&format!("      {}: {}\n", quoted_key(name), literal(value)));
            }
        }
    }
}

fn quoted_key(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain && !name.starts_with(|c: char| c.is_ascii_digit()) { name.to_owned() } else { quoted(name) }
}

/// A dollar sign before a brace in recorded text is not a variable, unless it is a secret.
fn literal(value: &Value) -> String {
    fn escape(value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(kept_literal(text)),
            Value::Array(items) => items.iter().map(escape).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), escape(value))).collect())
            }
            other => other.clone(),
        }
    }
    escape(value).to_string()
}

fn kept_literal(text: &str) -> String {
    use crate::vars::{Piece, Reference, pieces};
    pieces(text)
        .map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Escape => "$$${".to_owned(),
            Piece::Reference(Reference::Secret(name)) => format!("${{SECRET:{name}}}"),
            Piece::Reference(Reference::Variable(name)) => format!("$${{{name}}}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{AnyArguments, Files, NoSecrets, Overrides, Source, open_source};

    fn entry(what: &str, arguments: Value, seen: Value) -> JournalEntry {
        let seen = seen.as_object().cloned().unwrap_or_default();
        let session = "s".to_owned();
        JournalEntry { at: 0.0, session, what: what.to_owned(), arguments, ok: true, ms: 1, seen }
    }

    fn session() -> Vec<JournalEntry> {
        let mut failed = entry("click", json!({ "selector": "#none" }), json!({}));
        failed.ok = false;
        vec![
            entry(
                "open",
                json!({ "url": "http://127.0.0.1:8000/login?x=1" }),
                json!({ "url": "http://127.0.0.1:8000/login" }),
            ),
            entry("snapshot", json!({ "interactive": true }), json!({})),
            failed,
            entry(
                "fill",
                json!({ "selector": "role=textbox[name=\"User: \\\"x\\\"\"]", "value": "a ${b} # c" }),
                json!({}),
            ),
            entry("fill", json!({ "selector": "#pw", "value": "${SECRET:PASSWORD}" }), json!({})),
            entry(
                "click",
                json!({ "selector": "role=button[name=\"Go\"]", "force": false, "position": null, "button": "left" }),
                json!({ "navigated": "http://127.0.0.1:8000/a.b/welcome?u=1" }),
            ),
            entry(
                "get",
                json!({ "what": { "text": { "selector": "h1" } } }),
                json!({ "text": "\n Welcome, Ada \n more" }),
            ),
            entry("oc_assert", json!({ "contract": { "kind": "no_dialog" } }), json!({ "verdict": "pass" })),
            entry("oc_assert", json!({ "contract": { "kind": "no_dialog" } }), json!({ "verdict": "fail" })),
            entry("interact", json!({ "ref": "Save", "tabId": "t1" }), json!({})),
            entry("eval", json!({ "script": "1" }), json!({})),
        ]
    }

    #[test]
    fn what_was_done_is_written_down() {
        let recording = record("A visit", &session());
        let wanted = r##"name: "A visit"
steps:
  - navigate:
      url: "http://127.0.0.1:8000/login?x=1"
  - fill:
      selector: "role=textbox[name=\"User: \\\"x\\\"\"]"
      value: "a $${b} # c"
  - fill:
      selector: "#pw"
      value: "${SECRET:PASSWORD}"
  - click:
      selector: "role=button[name=\"Go\"]"
      button: "left"
  - assert:
      kind: "url"
      pattern: "/a\\.b/welcome"
  - assert:
      kind: "dom_text"
      selector: "h1"
      contains: "Welcome, Ada"
  - assert:
      kind: "no_dialog"
  - interact:
      ref: "Save"
"##;
        assert_eq!(recording.text, wanted);
        assert_eq!((recording.steps, recording.secrets.as_slice()), (8, ["PASSWORD".to_owned()].as_slice()));
        assert_eq!(recording.left_out.len(), 1);
    }

    #[test]
    fn a_recording_is_a_playbook() {
        let text = record("x: y # z", &session()).text;
        let source = Source::from_bytes(Path::new("r.yaml"), text.into_bytes()).unwrap();
        let given = Overrides::parse(&["SECRET:PASSWORD=x"]).unwrap();
        let opened = open_source(source, &AnyArguments, &Files, &given, &NoSecrets);
        assert_eq!(opened.problems.to_string(), "");
        assert_eq!(record("empty", &[]).text, "name: \"empty\"\nsteps: []\n");
    }
}
