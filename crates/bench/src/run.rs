//! From the command line to the exit code, and nothing left behind on the way.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use serde_json::json;
use surehand_testkit::TempHome;

use crate::bench::{Bench, go_on, interrupt, is_interrupted};
use crate::cases;
use crate::options::Options;
use crate::ours::{Product, Subject};
use crate::pages;
use crate::report::{Report, complain, print};

/// 128 + SIGINT, as shells have it.
const INTERRUPTED: u8 = 130;

pub fn main() -> ExitCode {
    match measure(Options::parse()) {
        _ if is_interrupted() => ExitCode::from(INTERRUPTED),
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

fn measure(options: Options) -> Result<bool> {
    let cases: Vec<_> = cases::all().into_iter().filter(|case| options.wants(case.name())).collect();
    if options.list {
        cases.iter().for_each(|case| print(&format!("{:16} {}", case.name(), case.about())));
        return Ok(true);
    }
    anyhow::ensure!(!cases.is_empty(), "no such case; --list shows them");

    let home = TempHome::new()?;
    clean_up_when_interrupted(&home)?;
    let subject: Option<Box<dyn Subject>> = match options.raw_only {
        true => None,
        false => Some(Box::new(Product::new(&options.binary()?, &home, &options.browser))),
    };
    let mut bench = Bench::new(options, pages::serve()?, subject, home);

    let mut report = Report::default();
    let about = about(&mut bench)?;
    report.head(&about);
    for case in cases {
        go_on()?;
        match case.run(&mut bench) {
            Ok(rows) => rows.into_iter().for_each(|row| report.row(row)),
            Err(error) => report.failure(case.name(), &error),
        }
    }
    if let Some(file) = &bench.options.json {
        report.write(file, &json!(about))?;
    }
    let good = report.finish();
    if let Some(subject) = &bench.subject {
        subject.shut_down()?;
    }
    Ok(good)
}

fn about(bench: &mut Bench) -> Result<Vec<String>> {
    let browser = bench.raw().and_then(|raw| raw.version()).context("the raw browser does not start")?;
    let ours = match &bench.subject {
        None => "floor only".to_owned(),
        Some(subject) => {
            format!("{} ({})", subject.call(None, &["--version"])?.stdout.trim(), subject.binary().display())
        }
    };
    let runs = bench.options.runs.map_or_else(|| "by case".to_owned(), |runs| runs.to_string());
    Ok(vec![
        format!("ours:    {ours}"),
        format!("browser: {browser}"),
        format!("rounds:  {runs}, medians"),
        format!("machine: {}", machine()),
    ])
}

/// How busy it was at the start: figures from a busy machine are not worth much.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = fs_err::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("{cores} cores, load {}", load.split(' ').next().unwrap_or("unknown"))
}

/// Neither a signal nor a panic (which aborts in release builds) runs destructors.
fn clean_up_when_interrupted(home: &TempHome) -> Result<()> {
    let clean = home.cleaner();
    ctrlc::set_handler(move || {
        // What is being waited for ends with the first pass; the second gets what was started meanwhile.
        interrupt();
        clean();
        clean();
        std::process::exit(INTERRUPTED.into());
    })?;
    let clean = home.cleaner();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        clean();
    }));
    Ok(())
}
