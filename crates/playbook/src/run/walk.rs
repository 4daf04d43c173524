//! From step to step: order, conditions, repetition, branches, and what is skipped after a failure.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use surehand_report::{FailureEvidence, Phase, Place, Status, StepReport};
use surehand_session::Fault;
use surehand_tools::{Caller, Pending};

use super::lane::{Call, Called, Lane};
use super::outcome::{self, Failure};
use super::{RunOptions, Watch};
use crate::call::{CallError, call, contract_call, filled};
use crate::catalog::Catalog;
use crate::document::{
    ASSERT_TOOL, Action, Arguments, Branch, ForEach, If, Plain, Playbook, Repeat, Step, Until, Use,
};
use crate::node::Node;
use crate::vars::{Binding, Scope, Secrets};

/// What is the same for all branches of a run.
pub(super) struct World<'w> {
    pub catalog: &'w (dyn Catalog + Sync),
    pub secrets: &'w (dyn Secrets + Sync),
    pub options: RunOptions,
    pub watch: &'w dyn Watch,
    pub began: Instant,
}

/// A way through steps in one session.
pub(super) struct Walk<'w> {
    world: &'w World<'w>,
    lane: Lane<'w>,
    scope: Scope,
    phase: Phase,
    /// Where in constructs it is.
    trail: Vec<String>,
    /// The file that steps are from, if it is not the run's.
    used_file: Option<String>,
    rows: Vec<StepReport>,
    /// Is it one of several side by side? Its rows are numbered when all are through.
    is_branch: bool,
    stopped: bool,
    evidence: Option<FailureEvidence>,
    fault: Option<Fault>,
}

impl<'w> Walk<'w> {
    pub fn new(world: &'w World<'w>, caller: &'w dyn Caller, scope: Scope) -> Self {
        Self {
            world,
            lane: Lane::new(caller),
            scope,
            phase: Phase::Main,
            trail: Vec::new(),
            used_file: None,
            rows: Vec::new(),
            is_branch: false,
            stopped: false,
            evidence: None,
            fault: None,
        }
    }

    pub fn end(self) -> (Vec<StepReport>, Option<FailureEvidence>, Option<Fault>) {
        (self.rows, self.evidence, self.fault)
    }

    /// Window and device, before anything else.
    pub async fn surround(&mut self, playbook: &Playbook) {
        let viewport = playbook
            .viewport
            .map(|size| json!({ "viewport": { "width": size.width, "height": size.height } }));
        let device = playbook.device.as_ref().map(|device| json!({ "device": { "name": device.text } }));
        for what in device.into_iter().chain(viewport) {
            let call = Call { tool: "set", arguments: json!({ "what": what }), timeout: None, retries: 0 };
            let mut row = self.row("set", call.tool, call.arguments.clone());
            // Setting the stage is no step, unless it fails.
            if let Some(failure) = self.call(&mut row, &call).await.and_then(|called| called.failure) {
                self.fail(row, failure);
                self.stopped = true;
            }
        }
    }

    /// A whole playbook: what comes before, the steps, and what comes after in any case.
    pub fn playbook<'s>(&'s mut self, playbook: &'s Playbook) -> Pending<'s, ()> {
        Box::pin(async move {
            let outer = self.phase;
            let phase = |phase: Phase| if outer == Phase::Main { phase } else { outer };
            self.phase = phase(Phase::Setup);
            self.steps(&playbook.setup).await;
            self.phase = outer;
            self.steps(&playbook.steps).await;
            self.phase = phase(Phase::Teardown);
            self.teardown(&playbook.teardown).await;
            self.phase = outer;
        })
    }

    /// Cleaning up goes on whatever happened before, step by step.
    async fn teardown(&mut self, steps: &[Step]) {
        let was_stopped = self.stopped;
        let mut failed = false;
        for step in steps {
            self.stopped = self.fault.is_some();
            self.step(step).await;
            failed |= self.stopped;
        }
        self.stopped = was_stopped || failed;
    }

    fn steps<'s>(&'s mut self, steps: &'s [Step]) -> Pending<'s, ()> {
        Box::pin(async move {
            for step in steps {
                self.step(step).await;
            }
        })
    }

    async fn step(&mut self, step: &Step) {
        if self.stopped {
            return self.skip(step);
        }
        match &step.action {
            Action::Plain(plain) => self.plain(step, plain).await,
            Action::If(branching) => self.branching(step, branching).await,
            Action::Repeat(repeat) => self.repeat(step, repeat).await,
            Action::ForEach(each) => self.for_each(each).await,
            Action::Parallel(branches) => self.parallel(branches).await,
            Action::Use(using) => self.using(using).await,
        }
    }

    async fn plain(&mut self, step: &Step, plain: &Plain) {
        let arguments = match self.arguments(plain) {
            Ok(arguments) => arguments,
            Err(error) => {
                let row = self.row_of(step, &plain.verb, plain.tool(), written(plain));
                return self.fail(row, Failure::new(error.to_string()));
            }
        };
        let call = Call {
            tool: plain.tool(),
            arguments,
            timeout: plain.timeout_ms.map(Duration::from_millis),
            retries: plain.retries,
        };
        let row = self.row_of(step, &plain.verb, call.tool, call.arguments.clone());
        let Some(answer) = self.perform(row, &call).await else { return };
        if let Some(capture) = &plain.capture {
            match outcome::captured(capture, &answer) {
                Ok(values) => {
                    for (name, value) in values {
                        self.scope.bind(name, Binding::Known(value));
                    }
                }
                Err(failure) => {
                    if let Some(row) = self.rows.pop() {
                        self.fail(row, failure);
                    }
                }
            }
        }
    }

    /// A condition is judged like an assertion, but either verdict is fine; only doubt is a failure.
    async fn branching(&mut self, step: &Step, branching: &If) {
        let Some(holds) = self.ask(step, "if", &branching.contract).await else { return };
        let mark = self.scope.enter();
        let (word, steps) = if holds { ("then", &branching.then) } else { ("else", &branching.otherwise) };
        self.trail.push(format!("if {word}"));
        self.steps(steps).await;
        self.trail.pop();
        self.scope.leave(mark);
    }

    async fn repeat(&mut self, step: &Step, repeat: &Repeat) {
        let most = match &repeat.until {
            Until::Times(times) => *times,
            Until::Passes { max, .. } => *max,
        };
        for time in 1..=most {
            let mark = self.scope.enter();
            self.trail.push(format!("repeat {time}/{most}"));
            self.steps(&repeat.steps).await;
            let is_done = match &repeat.until {
                Until::Times(_) => false,
                Until::Passes { .. } if self.stopped => false,
                Until::Passes { contract, .. } => {
                    let holds = self.ask(step, "repeat", contract).await;
                    if holds == Some(false) && time == most {
                        self.give_up(most);
                    }
                    holds == Some(true)
                }
            };
            self.trail.pop();
            self.scope.leave(mark);
            if is_done || self.stopped {
                return;
            }
        }
    }

    /// What was repeated did not lead to where it should.
    fn give_up(&mut self, most: u32) {
        if let Some(row) = self.rows.pop() {
            self.fail(row, Failure::new(format!("not reached after {most} times")));
        }
    }

    async fn for_each(&mut self, each: &ForEach) {
        for value in &each.values {
            let mark = self.scope.enter();
            self.bind_each(each, &value.text);
            self.steps(&each.steps).await;
            self.trail.pop();
            self.scope.leave(mark);
        }
    }

    fn bind_each(&mut self, each: &ForEach, value: &str) {
        let bound = self.filled(value);
        let shown = if let Binding::Known(known) = &bound { known } else { value };
        self.trail.push(format!("for_each {}={shown}", each.variable));
        self.scope.bind(&each.variable, bound);
    }

    /// All branches run to their ends, each in a session of its own; then the first failure counts.
    async fn parallel(&mut self, branches: &[Branch]) {
        let running = branches.iter().enumerate().map(|(number, branch)| self.branch(number, branch));
        let ended = futures_util::future::join_all(running).await;
        for branch in ended {
            let Branched { rows, evidence, fault, stopped } = branch;
            for row in rows {
                self.push(row);
            }
            self.evidence = self.evidence.take().or(evidence);
            self.fault = self.fault.take().or(fault);
            self.stopped |= stopped;
        }
    }

    async fn branch(&self, number: usize, branch: &Branch) -> Branched {
        let caller = match self.lane.caller.apart().await {
            Ok(caller) => caller,
            Err(fault) => {
                return Branched { rows: Vec::new(), evidence: None, fault: Some(fault), stopped: true };
            }
        };
        let mut walk = self.fork(caller.as_ref(), &branch_name(number, branch));
        walk.steps(&branch.steps).await;
        let stopped = walk.stopped;
        let (rows, evidence, fault) = walk.end();
        caller.close().await;
        Branched { rows, evidence, fault, stopped }
    }

    fn fork<'b>(&self, caller: &'b dyn Caller, name: &str) -> Walk<'b>
    where
        'w: 'b,
    {
        let mut walk = Walk::new(self.world, caller, self.scope.clone());
        walk.phase = self.phase;
        walk.trail.clone_from(&self.trail);
        walk.trail.push(format!("parallel {name}"));
        walk.used_file.clone_from(&self.used_file);
        walk.is_branch = true;
        walk
    }

    async fn using(&mut self, using: &Use) {
        let outer_file = self.enter_use(using);
        self.playbook(&using.playbook).await;
        self.leave_use(outer_file);
    }

    fn enter_use(&mut self, using: &Use) -> (Option<String>, crate::vars::Mark) {
        let given: Vec<_> =
            using.vars.iter().map(|var| (var.name.clone(), self.filled(&var.value.text))).collect();
        let mark = self.scope.enter_use(&using.playbook, given);
        self.trail.push(format!("use {}", using.path.text));
        let file = using.playbook.source.path().display().to_string();
        (self.used_file.replace(file), mark)
    }

    fn leave_use(&mut self, (outer_file, mark): (Option<String>, crate::vars::Mark)) {
        self.used_file = outer_file;
        self.trail.pop();
        self.scope.leave(mark);
    }

    /// What a contract says: it holds, it does not, or that is not known, which fails the step.
    async fn ask(&mut self, step: &Step, verb: &str, contract: &Node) -> Option<bool> {
        let asking = match contract_call(contract, &self.scope, self.world.secrets) {
            Ok(asking) => asking,
            Err(error) => {
                let row = self.row_of(step, verb, ASSERT_TOOL, json!({ "contract": contract.to_json() }));
                self.fail(row, Failure::new(error.to_string()));
                return None;
            }
        };
        let mut row = self.row_of(step, verb, ASSERT_TOOL, asking.arguments.clone());
        let call = Call { tool: ASSERT_TOOL, arguments: asking.arguments, timeout: None, retries: 0 };
        let called = self.call(&mut row, &call).await?;
        let data = called.answer.as_ref().map(outcome::data).unwrap_or_default();
        let holds = match outcome::verdict(&data) {
            Some("pass") => Some(true),
            Some("fail") => Some(false),
            _ => None,
        };
        match (holds, called.failure) {
            (None, Some(failure)) => self.fail_looking(row, failure).await,
            _ => self.pass(row).await,
        }
        holds
    }

    /// Calls a tool for a row, and returns the data of a success.
    async fn perform(&mut self, mut row: StepReport, call: &Call<'_>) -> Option<Value> {
        let called = self.call(&mut row, call).await?;
        match called.failure {
            Some(failure) => {
                self.fail_looking(row, failure).await;
                None
            }
            None => {
                self.pass(row).await;
                Some(called.answer.as_ref().map(outcome::data).unwrap_or_default())
            }
        }
    }

    /// The call itself; a fault fails the row and ends the run.
    async fn call(&mut self, row: &mut StepReport, call: &Call<'_>) -> Option<Called> {
        row.started_ms = milliseconds(self.world.began.elapsed());
        match self.lane.call(call).await {
            Ok(called) => {
                row.duration_ms = milliseconds(called.took);
                row.attempts = called.attempts;
                row.result = called.answer.as_ref().map(outcome::content);
                Some(called)
            }
            Err(fault) => {
                row.duration_ms = milliseconds(self.world.began.elapsed()).saturating_sub(row.started_ms);
                let failure = Failure::new(fault.message.clone());
                self.fault = Some(fault);
                self.fail(row.clone(), failure);
                None
            }
        }
    }

    async fn pass(&mut self, mut row: StepReport) {
        row.status = Status::Ok;
        if self.world.options.thumbnails {
            row.thumbnail = self.lane.thumbnail().await;
        }
        self.push(row);
    }

    async fn fail_looking(&mut self, mut row: StepReport, failure: Failure) {
        if self.world.options.thumbnails {
            row.thumbnail = self.lane.thumbnail().await;
        }
        if self.world.options.evidence && self.evidence.is_none() {
            self.evidence = Some(self.lane.evidence().await);
        }
        self.fail(row, failure);
    }

    fn fail(&mut self, mut row: StepReport, failure: Failure) {
        row.status = Status::Failed;
        row.error = Some(failure.message);
        if let Some((expected, actual)) = failure.compared.map(|compared| *compared) {
            row.expected = Some(expected);
            row.actual = Some(actual);
        }
        self.push(row);
        self.stopped |= !self.world.options.continue_on_error || self.fault.is_some();
    }

    /// Adds a row. Only the run itself can number it: branches run side by side.
    fn push(&mut self, mut row: StepReport) {
        if self.is_branch {
            self.rows.push(row);
            return;
        }
        row.index = self.rows.len();
        row.error = row.error.map(|error| format!("Step {} ({}): {error}", row.index, row.verb));
        self.world.watch.ended(&row);
        self.rows.push(row);
    }

    /// A step that is not run, as the calls that it would have made. Which branch of a condition it would have taken
    /// nobody knows.
    fn skip(&mut self, step: &Step) {
        match &step.action {
            Action::Plain(plain) => {
                let arguments = self.arguments(plain).unwrap_or_else(|_| written(plain));
                let row = self.row_of(step, &plain.verb, plain.tool(), arguments);
                self.push(row);
            }
            Action::If(branching) => {
                let asking = contract_call(&branching.contract, &self.scope, self.world.secrets);
                let arguments = asking.map_or_else(
                    |_| json!({ "contract": branching.contract.to_json() }),
                    |asking| asking.arguments,
                );
                let row = self.row_of(step, "if", ASSERT_TOOL, arguments);
                self.push(row);
            }
            Action::Repeat(repeat) => self.skip_all(&repeat.steps),
            Action::ForEach(each) => {
                for value in &each.values {
                    let mark = self.scope.enter();
                    self.bind_each(each, &value.text);
                    self.skip_all(&each.steps);
                    self.trail.pop();
                    self.scope.leave(mark);
                }
            }
            Action::Parallel(branches) => {
                for (number, branch) in branches.iter().enumerate() {
                    self.trail.push(format!("parallel {}", branch_name(number, branch)));
                    self.skip_all(&branch.steps);
                    self.trail.pop();
                }
            }
            Action::Use(using) => {
                let outer = self.enter_use(using);
                for steps in [&using.playbook.setup, &using.playbook.steps, &using.playbook.teardown] {
                    self.skip_all(steps);
                }
                self.leave_use(outer);
            }
        }
    }

    fn skip_all(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.skip(step));
    }

    /// The arguments of a step as they are sent.
    fn arguments(&self, plain: &Plain) -> Result<Value, CallError> {
        let call = call(plain, &self.scope, self.world.secrets, self.world.catalog)?;
        Ok(self.lane.address(&plain.verb, call.arguments))
    }

    /// What a text with its values put in is. Where that cannot be, it has no value, and whoever uses it fails.
    fn filled(&self, text: &str) -> Binding {
        filled(text, &self.scope, self.world.secrets).map_or(Binding::Later, Binding::Known)
    }

    fn row(&self, verb: &str, tool: &str, arguments: Value) -> StepReport {
        let mut row = StepReport::skipped(0, verb, tool, arguments);
        row.phase = self.phase;
        row.path = (!self.trail.is_empty()).then(|| self.trail.join(" › "));
        row
    }

    fn row_of(&self, step: &Step, verb: &str, tool: &str, arguments: Value) -> StepReport {
        let mut row = self.row(verb, tool, arguments);
        row.id.clone_from(&step.id);
        row.name.clone_from(&step.name);
        let (line, column) = (step.at.line, step.at.column);
        row.place = Some(Place { file: self.used_file.clone(), line, column });
        row
    }
}

/// What a branch brings back.
struct Branched {
    rows: Vec<StepReport>,
    evidence: Option<FailureEvidence>,
    fault: Option<Fault>,
    stopped: bool,
}

fn branch_name(number: usize, branch: &Branch) -> String {
    branch.name.clone().unwrap_or_else(|| (number + 1).to_string())
}

/// The arguments of a step that something is missing for, as they are written.
fn written(plain: &Plain) -> Value {
    match &plain.arguments {
        Arguments::Object(node) => node.to_json(),
        Arguments::Words { words, .. } => words.iter().map(|word| word.text.as_str()).collect(),
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
