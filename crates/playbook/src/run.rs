//! Running a playbook: one call of a tool per plain step, in order, until one fails.
//!
//! What is known here is how steps follow each other. Where tools run is the [`Caller`]'s business, what they do is
//! theirs, and contracts are judged by the tool that does so.

mod lane;
mod outcome;
mod stop;
mod walk;

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use surehand_report::{RunReport, StepReport};
use surehand_session::Fault;
use surehand_tools::Caller;

use crate::catalog::Catalog;
use crate::document::Playbook;
use crate::vars::{Scope, Secrets};
use walk::Walk;

pub use stop::Stop;
pub(crate) use stop::interrupted;

/// How to run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// Go on after a step that failed.
    pub continue_on_error: bool,
    /// Take a small picture after each step.
    pub thumbnails: bool,
    /// Look at the page when a step fails.
    pub evidence: bool,
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// Everything that was done, and what was not.
    pub report: RunReport,
    /// Why tools could not be called any more, if that is how it ended.
    pub fault: Option<Fault>,
}

/// Hears of steps as they end.
pub trait Watch: Sync {
    /// A step ended.
    fn ended(&self, step: &StepReport);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn ended(&self, _: &StepReport) {}
}

/// Runs a checked playbook with a caller, whose session it uses and does not end. Asked to stop, it cleans up and tells
/// what there was.
#[expect(clippy::too_many_arguments, reason = "each is another thing that the caller decides")]
pub async fn run(
    playbook: &Playbook,
    scope: Scope,
    catalog: &(dyn Catalog + Sync),
    secrets: &(dyn Secrets + Sync),
    caller: &dyn Caller,
    options: RunOptions,
    watch: &dyn Watch,
    stop: &Stop,
) -> Ran {
    let began = tokio::time::Instant::now();
    let stage = playbook.stage();
    let (grace, evident) = (OnceLock::new(), AtomicUsize::new(0));
    let world = walk::World { catalog, secrets, options, watch, stop, stage: &stage, began, grace, evident };
    let mut walk = Walk::new(&world, caller, scope);
    walk.surround().await;
    walk.playbook(playbook).await;
    walk.tell_unset();
    let (steps, fault) = walk.end();
    let file = Some(playbook.source.path().display().to_string());
    let report = RunReport::new(playbook.name.clone(), file, steps);
    let fault = fault.or_else(|| stop.is_asked().then(interrupted));
    Ran { report, fault }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
