//! What the template shows: a report with everything decided and every text made visible, but nothing escaped yet.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use minijinja::Value as SafeText;
use serde::Serialize;
use serde_json::Value;

use super::axis::Axis;
use super::fold::{self, Block};
use crate::brief;
use crate::clean::{cut, one_line, visible};
use crate::run::{FailureEvidence, Phase, Picture, RunReport, Status, StepReport};
use crate::suite::{Outcome, SuiteReport, TestReport};

/// Arguments on the line of a step.
const LONGEST_BRIEF: usize = 160;

/// Longer results are in the JSON report; here they would make the page slow to open.
const LONGEST_VALUE: usize = 6_000;

/// A snapshot is what the reader of a failure needs; it is cut later.
const LONGEST_SNAPSHOT: usize = 100_000;

/// Where many tests fail, only the first are open: else the page is a wall.
const MOST_OPEN: usize = 10;

#[derive(Debug, Serialize)]
pub struct ReportView {
    title: String,
    headline: String,
    ok: bool,
    facts: Vec<Fact>,
    share: Vec<Share>,
    filters: Vec<Filter>,
    tests: Vec<TestView>,
}

/// A number of the header.
#[derive(Debug, Serialize)]
struct Fact {
    name: &'static str,
    value: String,
}

/// A part of the bar that shows how the outcomes are shared out.
#[derive(Debug, Serialize)]
struct Share {
    outcome: &'static str,
    x: usize,
    width: usize,
}

/// A button that shows only some tests.
#[derive(Debug, Serialize)]
struct Filter {
    key: &'static str,
    name: &'static str,
    count: usize,
}

#[derive(Debug, Serialize)]
struct TestView {
    number: usize,
    title: String,
    file: String,
    outcome: &'static str,
    /// The filter it belongs to; a broken test is a failed one to who looks for failures.
    group: &'static str,
    reason: Option<String>,
    repeat: Option<u32>,
    tries: usize,
    steps: usize,
    duration: String,
    open: bool,
    problem: Option<String>,
    attempts: Vec<AttemptView>,
}

#[derive(Debug, Serialize)]
struct AttemptView {
    /// A part of the identifiers of its elements.
    key: String,
    /// Its heading, where there are several.
    label: Option<String>,
    reason: Option<String>,
    ok: bool,
    open: bool,
    axis: Vec<String>,
    blocks: Vec<BlockView>,
}

#[derive(Debug, Serialize)]
struct BlockView {
    heading: Option<&'static str>,
    fold: Option<String>,
    steps: Vec<StepView>,
}

#[derive(Debug, Serialize)]
struct StepView {
    index: usize,
    key: String,
    status: &'static str,
    verb: String,
    tool: Option<String>,
    id: Option<String>,
    name: Option<String>,
    path: Option<String>,
    tries: Option<u32>,
    brief: String,
    duration: String,
    bar: Option<Bar>,
    open: bool,
    error: Option<String>,
    expected: Option<String>,
    actual: Option<String>,
    args: Option<String>,
    result: Option<String>,
    place: Option<String>,
    thumbnail: Option<SafeText>,
    evidence: Option<EvidenceView>,
}

#[derive(Debug, Serialize)]
struct Bar {
    x: u64,
    width: u64,
}

#[derive(Debug, Serialize)]
struct EvidenceView {
    screenshot: Option<SafeText>,
    dialog: Option<String>,
    url: Option<String>,
    snapshot: Option<String>,
    console: Vec<String>,
    failed_requests: Vec<String>,
}

pub fn report(suite: &SuiteReport) -> ReportView {
    let summary = suite.summary();
    ReportView {
        tests: tests(suite),
        title: title(suite),
        headline: headline(suite),
        ok: summary.ok,
        facts: facts(suite),
        share: shares(suite),
        filters: vec![
            Filter { key: "all", name: "All", count: summary.total },
            Filter { key: "failed", name: "Failed", count: summary.failed + summary.broken },
            Filter { key: "flaky", name: "Flaky", count: summary.flaky },
            Filter { key: "passed", name: "Passed", count: summary.passed },
        ],
    }
}

/// The tests, with what needs a reader first. They keep the numbers of their order in the suite.
fn tests(suite: &SuiteReport) -> Vec<TestView> {
    let mut ordered: Vec<(usize, &TestReport)> = (1..).zip(&suite.tests).collect();
    ordered.sort_by_key(|(_, test)| match test.outcome {
        Outcome::Failed | Outcome::Broken => 0,
        Outcome::Flaky => 1,
        Outcome::Passed => 2,
    });
    let only = suite.tests.len() == 1;
    let views = ordered.into_iter().enumerate().map(|(position, (number, test))| {
        let failed = matches!(test.outcome, Outcome::Failed | Outcome::Broken);
        test_view(number, test, only || failed && position < MOST_OPEN)
    });
    views.collect()
}

fn title(suite: &SuiteReport) -> String {
    match suite.tests.as_slice() {
        [only] => one_line(&only.full_title()),
        _ => "Playbook tests".to_owned(),
    }
}

/// The result in one sentence: what a reader came for.
fn headline(suite: &SuiteReport) -> String {
    let summary = suite.summary();
    let bad = summary.failed + summary.broken;
    match (suite.tests.as_slice(), bad) {
        ([], _) => "No tests ran".to_owned(),
        ([only], _) if summary.not_run == 0 => match only.outcome {
            Outcome::Passed => "Passed".to_owned(),
            Outcome::Failed => "Failed".to_owned(),
            Outcome::Flaky => format!("Passed on attempt {}", only.attempt),
            Outcome::Broken => "Did not run".to_owned(),
        },
        (_, 0) if summary.not_run > 0 => {
            format!("{} of {} not run", summary.not_run, brief::plural(summary.total, "test"))
        }
        (_, 0) if summary.flaky > 0 => {
            format!("All {} passed, {} flaky", brief::plural(summary.total, "test"), summary.flaky)
        }
        (_, 0) => format!("All {} passed", brief::plural(summary.total, "test")),
        _ => format!("{bad} of {} failed", brief::plural(summary.total, "test")),
    }
}

fn facts(suite: &SuiteReport) -> Vec<Fact> {
    let summary = suite.summary();
    let runs = suite.tests.iter().filter_map(|test| test.run.as_ref());
    let steps: usize = runs.map(|run| run.summary.total).sum();
    let mut facts = vec![Fact { name: "Total time", value: brief::duration(suite.duration_ms) }];
    let mut tell = |name, count: usize| facts.push(Fact { name, value: count.to_string() });
    if summary.total > 1 {
        tell("Passed", summary.passed);
        tell("Failed", summary.failed);
        tell("Flaky", summary.flaky);
    }
    if summary.total > 1 && summary.broken > 0 {
        tell("Broken", summary.broken);
    }
    if summary.not_run > 0 {
        tell("Not run", summary.not_run);
    }
    tell("Steps", steps);
    if suite.workers > 1 {
        tell("Workers", suite.workers);
    }
    facts
}

fn shares(suite: &SuiteReport) -> Vec<Share> {
    let summary = suite.summary();
    let scaled = |count: usize| count * 1_000 / summary.total.max(1);
    let mut before = 0;
    let counts =
        [("failed", summary.failed + summary.broken), ("flaky", summary.flaky), ("passed", summary.passed)];
    let shares = counts.into_iter().map(|(outcome, count)| {
        let x = scaled(before);
        before += count;
        Share { outcome, x, width: scaled(before) - x }
    });
    shares.filter(|share| share.width > 0).collect()
}

fn test_view(number: usize, test: &TestReport, open: bool) -> TestView {
    let runs: Vec<&RunReport> = test.earlier.iter().chain(&test.run).collect();
    let attempts = runs.iter().enumerate().map(|(index, run)| attempt(number, index, runs.len(), run));
    let group = match test.outcome {
        Outcome::Passed => "passed",
        Outcome::Flaky => "flaky",
        Outcome::Failed | Outcome::Broken => "failed",
    };
    TestView {
        number,
        title: one_line(&test.title),
        file: one_line(&test.file),
        outcome: test.outcome.word(),
        group,
        reason: test.reason().map(|reason| cut(&one_line(reason), LONGEST_BRIEF * 2)),
        repeat: (test.repeat > 1).then_some(test.repeat),
        tries: runs.len(),
        steps: test.run.as_ref().map_or(0, |run| run.summary.total),
        duration: brief::duration(test.duration_ms),
        open,
        problem: test.problem.as_deref().map(visible),
        attempts: attempts.collect(),
    }
}

fn attempt(test: usize, index: usize, of: usize, run: &RunReport) -> AttemptView {
    let axis = Axis::until(run.duration_ms());
    let is_last = index + 1 == of;
    let key = if is_last { format!("t{test}") } else { format!("t{test}-a{}", index + 1) };
    let mut phase = Phase::Main;
    let blocks = fold::blocks(&run.steps).into_iter().map(|block| {
        let steps = &run.steps[block.steps.clone()];
        let next = steps.first().map_or(Phase::Main, |step| step.phase);
        let heading = (next != std::mem::replace(&mut phase, next)).then(|| phase_heading(next));
        let steps_view = steps.iter().enumerate().map(|(offset, step)| {
            let key = format!("{key}-s{}", block.steps.start + offset);
            step_view(step, key, axis)
        });
        BlockView { heading, fold: fold_label(&block, steps), steps: steps_view.collect() }
    });
    let blocks = blocks.collect();
    let label = (of > 1).then(|| {
        let word = if run.summary.ok { "passed" } else { "failed" };
        format!("Attempt {} {word}", index + 1)
    });
    AttemptView {
        label,
        reason: run
            .failures()
            .find_map(|step| step.error.as_deref())
            .map(|error| cut(&one_line(error), LONGEST_BRIEF)),
        ok: run.summary.ok,
        open: is_last,
        axis: axis.labels(),
        blocks,
        key,
    }
}

fn phase_heading(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "Setup",
        Phase::Main => "Steps",
        Phase::Teardown => "Teardown",
    }
}

fn fold_label(block: &Block, steps: &[StepReport]) -> Option<String> {
    let (Some(first), Some(last), true) = (steps.first(), steps.last(), block.folded) else { return None };
    let count =
        brief::plural(steps.len(), if first.status == Status::Ok { "passed step" } else { "skipped step" });
    // Repeated steps count from the beginning again: then the numbers would say nothing.
    let numbers = (last.index > first.index).then(|| format!(" ({} to {})", first.index, last.index));
    Some(format!("{count}{}", numbers.unwrap_or_default()))
}

fn step_view(step: &StepReport, key: String, axis: Axis) -> StepView {
    let has_run = step.status != Status::Skipped;
    let (x, width) = axis.bar(step.started_ms, step.duration_ms);
    let is_empty =
        |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    StepView {
        index: step.index,
        key,
        status: step.status.word(),
        verb: one_line(&step.verb),
        tool: (step.tool != step.verb && !step.tool.is_empty()).then(|| one_line(&step.tool)),
        id: step.id.as_deref().map(one_line),
        name: step.name.as_deref().map(one_line),
        path: step.path.as_deref().map(one_line),
        tries: (step.attempts > 1).then_some(step.attempts),
        brief: brief::arguments(&step.args, LONGEST_BRIEF),
        duration: if has_run { brief::duration(step.duration_ms) } else { String::new() },
        bar: has_run.then_some(Bar { x, width }),
        open: step.status == Status::Failed,
        error: step.error_text().as_deref().map(visible),
        expected: step.expected.as_ref().map(value_text),
        actual: step.actual.as_ref().map(value_text),
        args: (!is_empty(&step.args)).then(|| value_text(&step.args)),
        result: step.result.as_ref().map(value_text),
        place: step.place.as_ref().map(|place| match &place.file {
            Some(file) => format!("{}, line {}", one_line(file), place.line),
            None => format!("line {}", place.line),
        }),
        thumbnail: step.thumbnail.as_ref().and_then(data_uri),
        evidence: step.evidence.as_deref().map(evidence_view),
    }
}

fn evidence_view(evidence: &FailureEvidence) -> EvidenceView {
    let lines = |lines: &[String]| lines.iter().map(|line| cut(&visible(line), LONGEST_VALUE)).collect();
    EvidenceView {
        screenshot: evidence.screenshot.as_ref().and_then(data_uri),
        url: evidence.url.as_deref().map(one_line),
        dialog: evidence.dialog.as_deref().map(|said| cut(&visible(said), LONGEST_VALUE)),
        snapshot: evidence.snapshot.as_deref().map(|tree| shortened(tree, LONGEST_SNAPSHOT)),
        console: lines(&evidence.console),
        failed_requests: lines(&evidence.failed_requests),
    }
}

/// A value as a reader wants it: texts as they are, the rest as JSON on several lines.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(text, LONGEST_VALUE),
        // The alternate form of a value is JSON on several lines.
        other => shortened(&format!("{other:#}"), LONGEST_VALUE),
    }
}

fn shortened(text: &str, most: usize) -> String {
    let short = cut(text, most);
    // Only a text that was cut differs.
    if short == text {
        return visible(text);
    }
    format!("{}\n({} characters in all)", visible(&short), text.chars().count())
}

/// The picture as an address that holds it. Only images that cannot hold a script, whatever their maker says.
fn data_uri(picture: &Picture) -> Option<SafeText> {
    let known = ["image/png", "image/jpeg", "image/webp"];
    let mime_type = known.into_iter().find(|known| *known == picture.mime_type)?;
    // Nothing in it needs escaping, and escaping would make pages of many pictures larger.
    Some(SafeText::from_safe_string(format!("data:{mime_type};base64,{}", BASE64.encode(&picture.bytes))))
}
