//! Every verb of the command line as a tool, for playbooks that use them and for clients that want them.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use surehand_session::{Fault, Kind};
use surehand_verbs::{Command, Effect, Verb, VerbFacts, VerbVisitor};

use crate::check::{Misfit, members, read_all};
use crate::tool::{Hints, Spec, ToolContext};
use crate::{Answer, schema};

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
        let hints = match V::EFFECT {
            Effect::Reads => Hints::READS,
            Effect::Acts => Hints::ACTS,
            Effect::Navigates | Effect::Manages => Hints::NAVIGATES,
        };
        self.0.push(Spec {
            name: facts.name.into(),
            description: facts.about.into(),
            hints,
            input_schema: schema::of::<V>(),
            output_schema: None,
        });
    }
}

/// What does not fit in the arguments of a verb.
pub(crate) fn check(name: &str, arguments: Value) -> Vec<Misfit> {
    let Some(spec) = specs().iter().find(|spec| spec.name == name) else { return Vec::new() };
    let mut misfits = superfluous(spec, &arguments);
    let prefix = format!("/{name}");
    let read = read_all::<Command>(tagged(name, arguments), Map::new).err().unwrap_or_default();
    misfits.extend(read.into_iter().map(|misfit| Misfit {
        pointer: misfit.pointer.strip_prefix(&prefix).unwrap_or_default().to_owned(),
        ..misfit
    }));
    misfits
}

/// Members that mean nothing to a verb: what would do nothing is refused, never ignored.
fn superfluous(spec: &Spec, arguments: &Value) -> Vec<Misfit> {
    let known = members(&spec.input_schema);
    let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
    let unknown = arguments.as_object().into_iter().flat_map(Map::keys).filter(|name| !is_known(name));
    let misfit = |name: &String| {
        let known = known.into_iter().flatten().map(|(name, _)| name.as_str());
        Misfit::unknown(name, format!("/{name}"), known)
    };
    unknown.map(misfit).collect()
}

fn tagged(name: &str, arguments: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), arguments)]))
}

/// The arguments of a verb from the words that would follow it on the command line.
pub fn words_to_arguments(verb: &str, words: &[String]) -> Result<Value, Fault> {
    let line: Vec<String> = std::iter::once(verb.to_owned()).chain(words.iter().cloned()).collect();
    let command = surehand_verbs::parse_line(&line)?;
    let broken = |error: serde_json::Error| Fault::new(Kind::Internal, error.to_string());
    let mut tagged = serde_json::to_value(command).map_err(broken)?;
    let members = tagged.as_object_mut().and_then(|members| members.values_mut().next());
    Ok(members.map(Value::take).unwrap_or_default())
}

/// Runs a verb with its arguments as an object.
pub(crate) async fn call(name: &str, arguments: Value, cx: &ToolContext) -> Result<Answer, Fault> {
    let misfits = check(name, arguments.clone());
    if let Some(first) = misfits.first() {
        return Err(Fault::new(
            Kind::Usage,
            format!("the arguments of {name} do not fit: {}", first.message),
        )
        .hint(format!("see its arguments with `surehand tools {name}`")));
    }
    let command: Command = serde_json::from_value(tagged(name, arguments))
        .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
    // A session is made when the first call needs it, as for all tools.
    cx.verbs.open_session().await?;
    let output = command.execute(&cx.verbs).await?;
    let structured = output.json().ok().and_then(|raw| serde_json::from_str(raw.get()).ok());
    let structured =
        structured.map(|value: Value| if value.is_object() { value } else { json!({ "result": value }) });
    let text = match output.note() {
        Some(note) => format!("{}\n{note}", output.text()),
        None => output.text(),
    };
    Ok(Answer { text, structured, image: None, is_error: output.failed() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_arguments_that_fit() {
        let words = |verb: &str, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            words_to_arguments(verb, &words)
        };
        let lines: [(&str, &[&str]); 6] = [
            ("click", &["#a", "--button", "right"]),
            ("fill", &["#a", "-5"]),
            ("get", &["text", "h1"]),
            ("wait", &["--text", "Done"]),
            ("find", &["role", "button", "click", "--name", "Go"]),
            ("set", &["viewport", "800", "600"]),
        ];
        for (verb, line) in lines {
            let arguments = words(verb, line).unwrap();
            assert_eq!(check(verb, arguments.clone()), [], "{verb} {arguments}");
        }
        assert_eq!(words("click", &["#a"]).unwrap()["selector"], "#a");
        assert!(words("click", &[]).is_err());
    }

    #[test]
    fn what_a_verb_does_not_know_is_refused() {
        let misfits = check("click", json!({ "selector": "#a", "butto": "left", "button": 5 }));
        let pointers: Vec<&str> = misfits.iter().map(|misfit| misfit.pointer.as_str()).collect();
        assert_eq!(pointers, ["/butto", "/button"], "{misfits:?}");
        assert!(misfits[0].message.contains("`button`"), "{misfits:?}");
    }

    #[test]
    fn every_verb_is_a_tool_with_an_object_of_arguments() {
        assert!(specs().len() > 40);
        for spec in specs() {
            assert_eq!(spec.input_schema.get("type"), Some(&"object".into()), "{}", spec.name);
            assert!(!spec.description.is_empty(), "{}", spec.name);
        }
        let names: std::collections::HashSet<_> = specs().iter().map(|spec| &spec.name).collect();
        assert_eq!(names.len(), specs().len());
    }
}
