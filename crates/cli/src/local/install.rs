//! `install`: a browser on this machine, found or installed.

use std::process::ExitCode;

use surehand_browser::{Machine, find, install, version};
use surehand_session::Fault;

use crate::printer::{Printer, ProgressNotes};

pub(super) fn run(printer: &Printer) -> Result<ExitCode, Fault> {
    let machine = Machine::from_env();
    let notes = ProgressNotes::new(*printer);
    let (found, installed) = match find::find(&machine, None) {
        Ok(found) => (found, false),
        Err(surehand_browser::Error::NotFound { .. }) => (install::install(&machine, &notes)?, true),
        Err(error) => return Err(error.into()),
    };
    let version = version(&found.path)?;
    let path = found.path.display().to_string();
    let data = serde_json::json!({ "path": path, "version": version, "installed": installed });
    let how = if installed { "installed" } else { "already here" };
    Ok(printer.result(&data, &format!("{how}: {version} ({path})")))
}
