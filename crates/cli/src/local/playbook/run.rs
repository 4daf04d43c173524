//! `playbook run`: one playbook, from its file to an exit code.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use surehand_guard::Secrets;
use surehand_playbook::{
    AnyArguments, Catalog, OwnCatalog, Playbook, Ran, RunOptions, Scope, Served, Stop, Watch, missing_tools,
    open, run,
};
use surehand_report::{StepReport, html_page, run_markdown, run_summary, step_text};
use surehand_server::{Serving, block_on};
use surehand_session::{Fault, Kind};

use super::place::{Ready, Where};
use super::troubles::Troubles;
use super::{Given, Named, broken, listen, sound};
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
        self.place.refuse_idle_session(config)?;
        // Nothing is started for a file that cannot run.
        let catalog: &(dyn Catalog + Sync) =
            if self.place.is_foreign() { &AnyArguments } else { &OwnCatalog };
        let playbook = self.open(catalog, &secrets, Some(printer))?;
        let ran = block_on(self.drive(playbook, config, &secrets, printer))??;
        self.tell(ran, printer)
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
        let stop = listen();
        let ready = stop.unless_asked(self.place.prepare(config, secrets.clone(), printer)).await?;
        let ran = self.drive_with(&ready, playbook, secrets, printer, &stop).await;
        ready.end().await;
        ran
    }

    async fn drive_with(
        &self,
        ready: &Ready,
        mut playbook: Playbook,
        secrets: &Secrets,
        printer: &Printer,
        stop: &Stop,
    ) -> Result<Ran, Fault> {
        if self.place.is_foreign() {
            if ready.is_own {
                playbook = self.open(&OwnCatalog, secrets, None)?;
            }
            let problems = missing_tools(&playbook, &stop.unless_asked(ready.caller.tools()).await?);
            if !problems.is_empty() {
                return Err(broken(&problems).hint(
                    "choose another server, or more of its tools: --server 'surehand mcp --toolsets page,verbs'",
                ));
            }
        }
        let mut scope = Scope::of(&playbook, &self.given.overrides()?);
        let _serving = stop.unless_asked(serve(&playbook, &mut scope)).await?;
        let options = RunOptions {
            continue_on_error: self.continue_on_error,
            thumbnails: self.html.is_some(),
            evidence: self.html.is_some(),
        };
        let live = Live { printer, is_silent: printer.is_json() };
        live.title(&playbook);
        let (named, caller) = (Named::of(secrets)?, ready.caller.as_ref());
        Ok(run(&playbook, scope, &OwnCatalog, &named, caller, options, &live, stop).await)
    }

    /// What came of it, in every form that was asked for. A run that was cut off tells what there was before, and a form
    /// that cannot be written keeps no other from being told.
    fn tell(&self, ran: Ran, printer: &Printer) -> Result<ExitCode, Fault> {
        let mut troubles = Troubles::of(ran.fault.as_ref());
        let mut report = ran.report;
        report.error = troubles.told();
        if let Some(path) = &self.out {
            troubles.note(write_report(path, run_markdown(&report)));
        }
        let page = self.html.as_ref().map(|folder| folder.join("index.html"));
        if let Some(page) = &page {
            let written = html_page(&report.clone().into()).map_err(internal);
            troubles.note(written.and_then(|html| write_report(page, html)));
        }
        if printer.is_json() {
            report.error = troubles.told();
            printer.line(&serde_json::to_string(&report).map_err(internal)?);
        } else {
            printer.line(&run_summary(&report));
            for page in page.iter().filter(|page| page.exists()) {
                printer.line(&format!("report: {}", page.display()));
            }
        }
        Ok(troubles.end(printer, u8::from(!report.summary.ok)))
    }
}

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
