//! `demo`: the quickstart example, which comes with the binary: a playbook, and the page that it drives.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use surehand_session::Fault;

use super::playbook::run_example;
use crate::config::Effective;
use crate::internal;
use crate::printer::Printer;

const PLAYBOOK: &str = include_str!("../../../../examples/quickstart.playbook.yaml");
const PAGE: &str = include_str!("../../../../examples/quickstart/index.html");

/// Arguments.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to put the report and the picture
    #[arg(long, value_name = "DIR", default_value = "surehand-demo")]
    out: PathBuf,
}

impl Demo {
    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        let out = std::path::absolute(&self.out).map_err(internal)?;
        let example = tempfile::tempdir().map_err(internal)?;
        let file = example.path().join("quickstart.playbook.yaml");
        let folder = example.path().join("quickstart");
        fs_err::create_dir(&folder)
            .and_then(|()| fs_err::write(folder.join("index.html"), PAGE))
            .and_then(|()| fs_err::write(&file, PLAYBOOK))
            .map_err(internal)?;
        printer.note(&format!("The report will be {}", out.join("index.html").display()));
        let screenshot = out.join("demo.png");
        run_example(file, &out, vec![format!("screenshot={}", screenshot.display())], config, printer)
    }
}
