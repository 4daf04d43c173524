//! What came of a run, for people and programs.
//!
//! What lives here: the types of a report, and its forms: JSON (their `Serialize`), text, Markdown, JUnit XML,
//! workflow commands of GitHub, and one HTML page. All of it is pure: data in, a `String` out.
//! What must not: files, terminals, browsers, and how a playbook is run.
//!
//! Much of a report was said by a page, so it is data everywhere: each form escapes it in its own way, and
//! `clean` shows the characters that would act instead of being read.

mod annotations;
mod brief;
mod clean;
mod error;
mod html;
mod junit;
mod markdown;
mod run;
#[cfg(test)]
mod samples;
mod suite;
mod text;

pub use annotations::annotations;
pub use error::RenderError;
pub use html::html_page;
pub use junit::junit_xml;
pub use markdown::run_markdown;
pub use run::{FailureEvidence, Phase, Picture, Place, RunReport, Status, StepReport, Summary, Trouble};
pub use suite::{Outcome, SuiteReport, SuiteSummary, TestReport};
pub use text::{run_summary, run_text, step_text, suite_text, test_line};
