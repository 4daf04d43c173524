//! Many playbooks as tests: which there are, which of them run, several at a time, and again when they fail.
//!
//! How one of them is run is up to whoever calls: it needs sessions and servers, which are not known here.

mod find;
mod select;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use surehand_report::{Outcome, SuiteReport, TestReport};
use surehand_session::Fault;
use surehand_tools::Pending;

use crate::run::{Ran, Stop, interrupted};

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
    Broken(Fault),
}

/// What came of all of them.
#[derive(Debug)]
pub struct SuiteRan {
    /// Every test that was begun.
    pub report: SuiteReport,
    /// Why the first test could not run, that could not because something was out of reach; or that all were stopped.
    pub fault: Option<Fault>,
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

/// Runs tests and tells what came of each, in the order in which they were given. Asked to stop, it begins no more.
pub async fn run_suite(
    tests: &[Test],
    options: SuiteOptions,
    runner: &dyn RunsTests,
    watch: &dyn WatchSuite,
    stop: &Stop,
) -> SuiteRan {
    let began = Instant::now();
    let running = tests.iter().enumerate().map(|(number, test)| async move {
        // It may have waited for its turn.
        if stop.is_asked() {
            None
        } else {
            Some((number, run_test(test, options.retries, runner, stop).await))
        }
    });
    let mut ending = futures_util::stream::iter(running).buffer_unordered(options.workers.max(1));
    let mut ended: Vec<(usize, Tested)> = Vec::with_capacity(tests.len());
    while let Some(tested) = ending.next().await {
        let Some((number, tested)) = tested else { continue };
        watch.ended(&tested.report, ended.len() + 1);
        ended.push((number, tested));
    }
    drop(ending);
    ended.sort_by_key(|(number, _)| *number);
    let mut fault = stop.is_asked().then(interrupted);
    let mut reports = Vec::with_capacity(ended.len());
    for (_, tested) in ended {
        fault = fault.or(tested.fault);
        reports.push(tested.report);
    }
    let report = SuiteReport {
        not_run: tests.len() - reports.len(),
        tests: reports,
        duration_ms: milliseconds(began.elapsed()),
        workers: options.workers,
        error: None,
    };
    SuiteRan { report, fault }
}

struct Tested {
    report: TestReport,
    /// What was out of reach.
    fault: Option<Fault>,
}

/// Runs a test until it passes or was tried often enough. What cannot run at all is not tried again.
async fn run_test(test: &Test, retries: u32, runner: &dyn RunsTests, stop: &Stop) -> Tested {
    let began = Instant::now();
    let mut earlier = Vec::new();
    let mut attempt = 1;
    let (outcome, run, fault) = loop {
        let ran = match runner.run(test).await {
            Attempt::Broken(fault) => break (Outcome::Broken, None, Some(fault)),
            Attempt::Ran(ran) => *ran,
        };
        if let Some(fault) = ran.fault {
            break (Outcome::Broken, Some(ran.report), Some(fault));
        }
        if ran.report.summary.ok {
            let outcome = if earlier.is_empty() { Outcome::Passed } else { Outcome::Flaky };
            break (outcome, Some(ran.report), None);
        }
        if attempt > retries || stop.is_asked() {
            break (Outcome::Failed, Some(ran.report), None);
        }
        earlier.push(ran.report);
        attempt += 1;
    };
    let title = run.as_ref().and_then(|run| run.name.clone()).unwrap_or_else(|| test.title());
    let report = TestReport {
        file: test.file.display().to_string(),
        title,
        attempt,
        repeat: test.repeat,
        outcome,
        run,
        problem: fault.as_ref().map(|fault| fault.message.clone()),
        duration_ms: milliseconds(began.elapsed()),
        earlier,
    };
    Tested { report, fault: fault.filter(|fault| fault.kind.exit_code() == OUT_OF_REACH) }
}

/// The exit code of kinds that say nothing about the playbook.
const OUT_OF_REACH: u8 = 3;

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
