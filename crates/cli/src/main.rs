//! The binary: arguments, printing, exit codes.
//!
//! What lives here: the grammar's outer shell, configuration, the printer, and the commands that are about this program
//! itself (install, doctor, demo …). What must not: anything about pages or browsers that a verb should know.
//!
//! A verb starts no async runtime: it is one line to the daemon's socket and one line back.

mod args;
mod config;
mod local;
mod printer;
mod remote;

use std::process::ExitCode;

use surehand_session::{Fault, Kind};

use crate::args::{Action, Cli, Parsed};
use crate::config::Effective;
use crate::printer::Printer;

fn main() -> ExitCode {
    let parsed = Cli::read();
    let printer = Printer::new(parsed.wants_json());
    match parsed {
        Parsed::Help(text) => printer.help(&text),
        Parsed::Wrong(fault) => printer.fault(fault),
        Parsed::Good(cli) => match config::effective(&cli.flags) {
            Ok(config) => run(cli.action, &config),
            Err(fault) => printer.fault(fault),
        },
    }
}

fn run(action: Action, config: &Effective) -> ExitCode {
    let printer = Printer::new(config.json());
    let done = match action {
        Action::Verb(command) => remote::run(command, config, &printer),
        Action::Local(command) => local::run(command, config, &printer),
    };
    done.unwrap_or_else(|fault| printer.fault(fault))
}

/// A failure of this program itself.
fn internal(error: impl std::fmt::Display) -> Fault {
    Fault::new(Kind::Internal, error.to_string())
}
