//! `playbook run`: one playbook, from its file to an exit code.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use surehand_guard::Secrets;
use surehand_playbook::{
    AnyArguments, Catalog, OwnCatalog, Playbook, Ran, RunOptions, Scope, Served, Watch, missing_tools, open,
    run,
};
use surehand_report::{StepReport, html_page, run_markdown, run_summary, step_text};
use surehand_server::{Serving, block_on, unless_asked_to_end};
use surehand_session::{Fault, Kind};

use super::place::{Ready, Where};
use super::{Given, Named, broken, sound};
use crate::config::Effective;
use crate::internal;
use crate::local::secrets;
use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The playbook: .yaml, .yml or .json
    file: PathBuf,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    place: Where,
    /// Write a report in Markdown to this file
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Write a report as a page, with a picture of each step, to this directory
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Run the steps after one that failed, too
    #[arg(long)]
    continue_on_error: bool,
}

impl Run {
    /// One that comes with this program.
    pub fn example(file: PathBuf, given: Given, html: PathBuf) -> Self {
        let place = Where::default();
        Self { file, given, place, out: None, html: Some(html), continue_on_error: false }
    }

    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        let secrets = secrets::read(self.given.secrets.as_deref(), printer)?.unwrap_or_default();
        // Nothing is started for a file that cannot run.
        let catalog: &(dyn Catalog + Sync) =
            if self.place.is_foreign() { &AnyArguments } else { &OwnCatalog };
        let playbook = self.open(catalog, &secrets, Some(printer))?;
        let ran = block_on(self.drive(playbook, config, &secrets, printer))??;
        self.tell(&ran, printer)
    }

    fn open(
        &self,
        catalog: &dyn Catalog,
        secrets: &Secrets,
        warn: Option<&Printer>,
    ) -> Result<Playbook, Fault> {
        let opened = open(&self.file, catalog, &self.given.overrides()?, &Named::of(secrets)?);
        if let Some(printer) = warn {
            opened.warnings.iter().for_each(|warning| printer.note(warning));
        }
        sound(opened)
    }

    async fn drive(
        &self,
        playbook: Playbook,
        config: &Effective,
        secrets: &Arc<Secrets>,
        printer: &Printer,
    ) -> Result<Ran, Fault> {
        let ready = self.place.prepare(config, secrets.clone(), printer).await?;
        let ran = unless_asked_to_end(self.drive_with(&ready, playbook, secrets, printer)).await;
        ready.end().await;
        ran.unwrap_or_else(|| {
            Err(Fault::new(Kind::Interrupted, "the run was interrupted").hint("run it again"))
        })
    }

    async fn drive_with(
        &self,
        ready: &Ready,
        mut playbook: Playbook,
        secrets: &Secrets,
        printer: &Printer,
    ) -> Result<Ran, Fault> {
        if self.place.is_foreign() {
            if ready.is_own {
                playbook = self.open(&OwnCatalog, secrets, None)?;
            }
            let problems = missing_tools(&playbook, &ready.caller.tools().await?);
            if !problems.is_empty() {
                return Err(broken(&problems).hint(
                    "choose another server, or more of its tools: --server 'surehand mcp --toolsets page,verbs'",
                ));
            }
        }
        let mut scope = Scope::of(&playbook, &self.given.overrides()?);
        let _serving = serve(&playbook, &mut scope).await?;
        let options = RunOptions {
            continue_on_error: self.continue_on_error,
            thumbnails: self.html.is_some(),
            evidence: self.html.is_some(),
        };
        let live = Live { printer, is_silent: printer.is_json() };
        live.title(&playbook);
        let named = Named::of(secrets)?;
        let ran = run(&playbook, scope, &OwnCatalog, &named, ready.caller.as_ref(), options, &live).await;
        Ok(ran)
    }

    /// What came of it, in every form that was asked for. A run that was cut off tells what there was before.
    fn tell(&self, ran: &Ran, printer: &Printer) -> Result<ExitCode, Fault> {
        if printer.is_json() {
            printer.line(&serde_json::to_string(&ran.report).map_err(internal)?);
        } else {
            printer.line(&run_summary(&ran.report));
        }
        if let Some(path) = &self.out {
            write_report(path, run_markdown(&ran.report))?;
        }
        if let Some(folder) = &self.html {
            let page = folder.join("index.html");
            write_report(&page, html_page(&ran.report.clone().into()).map_err(internal)?)?;
            if !printer.is_json() {
                printer.line(&format!("report: {}", page.display()));
            }
        }
        match &ran.fault {
            Some(fault) => {
                printer.complaint(&fault.message);
                fault.hints.iter().for_each(|hint| printer.note(hint));
                Ok(ExitCode::from(UNREACHABLE))
            }
            None if ran.report.summary.ok => Ok(ExitCode::SUCCESS),
            None => Ok(ExitCode::FAILURE),
        }
    }
}

/// Whatever stopped the tools from being called, the server was out of reach.
const UNREACHABLE: u8 = 3;

/// Starts what the playbook wants served, and tells it the address.
pub(super) async fn serve(playbook: &Playbook, scope: &mut Scope) -> Result<Option<Serving>, Fault> {
    let Some(serve) = &playbook.serve else { return Ok(None) };
    let file = std::path::absolute(playbook.source.path()).map_err(internal)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let serving = match &serve.what {
        Served::Directory(directory) => Serving::directory(&folder.join(&directory.text)).await?,
        Served::Command { command, url, timeout_ms } => {
            let limit = Duration::from_millis(*timeout_ms);
            Serving::command(&command.text, folder, &url.text, limit).await?
        }
    };
    scope.bind_served(&serve.var, serving.address());
    Ok(Some(serving))
}

/// Writes a report, with the folders above it.
pub(super) fn write_report(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Fault> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), fs_err::create_dir_all).and_then(|()| fs_err::write(path, text)).map_err(|error| {
        Fault::new(Kind::UnwritablePath, error.to_string()).hint("choose a path that you may write to")
    })
}

/// Tells of steps as they end.
struct Live<'p> {
    printer: &'p Printer,
    is_silent: bool,
}

impl Live<'_> {
    fn title(&self, playbook: &Playbook) {
        if !self.is_silent {
            let title = playbook.name.clone().unwrap_or_else(|| playbook.source.name().to_owned());
            self.printer.line(&format!("Playbook: {title}"));
        }
    }
}

impl Watch for Live<'_> {
    fn ended(&self, step: &StepReport) {
        if !self.is_silent {
            self.printer.line(&step_text(step));
        }
    }
}
