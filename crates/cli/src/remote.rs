//! Verbs: one line to the daemon, one line back.

use std::io::Read;
use std::process::ExitCode;

use surehand_server::{Client, Home, Request, Task, version};
use surehand_session::{Fault, Kind};
use surehand_verbs::Command;

use crate::config::Effective;
use crate::printer::{Printer, Progress};

/// Runs a verb in the daemon and prints its result.
pub(crate) fn run(mut command: Command, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
    if command.wants_stdin() {
        command.take_stdin(read_stdin()?);
    }
    let settings = config.settings()?;
    let answer = ask(command, settings, printer)?;
    Ok(printer.answer(&answer))
}

/// The last line of the daemon's answer.
fn ask(command: Command, settings: surehand_verbs::Settings, printer: &Printer) -> Result<String, Fault> {
    let request = Request {
        version: version(),
        task: Task::Run { command: Box::new(command), settings: Box::new(settings) },
        log: std::env::var("SUREHAND_LOG").ok().filter(|filter| !filter.is_empty()),
    };
    Client::new(Home::from_env()?).ask(&request, &mut Progress::new(*printer))
}

fn read_stdin() -> Result<String, Fault> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| {
        Fault::new(Kind::Usage, format!("standard input cannot be read: {error}"))
            .hint("it must be UTF-8 text")
    })?;
    Ok(text)
}
