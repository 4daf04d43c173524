//! Every verb of the command line as a tool, for playbooks that use them and for clients that want them.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use surehand_session::{Fault, Kind};
use surehand_verbs::{Command, Effect, Verb, VerbFacts, VerbVisitor};

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

/// Runs a verb with its arguments as an object.
pub(crate) async fn call(name: &str, arguments: Value, cx: &ToolContext) -> Result<Answer, Fault> {
    let tagged = Value::Object(Map::from_iter([(name.to_owned(), arguments)]));
    let command: Command = serde_json::from_value(tagged).map_err(|error| {
        Fault::new(Kind::Usage, format!("the arguments of {name} do not fit: {error}"))
            .hint(format!("see its arguments with `surehand tools {name}`"))
    })?;
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
