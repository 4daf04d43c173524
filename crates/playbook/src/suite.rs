//! Many playbooks as tests: which there are, which of them run, several at a time, and again when they fail.
//!
//! How one of them is run is up to whoever calls: it needs sessions and servers, which are not known here.

mod find;
mod select;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use surehand_report::{Outcome, SuiteReport, TestReport};
use surehand_tools::Pending;

use crate::run::Ran;

pub use find::find;
pub use select::{Shard, Test, select};

/// How tests are run.
#[derive(Debug, Clone, Copy)]
pub struct SuiteOptions {
    /// How many at once.
    pub workers: usize,
    /// How often one that fails is tried again.
    pub retries: u32,
}

/// What came of one attempt.
#[derive(Debug)]
pub enum Attempt {
    /// It ran, to whatever end.
    Ran(Box<Ran>),
    /// It could not run.
    Broken(String),
}

/// Runs tests, one at a time or several.
pub trait RunsTests: Sync {
    /// Runs one once.
    fn run<'a>(&'a self, test: &'a Test) -> Pending<'a, Attempt>;
}

/// Hears of tests as they end.
pub trait WatchSuite: Sync {
    /// A test ended; `done` of them have.
    fn ended(&self, test: &TestReport, done: usize);
}

/// Runs tests and tells what came of each, in the order in which they were given.
pub async fn run_suite(
    tests: &[Test],
    options: SuiteOptions,
    runner: &dyn RunsTests,
    watch: &dyn WatchSuite,
) -> SuiteReport {
    let began = Instant::now();
    let running = tests
        .iter()
        .enumerate()
        .map(|(number, test)| async move { (number, run_test(test, options.retries, runner).await) });
    let mut ending = futures_util::stream::iter(running).buffer_unordered(options.workers.max(1));
    let mut reports: Vec<(usize, TestReport)> = Vec::with_capacity(tests.len());
    while let Some((number, report)) = ending.next().await {
        watch.ended(&report, reports.len() + 1);
        reports.push((number, report));
    }
    drop(ending);
    reports.sort_by_key(|(number, _)| *number);
    SuiteReport {
        tests: reports.into_iter().map(|(_, report)| report).collect(),
        duration_ms: milliseconds(began.elapsed()),
        workers: options.workers,
    }
}

/// Runs a test until it passes or was tried often enough. What cannot run at all is not tried again.
async fn run_test(test: &Test, retries: u32, runner: &dyn RunsTests) -> TestReport {
    let began = Instant::now();
    let mut earlier = Vec::new();
    let mut attempt = 1;
    let (outcome, run, problem) = loop {
        let (report, fault) = match runner.run(test).await {
            Attempt::Broken(problem) => break (Outcome::Broken, None, Some(problem)),
            Attempt::Ran(ran) => (ran.report, ran.fault),
        };
        if let Some(fault) = fault {
            break (Outcome::Broken, Some(report), Some(fault.message));
        }
        if report.summary.ok {
            let outcome = if earlier.is_empty() { Outcome::Passed } else { Outcome::Flaky };
            break (outcome, Some(report), None);
        }
        if attempt > retries {
            break (Outcome::Failed, Some(report), None);
        }
        earlier.push(report);
        attempt += 1;
    };
    let title = run.as_ref().and_then(|run| run.name.clone()).unwrap_or_else(|| test.title());
    TestReport {
        file: test.file.display().to_string(),
        title,
        attempt,
        repeat: test.repeat,
        outcome,
        run,
        problem,
        duration_ms: milliseconds(began.elapsed()),
        earlier,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Test {
    /// What to call it before it is read: its file without folders and endings.
    pub fn title(&self) -> String {
        let name = self.file.file_name().map(PathBuf::from).unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        name.split(".playbook.").next().unwrap_or(&name).to_owned()
    }
}

#[cfg(test)]
#[path = "suite_tests.rs"]
mod tests;
