//! Everything that can be known before a browser starts: whether variables are known and arguments fit, in every branch.
//!
//! What is only known at run time stays in the arguments as it is written, and what a tool says about such a text is not
//! believed. Values of variables are in no message.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use crate::call::{CallError, Room, refuse_option, words_to_arguments, wrapped, wrapping};
use crate::catalog::{Catalog, Finding};
use crate::document::{
    ASSERT_TOOL, Action, Arguments, Branch, Count, ForEach, Plain, Playbook, Repeat, Step, Text, Until, Use,
};
use crate::nearest::did_you_mean;
use crate::node::Node;
use crate::problem::{Problem, Problems};
use crate::source::{Position, Source};
use crate::typed::give_sorts;
use crate::vars::{Binding, Filling, LARGEST_TEXT, Overrides, Scope, Secrets, references, secret_warning};

/// More steps, each as often as it may run, are a mistake: every one of them is a row of the report.
const MOST_STEPS: usize = 200_000;

/// With so many comparisons of names what was meant is suggested; each costs a microsecond or so.
const MOST_COMPARISONS: usize = 100_000;

/// Looking at more than this, with variables put in, would take too long.
const MOST_FILLED: usize = 64 * LARGEST_TEXT;

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
        room: Room::default(),
        tally: Tally { seen: 0, rows: 0, rounds: 0, times: 1, is_over: false, filled: 0, is_enough: false },
        comparisons: MOST_COMPARISONS,
    };
    look.stage(playbook);
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
    /// For values in the arguments of the step that is looked at.
    room: Room,
    tally: Tally,
    /// As many names may still be compared with unknown ones.
    comparisons: usize,
}

/// How much there is so far.
struct Tally {
    /// Steps that were looked at.
    seen: usize,
    /// Rows that a report has at most. As there, what only holds other steps is none.
    rows: usize,
    /// Rounds of loops, also of those that hold nothing: each takes its time.
    rounds: usize,
    /// How often what is looked at now may run.
    times: usize,
    /// Was it said that there are too many?
    is_over: bool,
    /// Bytes of texts with variables put in.
    filled: usize,
    /// Were those so many that nothing more is looked at?
    is_enough: bool,
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

    /// Window and device, as they will be set.
    fn stage(&mut self, playbook: &Playbook) {
        for arguments in playbook.stage() {
            let device = playbook.device.as_ref().filter(|_| arguments.pointer("/what/device").is_some());
            let (what, at) = match (device, playbook.viewport) {
                (Some(device), _) => ("device", device.at),
                (None, Some(viewport)) => ("viewport", viewport.at),
                (None, None) => continue,
            };
            for finding in self.catalog.check("set", &arguments) {
                let problem = self.source.problem(at, format!("`{what}`: {}", finding.message));
                self.say(problem);
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            // Nobody reads more, and nobody waits for it.
            if self.found.problems.is_full() || self.tally.is_enough {
                return self.found.problems.cut();
            }
            self.tally.seen += 1;
            if self.tally.seen >= MOST_STEPS {
                return self.too_many(step.at);
            }
            self.step(step);
        }
    }

    /// A row of the report, each time that it runs.
    fn row(&mut self, at: Position) {
        self.tally.rows = self.tally.rows.saturating_add(self.tally.times);
        if self.tally.rows > MOST_STEPS {
            self.too_many(at);
        }
    }

    fn too_many(&mut self, at: Position) {
        self.too_many_of("steps", at);
    }

    fn too_many_of(&mut self, what: &str, at: Position) {
        if !std::mem::replace(&mut self.tally.is_over, true) {
            let problem = self.source.problem(at, format!("these are more than {MOST_STEPS} {what} in all"));
            self.say(problem.note("each counts as often as it may run"));
        }
    }

    /// Looks at something that runs several times.
    fn repeated(&mut self, times: usize, at: Position, look: impl FnOnce(&mut Self)) {
        let outer = self.tally.times;
        self.tally.times = outer.saturating_mul(times);
        self.tally.rounds = self.tally.rounds.saturating_add(self.tally.times);
        look(self);
        // Where the steps are too many as well, that was said.
        if self.tally.rounds > MOST_STEPS {
            self.too_many_of("rounds of loops", at);
        }
        self.tally.times = outer;
    }

    fn block(&mut self, steps: &[Step]) {
        let mark = self.scope.enter();
        self.steps(steps);
        self.scope.leave(mark);
    }

    fn step(&mut self, step: &Step) {
        let within = In(&step.label);
        match &step.action {
            Action::Plain(plain) => {
                self.row(step.at);
                self.plain(plain, within);
            }
            Action::If(choice) => {
                self.row(step.at);
                self.contract(&choice.contract, within);
                let before = self.tally.rows;
                self.block(&choice.then);
                // Only one of the two runs.
                let then = std::mem::replace(&mut self.tally.rows, before);
                self.block(&choice.otherwise);
                self.tally.rows = self.tally.rows.max(then);
            }
            Action::Repeat(Repeat { until, steps }) => self.repeat(step, until, steps),
            Action::ForEach(each) => self.for_each(each, step.at, within),
            Action::Parallel(branches) => {
                for Branch { steps, .. } in branches {
                    // Each has variables of its own, also where it sets those of before.
                    let before = self.scope.clone();
                    self.block(steps);
                    self.scope = before;
                }
            }
            Action::Use(used) => self.used(used, within),
        }
    }

    fn repeat(&mut self, step: &Step, until: &Until, steps: &[Step]) {
        if let Until::Passes { contract, .. } = until {
            self.contract(contract, In(&step.label));
        }
        let times = self.times(until.most(), In(&step.label));
        self.repeated(usize::try_from(times).unwrap_or(usize::MAX), step.at, |look| {
            if matches!(until, Until::Passes { .. }) {
                look.row(step.at);
            }
            look.block(steps);
        });
    }

    /// How often something may run: nobody may have to wait for a step to know that.
    fn times(&mut self, most: &Count, within: In<'_>) -> u64 {
        if let (Count::Variable { text, what, .. }, None) = (most, self.count(most, within)) {
            let message = format!("{}: {what} must be known before anything runs", within.0);
            // What else is wrong with it was told.
            if self.scope.fill(&text.text, self.secrets).is_ok_and(|filling| filling.waits) {
                self.say_at(text.at, message);
            }
        }
        most.value(&self.scope, self.secrets).unwrap_or(1)
    }

    /// A number, if it is known by now. One that does not fit is told.
    fn count(&mut self, count: &Count, within: In<'_>) -> Option<u64> {
        let Count::Variable { text, .. } = count else { return count.read("").ok() };
        let known = self.fill(&text.text, text.at, within).filter(Filling::is_final)?;
        match count.read(&known.text) {
            Ok(number) => Some(number),
            Err(error) => {
                self.refuse(text.at, within, &error);
                None
            }
        }
    }

    /// Of the values one is looked at where that tells the most: a secret must stand where one may.
    fn for_each(&mut self, each: &ForEach, at: Position, within: In<'_>) {
        let mut telling = Binding::Later;
        for value in &each.values {
            let filling = self.fill(&value.text, value.at, within).filter(Filling::is_known);
            let Some(known) = filling.map(Filling::into_value) else { continue };
            if known.has_secrets() || each.values.len() == 1 {
                telling = Binding::Known(known);
            }
        }
        let mark = self.scope.enter();
        self.scope.bind(&each.variable, telling);
        self.repeated(each.values.len(), at, |look| look.steps(&each.steps));
        self.scope.leave(mark);
    }

    fn used(&mut self, used: &Use, within: In<'_>) {
        let mut given = Vec::new();
        for var in &used.vars {
            let filling = self.fill(&var.value.text, var.value.at, within);
            let known = filling.filter(Filling::is_known).map(|filling| Binding::Known(filling.into_value()));
            given.push((var.name.clone(), known.unwrap_or(Binding::Later)));
        }
        let mark = self.scope.enter_use(&used.playbook, given);
        let user = std::mem::replace(&mut self.source, Arc::clone(&used.playbook.source));
        self.phases(&used.playbook);
        self.source = user;
        self.scope.leave(mark);
    }

    fn plain(&mut self, plain: &Plain, within: In<'_>) {
        self.room = Room::default();
        match &plain.arguments {
            Arguments::Object(node) => self.object(plain.tool(), node, within),
            Arguments::Words { words, at } => self.words(plain, words, *at, within),
        }
        if let Some(timeout) = &plain.timeout_ms {
            self.count(timeout, within);
        }
        for name in plain.capture.iter().flat_map(|capture| capture.names()) {
            self.scope.capture_later(name);
        }
    }

    fn contract(&mut self, contract: &Node, within: In<'_>) {
        self.room = Room::default();
        self.object(ASSERT_TOOL, contract, within);
    }

    fn object(&mut self, tool: &str, node: &Node, within: In<'_>) {
        let mut values = Vec::new();
        let mut arguments =
            node.to_json_with(&mut |text, at| self.fill_argument(text, at, within, &mut values));
        let place = wrapping(tool, &arguments);
        give_sorts(tool, node, &mut arguments, place, self.catalog);
        // A contract by itself is wrapped, and what is found in it is looked for without the wrapping.
        let wraps = !place.is_empty();
        let arguments = if wraps { wrapped(arguments) } else { arguments };
        let unwrapped = |pointer: &str| match pointer.strip_prefix("/contract") {
            Some(inside) if wraps => inside.to_owned(),
            _ => pointer.to_owned(),
        };
        for (pointer, name) in self.misplaced(tool, &arguments) {
            let pointer = unwrapped(&pointer);
            self.refuse_secret(&name, tool, &pointer, node.at_pointer(&pointer), within);
        }
        let findings = self.catalog.check(tool, &arguments);
        if findings.is_empty() {
            return;
        }
        let written = if wraps { wrapped(node.to_json()) } else { node.to_json() };
        for finding in self.believable(tool, &arguments, &written, &values, findings) {
            let pointer = unwrapped(&finding.pointer);
            let at =
                if finding.is_about_key { node.key_at_pointer(&pointer) } else { node.at_pointer(&pointer) };
            self.misfit(at, within, tool, &finding, &pointer);
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
            Err(error) => {
                let word = if let CallError::Words { word: Some(word), .. } = &error {
                    words.get(*word)
                } else {
                    None
                };
                return self.refuse(word.map_or(at, |word| word.at), within, &error);
            }
        };
        // Where in the file a part of the arguments is written, if one word is that part.
        let place =
            |pointer: &str| word_of(arguments.pointer(pointer), &filled).and_then(|index| words.get(index));
        for (pointer, name) in self.misplaced(plain.tool(), &arguments) {
            let at = place(&pointer).map_or(at, |word| word.at);
            self.refuse_secret(&name, plain.tool(), &pointer, at, within);
        }
        let findings = self.catalog.check(plain.tool(), &arguments);
        if findings.is_empty() {
            return;
        }
        let as_written: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let written = self.catalog.words(&plain.verb, &as_written).unwrap_or_default();
        for finding in self.believable(plain.tool(), &arguments, &written, &values, findings) {
            let at = place(&finding.pointer).map_or(at, |word| word.at);
            self.misfit(at, within, plain.tool(), &finding, &finding.pointer);
        }
    }

    /// References to secrets that there are, at places where the tool takes none.
    fn misplaced(&self, tool: &str, arguments: &Value) -> Vec<(String, String)> {
        let mut misplaced = self.catalog.misplaced(tool, arguments);
        // A text that waits for other values still shows those that variables stand in for.
        misplaced.retain(|(_, name)| self.secrets.has(name));
        misplaced
    }

    fn refuse_secret(&mut self, name: &str, tool: &str, pointer: &str, at: Position, In(label): In<'_>) {
        let reference = format!("${{SECRET:{name}}}");
        let place = self.source.find(at, &reference, 4096).unwrap_or(at);
        let argument = dotted(pointer);
        let message =
            format!("{label}: {tool}{argument} takes no secret, so {reference} is not put in there");
        let problem = self.source.problem(place, message);
        self.say(problem.note(
            "secrets go into fields and what is typed, into `act` and `javascript_tool`, cookies, storage and passwords",
        ));
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
            let value = arguments.pointer(&finding.pointer).filter(|_| !finding.pointer.is_empty());
            value.is_some_and(|value| self.is_open(value))
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

    /// Whether some text of a value is not what the tool will get.
    fn is_open(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                text.contains("${")
                    && !self.scope.fill(text, self.secrets).is_ok_and(|filling| filling.is_final())
            }
            Value::Array(values) => values.iter().any(|value| self.is_open(value)),
            Value::Object(members) => members.values().any(|value| self.is_open(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
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
        let mut seen = HashSet::new();
        for reference in references(text).filter(|reference| seen.insert(*reference)) {
            if let Some(Binding::Known(value)) = self.scope.get(&reference.key()) {
                // So much of it is looked for.
                values.push(value.text().chars().take(MENTIONED).collect());
            }
        }
        let Some(filling) = self.fill(text, at, within) else { return text.to_owned() };
        if let Err(error) = self.room.take(text, &filling.text) {
            self.refuse(at, within, &error);
            return text.to_owned();
        }
        filling.text
    }

    /// Puts in what is known, and complains about what is not.
    fn fill(&mut self, text: &str, at: Position, within: In<'_>) -> Option<Filling> {
        if self.tally.is_enough {
            return None;
        }
        let filling = match self.scope.fill(text, self.secrets) {
            Ok(filling) => filling,
            Err(error) => {
                self.refuse(at, within, &CallError::Unfillable(error));
                return None;
            }
        };
        if filling.text != text {
            self.tally.filled = self.tally.filled.saturating_add(filling.text.len());
        }
        if self.tally.filled > MOST_FILLED {
            let most = MOST_FILLED / 1024 / 1024;
            let message =
                format!("with their variables put in, the texts of a playbook are at most {most} MiB in all");
            let problem = self.source.problem(at, message);
            self.tally.is_enough = true;
            self.say(problem);
            return None;
        }
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
            return self.found.problems.count();
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
        let name = dotted(pointer);
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

/// A JSON pointer as people write it, behind a space.
fn dotted(pointer: &str) -> String {
    let name = pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~");
    if name.is_empty() { String::new() } else { format!(" {name}") }
}

/// Which word a part of the arguments is: the same text, or behind the `=` of an option. Of a list, its first.
fn word_of(part: Option<&Value>, words: &[String]) -> Option<usize> {
    let text = match part? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => return word_of(items.first(), words),
        _ => return None,
    };
    let behind = format!("={text}");
    words.iter().position(|word| *word == text || word.ends_with(&behind))
}

/// So much of a value is looked for in a message.
const MENTIONED: usize = 12;

/// Whether a message repeats a value, in quotes or not, or cut.
fn mentions(message: &str, value: &str) -> bool {
    if value.is_empty() {
        return false;
    }
    let beginning: String = value.chars().take(MENTIONED).collect();
    let escaped = format!("{beginning:?}");
    message.contains(&beginning) || message.contains(escaped.trim_matches('"'))
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
