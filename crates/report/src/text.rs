//! A report as lines for a terminal or a log. There are no colours: the lines begin with words.

use crate::brief;
use crate::clean::{one_line, visible};
use crate::run::{RunReport, Status, StepReport};
use crate::suite::{Outcome, SuiteReport, TestReport};

/// As wide as `[PASS] `: what belongs to a line stands under its first word.
const INDENT: &str = "       ";

/// Longer values are in the other forms of the report.
const LONGEST_VALUE: usize = 200;

/// A run: a title, a line for each step, a summary.
pub fn run_text(run: &RunReport) -> String {
    let mut lines = vec![format!("Playbook: {}", one_line(run.title()))];
    lines.extend(run.steps.iter().map(step_text));
    lines.push(run_summary(run));
    joined(&lines)
}

/// A step: `[PASS] step 0: navigate (45 ms)`, and under it why it failed. The last line has no line end.
pub fn step_text(step: &StepReport) -> String {
    let mut lines = vec![step_line(step)];
    if let Some(error) = step.error_text() {
        lines.extend(indented(&error));
    }
    if step.status == Status::Failed && step.has_comparison() {
        let told = |value: &Option<_>| {
            value.as_ref().map_or(String::new(), |value| brief::value(value, LONGEST_VALUE))
        };
        lines.push(format!("{INDENT}expected: {}", told(&step.expected)));
        lines.push(format!("{INDENT}actual:   {}", told(&step.actual)));
    }
    lines.join("\n")
}

/// A suite: what did not simply pass, and a summary.
pub fn suite_text(suite: &SuiteReport) -> String {
    let telling = suite.tests.iter().filter(|test| test.outcome != Outcome::Passed);
    let mut lines: Vec<String> = telling.map(test_text).collect();
    lines.push(suite_summary(suite));
    joined(&lines)
}

fn step_line(step: &StepReport) -> String {
    let word = match step.status {
        Status::Ok => "PASS",
        Status::Failed => "FAIL",
        Status::Skipped => "SKIP",
    };
    let mut line =
        format!("[{word}] step {}: {} ({} ms)", step.index, one_line(&step.verb), step.duration_ms);
    if let Some(id) = &step.id {
        line.push_str(&format!(" [{}]", one_line(id)));
    }
    let attempts = (step.attempts > 1).then(|| format!("{} attempts", step.attempts));
    let remarks = [
        step.name.as_deref().map(one_line),
        step.phase.word().map(str::to_owned),
        step.path.as_deref().map(one_line),
        attempts,
    ];
    let remarks: Vec<String> = remarks.into_iter().flatten().collect();
    if !remarks.is_empty() {
        line.push(' ');
        line.push_str(&remarks.join(", "));
    }
    line
}

/// How many steps of a run passed, in a line.
pub fn run_summary(run: &RunReport) -> String {
    let summary = &run.summary;
    let word = if summary.ok { "PASS" } else { "FAIL" };
    let counts = [(summary.failed, "failed"), (summary.skipped, "skipped")];
    format!(
        "{word}: {} of {} passed{} ({})",
        summary.passed,
        brief::plural(summary.total, "step"),
        told_if_any(&counts),
        brief::duration(run.duration_ms())
    )
}

/// A test in a line: `[PASS] tests/login.playbook.yaml: Log in (1.2 s)`.
pub fn test_line(test: &TestReport) -> String {
    let word = match test.outcome {
        Outcome::Passed => "PASS",
        Outcome::Failed => "FAIL",
        Outcome::Flaky => "FLAKY",
        Outcome::Broken => "BROKEN",
    };
    let title = one_line(&test.full_title());
    format!("[{word}] {}: {title} ({})", one_line(&test.file), brief::duration(test.duration_ms))
}

fn test_text(test: &TestReport) -> String {
    let mut lines = vec![test_line(test)];
    if let Some(problem) = &test.problem {
        lines.extend(indented(problem));
    }
    let failed_run = match test.outcome {
        Outcome::Flaky => test.earlier.first(),
        _ => test.run.as_ref(),
    };
    let failures = failed_run.into_iter().flat_map(RunReport::failures);
    lines.extend(failures.flat_map(|step| indented(&step_text(step))));
    lines.join("\n")
}

fn suite_summary(suite: &SuiteReport) -> String {
    let summary = suite.summary();
    let word = if summary.ok { "PASS" } else { "FAIL" };
    let counts = [
        (summary.failed, "failed"),
        (summary.flaky, "flaky"),
        (summary.broken, "broken"),
        (summary.not_run, "not run"),
    ];
    format!(
        "{word}: {} of {} passed{} ({}, {})",
        summary.passed,
        brief::plural(summary.total, "test"),
        told_if_any(&counts),
        brief::duration(suite.duration_ms),
        brief::plural(suite.workers, "worker")
    )
}

fn told_if_any(counts: &[(usize, &str)]) -> String {
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!(", {count} {word}")).collect()
}

fn indented(text: &str) -> Vec<String> {
    visible(text).trim_end().lines().map(|line| format!("{INDENT}{line}")).collect()
}

fn joined(lines: &[String]) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::Phase;
    use crate::samples::{failed_run, hostile_run, passed_run, passed_step, suite};

    #[test]
    fn a_failed_run() {
        assert_eq!(
            run_text(&failed_run()),
            "Playbook: fail-fast fixture\n\
             [PASS] step 0: navigate (45 ms)\n\
             [FAIL] step 1: assert (12 ms)\n\
             \x20      Step 1 (assert): assert verdict=\"fail\"\n\
             \x20      expected: {\"pattern\":\"Example\",\"selector\":\"h1\"}\n\
             \x20      actual:   Hello\n\
             [SKIP] step 2: interact (0 ms)\n\
             FAIL: 1 of 3 steps passed, 1 failed, 1 skipped (57 ms)\n"
        );
    }

    #[test]
    fn a_passed_run_without_a_name_is_called_by_its_file() {
        let mut run = passed_run();
        run.name = None;
        assert_eq!(
            run_text(&run),
            "Playbook: tests/sanity.playbook.yaml\n\
             [PASS] step 0: navigate (45 ms)\n\
             PASS: 1 of 1 step passed (45 ms)\n"
        );
    }

    #[test]
    fn a_step_is_told_with_what_it_is_called_and_where_it_ran() {
        let mut step = passed_step(3, "click", json!({}), 12);
        step.id = Some("login".to_owned());
        step.name = Some("Log in".to_owned());
        step.phase = Phase::Setup;
        step.path = Some("repeat 2/3".to_owned());
        step.attempts = 2;
        assert_eq!(
            step_text(&step),
            "[PASS] step 3: click (12 ms) [login] Log in, setup, repeat 2/3, 2 attempts"
        );
    }

    #[test]
    fn a_suite_tells_what_did_not_simply_pass() {
        assert_eq!(
            suite_text(&suite()),
            "[FAIL] tests/fail.playbook.yaml: fail-fast fixture (60 ms)\n\
             \x20      [FAIL] step 1: assert (12 ms)\n\
             \x20             Step 1 (assert): assert verdict=\"fail\"\n\
             \x20             expected: {\"pattern\":\"Example\",\"selector\":\"h1\"}\n\
             \x20             actual:   Hello\n\
             [FLAKY] tests/sanity.playbook.yaml: sanity (repeat 2) (60 ms)\n\
             \x20      [FAIL] step 1: assert (12 ms)\n\
             \x20             Step 1 (assert): assert verdict=\"fail\"\n\
             \x20             expected: {\"pattern\":\"Example\",\"selector\":\"h1\"}\n\
             \x20             actual:   Hello\n\
             [BROKEN] tests/bad.playbook.yaml: bad (60 ms)\n\
             \x20      line 3, column 5: there is no verb \"clik\"\n\
             FAIL: 1 of 4 tests passed, 1 failed, 1 flaky, 1 broken (900 ms, 2 workers)\n"
        );
    }

    #[test]
    fn a_page_cannot_command_the_terminal() {
        let text = run_text(&hostile_run());
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("::")), "{text:?}");
    }
}
