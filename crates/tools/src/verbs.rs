//! Every verb of the command line as a tool, for playbooks that use them and for clients that want them.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use surehand_session::{Fault, Kind};
use surehand_verbs::{Command, Misread, Verb, VerbFacts, VerbVisitor};

use crate::check::{Misfit, members, read_all, refusal, take};
use crate::tool::{Spec, ToolContext};
use crate::{Answer, schema, shape};

/// All of them, in the order of the list of verbs.
pub(crate) fn specs() -> &'static [Spec] {
    static SPECS: LazyLock<Vec<Spec>> = LazyLock::new(|| {
        let mut collector = Collector::default();
        Command::visit_all(&mut collector);
        collector.0
    });
    &SPECS
}

#[derive(Default)]
struct Collector(Vec<Spec>);

impl VerbVisitor for Collector {
    fn visit<V: Verb + JsonSchema>(&mut self, facts: VerbFacts) {
        let mut input_schema = schema::of::<V>();
        schema::close(&mut input_schema);
        // A verb without arguments has none.
        input_schema.entry("additionalProperties").or_insert(Value::Bool(false));
        self.0.push(Spec {
            name: facts.name.into(),
            description: facts.about.into(),
            hints: V::HINTS,
            secrets: V::SECRETS,
            input_schema,
            output_schema: None,
        });
    }
}

/// A verb from the arguments of its tool, or everything that does not fit in them. Of what is no verb nothing is said.
fn read(name: &str, mut arguments: Value) -> Result<Option<Command>, Vec<Misfit>> {
    let Some(spec) = specs().iter().find(|spec| spec.name == name) else { return Ok(None) };
    let mut misfits = strangers(spec, &arguments);
    // What means nothing is told once: without it, what is left is read.
    misfits.iter().for_each(|misfit| drop(take(&mut arguments, &misfit.pointer)));
    let read = match read_all::<Command>(tagged(name, arguments), Map::new) {
        Ok(command) if misfits.is_empty() => return Ok(Some(command)),
        read => read.err().unwrap_or_default(),
    };
    let prefix = format!("/{name}");
    // The wrapping that is left when all of it was taken away is nobody's mistake.
    let (read, wrapping): (Vec<_>, Vec<_>) =
        read.into_iter().partition(|misfit| misfit.pointer.starts_with(&prefix));
    let read = if read.is_empty() { wrapping } else { read };
    // A name that was misspelt is missing where it should be; that is no second misfit.
    let meant: Vec<String> = misfits.iter().map(|misfit| misfit.message.clone()).collect();
    let is_echo = |misfit: &Misfit| {
        let missing = misfit.message.strip_prefix("missing field ");
        missing.is_some_and(|name| meant.iter().any(|told| told.ends_with(&format!("did you mean {name}?"))))
    };
    misfits.extend(read.into_iter().filter(|misfit| !is_echo(misfit)).map(|misfit| {
        let pointer = misfit.pointer.strip_prefix(&prefix).unwrap_or_default().to_owned();
        // Where a choice is written in another form, the reader's words say nothing to who wrote it.
        let message = match shape::wanted(&spec.input_schema, &pointer) {
            Some(wanted) => format!("{}; write {wanted}", misfit.message),
            None => misfit.message,
        };
        Misfit { pointer, message, ..misfit }
    }));
    Err(misfits)
}

/// What does not fit in the arguments of a verb, else what it would refuse when it runs. A call leaves the latter to the
/// verb, whose fault has a code of its own.
pub(crate) fn check(name: &str, arguments: Value) -> Vec<Misfit> {
    match read(name, arguments) {
        Ok(command) => command.iter().flat_map(Command::flaws).map(Misfit::from).collect(),
        Err(misfits) => misfits,
    }
}

/// Is a call of a verb a step of a recording? What nobody can read here is not thrown away.
pub(crate) fn is_step(name: &str, arguments: &Value) -> bool {
    read(name, arguments.clone()).ok().flatten().is_none_or(|command| command.is_step())
}

/// Members that mean nothing to a verb. Verbs go to the active tab, which is chosen with a verb of its own.
fn strangers(spec: &Spec, arguments: &Value) -> Vec<Misfit> {
    let mut found = Vec::new();
    if let Some(known) = members(&spec.input_schema) {
        shape::strange_members(known, arguments, "", &mut found);
    } else if let Some(given) = arguments.as_object() {
        let unknown = |name: &String| Misfit::unknown(name, format!("/{name}"), std::iter::empty());
        found.extend(given.keys().map(unknown));
    }
    for misfit in found.iter_mut().filter(|misfit| misfit.pointer == "/tabId") {
        misfit.message =
            "`tabId` is for the page tools; verbs go to the active tab: switch with tab".to_owned();
    }
    found
}

fn tagged(name: &str, arguments: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), arguments)]))
}

/// The arguments of a verb from the words that would follow it on the command line.
pub fn words_to_arguments(verb: &str, words: &[String]) -> Result<Value, Misread> {
    let line: Vec<String> = std::iter::once(verb.to_owned()).chain(words.iter().cloned()).collect();
    let mut tagged = surehand_verbs::read_line(&line)?.written();
    let members = tagged.as_object_mut().and_then(|members| members.values_mut().next());
    Ok(members.map(Value::take).unwrap_or_default())
}

/// Runs a verb with its arguments as an object.
pub(crate) async fn call(name: &str, arguments: Value, cx: &ToolContext) -> Result<Answer, Fault> {
    let command = read(name, arguments).map_err(|misfits| {
        let known = specs().iter().find(|spec| spec.name == name);
        refusal(name, &misfits, known.and_then(|spec| members(&spec.input_schema)))
    })?;
    let command = command.ok_or_else(|| Fault::new(Kind::Internal, format!("{name} is no verb")))?;
    // A session is made when the first call needs it, as for all tools.
    let session = cx.verbs.open_session().await?;
    session.hide_secrets(&cx.secrets);
    // What a tool answers does not depend on how its caller shows it.
    let output = command.execute(&cx.verbs.for_text()).await?;
    let structured = output.json().ok().and_then(|raw| serde_json::from_str(raw.get()).ok());
    let structured =
        structured.map(|value: Value| if value.is_object() { value } else { json!({ "result": value }) });
    let text = match output.note() {
        Some(note) => format!("{}\n{note}", output.text()),
        None => output.text(),
    };
    Ok(Answer { text, structured, is_error: output.failed(), ..Answer::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    fn words_become_arguments_that_fit() {
        let words = |verb: &str, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            words_to_arguments(verb, &words)
        };
        let lines: &[(&str, &[&str])] = &[
            ("click", &["#a", "--button", "right", "--modifiers", "shift"]),
            ("fill", &["#a", "-5"]),
            ("get", &["text", "h1"]),
            ("get", &["attr", "h1", "id"]),
            ("is", &["visible", "#a"]),
            ("wait", &["--text", "Done"]),
            ("find", &["role", "button", "click", "--name", "Go"]),
            ("set", &["viewport", "800", "600"]),
            ("set", &["media", "dark"]),
            ("set", &["device"]),
            ("tab", &["new", "http://a", "--label", "x"]),
            ("tab", &["close", "t1"]),
            ("mouse", &["move", "1", "2"]),
            ("keyboard", &["type", "x"]),
            ("dialog", &["accept", "x"]),
            ("storage", &["local", "set", "k", "v"]),
            ("cookies", &["set", "k", "v", "--secure"]),
            ("state", &["save", "x.json"]),
            ("network", &["requests"]),
            ("session", &["list"]),
            ("batch", &["get title", "click a"]),
            ("drag", &["#a", "#b"]),
            ("back", &[]),
            ("snapshot", &["-i"]),
        ];
        for (verb, line) in lines {
            let arguments = words(verb, line).unwrap_or_else(|fault| panic!("{verb} {line:?}: {fault:?}"));
            assert_eq!(check(verb, arguments.clone()), [], "{verb} {arguments}");
        }
        assert_eq!(words("click", &["#a"]).unwrap()["selector"], "#a");
        assert!(words("click", &[]).is_err());
    }

    /// A default of the command line is one of the mapping, too.
    #[test]
    fn mappings_need_only_what_the_command_line_needs() {
        for (verb, arguments) in [
            ("set", json!({ "what": { "viewport": { "width": 800, "height": 600 } } })),
            ("set", json!({ "what": { "geo": { "latitude": 47.3, "longitude": 8.5 } } })),
            ("scroll", json!({})),
            ("swipe", json!({ "direction": "up" })),
            ("mouse", json!({ "action": { "wheel": { "dy": 5 } } })),
        ] {
            assert_eq!(check(verb, arguments), [], "{verb}");
        }
    }

    #[test]
    fn what_a_verb_does_not_know_is_refused() {
        let misfits = check("click", json!({ "selector": "#a", "butto": "left", "button": 5 }));
        let pointers: Vec<&str> = misfits.iter().map(|misfit| misfit.pointer.as_str()).collect();
        assert_eq!(pointers, ["/butto", "/button"], "{misfits:?}");
        assert!(misfits[0].message.contains("`button`"), "{misfits:?}");
        let one = |verb: &str, arguments: Value| {
            let misfits = check(verb, arguments);
            assert_eq!(misfits.len(), 1, "{misfits:?}");
            misfits[0].message.clone()
        };
        let told = one("fill", json!({ "selector": "#a", "valu": "x" }));
        assert!(told.contains("unknown argument `valu`") && told.contains("`value`"), "{told}");
        let told = one("set", json!({ "what": { "viewport": { "width": 1, "height": 2 }, "x": 1 } }));
        assert!(told.contains("unknown argument `x`"), "{told}");
    }

    #[test]
    fn what_would_fail_is_known_before() {
        let told = |verb: &str, arguments: Value| {
            assert!(read(verb, arguments.clone()).is_ok(), "{verb}: a call is not refused");
            check(verb, arguments).into_iter().map(|misfit| misfit.pointer).collect::<Vec<_>>()
        };
        assert_eq!(told("press", json!({ "key": "Entr" })), ["/key"]);
        assert_eq!(told("press", json!({ "key": "Control+a" })), [""; 0]);
        assert_eq!(
            told("click", json!({ "selector": "role=button[", "position": "here" })),
            ["/position", "/selector"]
        );
        assert_eq!(told("click", json!({ "selector": "@e5" })), [""; 0]);
        assert_eq!(
            told("get", json!({ "what": { "text": { "selector": "a[b" } } })),
            ["/what/text/selector"]
        );
        assert_eq!(told("drag", json!({ "source": "a", "target": "" })), ["/target"]);
        assert_eq!(told("find", json!({ "by": "role", "value": "button", "action": ["clik"] })), ["/action"]);
        assert_eq!(told("find", json!({ "by": "first", "value": "a[" })), ["/value"]);
        assert_eq!(told("eval", json!({})), ["/script"]);
        assert_eq!(told("batch", json!({})), ["/commands"]);
        assert_eq!(
            told("batch", json!({ "commands": ["get title", "clik a", "press Entr"] })),
            ["/commands/1", "/commands/2"]
        );
        assert_eq!(told("open", json!({ "url": "ftp://x" })), ["/url"]);
        assert_eq!(told("wait", json!({ "url": "/(/" })), ["/url"]);
        let device = check("set", json!({ "what": { "device": { "name": "Pixl 7" } } }));
        assert!(device[0].message.contains("did you mean Pixel 7"), "{device:?}");
        assert_eq!(
            told("set", json!({ "what": { "viewport": { "width": 0, "height": 5 } } })),
            ["/what/viewport/width"]
        );
    }

    #[test]
    fn what_is_wanted_is_told_in_json() {
        let misfits = check("cookies", json!({ "action": "set", "name": "k", "value": "v" }));
        let told: Vec<&str> = misfits.iter().map(|misfit| misfit.message.as_str()).collect();
        assert!(told[0].contains("`name`") && told[1].contains("`value`"), "{told:?}");
        assert!(told[2].contains(r#""get" | {"set": {name, value, url?"#), "{told:?}");
        let nested =
            check("cookies", json!({ "action": { "set": { "name": "k", "value": "v", "sekure": true } } }));
        assert_eq!(nested.len(), 1, "{nested:?}");
        assert_eq!(nested[0].pointer, "/action/set/sekure");
        assert!(nested[0].message.contains("`secure`"), "{nested:?}");
        let tab = check("click", json!({ "selector": "#a", "tabId": "t1" }));
        assert!(tab[0].message.contains("switch with tab"), "{tab:?}");
    }

    #[test]
    fn hints_are_for_the_most_that_a_verb_can_do() {
        use surehand_verbs::Hints;
        let hints = |name: &str| specs().iter().find(|spec| spec.name == name).unwrap().hints;
        for reads in ["snapshot", "get", "is", "session"] {
            assert_eq!(hints(reads), Hints::READS, "{reads}");
        }
        for changes in [
            "batch",
            "close",
            "cookies",
            "storage",
            "state",
            "find",
            "tab",
            "eval",
            "wait",
            "screenshot",
            "pdf",
            "network",
            "console",
            "errors",
            "click",
            "dialog",
        ] {
            assert!(hints(changes).destructive && !hints(changes).read_only, "{changes}");
        }
        for moves in ["back", "forward", "window", "open", "reload", "batch", "find", "pushstate"] {
            assert!(!hints(moves).idempotent, "{moves}");
        }
    }

    #[test]
    fn what_only_looks_is_no_step() {
        for (verb, arguments) in [
            ("snapshot", json!({ "interactive": true })),
            ("get", json!({ "what": "url" })),
            ("screenshot", json!({})),
            ("network", json!({ "what": { "request": { "id": "1" } } })),
            ("session", json!({})),
            ("close", json!({})),
            ("tab", json!({})),
            ("tab", json!({ "action": "list" })),
            ("dialog", json!({ "answer": "status" })),
        ] {
            assert!(read(verb, arguments.clone()).is_ok(), "{verb} {arguments}");
            assert!(!is_step(verb, &arguments), "{verb} {arguments}");
        }
        for (verb, arguments) in [
            ("tab", json!({ "to": "t2" })),
            ("tab", json!({ "action": { "new": {} } })),
            ("wait", json!({ "text": "x" })),
            ("dialog", json!({ "answer": { "accept": {} } })),
            ("click", json!({ "selector": "a" })),
            ("nothing", json!({})),
        ] {
            assert!(is_step(verb, &arguments), "{verb} {arguments}");
        }
    }

    #[test]
    fn every_verb_is_a_tool_with_an_object_of_arguments() {
        assert!(specs().len() > 40);
        for spec in specs() {
            assert_eq!(spec.input_schema.get("type"), Some(&"object".into()), "{}", spec.name);
            assert_eq!(spec.input_schema.get("additionalProperties"), Some(&false.into()), "{}", spec.name);
            assert!(
                !Value::Object(spec.input_schema.clone()).to_string().contains("\"null\""),
                "{}",
                spec.name
            );
            assert!(!spec.description.is_empty(), "{}", spec.name);
        }
        let names: std::collections::HashSet<_> = specs().iter().map(|spec| &spec.name).collect();
        assert_eq!(names.len(), specs().len());
    }
}
