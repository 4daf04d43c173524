//! `playbook record`: what was done in a session, as a playbook that does it again.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use surehand_playbook::record;
use surehand_server::Home;
use surehand_session::{Fault, Kind, read_journal};

use super::run::write_report;
use crate::config::Effective;
use crate::internal;
use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Record {
    /// Where to write it; without it, it is printed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Record {
    /// The session is that of `--session`, also if it has ended.
    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        let session = config.settings()?.session;
        let entries = read_journal(&Home::from_env()?.journals(), &session).map_err(internal)?;
        if entries.is_empty() {
            return Err(Fault::new(Kind::NoSession, format!("nothing is known of a session {session:?}"))
                .hint(
                    "name it with --session NAME; sessions are kept in journals, also when they have ended",
                ));
        }
        let recording = record(&session, &entries);
        for left in &recording.left_out {
            printer.note(&format!("left out: {left}"));
        }
        if !recording.secrets.is_empty() {
            let names = recording.secrets.join(", ");
            printer.note(&format!("it needs these secrets, in a file for --secrets: {names}"));
        }
        let mut data = json!({
            "steps": recording.steps,
            "secrets": recording.secrets,
            "leftOut": recording.left_out,
        });
        let Some(path) = &self.out else {
            data["playbook"] = recording.text.as_str().into();
            return Ok(printer.result(&data, recording.text.trim_end()));
        };
        write_report(path, &recording.text)?;
        data["path"] = path.to_string_lossy().into();
        Ok(printer.result(&data, &format!("{}: {} steps", path.display(), recording.steps)))
    }
}
