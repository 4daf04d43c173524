//! `pack`: whole errands in one call, run here.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use surehand_server::{Executor, Home, block_on, unless_asked_to_end};
use surehand_session::{Fault, Kind};
use surehand_tools::packs::{self, PACKS, PackEntry};

use crate::config::Effective;
use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(crate) struct Pack {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the packs
    List,
    /// Show the schemas of a pack
    Show {
        /// Its name
        name: String,
    },
    /// Run a pack in a session of its own
    Run {
        /// Its name, e.g. browser.interact
        name: String,
        /// A file with its input as JSON; - for standard input
        #[arg(value_name = "FILE")]
        input: PathBuf,
    },
}

impl Pack {
    pub fn run(self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        match self.action {
            Action::List => {
                let packs: Vec<Value> = PACKS.iter().map(described).collect();
                let lines: Vec<String> =
                    PACKS.iter().map(|pack| format!("{}  {}", pack.name, pack.description)).collect();
                Ok(printer.result(&json!({ "packs": packs }), &lines.join("\n")))
            }
            Action::Show { name } => {
                let shown = described(find(&name)?);
                Ok(printer.result(&shown, &format!("{shown:#}")))
            }
            Action::Run { name, input } => {
                let pack = find(&name)?;
                let input = read(&input)?;
                run(pack, input, config, printer)
            }
        }
    }
}

fn run(
    pack: &'static PackEntry,
    input: Value,
    config: &Effective,
    printer: &Printer,
) -> Result<ExitCode, Fault> {
    let home = Home::from_env()?;
    let scratch = home.root.join(format!("pack-{}", std::process::id()));
    let settings = config.settings()?;
    let executor = Executor::here(&home, &scratch, Default::default())?;
    let done = block_on(async {
        let done = unless_asked_to_end(executor.run_pack(pack, input, settings)).await;
        executor.close_all().await;
        done
    })?;
    // Made only if something was downloaded.
    let _ = fs_err::remove_dir_all(scratch);
    let done = done.ok_or_else(|| Fault::new(Kind::Interrupted, "told to end in the middle"))?;
    match done {
        Ok(output) => Ok(printer.result(&output, &format!("{output:#}"))),
        Err(failure) => {
            let data = Value::Object(failure.envelope());
            let steps = failure.steps_completed.map(|steps| format!(" ({steps} steps were done before)"));
            let code = failure.code.name();
            let mut fault = failure.cause.map_or_else(|| Fault::new(Kind::Usage, ""), |cause| *cause);
            fault.message = format!("{code}: {}{}", failure.message, steps.unwrap_or_default());
            match printer.is_json() {
                true => Ok(printer.failed_result(&data, "", fault)),
                false => Err(fault),
            }
        }
    }
}

fn described(pack: &PackEntry) -> Value {
    json!({
        "name": pack.name,
        "description": pack.description,
        "inputSchema": (pack.input_schema)(),
        "outputSchema": (pack.output_schema)(),
    })
}

fn find(name: &str) -> Result<&'static PackEntry, Fault> {
    packs::find(name).ok_or_else(|| {
        let known: Vec<_> = PACKS.iter().map(|pack| pack.name).collect();
        Fault::new(Kind::Usage, format!("there is no pack {name:?}"))
            .hint(format!("there are {}", known.join(", ")))
    })
}

fn read(path: &Path) -> Result<Value, Fault> {
    let mut text = String::new();
    let read = match path.to_str() {
        Some("-") => std::io::stdin().read_to_string(&mut text).map(drop),
        _ => fs_err::read_to_string(path).map(|read| text = read),
    };
    read.map_err(|error| {
        Fault::new(Kind::MissingFile, error.to_string()).hint("give a file of JSON, or - for standard input")
    })?;
    serde_json::from_str(&text).map_err(|error| {
        Fault::new(Kind::BadFile, format!("{}: {error}", path.display()))
            .hint("the input of a pack is a JSON object")
    })
}
