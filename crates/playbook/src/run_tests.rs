use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use surehand_report::Status;
use surehand_session::Kind;
use surehand_tools::{Answer, Pending};
use tokio::time::Instant;

use super::*;
use crate::testing::{Tools, opened};
use crate::vars::{NoSecrets, Overrides};

/// Tools that answer at once, but `wait`, which never does. `fill` says what it is given.
#[derive(Debug, Default)]
struct Fake {
    patience: Option<Duration>,
    stop: Stop,
    /// The server has no browser.
    has_no_browser: bool,
    called: Mutex<Vec<String>>,
}

impl Caller for Fake {
    fn tools(&self) -> Pending<'_, Result<Vec<String>, Fault>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn call_within<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        _: Option<Duration>,
    ) -> Pending<'a, Result<Answer, Fault>> {
        self.called.lock().unwrap().push(name.to_owned());
        Box::pin(async move {
            match name {
                "wait" => std::future::pending().await,
                "reload" => self.stop.ask(),
                "fill" => return Ok(Answer::text(arguments["value"].as_str().unwrap_or_default())),
                "oc_assert" => {
                    return Ok(Answer::text(
                        json!({ "verdict": "fail", "failed_assertions": [{ "expected": 1, "actual": 2 }] })
                            .to_string(),
                    ));
                }
                _ if self.has_no_browser => {
                    return Ok(Answer::failure(
                        &Fault::new(Kind::BrowserFailed, "it ended at once").hint("x"),
                    ));
                }
                _ => {}
            }
            Ok(Answer::text("done"))
        })
    }

    fn patience(&self) -> Option<Duration> {
        self.patience
    }

    fn apart(&self) -> Pending<'_, Result<Box<dyn Caller>, Fault>> {
        Box::pin(async { Err(Fault::new(Kind::ServerUnreachable, "there is only one")) })
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async {})
    }
}

/// What came of it, how long it took, and which tools were called.
async fn ran(text: &str, fake: Fake) -> (Ran, Duration, Vec<String>) {
    let playbook = opened(text, &[], &[]).into_result().unwrap();
    let scope = Scope::of(&playbook, &Overrides::default());
    let (options, began) = (RunOptions::default(), Instant::now());
    let ran = run(&playbook, scope, &Tools::new(), &NoSecrets, &fake, options, &Unwatched, &fake.stop).await;
    (ran, began.elapsed(), fake.called.into_inner().unwrap())
}

fn statuses(ran: &Ran) -> Vec<Status> {
    ran.report.steps.iter().map(|step| step.status).collect()
}

use Status::{Failed, Ok as Passed, Skipped};

fn stuck() -> Fake {
    Fake { patience: Some(Duration::from_secs(30)), ..Fake::default() }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_silent_is_out_of_reach() {
    let steps = "steps:\n- wait: ['5']\n- click: '#a'\nteardown:\n- click: '#b'\n";
    let (cut, took, called) = ran(steps, stuck()).await;
    assert_eq!(cut.fault.as_ref().map(|fault| fault.kind), Some(Kind::ServerUnreachable));
    assert_eq!((statuses(&cut), took.as_secs()), (vec![Failed, Skipped, Passed], 35));
    assert_eq!(called, ["wait", "click"], "cleaning up is tried all the same");
    assert_eq!(cut.report.steps[0].error.as_deref(), Some("Step 0 (wait): no answer within 35000 ms"));
}

#[tokio::test(start_paused = true)]
async fn a_step_and_a_tool_may_ask_for_more_time() {
    let (cut, took, _) = ran("steps:\n- wait: { ms: 5 }\n  timeout: 60000\n", stuck()).await;
    assert_eq!((cut.fault.is_some(), took.as_secs()), (true, 62), "a longer silence says more");
    let (cut, took, _) = ran("steps:\n- wait: { ms: 5 }\n  timeout: 2000\n  retries: 1\n", stuck()).await;
    assert_eq!((cut.fault.is_some(), took.as_secs()), (false, 8), "a short one fails the step");
    assert_eq!(cut.report.steps[0].error.as_deref(), Some("Step 0 (wait): no answer within 2000 ms"));
    let long =
        lane::Call { tool: "wait_for", arguments: json!({ "timeout": 90_000 }), timeout: None, retries: 0 };
    assert_eq!(lane::longest_wait(&long).as_secs(), 90);
    let text = lane::Call { tool: "fill", arguments: json!({ "value": "90000" }), timeout: None, retries: 0 };
    assert_eq!(lane::longest_wait(&text).as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn cleaning_up_after_an_interruption_has_an_end() {
    let steps =
        "steps:\n- reload: []\n- click: '#a'\nteardown:\n- click: '#b'\n- wait: ['5']\n- click: '#c'\n";
    let (cut, took, called) = ran(steps, Fake::default()).await;
    assert_eq!(cut.fault.as_ref().map(|fault| fault.kind), Some(Kind::Interrupted));
    assert_eq!((statuses(&cut), took.as_secs()), (vec![Passed, Skipped, Passed, Failed, Skipped], 10));
    assert_eq!(called, ["reload", "click", "wait"]);
}

#[tokio::test(start_paused = true)]
async fn an_interruption_while_cleaning_up_lets_it_finish() {
    let (cut, took, _) =
        ran("steps:\n- click: '#a'\nteardown:\n- reload: []\n- click: '#b'\n", Fake::default()).await;
    assert_eq!((statuses(&cut), took.as_secs()), (vec![Passed, Passed, Passed], 0));
    assert_eq!(cut.fault.map(|fault| fault.kind), Some(Kind::Interrupted));
}

#[tokio::test(start_paused = true)]
async fn without_a_browser_no_step_is_tried_but_those_that_clean_up() {
    let steps =
        "steps:\n- click: '#a'\n  retries: 1\n- click: '#b'\nteardown:\n- click: '#c'\n- click: '#d'\n";
    let (cut, _, called) = ran(steps, Fake { has_no_browser: true, ..Fake::default() }).await;
    assert_eq!((statuses(&cut), called.len()), (vec![Failed, Skipped, Failed, Skipped], 3));
    let fault = cut.fault.unwrap();
    assert_eq!((fault.kind, fault.message.as_str()), (Kind::BrowserFailed, "it ended at once"));
}

#[tokio::test(start_paused = true)]
async fn branches_that_cannot_begin_are_told() {
    let steps = "steps:\n- parallel:\n  - [{ click: '#a' }]\n  - [{ click: '#b' }, { click: '#c' }]\n";
    let (cut, _, called) = ran(steps, Fake::default()).await;
    assert_eq!((statuses(&cut), called.len()), (vec![Skipped; 3], 0));
    assert_eq!(cut.fault.map(|fault| fault.kind), Some(Kind::ServerUnreachable));
}

#[tokio::test(start_paused = true)]
async fn what_a_block_captures_lasts_where_the_variable_is() {
    let text = "vars: { n: a }
steps:
- repeat: 2
  steps:
  - { fill: ['#x', '${n}b'], capture: n }
  - { fill: ['#x', '${n}'], capture: inner }
- if: { kind: url }
  then: []
  else:
  - { fill: ['#x', '${n}c'], capture: n }
teardown:
- fill: ['#x', '${n}']
";
    let (done, _, _) = ran(text, Fake::default()).await;
    let last = done.report.steps.last().unwrap();
    assert_eq!(last.args["value"], "abbc", "{:#?}", done.report);
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_gives_up_tells_what_it_saw() {
    let (gave_up, _, _) =
        ran("steps:\n- repeat: { until: { kind: url }, max: 2 }\n  steps: []\n", Fake::default()).await;
    let last = gave_up.report.steps.last().unwrap();
    assert_eq!(last.error.as_deref(), Some("Step 1 (repeat): not reached after 2 times"));
    assert_eq!((&last.expected, &last.actual), (&Some(json!(1)), &Some(json!(2))));
}

#[tokio::test(start_paused = true)]
async fn a_variable_that_is_no_number_fails_the_step() {
    let text = "steps:\n- { fill: ['#x', soon], capture: ms }\n- { click: a, timeout: '${ms}' }\n";
    let (done, _, called) = ran(text, Fake::default()).await;
    assert_eq!((statuses(&done), called.len()), (vec![Passed, Failed], 1));
}
