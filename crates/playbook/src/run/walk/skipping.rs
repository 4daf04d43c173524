//! Steps that are not run, as the calls that they would have made.

use serde_json::json;

use super::{Walk, branch_name};
use crate::document::{ASSERT_TOOL, Action, ForEach, Repeat, Step};
use crate::vars::Binding;

impl Walk<'_> {
    /// Which branch of a condition it would have taken nobody knows. What would have run several times is told once.
    pub(super) fn skip(&mut self, step: &Step) {
        match &step.action {
            Action::Plain(plain) => {
                let arguments = self.arguments(plain).unwrap_or_else(|_| self.known_arguments(plain));
                let row = self.row_of(step, &plain.verb, plain.tool(), arguments);
                self.push(row);
            }
            Action::If(branching) => {
                let asking = self.contract_call(&branching.contract);
                let arguments = asking.map_or_else(
                    |_| json!({ "contract": branching.contract.to_json() }),
                    |asking| asking.arguments,
                );
                let row = self.row_of(step, "if", ASSERT_TOOL, arguments);
                self.push(row);
            }
            Action::Repeat(repeat) => self.skip_repeat(repeat, 0),
            Action::ForEach(each) => self.skip_each(each, 0),
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

    pub(super) fn skip_all(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.skip(step));
    }

    /// What is left of a repetition, as one time.
    pub(super) fn skip_repeat(&mut self, repeat: &Repeat, done: u64) {
        // A number that nobody knows is told as one time.
        let most = self.count(repeat.until.most()).unwrap_or(1);
        if done >= most {
            return;
        }
        let mark = self.scope.enter();
        self.trail.push(format!("repeat {}", range(done, most)));
        self.skip_all(&repeat.steps);
        self.trail.pop();
        self.scope.leave(mark);
    }

    /// What is left of the values, as one: a reference to them stays as it is written.
    pub(super) fn skip_each(&mut self, each: &ForEach, done: usize) {
        let left = each.values.get(done..).unwrap_or_default();
        let mark = self.scope.enter();
        match left {
            [] => return self.scope.leave(mark),
            [only] => self.bind_each(each, &only.text),
            _ => {
                let range = range(done as u64, each.values.len() as u64);
                self.trail.push(format!("for_each {} {range}", each.variable));
                self.scope.bind(&each.variable, Binding::Later);
            }
        }
        self.skip_all(&each.steps);
        self.trail.pop();
        self.scope.leave(mark);
    }
}

/// Which times of all are left, and how many they are.
fn range(done: u64, all: u64) -> String {
    match all - done {
        1 => format!("{all}/{all}"),
        left => format!("{}-{all}/{all} ({left} skipped)", done + 1),
    }
}
