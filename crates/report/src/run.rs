//! What came of one playbook: its steps, in order.
//!
//! `Serialize` is the `--json` of `playbook run`, to the letter: `name?`, `steps[]`, `summary`, and optional fields
//! that are left out when they have nothing to say. Pictures and times of start are for the other forms only.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// What came of one playbook.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// What the playbook calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it was read from.
    #[serde(skip)]
    pub file: Option<String>,
    /// Its steps, in the order in which they began.
    pub steps: Vec<StepReport>,
    /// How many of them passed; see [`Summary::of`].
    pub summary: Summary,
    /// What stopped it, or kept a report from being written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Trouble>,
}

/// What went wrong around a run, not in a step: as commands tell it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The stable name of its kind.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl RunReport {
    /// A report of these steps, with their summary.
    pub fn new(name: Option<String>, file: Option<String>, steps: Vec<StepReport>) -> Self {
        let summary = Summary::of(&steps);
        Self { name, file, steps, summary, error: None }
    }

    /// What to call the run: its name, else its file.
    pub fn title(&self) -> &str {
        self.name.as_deref().or(self.file.as_deref()).unwrap_or("(unnamed)")
    }

    /// How long it took: until the last step ended.
    pub fn duration_ms(&self) -> u64 {
        self.steps.iter().map(|step| step.started_ms.saturating_add(step.duration_ms)).max().unwrap_or(0)
    }

    /// The steps that failed, in order.
    pub fn failures(&self) -> impl Iterator<Item = &StepReport> {
        self.steps.iter().filter(|step| step.status == Status::Failed)
    }

    /// What the page was like at each failure of which that is known, with the step, in order.
    pub fn evidence(&self) -> impl Iterator<Item = (&StepReport, &FailureEvidence)> {
        self.failures().filter_map(|step| step.evidence.as_deref().map(|evidence| (step, evidence)))
    }
}

/// What came of one step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepReport {
    /// Which step of the file it is; the first is 0.
    pub index: usize,
    /// Its identifier in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the file calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it prepares, tests or cleans up.
    #[serde(skip_serializing_if = "Phase::is_main")]
    pub phase: Phase,
    /// Where it ran inside a construct, e.g. `repeat 2/3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The word of the playbook.
    pub verb: String,
    /// The tool that was called.
    pub tool: String,
    /// The arguments that were sent to it.
    pub args: Value,
    /// Whether it passed.
    pub status: Status,
    /// How long it took; 0 if it was skipped.
    #[serde(rename = "durationMs")]
    pub duration_ms: u64,
    /// When it began, since the run began.
    #[serde(skip)]
    pub started_ms: u64,
    /// How often it was tried.
    #[serde(skip_serializing_if = "is_at_most_one")]
    pub attempts: u32,
    /// What the tool answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The same as data, where the answer is not JSON itself: what the pointers of `capture` look into.
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why a judgement that came to nothing could not be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a failed assertion asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// What a failed assertion found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Value>,
    /// What the page was like when it failed.
    #[serde(skip_serializing_if = "has_no_words")]
    pub evidence: Option<Box<FailureEvidence>>,
    /// What the page looked like after it.
    #[serde(skip)]
    pub thumbnail: Option<Picture>,
    /// Where it is written.
    #[serde(skip)]
    pub place: Option<Place>,
}

impl StepReport {
    /// A step that has not run: it stays skipped unless the runner says what came of it.
    pub fn skipped(index: usize, verb: impl Into<String>, tool: impl Into<String>, args: Value) -> Self {
        Self {
            index,
            id: None,
            name: None,
            phase: Phase::Main,
            path: None,
            verb: verb.into(),
            tool: tool.into(),
            args,
            status: Status::Skipped,
            duration_ms: 0,
            started_ms: 0,
            attempts: 1,
            result: None,
            structured: None,
            error: None,
            reason: None,
            expected: None,
            actual: None,
            evidence: None,
            thumbnail: None,
            place: None,
        }
    }

    /// Why it failed, in all words that there are.
    pub(crate) fn error_text(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        let reason = self.reason.as_ref().map(|reason| format!("\nreason: {reason}"));
        Some(format!("{error}{}", reason.unwrap_or_default()))
    }

    /// Whether it says what was asked for and what was found instead.
    pub(crate) fn has_comparison(&self) -> bool {
        self.expected.is_some() || self.actual.is_some()
    }
}

/// Whether a step passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did what it says.
    Ok,
    /// It did not.
    Failed,
    /// It was not run.
    Skipped,
}

impl Status {
    /// The word of it in JSON and Markdown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// The part of a playbook to which a step belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the steps.
    Setup,
    /// The steps themselves.
    #[default]
    Main,
    /// After the steps, whatever came of them.
    Teardown,
}

impl Phase {
    fn is_main(&self) -> bool {
        *self == Self::Main
    }

    /// The key of it in a playbook; the steps themselves need none.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Setup => Some("setup"),
            Self::Main => None,
            Self::Teardown => Some("teardown"),
        }
    }
}

/// Where a step is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, if it is not the file of the run (`use:`).
    pub file: Option<String>,
    /// The line; the first is 1.
    pub line: u32,
    /// The column; the first is 1.
    pub column: u32,
}

/// How many steps passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Nothing failed and nothing was skipped.
    pub ok: bool,
    /// How many steps there are.
    pub total: usize,
    /// How many passed.
    pub passed: usize,
    /// How many failed.
    pub failed: usize,
    /// How many were not run.
    pub skipped: usize,
}

impl Summary {
    /// Counts the steps.
    pub fn of(steps: &[StepReport]) -> Self {
        let count = |status| steps.iter().filter(|step| step.status == status).count();
        let (passed, failed, skipped) = (count(Status::Ok), count(Status::Failed), count(Status::Skipped));
        Self { ok: failed == 0 && skipped == 0, total: steps.len(), passed, failed, skipped }
    }
}

/// What the page was like at the moment of a failure. Its JSON has the texts; the picture is for the HTML page.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureEvidence {
    /// What it looked like.
    #[serde(skip)]
    pub screenshot: Option<Picture>,
    /// Its accessibility tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// What was written to its console.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub console: Vec<String>,
    /// What it could not load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_requests: Vec<String>,
    /// Its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The dialog that was open, and waited for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<String>,
}

impl FailureEvidence {
    fn has_words(&self) -> bool {
        let Self { screenshot: _, snapshot, console, failed_requests, url, dialog } = self;
        let has_lines = !console.is_empty() || !failed_requests.is_empty();
        has_lines || [snapshot, url, dialog].iter().any(|text| text.is_some())
    }
}

/// An image, as the browser encoded it.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// The encoded image.
    pub bytes: Vec<u8>,
    /// How it is encoded, e.g. `image/png`.
    pub mime_type: String,
}

/// A picture is told by its size: its bytes would drown what else there is to see.
impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture({}, {} bytes)", self.mime_type, self.bytes.len())
    }
}

fn has_no_words(evidence: &Option<Box<FailureEvidence>>) -> bool {
    !evidence.as_ref().is_some_and(|evidence| evidence.has_words())
}

fn is_at_most_one(attempts: &u32) -> bool {
    *attempts <= 1
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
