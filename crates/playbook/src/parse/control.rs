//! Steps that hold steps.

use std::sync::Arc;

use super::fields::Fields;
use super::{DEEPEST_USE, File};
use crate::document::{Action, Branch, Count, ForEach, If, Playbook, Repeat, Step, Text, Until, Use};
use crate::node::{Key, Node, Value};
use crate::source::Position;

/// How often at most something is repeated until a contract passes, if nothing else is said.
const UNTIL_AT_MOST: u64 = 10;

/// More often is a mistake.
const MOST_TIMES: u64 = 10_000;

impl File<'_, '_> {
    pub(super) fn control(
        &mut self,
        verb: &Key,
        value: Node,
        fields: &mut Fields,
        label: &str,
    ) -> Option<Action> {
        match verb.text.as_str() {
            "if" => {
                let contract = self.contract(value, "`if`");
                let then = self.inner(fields, "then", verb, label);
                let otherwise = match fields.take("else") {
                    Some((_, node)) => self.steps(node, "`else`", &format!("{label}/else/")),
                    None => Vec::new(),
                };
                Some(Action::If(If { contract: contract?, then: then?, otherwise }))
            }
            "repeat" => {
                let until = self.until(value);
                let steps = self.inner(fields, "steps", verb, label);
                // A number that is wrong was told; its steps are looked at all the same.
                Some(Action::Repeat(Repeat {
                    until: until.unwrap_or(Until::Times(Count::Is(1))),
                    steps: steps?,
                }))
            }
            "for_each" => {
                let each = self.each(value);
                let steps = self.inner(fields, "steps", verb, label);
                let (variable, values) = each?;
                Some(Action::ForEach(ForEach { variable, values, steps: steps? }))
            }
            "parallel" => self.parallel(value, label).map(Action::Parallel),
            _ => self.used(value, fields).map(Action::Use),
        }
    }

    /// The steps that a control step must have.
    fn inner(&mut self, fields: &mut Fields, key: &str, verb: &Key, label: &str) -> Option<Vec<Step>> {
        let Some((_, node)) = fields.take(key) else {
            self.wrong(verb.at, format!("{label} is {:?} and has no `{key}`", verb.text));
            return None;
        };
        let prefix = if key == "steps" { format!("{label}/") } else { format!("{label}/{key}/") };
        Some(self.steps(node, &format!("`{key}`"), &prefix))
    }

    fn contract(&mut self, node: Node, what: &str) -> Option<Node> {
        if matches!(node.value, Value::Map(_)) {
            return Some(node);
        }
        let sort = node.sort();
        self.wrong(
            node.at,
            format!("{what} takes a contract such as {{ kind: url, pattern: … }}, not {sort}"),
        );
        None
    }

    fn until(&mut self, node: Node) -> Option<Until> {
        let at = node.at;
        let Value::Map(entries) = node.value else {
            return self.times(Node { at, value: node.value }, "`repeat`").map(Until::Times);
        };
        let mut fields = Fields::new(entries);
        let (times, until, max) = (fields.take("times"), fields.take("until"), fields.take("max"));
        self.no_more(fields, "`repeat`", &["times", "until", "max"]);
        match (times, until) {
            (Some((_, times)), None) => {
                if let Some((key, _)) = max {
                    self.wrong(key.at, "`max` is for `until`, not for `times`");
                }
                self.times(times, "`times`").map(Until::Times)
            }
            (None, Some((_, contract))) => {
                let contract = self.contract(contract, "`until`");
                let max = match max {
                    Some((_, node)) => self.times(node, "`max`"),
                    None => Some(Count::Is(UNTIL_AT_MOST)),
                };
                Some(Until::Passes { contract: contract?, max: max? })
            }
            (Some(_), Some((key, _))) => {
                self.wrong(key.at, "`repeat` has either `times` or `until`, not both");
                None
            }
            (None, None) => {
                self.wrong(at, "`repeat` is a number, or a mapping with `times` or `until`");
                None
            }
        }
    }

    fn times(&mut self, node: Node, what: &'static str) -> Option<Count> {
        self.count(node, what, 1, MOST_TIMES)
    }

    /// The variable and its values.
    fn each(&mut self, node: Node) -> Option<(String, Vec<Text>)> {
        let (at, sort) = (node.at, node.sort());
        let one = match node.value {
            Value::Map(entries) => <[(Key, Node); 1]>::try_from(entries).ok(),
            _ => None,
        };
        let Some([(key, values)]) = one else {
            let found = if sort == "a mapping" { "" } else { sort };
            let not = if found.is_empty() { String::new() } else { format!(", not {found}") };
            self.wrong(
                at,
                format!("`for_each` has one variable with a list, such as {{ item: [a, b] }}{not}"),
            );
            return None;
        };
        let name = self.variable_name(&key.text, key.at);
        let sort = values.sort();
        let Value::List(items) = values.value else {
            self.wrong(values.at, format!("the values of {:?} are a list of texts, not {sort}", key.text));
            return None;
        };
        let what = format!("a value of {:?}", key.text);
        let values: Vec<_> = items.into_iter().map(|item| self.text(item, &what)).collect();
        Some((name?, values.into_iter().collect::<Option<_>>()?))
    }

    fn parallel(&mut self, node: Node, label: &str) -> Option<Vec<Branch>> {
        let (at, sort) = (node.at, node.sort());
        match node.value {
            Value::List(items) if !items.is_empty() => {
                let numbered = items.into_iter().enumerate();
                Some(numbered.filter_map(|(index, item)| self.branch(item, index, label)).collect())
            }
            Value::List(_) => {
                self.wrong(at, "`parallel` has no branches");
                None
            }
            _ => {
                self.wrong(at, format!("`parallel` is a list of branches, each a list of steps, not {sort}"));
                None
            }
        }
    }

    fn branch(&mut self, node: Node, index: usize, label: &str) -> Option<Branch> {
        let (at, sort) = (node.at, node.sort());
        match node.value {
            Value::List(_) => {
                let steps = self.steps(node, "a branch", &format!("{label}/{index}/"));
                Some(Branch { name: None, steps })
            }
            Value::Map(entries) => {
                let mut fields = Fields::new(entries);
                let name = fields.take("name").and_then(|(_, node)| self.text(node, "`name`"));
                let name = name.map(|name| name.text);
                let steps = fields.take("steps");
                self.no_more(fields, "a branch", &["name", "steps"]);
                let Some((_, steps)) = steps else {
                    self.wrong_with(
                        at,
                        "a branch has no `steps`",
                        "each branch of `parallel` is a list of steps, so a single step needs two dashes",
                    );
                    return None;
                };
                let called = name.clone().unwrap_or_else(|| index.to_string());
                let steps = self.steps(steps, "`steps`", &format!("{label}/{called}/"));
                Some(Branch { name, steps })
            }
            _ => {
                self.wrong(at, format!("a branch is a list of steps, not {sort}"));
                None
            }
        }
    }

    fn used(&mut self, node: Node, fields: &mut Fields) -> Option<Use> {
        let vars = fields.take("vars").map(|(_, node)| self.variables(node, "`vars`")).unwrap_or_default();
        let path = self.fixed(node, "`use`")?;
        let playbook = self.load(&path.text, path.at)?;
        for (key, at) in playbook.surroundings() {
            self.wrong_with(
                path.at,
                format!("{:?} has `{key}`, which is only for a playbook that is run by itself", path.text),
                format!(
                    "it is at {}:{at}; take its steps into a file without it, and use that",
                    playbook.source.name()
                ),
            );
        }
        Some(Use { path, vars, playbook })
    }

    fn load(&mut self, path: &str, at: Position) -> Option<Arc<Playbook>> {
        let source = match self.session.loader.load(path, &self.source) {
            Ok(source) => source,
            // What is wrong inside of that file is shown there.
            Err(problem) if problem.at.is_some() => {
                self.session.problems.push(problem);
                return None;
            }
            Err(problem) => {
                self.wrong(at, format!("{path:?} cannot be used: {}", problem.message));
                return None;
            }
        };
        if let Some(done) = self.session.done.get(source.path()) {
            return done.clone();
        }
        let trail = &self.session.trail;
        if let Some(first) = trail.iter().position(|file| file.path() == source.path()) {
            let circle = trail.iter().skip(first).map(|file| file.name()).chain([source.name()]);
            let circle = circle.collect::<Vec<_>>().join(" → ");
            self.wrong(at, format!("playbooks use each other in a circle: {circle}"));
            return None;
        }
        if trail.len() >= DEEPEST_USE {
            self.wrong(at, format!("playbooks use each other more than {DEEPEST_USE} deep"));
            return None;
        }
        let path = source.path().to_owned();
        let playbook = self.session.file(source).map(Arc::new);
        self.session.done.insert(path, playbook.clone());
        playbook
    }
}
