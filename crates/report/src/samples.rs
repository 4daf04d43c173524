//! Reports for tests.

use serde_json::{Value, json};

use crate::run::{Place, RunReport, Status, StepReport};
use crate::suite::{Outcome, SuiteReport, TestReport};

/// What a hostile page may say: markup, quotes, the ends of our own elements, colours, and a turned direction.
pub const HOSTILE: &str =
    "<script>alert(1)</script>\" onload=\"alert(2)' `x` | ]]> -->{{ 7*7 }}\u{1b}[31m\u{202e}%\r\n::error::x";

pub fn passed_step(index: usize, verb: &str, args: Value, duration_ms: u64) -> StepReport {
    let step = StepReport::skipped(index, verb, if verb == "assert" { "oc_assert" } else { verb }, args);
    StepReport { status: Status::Ok, duration_ms, ..step }
}

pub fn failed_assert(index: usize) -> StepReport {
    let args = json!({ "contract": { "kind": "dom_text", "selector": "h1", "pattern": "Example" } });
    StepReport {
        status: Status::Failed,
        started_ms: 45,
        error: Some(format!("Step {index} (assert): assert verdict=\"fail\"")),
        expected: Some(json!({ "pattern": "Example", "selector": "h1" })),
        actual: Some(json!("Hello")),
        place: Some(Place { file: None, line: 7, column: 5 }),
        ..passed_step(index, "assert", args, 12)
    }
}

pub fn failed_run() -> RunReport {
    let steps = vec![
        passed_step(0, "navigate", json!({ "url": "http://127.0.0.1/" }), 45),
        failed_assert(1),
        StepReport::skipped(2, "interact", "interact", json!({ "ref": "More" })),
    ];
    RunReport::new(Some("fail-fast fixture".to_owned()), Some("tests/fail.playbook.yaml".to_owned()), steps)
}

pub fn passed_run() -> RunReport {
    let steps = vec![passed_step(0, "navigate", json!({ "url": "http://127.0.0.1/" }), 45)];
    RunReport::new(Some("sanity".to_owned()), Some("tests/sanity.playbook.yaml".to_owned()), steps)
}

/// A run in which everything that can be hostile is.
pub fn hostile_run() -> RunReport {
    let text = || HOSTILE.to_owned();
    let mut step = failed_assert(0);
    step.id = Some(text());
    step.name = Some(text());
    step.path = Some(text());
    step.verb = text();
    step.tool = text();
    step.args = json!({ HOSTILE: HOSTILE, "other": [HOSTILE] });
    step.result = Some(json!({ HOSTILE: HOSTILE }));
    step.error = Some(text());
    step.expected = Some(json!(HOSTILE));
    step.actual = Some(json!({ HOSTILE: HOSTILE }));
    step.place = Some(Place { file: Some(text()), line: 3, column: 1 });
    RunReport::new(Some(text()), Some(text()), vec![step])
}

/// One test of each outcome.
pub fn suite() -> SuiteReport {
    let test = |outcome, run: Option<RunReport>| TestReport {
        file: run.as_ref().and_then(|run| run.file.clone()).unwrap_or("tests/bad.playbook.yaml".to_owned()),
        title: run.as_ref().map_or("bad", |run| run.title()).to_owned(),
        attempt: 1,
        repeat: 1,
        outcome,
        duration_ms: 60,
        run,
        problem: None,
        earlier: Vec::new(),
    };
    let mut flaky = test(Outcome::Flaky, Some(passed_run()));
    flaky.attempt = 2;
    flaky.repeat = 2;
    flaky.earlier = vec![failed_run()];
    let mut broken = test(Outcome::Broken, None);
    broken.problem = Some("line 3, column 5: there is no verb \"clik\"".to_owned());
    let tests = vec![
        test(Outcome::Passed, Some(passed_run())),
        test(Outcome::Failed, Some(failed_run())),
        flaky,
        broken,
    ];
    SuiteReport { tests, duration_ms: 900, workers: 2, not_run: 0, error: None }
}
