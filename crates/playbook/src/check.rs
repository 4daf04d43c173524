//! Everything that can be known before a browser starts: whether variables are known and arguments fit, in every branch.
//!
//! What is only known at run time stays in the arguments as it is written, and what a tool says about such a text is not
//! believed. Values of variables are in no message.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use crate::call::{CallError, is_wrapped, refuse_option, words_to_arguments, wrapped};
use crate::catalog::{Catalog, Finding};
use crate::document::{
    ASSERT_TOOL, Action, Arguments, Branch, ForEach, Plain, Playbook, Repeat, Step, Text, Until, Use,
};
use crate::nearest::did_you_mean;
use crate::node::Node;
use crate::problem::{Problem, Problems};
use crate::source::{Position, Source};
use crate::vars::{Binding, Filling, Overrides, Scope, Secrets, references, secret_warning};

/// Playbooks that use others many times over end here.
const MOST_STEPS: usize = 200_000;

/// With so many comparisons of names what was meant is suggested; each costs a microsecond or so.
const MOST_COMPARISONS: usize = 100_000;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Everything that is wrong, in the order of the document.
    pub problems: Problems,
    /// What must be said although it is not wrong, each once.
    pub warnings: Vec<String>,
}

/// Looks through a playbook and all that it uses.
pub fn check(
    playbook: &Playbook,
    catalog: &dyn Catalog,
    overrides: &Overrides,
    secrets: &dyn Secrets,
) -> Checked {
    let mut look = Look {
        catalog,
        secrets,
        scope: Scope::of(playbook, overrides),
        source: Arc::clone(&playbook.source),
        found: Checked::default(),
        said: HashSet::new(),
        warned: HashSet::new(),
        steps: 0,
        comparisons: MOST_COMPARISONS,
    };
    look.phases(playbook);
    look.found
}

struct Look<'a> {
    catalog: &'a dyn Catalog,
    secrets: &'a dyn Secrets,
    scope: Scope,
    /// The file that is looked through.
    source: Arc<Source>,
    found: Checked,
    /// A playbook that is used twice says the same thing twice.
    said: HashSet<(String, Option<Position>, String)>,
    warned: HashSet<String>,
    steps: usize,
    /// As many names may still be compared with unknown ones.
    comparisons: usize,
}

/// A step, for messages.
#[derive(Clone, Copy)]
struct In<'a>(&'a str);

impl Look<'_> {
    /// What setup captures is known in the steps, and all of it in teardown.
    fn phases(&mut self, playbook: &Playbook) {
        for phase in [&playbook.setup, &playbook.steps, &playbook.teardown] {
            self.steps(phase);
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.steps += 1;
            if self.steps == MOST_STEPS {
                self.say_at(step.at, format!("these are more than {MOST_STEPS} steps in all"));
            }
            if self.steps >= MOST_STEPS {
                return;
            }
            self.step(step);
        }
    }

    fn block(&mut self, steps: &[Step]) {
        let mark = self.scope.enter();
        self.steps(steps);
        self.scope.leave(mark);
    }

    fn step(&mut self, step: &Step) {
        let within = In(&step.label);
        match &step.action {
            Action::Plain(plain) => self.plain(plain, within),
            Action::If(choice) => {
                self.contract(&choice.contract, within);
                self.block(&choice.then);
                self.block(&choice.otherwise);
            }
            Action::Repeat(Repeat { until, steps }) => {
                if let Until::Passes { contract, .. } = until {
                    self.contract(contract, within);
                }
                self.block(steps);
            }
            Action::ForEach(each) => self.for_each(each, within),
            Action::Parallel(branches) => {
                branches.iter().for_each(|Branch { steps, .. }| self.block(steps));
            }
            Action::Use(used) => self.used(used, within),
        }
    }

    fn for_each(&mut self, each: &ForEach, within: In<'_>) {
        for value in &each.values {
            self.fill(&value.text, value.at, within);
        }
        let mark = self.scope.enter();
        self.scope.bind(&each.variable, Binding::Later);
        self.steps(&each.steps);
        self.scope.leave(mark);
    }

    fn used(&mut self, used: &Use, within: In<'_>) {
        let mut given = Vec::new();
        for var in &used.vars {
            let filling = self.fill(&var.value.text, var.value.at, within);
            let known = filling.filter(Filling::is_final).map(|filling| Binding::Known(filling.text));
            given.push((var.name.clone(), known.unwrap_or(Binding::Later)));
        }
        let mark = self.scope.enter_use(&used.playbook, given);
        let user = std::mem::replace(&mut self.source, Arc::clone(&used.playbook.source));
        self.phases(&used.playbook);
        self.source = user;
        self.scope.leave(mark);
    }

    fn plain(&mut self, plain: &Plain, within: In<'_>) {
        match &plain.arguments {
            Arguments::Object(node) => self.object(plain.tool(), node, within),
            Arguments::Words { words, at } => self.words(plain, words, *at, within),
        }
        for name in plain.capture.iter().flat_map(|capture| capture.names()) {
            self.scope.bind(name, Binding::Later);
        }
    }

    fn contract(&mut self, contract: &Node, within: In<'_>) {
        self.object(ASSERT_TOOL, contract, within);
    }

    fn object(&mut self, tool: &str, node: &Node, within: In<'_>) {
        let mut values = Vec::new();
        let arguments = node.to_json_with(&mut |text, at| self.fill_argument(text, at, within, &mut values));
        // A contract by itself is wrapped, and what is found in it is looked for without the wrapping.
        let wraps = tool == ASSERT_TOOL && !is_wrapped(&arguments);
        let arguments = if wraps { wrapped(arguments) } else { arguments };
        let findings = self.catalog.check(tool, &arguments);
        if findings.is_empty() {
            return;
        }
        let written = if wraps { wrapped(node.to_json()) } else { node.to_json() };
        for finding in self.believable(tool, &arguments, &written, &values, findings) {
            let pointer =
                finding.pointer.strip_prefix("/contract").filter(|_| wraps).unwrap_or(&finding.pointer);
            let at =
                if finding.is_about_key { node.key_at_pointer(pointer) } else { node.at_pointer(pointer) };
            self.misfit(at, within, tool, &finding, pointer);
        }
    }

    fn words(&mut self, plain: &Plain, words: &[Text], at: Position, within: In<'_>) {
        let mut values = Vec::new();
        let mut is_final = true;
        let mut filled = Vec::new();
        for word in words {
            let text = self.fill_argument(&word.text, word.at, within, &mut values);
            is_final &= text != word.text || references(&text).next().is_none();
            if let Err(error) = refuse_option(&word.text, &text) {
                self.refuse(word.at, within, &error);
                return;
            }
            filled.push(text);
        }
        let arguments = match words_to_arguments(&plain.verb, words, &filled, self.catalog) {
            Ok(arguments) => arguments,
            // With its values it may well be right.
            Err(_) if !is_final => return,
            Err(error) => return self.refuse(at, within, &error),
        };
        let findings = self.catalog.check(plain.tool(), &arguments);
        if findings.is_empty() {
            return;
        }
        let as_written: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let written = self.catalog.words(&plain.verb, &as_written).unwrap_or_default();
        for finding in self.believable(plain.tool(), &arguments, &written, &values, findings) {
            self.misfit(at, within, plain.tool(), &finding, &finding.pointer);
        }
    }

    /// Findings without those about texts that are not final, and without values in what they say.
    fn believable(
        &self,
        tool: &str,
        arguments: &Value,
        written: &Value,
        values: &[String],
        findings: Vec<Finding>,
    ) -> Vec<Finding> {
        let is_open = |finding: &Finding| {
            let text = arguments.pointer(&finding.pointer).and_then(Value::as_str);
            text.is_some_and(|text| {
                self.scope.fill(text, self.secrets).is_ok_and(|filling| !filling.is_final())
            })
        };
        let mut about_written = None;
        let mut believable = Vec::new();
        for mut finding in findings.into_iter().filter(|finding| finding.is_about_key || !is_open(finding)) {
            if values.iter().any(|value| mentions(&finding.message, value)) {
                let others = about_written.get_or_insert_with(|| self.catalog.check(tool, written));
                let same = others.iter().find(|other| other.pointer == finding.pointer);
                finding.message = match same {
                    Some(same) => same.message.clone(),
                    None => "does not fit, with its variables put in".to_owned(),
                };
            }
            believable.push(finding);
        }
        believable
    }

    fn fill_argument(
        &mut self,
        text: &str,
        at: Position,
        within: In<'_>,
        values: &mut Vec<String>,
    ) -> String {
        if !text.contains("${") {
            return text.to_owned();
        }
        for reference in references(text) {
            if let Some(Binding::Known(value)) = self.scope.get(&reference.key()) {
                values.push(value.clone());
            }
        }
        self.fill(text, at, within).map_or_else(|| text.to_owned(), |filling| filling.text)
    }

    /// Puts in what is known, and complains about what is not.
    fn fill(&mut self, text: &str, at: Position, within: In<'_>) -> Option<Filling> {
        let filling = match self.scope.fill(text, self.secrets) {
            Ok(filling) => filling,
            Err(error) => {
                self.refuse(at, within, &CallError::Smuggled(error));
                return None;
            }
        };
        for name in &filling.unmasked {
            if self.warned.insert(name.clone()) {
                self.found.warnings.push(secret_warning(name));
            }
        }
        for name in &filling.unknown {
            self.unknown(name, text, at, within);
        }
        Some(filling)
    }

    fn unknown(&mut self, name: &str, text: &str, at: Position, In(label): In<'_>) {
        // Nobody reads further ones, and finding out more about them costs.
        if self.found.problems.is_full() {
            return self.found.problems.push(Problem::of_file(self.source.name(), "unknown variable"));
        }
        let hint = self.hint(name);
        // The text is written in so many bytes, and some more for escapes and indentation.
        let within = 2 * text.len() + 4096;
        let place = self.source.find(at, &format!("${{{name}}}"), within).unwrap_or(at);
        let mut problem = self.source.problem(place, format!("unknown variable {name:?} in {label}{hint}"));
        if hint.is_empty() {
            problem = match name.strip_prefix("SECRET:") {
                Some(_) => problem.note(format!("no secret has this name; give one, or --vars {name}=…")),
                None => problem
                    .note(format!("give it with --vars {name}=…; for the text itself write $${{{name}}}")),
            };
        }
        self.say(problem);
    }

    /// What may have been meant, as long as comparing names has not taken too long.
    fn hint(&mut self, name: &str) -> String {
        let count = self.scope.names().take(self.comparisons + 1).count();
        if count > self.comparisons {
            return String::new();
        }
        self.comparisons -= count;
        did_you_mean(name, self.scope.names())
    }

    fn refuse(&mut self, at: Position, In(label): In<'_>, error: &CallError) {
        self.say_at(at, format!("{label}: {error}"));
    }

    fn misfit(&mut self, at: Position, In(label): In<'_>, tool: &str, finding: &Finding, pointer: &str) {
        let name = pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~");
        let name = if name.is_empty() { String::new() } else { format!(" {name}") };
        let message = format!("{label}: {tool}{name}: {}", finding.message);
        self.say_at(at, message);
    }

    /// A picture is made only of what is kept.
    fn say_at(&mut self, at: Position, message: String) {
        if self.said.insert((self.source.name().to_owned(), Some(at), message.clone())) {
            self.found.problems.push_with(|| self.source.problem(at, message));
        }
    }

    fn say(&mut self, problem: Problem) {
        if self.said.insert((problem.file.clone(), problem.at, problem.message.clone())) {
            self.found.problems.push(problem);
        }
    }
}

/// Whether a message repeats a value, in quotes or not, or cut.
fn mentions(message: &str, value: &str) -> bool {
    if value.is_empty() {
        return false;
    }
    let beginning: String = value.chars().take(12).collect();
    let escaped = format!("{beginning:?}");
    message.contains(&beginning) || message.contains(escaped.trim_matches('"'))
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
