//! What surrounds the steps: where it cannot be set nothing runs, and the steps keep their numbers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use surehand_playbook::{
    AnyArguments, Files, NoSecrets, Overrides, Pending, Ran, RunOptions, Scope, Source, Stop, Unwatched,
    open_source, run,
};
use surehand_report::Phase;
use surehand_session::Fault;
use surehand_tools::{Answer, Caller};

/// Writes down what is called; `set` fails where it is told to.
#[derive(Debug, Clone)]
struct Notes {
    called: Arc<Mutex<Vec<(String, Value)>>>,
    sets: bool,
}

impl Caller for Notes {
    fn tools(&self) -> Pending<'_, Result<Vec<String>, Fault>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn call_within<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        _: Option<std::time::Duration>,
    ) -> Pending<'a, Result<Answer, Fault>> {
        self.called.lock().unwrap().push((name.to_owned(), arguments));
        let is_error = name == "set" && !self.sets;
        Box::pin(async move { Ok(Answer { is_error, ..Answer::text("said") }) })
    }

    fn apart(&self) -> Pending<'_, Result<Box<dyn Caller>, Fault>> {
        let other = self.clone();
        Box::pin(async move { Ok(Box::new(other) as Box<dyn Caller>) })
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async {})
    }
}

fn ran(text: &str, sets: bool) -> (Ran, Vec<(String, Value)>) {
    let source = Source::from_bytes(Path::new("a.yaml"), text.into()).unwrap();
    let overrides = Overrides::default();
    let playbook = open_source(source, &AnyArguments, &Files, &overrides, &NoSecrets).into_result().unwrap();
    let scope = Scope::of(&playbook, &overrides);
    let notes = Notes { called: Arc::default(), sets };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let options = RunOptions::default();
    let stop = Stop::default();
    let running = run(&playbook, scope, &AnyArguments, &NoSecrets, &notes, options, &Unwatched, &stop);
    let ran = runtime.block_on(running);
    let called = notes.called.lock().unwrap().clone();
    (ran, called)
}

#[test]
fn every_session_begins_with_it() {
    let text =
        "viewport: 800x600\ndevice: Pixel 7\nsteps:\n- reload:\n- parallel: [[{ reload: }], [{ reload: }]]\n";
    let (ran, called) = ran(text, true);
    assert!(ran.report.summary.ok && ran.report.steps.len() == 3);
    let sets: Vec<_> =
        called.iter().filter(|(name, _)| name == "set").map(|(_, arguments)| arguments).collect();
    assert_eq!(sets.len(), 6, "device and viewport, in each of three sessions");
    assert_eq!(*sets[0], json!({ "what": { "device": { "name": "Pixel 7" } } }));
    assert_eq!(*sets[1], json!({ "what": { "viewport": { "width": 800, "height": 600 } } }));
}

#[test]
fn where_it_fails_nothing_runs_and_steps_keep_their_numbers() {
    let text = "viewport: 800x600\nsteps:\n- reload:\n- back:\n- parallel: [[{ forward: }]]\n";
    let (ran, called) = ran(text, false);
    assert_eq!(called.len(), 1);
    let told: Vec<_> =
        ran.report.steps.iter().map(|step| (step.index, step.verb.as_str(), step.status.word())).collect();
    assert_eq!(
        told,
        [(0, "reload", "skipped"), (1, "back", "skipped"), (2, "forward", "skipped"), (3, "set", "failed")]
    );
    let last = ran.report.steps.last().unwrap();
    assert_eq!(last.phase, Phase::Setup);
    assert!(last.error.as_ref().unwrap().contains("said"), "{last:?}");
    assert!(!ran.report.summary.ok && ran.fault.is_none());
}
