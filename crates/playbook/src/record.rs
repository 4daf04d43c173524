//! From the journal of a session to a playbook that does it again.
//!
//! What was done becomes a step, in the order in which it was done; what was looked at becomes an assertion where it says
//! something that will be the same next time. The journal has no references and no secrets any more. What cannot be done
//! again is told, and a remark stands in its place.

mod volatile;
mod yaml;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use surehand_guard::redact;
use surehand_session::{JournalEntry, has_references};
use surehand_tools::{is_step, misplaced_secrets};

use self::volatile::{lasting_part, path_pattern};
use crate::vars::{Piece, Reference, pieces, references};

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

/// Writes a playbook that does what the entries say.
pub fn record(name: &str, entries: &[JournalEntry]) -> Recording {
    let mut writing = Writing::default();
    for entry in entries.iter().filter(|entry| entry.ok) {
        writing.entry(entry);
    }
    let Writing { lines, left_out, .. } = writing;
    let arguments = |line: &Line| match line {
        Line::Step { arguments, .. } => Some(secrets_of(arguments)),
        Line::Remark(_) => None,
    };
    let secrets: Vec<Vec<String>> = lines.iter().filter_map(arguments).collect();
    Recording {
        text: yaml::write(name, &lines),
        steps: secrets.len(),
        secrets: secrets.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect(),
        left_out,
    }
}

/// Something in the list of steps.
#[derive(Debug)]
enum Line {
    Step { verb: String, arguments: Value },
    Remark(String),
}

#[derive(Default)]
struct Writing {
    lines: Vec<Line>,
    left_out: Vec<String>,
    /// The frames that were gone into: selectors are looked for only there.
    scope: Vec<String>,
}

impl Writing {
    fn entry(&mut self, entry: &JournalEntry) {
        match entry.what.as_str() {
            "open" => self.visit(entry, "navigate", json!({ "url": address(&entry.arguments["url"]) })),
            "oc_assert" => self.assertion(entry),
            "get" => self.reading(entry),
            "frame" => self.frame(entry),
            "eval" => self.script(entry, json!({ "script": entry.arguments["script"] })),
            "javascript_tool" => self.script(entry, compact(&entry.arguments)),
            "press" | "keydown" | "keyup" if is_secret_key(entry) => self.keys(entry),
            "act" if is_secret_sentence(entry) => {
                self.leave_out("act", "keys were pressed into a field whose content is secret");
            }
            what if !is_step(what, &entry.arguments) => {}
            what => self.visit(entry, what, compact(&entry.arguments)),
        }
        self.arrival(entry);
    }

    fn step(&mut self, verb: &str, arguments: Value) {
        self.lines.push(Line::Step { verb: verb.to_owned(), arguments });
    }

    fn leave_out(&mut self, what: &str, why: &str) {
        let text = format!("{what}: {why}");
        self.lines.push(Line::Remark(format!("left out: {text}")));
        self.left_out.push(text);
    }

    /// A step, unless it could not be done again.
    fn act(&mut self, entry: &JournalEntry, verb: &str, arguments: Value) {
        if has_references(&arguments) {
            return self.leave_out(verb, "its element had nothing that it could be told by");
        }
        if !misplaced_secrets(verb, &arguments).is_empty() {
            return self.leave_out(verb, "it would need a secret where none can be put in");
        }
        if arguments.to_string().contains(redact::MASK) {
            let remark =
                format!("something secret is left out of the next step: put it in for {}", redact::MASK);
            self.lines.push(Line::Remark(remark));
        }
        self.open_roots(entry);
        let Some(frames) = &entry.frames else { return self.step(verb, arguments) };
        let before = self.scope.clone();
        self.go_into(frames);
        self.open_roots(entry);
        self.step(verb, arguments);
        self.go_into(&before);
    }

    /// Closed shadow roots are opened by snapshots only.
    fn open_roots(&mut self, entry: &JournalEntry) {
        if entry.snapshot {
            self.step("snapshot", json!({}));
        }
    }

    /// Goes into frames, from the page itself.
    fn go_into(&mut self, frames: &[String]) {
        if !self.scope.is_empty() {
            self.step("frame", json!({ "selector": "main" }));
        }
        for frame in frames {
            self.step("frame", json!({ "selector": frame }));
        }
        self.scope = frames.to_vec();
    }

    /// Somebody chose where selectors are looked for.
    fn frame(&mut self, entry: &JournalEntry) {
        let arguments = compact(&entry.arguments);
        let selector = arguments["selector"].as_str().unwrap_or_default().to_owned();
        if has_references(&arguments) || !misplaced_secrets("frame", &arguments).is_empty() {
            return self.leave_out("frame", "its element had nothing that it could be told by");
        }
        self.open_roots(entry);
        if let Some(frames) = &entry.frames {
            self.go_into(frames);
        }
        self.step("frame", arguments);
        match selector.as_str() {
            "main" => self.scope.clear(),
            _ => self.scope.push(selector),
        }
    }

    /// A step that may lead somewhere. The password of an address is a secret, and addresses take none.
    fn visit(&mut self, entry: &JournalEntry, verb: &str, mut arguments: Value) {
        if let Some(Login { user, password, origin, url }) = arguments["url"].as_str().and_then(login) {
            let credentials = json!({ "user": user, "password": password, "origin": origin });
            self.step("set", json!({ "what": { "credentials": credentials } }));
            arguments["url"] = url.into();
        }
        self.act(entry, verb, arguments);
    }

    /// Whatever a script did may count. One that is not whole any more does something else.
    fn script(&mut self, entry: &JournalEntry, arguments: Value) {
        if arguments.to_string().contains(redact::MASK) {
            return self.leave_out(&entry.what, "the script had something secret in it");
        }
        self.act(entry, &entry.what, arguments);
    }

    /// Keys that went into a secret field one by one are typed as a whole.
    fn keys(&mut self, entry: &JournalEntry) {
        let arguments = json!({ "how": { "type": { "text": entry.arguments["key"] } } });
        let is_same = |line: &Line| matches!(line, Line::Step { arguments: last, .. } if *last == arguments);
        if entry.what != "keyup" && !self.lines.last().is_some_and(is_same) {
            self.act(entry, "keyboard", arguments);
        }
    }

    /// An assertion that held is one of the playbook.
    fn assertion(&mut self, entry: &JournalEntry) {
        let holds = entry.seen.get("verdict").is_some_and(|verdict| verdict == "pass");
        let is_live = entry.arguments.get("evidence").is_none();
        if let Some(contract) = entry.arguments.get("contract").filter(|_| holds && is_live) {
            self.act(entry, "assert", contract.clone());
        }
    }

    /// What a person read on the page is what must be there again.
    fn reading(&mut self, entry: &JournalEntry) {
        let selector = entry.arguments.pointer("/what/text/selector").and_then(Value::as_str);
        let text = entry.seen.get("text").and_then(Value::as_str).map(first_line).map(without_secrets);
        let text = text.map(|text| lasting_part(&text).to_owned());
        if let (Some(selector), Some(text)) = (selector, text.filter(|text| !text.is_empty())) {
            let contract = json!({ "kind": "dom_text", "selector": selector, "contains": text });
            if !has_references(&contract) && misplaced_secrets("assert", &contract).is_empty() {
                self.act(entry, "assert", contract);
            }
        }
    }

    /// Where an action led.
    fn arrival(&mut self, entry: &JournalEntry) {
        let Some(url) = entry.seen.get("navigated").and_then(Value::as_str) else { return };
        let path = path_of(url).filter(|path| without_secrets(path) == *path);
        if let Some(pattern) = path.and_then(path_pattern) {
            self.step("assert", json!({ "kind": "url", "pattern": pattern }));
        }
    }
}

/// Does what was pressed stand for itself no more?
fn is_secret_key(entry: &JournalEntry) -> bool {
    entry.arguments["key"].as_str().is_some_and(|key| key.starts_with("${SECRET:"))
}

fn is_secret_sentence(entry: &JournalEntry) -> bool {
    ["action", "instruction"].iter().any(|name| entry.arguments[name] == redact::MASK)
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

/// Where `open` leads when it is told nothing.
fn address(url: &Value) -> Value {
    if url.is_null() { "about:blank".into() } else { url.clone() }
}

/// A name and a password in an address.
struct Login<'u> {
    user: &'u str,
    password: &'u str,
    origin: String,
    /// The address without them.
    url: String,
}

fn login(url: &str) -> Option<Login<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (login, host) = rest[..end].rsplit_once('@')?;
    let (user, password) = login.split_once(':').filter(|(_, password)| password.starts_with("${SECRET:"))?;
    let origin = format!("{scheme}://{host}");
    let url = format!("{origin}{}", &rest[end..]);
    Some(Login { user, password, origin, url })
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Less than this says nothing about a text from which a secret was cut.
const LEAST: usize = 3;

/// The longest part of a text in which no secret stands; empty if there is none worth a look.
fn without_secrets(text: &str) -> String {
    let mut parts = vec![String::new()];
    for piece in pieces(text) {
        let part = match piece {
            Piece::Reference(Reference::Secret(_)) => {
                parts.push(String::new());
                continue;
            }
            Piece::Reference(Reference::Variable(name)) => format!("${{{name}}}"),
            Piece::Text(text) => text.to_owned(),
            Piece::Escape => "$$".to_owned(),
        };
        parts.last_mut().into_iter().for_each(|last| last.push_str(&part));
    }
    if let [whole] = parts.as_slice() {
        return whole.clone();
    }
    let longest = parts.iter().map(|part| part.trim()).max_by_key(|part| part.chars().count());
    longest.filter(|part| part.chars().count() >= LEAST).unwrap_or_default().to_owned()
}

/// The path of an address: hosts and ports differ between machines, queries between runs.
fn path_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    let path = &rest[rest.find('/')?..];
    let path = path.split(['?', '#']).next().unwrap_or(path);
    (path.len() > 1).then_some(path)
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
#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{AnyArguments, Files, NoSecrets, Overrides, Source, open_source};

    fn entry(what: &str, arguments: Value, seen: Value) -> JournalEntry {
        let seen = seen.as_object().cloned().unwrap_or_default();
        let session = "s".to_owned();
        JournalEntry {
            at: 0.0,
            session,
            what: what.to_owned(),
            arguments,
            frames: None,
            snapshot: false,
            ok: true,
            ms: 1,
            seen,
        }
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
  - eval:
      script: "1"
"##;
        assert_eq!(recording.text, wanted);
        assert_eq!((recording.steps, recording.secrets.as_slice()), (9, ["PASSWORD".to_owned()].as_slice()));
        assert_eq!(recording.left_out, [""; 0]);
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

    #[test]
    fn what_cannot_be_done_again_leaves_a_remark() {
        let text = "role=button[name=\"Hi ${SECRET:PW}\"]";
        let recording = record(
            "x",
            &[
                entry("click", json!({ "selector": "@e5" }), json!({})),
                entry("click", json!({ "selector": text }), json!({})),
                entry("eval", json!({ "script": "fetch('/?token=[REDACTED]')" }), json!({})),
                entry("eval", json!({ "script": "f('${SECRET:PW}')", "stdin": true }), json!({})),
                entry(
                    "oc_assert",
                    json!({ "contract": { "contains": "${SECRET:PW}" } }),
                    json!({ "verdict": "pass" }),
                ),
                entry("press", json!({ "key": "Enter" }), json!({ "navigated": "http://x/${SECRET:PW}/b" })),
            ],
        );
        assert_eq!((recording.steps, recording.left_out.len()), (1, 5), "{}", recording.text);
        assert_eq!(recording.text.matches("\n  # left out: ").count(), 5, "{}", recording.text);
    }

    #[test]
    fn secret_keys_are_typed_as_a_whole() {
        let key = |what: &str, key: &str| entry(what, json!({ "key": key }), json!({}));
        let pin = "${SECRET:PIN}";
        let recording = record(
            "x",
            &[
                key("press", pin),
                key("press", pin),
                key("keydown", pin),
                key("keyup", pin),
                key("press", "Enter"),
                key("press", "${SECRET:PIN_2}"),
                entry("act", json!({ "action": redact::MASK }), json!({})),
            ],
        );
        let wanted = r#"steps:
  - keyboard:
      how: {"type":{"text":"${SECRET:PIN}"}}
  - press:
      key: "Enter"
  - keyboard:
      how: {"type":{"text":"${SECRET:PIN_2}"}}
  # left out: act: keys were pressed into a field whose content is secret
"#;
        assert!(recording.text.ends_with(wanted), "{}", recording.text);
        assert_eq!(recording.secrets, ["PIN", "PIN_2"]);
    }

    #[test]
    fn what_is_another_one_next_time_is_not_asked_for() {
        let text = record(
            "x",
            &[
                entry(
                    "click",
                    json!({ "selector": "#a" }),
                    json!({ "navigated": "http://h/orders/1763300000123" }),
                ),
                entry("click", json!({ "selector": "#b" }), json!({ "navigated": "http://h/1763300000123" })),
                entry(
                    "get",
                    json!({ "what": { "text": { "selector": "h1" } } }),
                    json!({ "text": "Order 1763300000123 was placed" }),
                ),
                entry(
                    "get",
                    json!({ "what": { "text": { "selector": "h2" } } }),
                    json!({ "text": "18:05:36" }),
                ),
                entry("tab", json!({}), json!({})),
            ],
        )
        .text;
        let asserts: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("pattern") || line.starts_with("contains"))
            .collect();
        assert_eq!(asserts, [r#"pattern: "/orders/[^/]+""#, r#"contains: "was placed""#], "{text}");
        assert!(!text.contains("tab"), "{text}");
    }

    #[test]
    fn asserts_are_cut_where_a_secret_stands() {
        assert_eq!(without_secrets("Hello ${SECRET:PW}, welcome back"), ", welcome back");
        assert_eq!(without_secrets("Hi ${SECRET:PW}!"), "");
        assert_eq!(without_secrets("a ${b} $${c}"), "a ${b} $${c}");
    }

    #[test]
    fn frames_are_gone_into_and_left() {
        let mut inside = entry("click", json!({ "selector": "#a" }), json!({}));
        inside.frames = Some(vec!["#outer".to_owned(), "#inner".to_owned()]);
        let steps = |entries: &[JournalEntry]| -> Vec<String> {
            let text = record("x", entries).text;
            text.lines()
                .filter_map(|line| line.split_once("selector: "))
                .map(|(_, it)| it.to_owned())
                .collect()
        };
        assert_eq!(
            steps(std::slice::from_ref(&inside)),
            [r##""#outer""##, r##""#inner""##, r##""#a""##, r#""main""#]
        );
        let chosen = entry("frame", json!({ "selector": "#other" }), json!({}));
        let wanted = [
            r##""#other""##,
            r#""main""#,
            r##""#outer""##,
            r##""#inner""##,
            r##""#a""##,
            r#""main""#,
            r##""#other""##,
        ];
        assert_eq!(steps(&[chosen, inside]), wanted);
    }

    #[test]
    fn a_login_in_an_address_is_set_before() {
        let open = entry("open", json!({ "url": "http://ada:${SECRET:PASSWORD}@h:80/a?b" }), json!({}));
        let text = record("x", &[open]).text;
        let wanted = r#"  - set:
      what: {"credentials":{"user":"ada","password":"${SECRET:PASSWORD}","origin":"http://h:80"}}
  - navigate:
      url: "http://h:80/a?b"
"#;
        assert!(text.ends_with(wanted), "{text}");
    }
}
