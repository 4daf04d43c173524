//! `playbook`: scenarios in YAML or JSON, run, checked, recorded, described.

mod artifacts;
mod check;
mod place;
mod record;
mod run;
mod test;
mod troubles;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use surehand_playbook::{Opened, Overrides, Playbook, Problems, Stop};
use surehand_server::{Home, Safe};
use surehand_session::{Fault, Kind};

use crate::config::Effective;
use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(crate) struct PlaybookCommand {
    #[command(subcommand)]
    action: Action,
}

/// What to do with it.
#[derive(Debug, Subcommand)]
enum Action {
    /// Run a playbook, one tool call per step, until a step fails
    #[command(
        after_help = "Example:\n  surehand playbook run checkout.playbook.yaml\n  surehand playbook run login.yaml --vars base=http://127.0.0.1:8000 --out report.md\n  surehand playbook run login.yaml --reuse --json | jq .summary"
    )]
    Run(run::Run),
    /// Look for everything that is wrong with playbooks, without a browser
    #[command(after_help = "Example:\n  surehand playbook check checkout.playbook.yaml")]
    Check(check::Check),
    /// Run all playbooks below a directory as tests, several at once
    #[command(
        after_help = "Example:\n  surehand playbook test tests --workers 4 --html report\n  surehand playbook test tests --shard 1/3 --junit results.xml --retries 1"
    )]
    Test(test::TestCommand),
    /// Turn what was done in a session into a playbook
    #[command(after_help = "Example:\n  surehand playbook record --session shop --out shop.playbook.yaml")]
    Record(record::Record),
    /// Print the JSON Schema of playbooks, for editors
    #[command(after_help = "Example:\n  surehand playbook schema > playbook.schema.json")]
    Schema,
}

impl PlaybookCommand {
    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        match &self.action {
            Action::Run(run) => run.run(config, printer),
            Action::Check(check) => check.run(printer),
            Action::Test(test) => test.run(config, printer),
            Action::Record(record) => record.run(config, printer),
            Action::Schema => {
                printer.line(&format!("{:#}", surehand_playbook::schema()));
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// Runs a playbook with a report as a page in `html`.
pub(crate) fn run_example(
    file: PathBuf,
    html: &Path,
    vars: Vec<String>,
    config: &Effective,
    printer: &Printer,
) -> Result<ExitCode, Fault> {
    let given = Given { vars, secrets: None };
    run::Run::example(file, given, html.to_owned()).run(config, printer)
}

/// `--vars` and `--secrets`, wherever playbooks are read.
#[derive(Debug, Clone, Args)]
struct Given {
    /// A variable; wins over the file's own
    #[arg(long, value_name = "KEY=VALUE")]
    vars: Vec<String>,
    /// KEY=value lines; ${SECRET:KEY} in a playbook becomes the value, which is masked in everything that is told
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,
}

impl Given {
    fn overrides(&self) -> Result<Overrides, Fault> {
        Overrides::parse(&self.vars).map_err(|error| {
            Fault::new(Kind::Usage, error.to_string()).hint("--vars base=http://127.0.0.1:8000")
        })
    }
}

/// The names of the secrets that there are, in the file and in the vault.
struct Named<'s> {
    secrets: &'s surehand_guard::Secrets,
    vault: Vec<String>,
}

impl<'s> Named<'s> {
    fn of(secrets: &'s surehand_guard::Secrets) -> Result<Self, Fault> {
        let safe = Safe::of(&Home::from_env()?);
        // Looking must not make a vault.
        let vault = if safe.exists() { safe.references()? } else { Vec::new() };
        Ok(Self { secrets, vault })
    }
}

impl surehand_playbook::Secrets for Named<'_> {
    fn has(&self, name: &str) -> bool {
        self.secrets.names().any(|known| known == name) || self.vault.iter().any(|known| known == name)
    }
}

/// A wish that the system or the user may have from now on: that the run ends.
fn listen() -> Stop {
    let stop = Stop::default();
    let asked = stop.clone();
    surehand_server::when_asked_to_end(move || asked.ask());
    stop
}

/// The playbook, if nothing is wrong with it; otherwise everything that is, as one fault.
fn sound(opened: Opened) -> Result<Playbook, Fault> {
    opened.into_result().map_err(|problems| broken(&problems))
}

fn broken(problems: &Problems) -> Fault {
    Fault::new(Kind::BadPlaybook, problems.to_string())
        .hint("`surehand playbook check FILE` looks again without running anything")
}
