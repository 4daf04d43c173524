//! A suite as JUnit XML, which continuous integration servers show.
//!
//! There is one test suite for each file and in it one test case for each test: Jenkins groups by class name, GitLab and
//! the usual actions of GitHub by suite, and both then speak of files.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestRerun, TestSuite};

use crate::clean::{one_line, visible};
use crate::error::RenderError;
use crate::run::{FailureEvidence, RunReport};
use crate::suite::{Outcome, SuiteReport, TestReport};
use crate::text::run_text;

/// The suite as one XML document.
pub fn junit_xml(suite: &SuiteReport) -> Result<String, RenderError> {
    let mut report = Report::new("surehand");
    report.set_time(Duration::from_millis(suite.duration_ms));
    report.add_test_suites(by_file(&suite.tests).into_iter().map(test_suite));
    Ok(report.to_string()?)
}

/// The tests of each file, in the order in which the files first appear.
fn by_file(tests: &[TestReport]) -> Vec<Vec<&TestReport>> {
    let mut places = std::collections::HashMap::new();
    let mut files: Vec<Vec<&TestReport>> = Vec::new();
    for test in tests {
        let place = *places.entry(test.file.as_str()).or_insert(files.len());
        match files.get_mut(place) {
            Some(file) => file.push(test),
            None => files.push(vec![test]),
        }
    }
    files
}

fn test_suite(tests: Vec<&TestReport>) -> TestSuite {
    let mut suite = TestSuite::new(tests.first().map_or(String::new(), |test| visible(&test.file)));
    suite.set_time(Duration::from_millis(tests.iter().map(|test| test.duration_ms).sum()));
    suite.add_test_cases(tests.into_iter().map(test_case));
    suite
}

fn test_case(test: &TestReport) -> TestCase {
    let mut case = TestCase::new(one_line(&test.full_title()), status(test));
    case.set_classname(class_name(&test.file));
    case.set_time(Duration::from_millis(test.duration_ms));
    case.extra.insert("file".into(), visible(&test.file).into());
    if let Some(line) = failed_line(test) {
        case.extra.insert("line".into(), line.to_string().into());
    }
    if test.repeat > 1 {
        case.add_property(("repeat", test.repeat.to_string().as_str()));
    }
    if test.attempt > 1 {
        case.add_property(("attempt", test.attempt.to_string().as_str()));
    }
    if test.outcome == Outcome::Flaky {
        case.add_property(("flaky", "true"));
    }
    if let Some(run) = &test.run {
        case.set_system_out(run_text(run));
    }
    if let Some(evidence) = evidence(test) {
        case.set_system_err(evidence);
    }
    case
}

fn status(test: &TestReport) -> TestCaseStatus {
    let mut status = match test.outcome {
        Outcome::Passed | Outcome::Flaky => TestCaseStatus::success(),
        Outcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::Broken => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    if let Outcome::Failed | Outcome::Broken = test.outcome {
        let reason = test.reason().unwrap_or("the playbook did not pass");
        status.set_message(one_line(reason)).set_type(test.outcome.word());
        let details = test.run.as_ref().map(details).filter(|details| !details.is_empty());
        status.set_description(details.unwrap_or_else(|| visible(reason)));
    }
    status.add_reruns(test.earlier.iter().map(rerun));
    status
}

fn rerun(run: &RunReport) -> TestRerun {
    let mut rerun = TestRerun::new(NonSuccessKind::Failure);
    let reason = run.failures().find_map(|step| step.error.as_deref()).unwrap_or("the attempt failed");
    rerun.set_time(Duration::from_millis(run.duration_ms()));
    rerun.set_message(one_line(reason)).set_type(Outcome::Failed.word());
    rerun.set_description(details(run)).set_system_out(run_text(run));
    rerun
}

/// The failed steps, as the terminal shows them.
fn details(run: &RunReport) -> String {
    run.failures().map(crate::text::step_text).collect::<Vec<_>>().join("\n")
}

/// What the page was like, in words.
fn evidence(test: &TestReport) -> Option<String> {
    let lines: Vec<String> = test.run.as_ref()?.evidence().flat_map(|(_, evidence)| said(evidence)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn said(evidence: &FailureEvidence) -> Vec<String> {
    let url = evidence.url.iter().map(|url| format!("url: {url}"));
    let dialog = evidence.dialog.iter().map(|dialog| format!("dialog: {dialog}"));
    let console = evidence.console.iter().map(|line| format!("console: {line}"));
    let requests = evidence.failed_requests.iter().map(|request| format!("failed request: {request}"));
    url.chain(dialog).chain(console).chain(requests).map(|line| visible(&line)).collect()
}

fn failed_line(test: &TestReport) -> Option<u32> {
    let place = test.run.as_ref()?.failures().next()?.place.as_ref()?;
    // Steps of another file have lines of that file.
    place.file.is_none().then_some(place.line)
}

/// `tests/login.playbook.yaml` is `tests.login`: Jenkins takes what stands before the last dot for a package.
fn class_name(file: &str) -> String {
    let known = [".playbook.yaml", ".playbook.yml", ".playbook.json", ".yaml", ".yml", ".json"];
    let name = known.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(file);
    let parts = name.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".."));
    one_line(&parts.map(|part| part.replace('.', "_")).collect::<Vec<_>>().join("."))
}

#[cfg(test)]
#[path = "junit_tests.rs"]
mod tests;
