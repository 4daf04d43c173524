//! From step to step: order, conditions, repetition, branches, and cleaning up whatever happened.

mod calling;
mod skipping;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use surehand_report::{Phase, StepReport};
use surehand_session::Fault;
use surehand_tools::{Caller, Pending};
use tokio::time::Instant;

use super::lane::{Call, Lane};
use super::outcome::Failure;
use super::stop::interrupted;
use super::{RunOptions, Stop, Watch};
use crate::catalog::Catalog;
use crate::document::{Action, Branch, ForEach, If, Plain, Playbook, Repeat, Step, Until, Use};
use crate::vars::{Binding, Scope, Secrets};

/// Cleaning up after a run that was cut off may take so long in all.
const GRACE: Duration = Duration::from_secs(10);

/// So many failures of a run have evidence, pictures and all: it is kept in memory until the run ends.
const MOST_EVIDENCE: usize = 50;

/// What is the same for all branches of a run.
pub(super) struct World<'w> {
    pub catalog: &'w (dyn Catalog + Sync),
    pub secrets: &'w (dyn Secrets + Sync),
    pub options: RunOptions,
    pub watch: &'w dyn Watch,
    pub stop: &'w Stop,
    /// Calls of `set` with which every session begins.
    pub stage: &'w [Value],
    pub began: Instant,
    /// When cleaning up must end, once the run was cut off.
    pub grace: OnceLock<Instant>,
    /// Failures that have evidence.
    pub evident: AtomicUsize,
}

impl World<'_> {
    /// May one more failure have evidence?
    fn has_room_for_evidence(&self) -> bool {
        self.evident.fetch_add(1, Ordering::Relaxed) < MOST_EVIDENCE
    }

    /// Waits until a step must not go on. One that cleans up may finish after a run was cut off, within limits.
    async fn cut_off(&self, cleaning: Cleaning) {
        let grace = async {
            if cleaning != Cleaning::Hurried {
                self.stop.asked().await;
            }
            tokio::time::sleep_until(*self.grace.get_or_init(|| Instant::now() + GRACE)).await;
        };
        match cleaning {
            Cleaning::No => self.stop.asked().await,
            Cleaning::Calm | Cleaning::Hurried => tokio::select! {
                () = self.stop.insisted() => {}
                () = grace => {}
            },
        }
    }
}

/// Is it cleaning up?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cleaning {
    /// No.
    No,
    /// Yes, and there is time.
    Calm,
    /// Yes, after the run was cut off.
    Hurried,
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
    cleaning: Cleaning,
    stopped: bool,
    /// What could not be set before the first step.
    unset: Option<(StepReport, Failure)>,
    /// In how many of the playbooks around it something will be cleaned up.
    teardowns: usize,
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
            cleaning: Cleaning::No,
            stopped: false,
            unset: None,
            teardowns: 0,
            fault: None,
        }
    }

    pub fn end(self) -> (Vec<StepReport>, Option<Fault>) {
        (self.rows, self.fault)
    }

    /// Window and device of this session, before anything else. That is no step; where it fails nothing runs, and a row
    /// behind all others says so, because in front of them it would give each step the number of the next.
    pub async fn surround(&mut self) {
        for arguments in self.world.stage {
            let call = Call { tool: "set", arguments: arguments.clone(), timeout: None, retries: 0 };
            let mut row = self.row("set", call.tool, call.arguments.clone());
            row.phase = Phase::Setup;
            if let Some(failure) = self.call(&mut row, &call).await.failure {
                self.unset = Some((row, failure));
                self.stopped = true;
                return;
            }
        }
    }

    /// Tells what could not be set before the first step, if anything.
    pub fn tell_unset(&mut self) {
        if let Some((row, failure)) = self.unset.take() {
            self.fail(row, failure);
        }
    }

    /// A whole playbook: what comes before, the steps, and what comes after in any case.
    pub fn playbook<'s>(&'s mut self, playbook: &'s Playbook) -> Pending<'s, ()> {
        Box::pin(async move {
            let (outer, cleans) = (self.phase, usize::from(!playbook.teardown.is_empty()));
            self.teardowns += cleans;
            let phase = |phase: Phase| if outer == Phase::Main { phase } else { outer };
            self.phase = phase(Phase::Setup);
            self.steps(&playbook.setup).await;
            self.phase = outer;
            self.steps(&playbook.steps).await;
            self.phase = phase(Phase::Teardown);
            self.teardown(&playbook.teardown).await;
            self.phase = outer;
            self.teardowns -= cleans;
        })
    }

    /// Cleaning up goes on whatever happened before, step by step, until tools cannot be called again.
    async fn teardown(&mut self, steps: &[Step]) {
        let (was_stopped, outer) = (self.stopped, self.cleaning);
        let earlier = self.fault.take();
        self.cleaning = match outer {
            _ if earlier.is_some() => Cleaning::Hurried,
            Cleaning::No => Cleaning::Calm,
            outer => outer,
        };
        let mut failed = false;
        for step in steps {
            self.stopped = self.fault.is_some();
            self.step(step).await;
            failed |= self.stopped;
        }
        self.cleaning = outer;
        self.fault = earlier.or(self.fault.take());
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
        if self.cleaning == Cleaning::No && self.fault.is_none() && self.world.stop.is_asked() {
            self.fault = Some(interrupted());
            self.stopped = true;
        }
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
        let timeout = plain.timeout_ms.as_ref().map(|timeout| self.count(timeout)).transpose();
        let (arguments, timeout) = match self.arguments(plain).and_then(|sent| Ok((sent, timeout?))) {
            Ok(ready) => ready,
            Err(error) => {
                let row = self.row_of(step, &plain.verb, plain.tool(), self.known_arguments(plain));
                return self.tell(row, Some(Failure::new(error.to_string()))).await;
            }
        };
        let call = Call {
            tool: plain.tool(),
            arguments,
            timeout: timeout.map(Duration::from_millis),
            retries: plain.retries,
        };
        let row = self.row_of(step, &plain.verb, call.tool, call.arguments.clone());
        self.perform(row, &call, plain.capture.as_ref()).await;
    }

    /// A condition is judged like an assertion, but either verdict is fine; only doubt is a failure.
    async fn branching(&mut self, step: &Step, branching: &If) {
        let Some(holds) = self.ask(step, "if", &branching.contract, None).await else { return };
        let mark = self.scope.enter();
        let (word, steps) = if holds { ("then", &branching.then) } else { ("else", &branching.otherwise) };
        self.trail.push(format!("if {word}"));
        self.steps(steps).await;
        self.trail.pop();
        self.scope.leave(mark);
    }

    async fn repeat(&mut self, step: &Step, repeat: &Repeat) {
        let most = match self.count(repeat.until.most()) {
            Ok(most) => most,
            Err(error) => {
                let row = self.row_of(step, "repeat", "", json!({}));
                return self.tell(row, Some(Failure::new(error.to_string()))).await;
            }
        };
        for time in 1..=most {
            let mark = self.scope.enter();
            self.trail.push(format!("repeat {time}/{most}"));
            self.steps(&repeat.steps).await;
            let is_done = match &repeat.until {
                Until::Passes { contract, .. } if !self.stopped => {
                    let last = (time == most).then_some(most);
                    self.ask(step, "repeat", contract, last).await == Some(true)
                }
                _ => false,
            };
            self.trail.pop();
            self.scope.leave(mark);
            if is_done {
                return;
            }
            if self.stopped {
                return self.skip_repeat(repeat, time);
            }
        }
    }

    async fn for_each(&mut self, each: &ForEach) {
        for (done, value) in (1..).zip(&each.values) {
            let mark = self.scope.enter();
            self.bind_each(each, &value.text);
            self.steps(&each.steps).await;
            self.trail.pop();
            self.scope.leave(mark);
            if self.stopped {
                return self.skip_each(each, done);
            }
        }
    }

    fn bind_each(&mut self, each: &ForEach, value: &str) {
        let bound = self.filled(value);
        let shown = if let Binding::Known(known) = &bound { known.text() } else { value };
        self.trail.push(format!("for_each {}={shown}", each.variable));
        self.scope.bind(&each.variable, bound);
    }

    /// All branches run to their ends, each in a session of its own; then the first failure counts.
    async fn parallel(&mut self, branches: &[Branch]) {
        let running = branches.iter().enumerate().map(|(number, branch)| self.branch(number, branch));
        let ended = futures_util::future::join_all(running).await;
        for branch in ended {
            let Branched { rows, fault, stopped, unset } = branch;
            self.unset = self.unset.take().or(unset);
            for row in rows {
                self.push(row);
            }
            self.fault = self.fault.take().or(fault);
            self.stopped |= stopped;
        }
    }

    async fn branch(&self, number: usize, branch: &Branch) -> Branched {
        let name = branch_name(number, branch);
        let caller = tokio::select! {
            biased;
            caller = self.lane.caller.apart() => caller,
            () = self.world.cut_off(self.cleaning) => Err(interrupted()),
        };
        let caller = match caller {
            Ok(caller) => caller,
            Err(fault) => {
                // Nothing is called any more: any caller will do.
                let mut walk = self.fork(self.lane.caller, &name);
                walk.skip_all(&branch.steps);
                let (rows, fault) = (walk.rows, Some(fault));
                return Branched { rows, fault, stopped: true, unset: None };
            }
        };
        let mut walk = self.fork(caller.as_ref(), &name);
        walk.surround().await;
        walk.steps(&branch.steps).await;
        let (stopped, unset) = (walk.stopped, walk.unset.take());
        let (rows, fault) = walk.end();
        caller.close().await;
        Branched { rows, fault, stopped, unset }
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
        walk.cleaning = self.cleaning;
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
}

/// What a branch brings back.
struct Branched {
    rows: Vec<StepReport>,
    fault: Option<Fault>,
    stopped: bool,
    unset: Option<(StepReport, Failure)>,
}

fn branch_name(number: usize, branch: &Branch) -> String {
    branch.name.clone().unwrap_or_else(|| (number + 1).to_string())
}
