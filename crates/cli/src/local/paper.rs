//! What follows from the grammar: completions and the man page.

use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;
use surehand_session::Fault;

use crate::args::grammar;
use crate::internal;
use crate::printer::Printer;

/// For which shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

impl Completions {
    pub fn run(&self, printer: &Printer) -> Result<ExitCode, Fault> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut grammar(), "surehand", &mut script);
        let script = String::from_utf8(script).map_err(internal)?;
        Ok(printer.result(&serde_json::json!({ "script": script }), script.trim_end()))
    }
}

pub(super) fn man(printer: &Printer) -> Result<ExitCode, Fault> {
    let mut page = Vec::new();
    clap_mangen::Man::new(grammar()).render(&mut page).map_err(internal)?;
    let page = String::from_utf8(page).map_err(internal)?;
    Ok(printer.result(&serde_json::json!({ "page": page }), page.trim_end()))
}
