//! What came of many playbooks: the tests of `playbook test`.
//!
//! `Serialize` is its `--json`: `tests[]`, each with its `run` as `playbook run` would tell it, and a `summary`.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::run::{RunReport, Trouble};

/// What came of many playbooks.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteReport {
    /// The tests, in the order in which they are told.
    pub tests: Vec<TestReport>,
    /// How long all of it took.
    pub duration_ms: u64,
    /// How many tests ran at once.
    pub workers: usize,
    /// How many more there were to run when it was stopped.
    pub not_run: usize,
    /// What stopped it, or kept a report from being written.
    pub error: Option<Trouble>,
}

impl SuiteReport {
    /// Counts the tests.
    pub fn summary(&self) -> SuiteSummary {
        let count = |outcome| self.tests.iter().filter(|test| test.outcome == outcome).count();
        let (failed, broken) = (count(Outcome::Failed), count(Outcome::Broken));
        SuiteSummary {
            ok: failed == 0 && broken == 0 && self.not_run == 0,
            total: self.tests.len() + self.not_run,
            passed: count(Outcome::Passed),
            failed,
            flaky: count(Outcome::Flaky),
            broken,
            not_run: self.not_run,
        }
    }
}

/// A single run is a suite of one.
impl From<RunReport> for SuiteReport {
    fn from(run: RunReport) -> Self {
        let (duration_ms, error) = (run.duration_ms(), run.error.clone());
        let test = TestReport {
            file: run.file.clone().unwrap_or_default(),
            title: run.title().to_owned(),
            attempt: 1,
            repeat: 1,
            outcome: if run.summary.ok { Outcome::Passed } else { Outcome::Failed },
            run: Some(run),
            problem: None,
            duration_ms,
            earlier: Vec::new(),
        };
        Self { tests: vec![test], duration_ms, workers: 1, not_run: 0, error }
    }
}

impl Serialize for SuiteReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("SuiteReport", 5)?;
        fields.serialize_field("tests", &self.tests)?;
        fields.serialize_field("summary", &self.summary())?;
        fields.serialize_field("durationMs", &self.duration_ms)?;
        fields.serialize_field("workers", &self.workers)?;
        match &self.error {
            Some(error) => fields.serialize_field("error", error)?,
            None => fields.skip_field("error")?,
        }
        fields.end()
    }
}

/// What came of one test: a playbook, run until it passed or was given up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestReport {
    /// Where the playbook was read from.
    pub file: String,
    /// What to call it.
    pub title: String,
    /// Which attempt decided; the first is 1.
    #[serde(skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// Which repetition this is (`--repeat-each`); the first is 1.
    #[serde(skip_serializing_if = "is_first")]
    pub repeat: u32,
    /// What came of it.
    pub outcome: Outcome,
    /// How long it took, with its earlier attempts.
    #[serde(rename = "durationMs")]
    pub duration_ms: u64,
    /// The attempt that decided; a broken test may have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunReport>,
    /// Why it is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The attempts that failed before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<RunReport>,
}

impl TestReport {
    /// What to call it among its repetitions.
    pub(crate) fn full_title(&self) -> String {
        if self.repeat > 1 { format!("{} (repeat {})", self.title, self.repeat) } else { self.title.clone() }
    }

    /// Why it is not simply passed, as the runner said it.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self.outcome {
            Outcome::Passed => None,
            Outcome::Flaky => self.earlier.iter().find_map(first_error),
            Outcome::Failed | Outcome::Broken => {
                self.problem.as_deref().or_else(|| self.run.as_ref().and_then(first_error))
            }
        }
    }
}

/// What came of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It passed at once.
    Passed,
    /// It failed, every time it was tried.
    Failed,
    /// It failed, and passed when it was tried again.
    Flaky,
    /// It did not run to its end: the file is wrong, or the browser was lost.
    Broken,
}

impl Outcome {
    /// The word of it in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Flaky => "flaky",
            Self::Broken => "broken",
        }
    }
}

/// How many tests passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SuiteSummary {
    /// Nothing failed and nothing is broken.
    pub ok: bool,
    /// How many tests there are.
    pub total: usize,
    /// How many passed at once.
    pub passed: usize,
    /// How many failed.
    pub failed: usize,
    /// How many passed when they were tried again.
    pub flaky: usize,
    /// How many did not run to their end.
    pub broken: usize,
    /// How many were not begun, because it was stopped.
    #[serde(rename = "notRun", skip_serializing_if = "is_zero")]
    pub not_run: usize,
}

fn first_error(run: &RunReport) -> Option<&str> {
    run.failures().find_map(|step| step.error.as_deref())
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn is_first(ordinal: &u32) -> bool {
    *ordinal <= 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::samples::{failed_run, passed_run, suite};

    #[test]
    fn the_json_of_a_suite_has_a_summary() {
        let suite = serde_json::to_value(suite()).unwrap();
        assert_eq!(
            suite["summary"],
            json!({ "ok": false, "total": 4, "passed": 1, "failed": 1, "flaky": 1, "broken": 1 })
        );
        assert_eq!((&suite["durationMs"], &suite["workers"]), (&json!(900), &json!(2)));
        assert_eq!(suite["tests"][1]["run"]["summary"]["failed"], 1);
    }

    #[test]
    fn what_a_test_has_nothing_to_say_about_is_left_out() {
        let suite = serde_json::to_value(suite()).unwrap();
        let keys = |index: usize| {
            let mut keys: Vec<String> = suite["tests"][index].as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys.join(" ")
        };
        assert_eq!(keys(0), "durationMs file outcome run title");
        assert_eq!(keys(2), "attempt durationMs earlier file outcome repeat run title");
        assert_eq!(keys(3), "durationMs file outcome problem title");
    }

    #[test]
    fn a_run_is_a_suite_of_one() {
        let passed = SuiteReport::from(passed_run());
        assert_eq!((passed.tests.len(), passed.tests[0].outcome), (1, Outcome::Passed));
        let failed = SuiteReport::from(failed_run());
        assert_eq!(failed.tests[0].outcome, Outcome::Failed);
        assert_eq!(failed.tests[0].title, "fail-fast fixture");
        assert_eq!(failed.duration_ms, failed_run().duration_ms());
    }

    #[test]
    fn flaky_tests_do_not_fail_a_suite() {
        let mut suite = suite();
        suite.tests.retain(|test| matches!(test.outcome, Outcome::Flaky | Outcome::Passed));
        assert!(suite.summary().ok);
    }
}
