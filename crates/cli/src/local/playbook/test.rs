//! `playbook test`: many playbooks, several at once, with reports for people and machines.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use regex_lite::Regex;
use surehand_guard::Secrets;
use surehand_playbook::suite::{
    Attempt, RunsTests, Shard, SuiteOptions, SuiteRan, Test, WatchSuite, find, run_suite, select,
};
use surehand_playbook::{OwnCatalog, Pending, RunOptions, Scope, Stop, Unwatched, missing_tools, open, run};
use surehand_report::{SuiteReport, TestReport, annotations, html_page, junit_xml, suite_text, test_line};
use surehand_server::block_on;
use surehand_session::{Fault, Kind};
use surehand_tools::Caller;

use super::artifacts::Artifacts;
use super::place::Where;
use super::run::{serve, write_report};
use super::troubles::Troubles;
use super::{Given, Named, broken, listen, sound};
use crate::config::Effective;
use crate::internal;
use crate::local::secrets;
use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct TestCommand {
    /// Directories to look for *.playbook.yaml in, or files
    #[arg(value_name = "DIR", default_value = ".")]
    places: Vec<PathBuf>,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    place: Where,
    /// How many run at once [default: as many as there are processors, at most 4]
    #[arg(long, value_name = "N")]
    workers: Option<NonZero<usize>>,
    /// Only a part of the tests, e.g. 1/3 on the first of three machines
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Only tests whose path matches this regular expression
    #[arg(long, value_name = "PATTERN")]
    grep: Option<String>,
    /// Run each so often
    #[arg(long, value_name = "N", default_value_t = NonZero::<u32>::MIN)]
    repeat_each: NonZero<u32>,
    /// Try one that fails again, so often
    #[arg(long, value_name = "N", default_value_t = 0)]
    retries: u32,
    /// Run the steps after one that failed, too
    #[arg(long)]
    continue_on_error: bool,
    /// Write a report in JUnit's format to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a report as a page to this directory
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Where pictures and logs of failures are kept
    #[arg(long, value_name = "DIR", default_value = "playbook-results")]
    artifacts: PathBuf,
}

impl TestCommand {
    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        let secrets = secrets::read(self.given.secrets.as_deref(), printer)?.unwrap_or_default();
        let tests = self.tests()?;
        self.place.refuse_idle_session(config)?;
        let artifacts = Artifacts::begin(&self.artifacts, &tests)?;
        let suite = block_on(self.drive(&tests, config, &secrets, printer))??;
        self.tell(suite, &artifacts, printer)
    }

    fn tests(&self) -> Result<Vec<Test>, Fault> {
        let mut files = Vec::new();
        for place in &self.places {
            files.extend(find(place).map_err(|error| {
                Fault::new(Kind::MissingFile, error.to_string()).hint("name a directory with playbooks")
            })?);
        }
        // A file that was named twice, or by two paths, is one test.
        let mut seen = HashSet::new();
        files.retain(|file| seen.insert(fs_err::canonicalize(file).unwrap_or_else(|_| file.clone())));
        let there_are = files.len();
        if let Some(pattern) = self.grep.as_deref().map(pattern).transpose()? {
            files.retain(|file| pattern.is_match(&file.to_string_lossy()));
            if files.is_empty() && there_are > 0 {
                let message = format!("no test matches {:?}: none of the {there_are} here", pattern.as_str());
                return Err(Fault::new(Kind::Usage, message)
                    .hint("--grep takes a regular expression for the paths of tests"));
            }
        }
        let tests = select(files, self.shard, self.repeat_each.get());
        if tests.is_empty() && self.shard.is_none() {
            return Err(Fault::new(Kind::Usage, "there are no tests here")
                .hint("tests are files whose names end in .playbook.yaml"));
        }
        Ok(tests)
    }

    fn workers(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        self.workers.map_or(processors.min(4), NonZero::get)
    }

    async fn drive(
        &self,
        tests: &[Test],
        config: &Effective,
        secrets: &Arc<Secrets>,
        printer: &Printer,
    ) -> Result<SuiteRan, Fault> {
        let stop = listen();
        let ready = stop.unless_asked(self.place.prepare(config, secrets.clone(), printer)).await?;
        let tools =
            if self.place.is_foreign() { Some(stop.unless_asked(ready.caller.tools()).await?) } else { None };
        // A test must not wait for a browser that the one before it had already.
        let warm = ready.keep_warm().await;
        let named = Named::of(secrets)?;
        let runner =
            Runner { command: self, named: &named, caller: ready.caller.as_ref(), tools, stop: &stop };
        let live = Live::new(printer, tests.len());
        let options = SuiteOptions { workers: self.workers(), retries: self.retries };
        let suite = run_suite(tests, options, &runner, &live, &stop).await;
        live.end();
        warm.end().await;
        ready.end().await;
        Ok(suite)
    }

    /// What came of it, in every form that was asked for. One that cannot be written keeps no other from being told.
    fn tell(&self, ran: SuiteRan, artifacts: &Artifacts, printer: &Printer) -> Result<ExitCode, Fault> {
        let mut troubles = Troubles::of(ran.fault.as_ref());
        let mut suite = ran.report;
        suite.error = troubles.told();
        for test in &suite.tests {
            troubles.note(artifacts.keep(test));
        }
        if let Some(path) = &self.junit {
            let written = junit_xml(&suite).map_err(internal);
            troubles.note(written.and_then(|xml| write_report(path, xml)));
        }
        let page = self.html.as_ref().map(|folder| folder.join("index.html"));
        if let Some(page) = &page {
            let written = html_page(&suite).map_err(internal);
            troubles.note(written.and_then(|html| write_report(page, html)));
        }
        if std::env::var_os("GITHUB_ACTIONS").is_some() {
            // Workflow commands are read from standard output; JSON must stay alone there.
            let told = annotations(&suite);
            if printer.is_json() { printer.note(told.trim_end()) } else { printer.line(told.trim_end()) }
        }
        if printer.is_json() {
            suite.error = troubles.told();
            printer.line(&serde_json::to_string(&suite).map_err(internal)?);
        } else {
            printer.line(suite_text(&suite).trim_end());
            for page in page.iter().filter(|page| page.exists()) {
                printer.line(&format!("report: {}", page.display()));
            }
        }
        Ok(troubles.end(printer, exit_code(&suite)))
    }
}

fn pattern(text: &str) -> Result<Regex, Fault> {
    Regex::new(text).map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        Fault::new(Kind::Usage, format!("--grep: {text:?} is no regular expression: {why}"))
            .hint("--grep takes a regular expression for the paths of tests, e.g. 'login|checkout'")
    })
}

/// Failures count before files that are wrong.
fn exit_code(suite: &SuiteReport) -> u8 {
    let summary = suite.summary();
    match () {
        () if summary.failed > 0 => 1,
        () if summary.broken > 0 => 2,
        () => 0,
    }
}

/// Runs one test in a session of its own.
struct Runner<'r> {
    command: &'r TestCommand,
    named: &'r Named<'r>,
    caller: &'r dyn Caller,
    /// The tools of a server that may lack some.
    tools: Option<Vec<String>>,
    stop: &'r Stop,
}

impl RunsTests for Runner<'_> {
    fn run<'a>(&'a self, test: &'a Test) -> Pending<'a, Attempt> {
        Box::pin(async move { self.attempt(test).await.unwrap_or_else(Attempt::Broken) })
    }
}

impl Runner<'_> {
    async fn attempt(&self, test: &Test) -> Result<Attempt, Fault> {
        let overrides = self.command.given.overrides()?;
        let opened = open(&test.file, &OwnCatalog, &overrides, self.named);
        let playbook = sound(opened)?;
        if let Some(tools) = &self.tools {
            let missing = missing_tools(&playbook, tools);
            if !missing.is_empty() {
                return Err(broken(&missing));
            }
        }
        let mut scope = Scope::of(&playbook, &overrides);
        let _serving = self.stop.unless_asked(serve(&playbook, &mut scope)).await?;
        let caller = self.stop.unless_asked(self.caller.apart()).await?;
        let options = RunOptions {
            continue_on_error: self.command.continue_on_error,
            thumbnails: self.command.html.is_some(),
            evidence: true,
        };
        let (watch, stop) = (&Unwatched, self.stop);
        let ran = run(&playbook, scope, &OwnCatalog, self.named, caller.as_ref(), options, watch, stop).await;
        caller.close().await;
        Ok(Attempt::Ran(Box::new(ran)))
    }
}

/// A bar for a person, lines for a log.
struct Live<'p> {
    printer: &'p Printer,
    bar: Option<indicatif::ProgressBar>,
    total: usize,
}

impl<'p> Live<'p> {
    fn new(printer: &'p Printer, total: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| indicatif::ProgressBar::new(total as u64));
        Self { printer, bar, total }
    }

    /// No bar is left, also if not all of them ran.
    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl WatchSuite for Live<'_> {
    fn ended(&self, test: &TestReport, done: usize) {
        let line = format!("[{done}/{}] {}", self.total, test_line(test));
        match &self.bar {
            Some(bar) => {
                bar.println(line);
                bar.set_position(done as u64);
            }
            None => self.printer.note(&line),
        }
    }
}
