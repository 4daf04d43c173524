//! The call of a step, and the row of the report that tells what came of it. Nobody hears of a row before it is decided.

use serde_json::{Value, json};
use surehand_report::{Place, Status, StepReport};
use surehand_tools::Answer;

use super::super::lane::{Call, Called};
use super::super::outcome::{self, Failure};
use super::super::stop::interrupted;
use super::Walk;
use crate::call::{CallError, call, contract_call, filled_value, known_arguments};
use crate::document::{ASSERT_TOOL, Capture, Count, Plain, Step};
use crate::node::Node;
use crate::vars::Binding;

impl Walk<'_> {
    /// What a contract says: it holds, it does not, or that is not known, which fails the step. The `last` time that it is
    /// asked it must hold.
    pub(super) async fn ask(
        &mut self,
        step: &Step,
        verb: &str,
        contract: &Node,
        last: Option<u64>,
    ) -> Option<bool> {
        let asking = match self.contract_call(contract) {
            Ok(asking) => asking,
            Err(error) => {
                let row = self.row_of(step, verb, ASSERT_TOOL, json!({ "contract": contract.to_json() }));
                self.tell(row, Some(Failure::new(error.to_string()))).await;
                return None;
            }
        };
        let mut row = self.row_of(step, verb, ASSERT_TOOL, asking.arguments.clone());
        let call = Call { tool: ASSERT_TOOL, arguments: asking.arguments, timeout: None, retries: 0 };
        let called = self.call(&mut row, &call).await;
        let data = called.answer.as_ref().map(outcome::data).unwrap_or_default();
        let holds = match outcome::verdict(&data) {
            Some("pass") => Some(true),
            Some("fail") => Some(false),
            _ => None,
        };
        let failure = match (holds, last) {
            (None, _) => called.failure,
            (Some(false), Some(times)) => {
                let compared = called.failure.and_then(|failure| failure.compared);
                Some(Failure { compared, ..Failure::new(format!("not reached after {times} times")) })
            }
            _ => None,
        };
        self.tell(row, failure).await;
        holds
    }

    /// Calls a tool for a row, keeps what is captured of its answer, and tells what came of it.
    pub(super) async fn perform(&mut self, mut row: StepReport, call: &Call<'_>, capture: Option<&Capture>) {
        let Called { answer, mut failure, .. } = self.call(&mut row, call).await;
        if let (None, Some(capture), Some(answer)) = (&failure, capture, &answer) {
            failure = self.capture(capture, answer).err();
        }
        self.tell(row, failure).await;
    }

    fn capture(&mut self, capture: &Capture, answer: &Answer) -> Result<(), Failure> {
        for (name, value) in outcome::captured(capture, answer)? {
            self.scope.capture(name, value).map_err(|error| Failure::new(error.to_string()))?;
        }
        Ok(())
    }

    /// The call itself, unless the run is cut off first.
    pub(super) async fn call(&mut self, row: &mut StepReport, call: &Call<'_>) -> Called {
        row.started_ms = milliseconds(self.world.began.elapsed());
        let called = tokio::select! {
            biased;
            called = self.lane.call(call) => called,
            () = self.world.cut_off(self.cleaning) => {
                let why = if self.world.stop.is_asked() { "interrupted" } else { "there was no time left for it" };
                Called::cut_off(why, interrupted())
            }
        };
        row.duration_ms = milliseconds(self.world.began.elapsed()).saturating_sub(row.started_ms);
        row.attempts = called.attempts;
        row.result = called.answer.as_ref().map(outcome::content);
        row.structured = called.answer.as_ref().and_then(outcome::beyond_text);
        called
    }

    /// Tells what came of a step, with a picture where they are wanted.
    pub(super) async fn tell(&mut self, mut row: StepReport, failure: Option<Failure>) {
        let options = self.world.options;
        let can_look = failure.as_ref().is_none_or(|failure| failure.outage.is_none());
        if options.thumbnails && can_look {
            row.thumbnail = self.looking(self.lane.thumbnail()).await.flatten();
        }
        if failure.is_some() && options.evidence && can_look && self.world.has_room_for_evidence() {
            // A dialog that is open may be what the steps after this one are about.
            let may_dismiss = !options.continue_on_error && self.teardowns == 0;
            row.evidence = self.looking(self.lane.evidence(may_dismiss)).await.map(Box::new);
        }
        match failure {
            Some(failure) => self.fail(row, failure),
            None => {
                row.status = Status::Ok;
                self.push(row);
            }
        }
    }

    /// Looking is no part of the step: it must not keep a run that is to end.
    async fn looking<T>(&self, look: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.world.cut_off(self.cleaning) => None,
            seen = look => Some(seen),
        }
    }

    pub(super) fn fail(&mut self, mut row: StepReport, failure: Failure) {
        row.status = Status::Failed;
        row.error = Some(failure.message);
        row.reason = failure.reason;
        if let Some((expected, actual)) = failure.compared.map(|compared| *compared) {
            row.expected = Some(expected);
            row.actual = Some(actual);
        }
        if let Some(outage) = failure.outage {
            self.fault.get_or_insert(*outage);
        }
        self.push(row);
        self.stopped |= !self.world.options.continue_on_error || self.fault.is_some();
    }

    /// Adds a row. Only the run itself can number it: branches run side by side.
    pub(super) fn push(&mut self, mut row: StepReport) {
        if self.is_branch {
            self.rows.push(row);
            return;
        }
        row.index = self.rows.len();
        row.error = row.error.map(|error| format!("Step {} ({}): {error}", row.index, row.verb));
        self.world.watch.ended(&row);
        self.rows.push(row);
    }

    /// The arguments of a step as they are sent.
    pub(super) fn arguments(&self, plain: &Plain) -> Result<Value, CallError> {
        let call = call(plain, &self.scope, self.world.secrets, self.world.catalog)?;
        Ok(self.lane.address(&plain.verb, call.arguments))
    }

    pub(super) fn contract_call(&self, contract: &Node) -> Result<crate::call::Call, CallError> {
        contract_call(contract, &self.scope, self.world.secrets, self.world.catalog)
    }

    /// A number with its variable put in.
    pub(super) fn count(&self, count: &Count) -> Result<u64, CallError> {
        count.value(&self.scope, self.world.secrets)
    }

    /// The same as far as they are known, for a step that cannot be called.
    pub(super) fn known_arguments(&self, plain: &Plain) -> Value {
        let known = known_arguments(plain, &self.scope, self.world.secrets, self.world.catalog);
        self.lane.address(&plain.verb, known)
    }

    /// What a text with its values put in is. Where that cannot be, it has no value, and whoever uses it fails.
    pub(super) fn filled(&self, text: &str) -> Binding {
        filled_value(text, &self.scope, self.world.secrets).map_or(Binding::Later, Binding::Known)
    }

    pub(super) fn row(&self, verb: &str, tool: &str, arguments: Value) -> StepReport {
        let mut row = StepReport::skipped(0, verb, tool, arguments);
        row.phase = self.phase;
        row.path = (!self.trail.is_empty()).then(|| self.trail.join(" › "));
        row
    }

    pub(super) fn row_of(&self, step: &Step, verb: &str, tool: &str, arguments: Value) -> StepReport {
        let mut row = self.row(verb, tool, arguments);
        row.id.clone_from(&step.id);
        row.name.clone_from(&step.name);
        let (line, column) = (step.at.line, step.at.column);
        row.place = Some(Place { file: self.used_file.clone(), line, column });
        row
    }
}

fn milliseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
