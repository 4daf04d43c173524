//! Scenarios in YAML or JSON: a list of steps, each one call of a tool.
//!
//! This half reads them. A file becomes a tree with places ([`node`]), the tree becomes a [`Playbook`] ([`mod@parse`]), and a
//! playbook is looked through before anything runs ([`mod@check`]). Everything that is wrong is reported at once, each with
//! its file, line and column and a picture of the line ([`problem`]). [`open`] does all of it.
//!
//! The tools are not known here: a [`Catalog`] says which verbs there are and whether arguments fit, and [`Secrets`] says
//! which secrets there are. Nothing here prints, and only [`source`] and [`parse::Files`] touch the disk.

pub mod call;
pub mod catalog;
pub mod check;
pub mod document;
mod nearest;
pub mod node;
mod own_catalog;
pub mod parse;
pub mod problem;
mod record;
mod run;
mod schema;
pub mod source;
pub mod suite;
#[cfg(test)]
mod testing;
mod tools_used;
mod typed;
pub mod vars;

use std::path::Path;

pub use call::{Call, CallError, call, contract_call, filled, known_arguments};
pub use catalog::{Catalog, Finding, Unread};
pub use check::{Checked, check};
pub use document::{Action, Plain, Playbook, Served, Step};
pub use own_catalog::{OwnCatalog, TOOLSETS};
pub use parse::{Files, Loader, Parsed, parse};
pub use problem::{Problem, Problems};
pub use record::{Recording, record};
pub use run::{Ran, RunOptions, Stop, Unwatched, Watch, run};
pub use schema::schema;
pub use source::{Position, Source};
pub use surehand_tools::Pending;
pub use tools_used::{AnyArguments, missing_tools};
pub use typed::Sort;
pub use vars::{Binding, NoSecrets, Overrides, Scope, Secrets};

/// A playbook that can run, or what is wrong with it.
#[derive(Debug)]
pub struct Opened {
    /// Whole if there are no problems.
    playbook: Option<Playbook>,
    /// Everything that is wrong.
    pub problems: Problems,
    /// What must be said although it is not wrong, each once.
    pub warnings: Vec<String>,
}

impl Opened {
    /// The playbook, if nothing is wrong.
    pub fn into_result(self) -> Result<Playbook, Problems> {
        match self.playbook {
            Some(playbook) if self.problems.is_empty() => Ok(playbook),
            _ => Err(self.problems),
        }
    }
}

/// Reads a file and all that it uses, and looks through it.
pub fn open(path: &Path, catalog: &dyn Catalog, overrides: &Overrides, secrets: &dyn Secrets) -> Opened {
    match Source::read(path) {
        Ok(source) => open_source(source, catalog, &Files, overrides, secrets),
        Err(problem) => Opened { playbook: None, problems: problem.into(), warnings: Vec::new() },
    }
}

/// The same for a file that was read already.
pub fn open_source(
    source: Source,
    catalog: &dyn Catalog,
    loader: &dyn Loader,
    overrides: &Overrides,
    secrets: &dyn Secrets,
) -> Opened {
    let name = source.name().to_owned();
    let Parsed { playbook, mut problems } = parse(source, catalog, loader);
    let checked = playbook.as_ref().map(|playbook| check(playbook, catalog, overrides, secrets));
    let Checked { problems: further, warnings } = checked.unwrap_or_default();
    problems.extend(further);
    problems.sort(&name);
    Opened { playbook, problems, warnings }
}
