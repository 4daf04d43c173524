//! `playbook check`: everything that is wrong, without a browser.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use surehand_playbook::{OwnCatalog, Problem, open};
use surehand_session::Fault;

use super::{Given, Named, broken};
use crate::local::secrets;
use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The playbooks
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    given: Given,
}

impl Check {
    pub fn run(&self, printer: &Printer) -> Result<ExitCode, Fault> {
        let overrides = self.given.overrides()?;
        let secrets = secrets::read(self.given.secrets.as_deref(), printer)?.unwrap_or_default();
        let named = Named::of(&secrets)?;
        let mut found = Vec::new();
        let mut first = None;
        for file in &self.files {
            let opened = open(file, &OwnCatalog, &overrides, &named);
            opened.warnings.iter().for_each(|warning| printer.note(warning));
            found.extend(opened.problems.iter().map(told));
            if let Err(problems) = opened.into_result() {
                if !printer.is_json() {
                    printer.complaint(&problems.to_string());
                }
                first.get_or_insert_with(|| broken(&problems));
            }
        }
        let data = json!({ "files": self.files, "problems": found });
        match first {
            None => Ok(printer.result(&data, &format!("{} sound", count(self.files.len(), "file")))),
            Some(fault) => Ok(printer.failed_result(&data, "", fault)),
        }
    }
}

fn told(problem: &Problem) -> serde_json::Value {
    json!({
        "file": problem.file,
        "line": problem.at.map(|at| at.line),
        "column": problem.at.map(|at| at.column),
        "message": problem.message,
        "notes": problem.notes,
    })
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
