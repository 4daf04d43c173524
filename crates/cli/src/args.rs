//! The grammar of the command line: flags for every command, the verbs, and the commands about this program itself.

use std::ffi::OsString;

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use surehand_session::Fault;
use surehand_verbs::{Command, arrange_find, usage_fault};

use crate::config::Flags;
use crate::local::Local;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// Sure hands on a web browser, for agents, scripts and services
#[derive(Debug, Parser)]
#[command(name = "surehand", version, styles = STYLES, max_term_width = 100, propagate_version = false,
    after_help = "Example:\n  surehand open 127.0.0.1:8000\n  surehand snapshot -i\n  surehand fill @e3 user@example.com\n  surehand click @e7\n  surehand close")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub flags: Flags,
    #[command(subcommand)]
    pub action: Action,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    #[command(flatten)]
    Verb(Command),
    #[command(flatten)]
    Local(Local),
}

/// What came of reading the command line.
pub(crate) enum Parsed {
    Good(Box<Cli>),
    /// `--help` or `--version`.
    Help(String),
    Wrong(Fault),
}

impl Cli {
    /// Reads the command line of this process.
    pub fn read() -> Parsed {
        let grammar = grammar();
        let words = arranged(std::env::args_os().collect(), &grammar);
        let matches = match grammar.try_get_matches_from(&words) {
            Ok(matches) => matches,
            Err(error) => return outcome_of(&error),
        };
        match Cli::from_arg_matches(&matches) {
            Ok(cli) => Parsed::Good(Box::new(cli)),
            Err(error) => Parsed::Wrong(usage_fault(&error)),
        }
    }
}

/// The flags of `find` and of its action in the order that the grammar reads. What is no text is refused there.
fn arranged(words: Vec<OsString>, grammar: &clap::Command) -> Vec<OsString> {
    let texts: Option<Vec<String>> =
        words.iter().skip(1).map(|word| word.to_str().map(ToOwned::to_owned)).collect();
    match texts {
        Some(texts) => words
            .into_iter()
            .take(1)
            .chain(arrange_find(texts, grammar).into_iter().map(OsString::from))
            .collect(),
        None => words,
    }
}

fn outcome_of(error: &clap::Error) -> Parsed {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Parsed::Help(error.render().ansi().to_string()),
        _ => Parsed::Wrong(usage_fault(error)),
    }
}

/// The whole grammar, for reading, completions, the man page and the reference.
pub(crate) fn grammar() -> clap::Command {
    Cli::command()
}

impl Parsed {
    /// A command line that cannot be read may still say that its error is to be JSON.
    pub fn wants_json(&self) -> bool {
        match self {
            Parsed::Good(cli) => cli.flags.json,
            Parsed::Help(_) => false,
            Parsed::Wrong(_) => {
                std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json")
            }
        }
    }
}

/// Arguments of the hidden daemon command.
#[derive(Debug, Clone, Args)]
pub(crate) struct DaemonArgs {
    /// Where it keeps its things
    #[arg(long)]
    pub root: std::path::PathBuf,
    /// Where it listens
    #[arg(long)]
    pub socket: std::path::PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        grammar().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        for command in grammar().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("surehand "), "`{}` has no example", command.get_name());
            assert!(command.get_about().is_some(), "`{}` says not what it does", command.get_name());
        }
    }
}
