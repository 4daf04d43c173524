use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use surehand_report::{RunReport, Status, StepReport};
use surehand_session::{Fault, Kind};

use super::*;

/// Tests whose names say how they end: `fails`, `flaky` (once), `broken`, `lost`, all others pass; `interrupts` stops
/// all of them.
#[derive(Default)]
struct Fake {
    attempts: Mutex<HashMap<PathBuf, u32>>,
    running: AtomicUsize,
    most: AtomicUsize,
    stop: Stop,
}

impl Fake {
    fn attempt(&self, test: &Test) -> Attempt {
        let mut attempts = self.attempts.lock().unwrap();
        let attempt = attempts.entry(test.file.clone()).or_default();
        *attempt += 1;
        let name = test.title();
        if name == "interrupts" {
            self.stop.ask();
        }
        if name == "broken" {
            return Attempt::Broken(Fault::new(Kind::BadPlaybook, "no such file"));
        }
        let mut step = StepReport::skipped(0, "navigate", "navigate", json!({}));
        let fails = name == "fails" || name == "lost" || (name == "flaky" && *attempt == 1);
        step.status = if fails { Status::Failed } else { Status::Ok };
        let report = RunReport::new(None, None, vec![step]);
        let fault = (name == "lost").then(|| Fault::new(Kind::ServerUnreachable, "the server is gone"));
        Attempt::Ran(Box::new(Ran { report, fault }))
    }
}

impl RunsTests for Fake {
    fn run<'a>(&'a self, test: &'a Test) -> Pending<'a, Attempt> {
        Box::pin(async move {
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(running, Ordering::SeqCst);
            tokio::task::yield_now().await;
            self.running.fetch_sub(1, Ordering::SeqCst);
            self.attempt(test)
        })
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<usize>>);

impl WatchSuite for Heard {
    fn ended(&self, _: &TestReport, done: usize) {
        self.0.lock().unwrap().push(done);
    }
}

fn suite(names: &[&str], workers: usize, retries: u32) -> (SuiteRan, Fake, Vec<usize>) {
    stoppable_suite(names, workers, retries, &Stop::default())
}

fn stoppable_suite(
    names: &[&str],
    workers: usize,
    retries: u32,
    stop: &Stop,
) -> (SuiteRan, Fake, Vec<usize>) {
    let tests: Vec<Test> = names
        .iter()
        .map(|name| Test { file: PathBuf::from(format!("{name}.playbook.yaml")), repeat: 1 })
        .collect();
    let (fake, heard) = (Fake { stop: stop.clone(), ..Fake::default() }, Heard::default());
    let options = SuiteOptions { workers, retries };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ran = runtime.block_on(run_suite(&tests, options, &fake, &heard, stop));
    (ran, fake, heard.0.into_inner().unwrap())
}

#[test]
fn what_fails_is_tried_again_and_what_is_broken_is_not() {
    let (SuiteRan { report, fault }, fake, _) = suite(&["passes", "fails", "flaky", "broken", "lost"], 1, 2);
    let outcomes: Vec<Outcome> = report.tests.iter().map(|test| test.outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Passed, Outcome::Failed, Outcome::Flaky, Outcome::Broken, Outcome::Broken]
    );
    let attempts: Vec<u32> = report.tests.iter().map(|test| test.attempt).collect();
    assert_eq!(attempts, [1, 3, 2, 1, 1]);
    assert_eq!(report.tests[1].earlier.len(), 2);
    assert_eq!(report.tests[4].problem.as_deref(), Some("the server is gone"));
    assert_eq!(fault.map(|fault| fault.kind), Some(Kind::ServerUnreachable), "a file that is wrong is none");
    assert_eq!(fake.attempts.lock().unwrap().values().sum::<u32>(), 8);
}

#[test]
fn so_many_run_at_once_and_are_told_in_order() {
    let (SuiteRan { report, .. }, fake, heard) = suite(&["a", "b", "c", "d", "e", "f"], 3, 0);
    assert_eq!(fake.most.load(Ordering::SeqCst), 3);
    let titles: Vec<&str> = report.tests.iter().map(|test| test.title.as_str()).collect();
    assert_eq!(titles, ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(heard, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn after_it_was_stopped_no_test_is_begun_and_none_tried_again() {
    let stop = Stop::default();
    let (ran, fake, heard) = stoppable_suite(&["passes", "interrupts", "a", "b"], 1, 2, &stop);
    assert_eq!((ran.report.tests.len(), ran.report.not_run, heard.len()), (2, 2, 2));
    assert_eq!(ran.fault.map(|fault| fault.kind), Some(Kind::Interrupted));
    assert!(!ran.report.summary().ok && ran.report.summary().total == 4);
    assert_eq!(fake.attempts.lock().unwrap().len(), 2);
}
