//! Command lines to commands: the same grammar for the terminal and for `batch`.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{FromArgMatches, Subcommand};
use surehand_session::{Fault, Kind};

use crate::arrange::arrange_find;
use crate::list::Command;

/// Reads command lines; the grammar is built once.
pub(crate) struct LineParser(clap::Command);

/// A command, and what its line says about how it is to be run.
#[derive(Debug)]
pub(crate) struct Line {
    pub command: Command,
    /// How long it may wait, in milliseconds.
    pub timeout: Option<u64>,
}

impl LineParser {
    pub fn new() -> Self {
        let timeout = clap::Arg::new(TIMEOUT).long(TIMEOUT).value_name("MS").global(true);
        let grammar = clap::Command::new("surehand")
            .no_binary_name(true)
            .subcommand_required(true)
            .arg(timeout.value_parser(clap::value_parser!(u64)));
        Self(Command::augment_subcommands(grammar).disable_help_subcommand(true))
    }

    /// The one that is kept: playbooks have thousands of lines.
    pub fn shared() -> MutexGuard<'static, Self> {
        static PARSER: LazyLock<Mutex<LineParser>> = LazyLock::new(|| Mutex::new(LineParser::new()));
        PARSER.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn parse(&mut self, words: &[String]) -> Result<Line, Fault> {
        self.read(words).map_err(|error| usage_fault(&error))
    }

    fn read(&mut self, words: &[String]) -> Result<Line, clap::Error> {
        let words = arrange_find(words.to_vec(), &self.0);
        let matches = self.0.try_get_matches_from_mut(words)?;
        let command = Command::from_arg_matches(&matches)?;
        // A flag for all commands may stand before or behind the verb.
        let inner = matches.subcommand().and_then(|(_, inner)| inner.get_one::<u64>(TIMEOUT));
        let timeout = inner.or_else(|| matches.get_one(TIMEOUT)).copied();
        Ok(Line { command, timeout })
    }
}

/// The one flag of the whole program that means something for a single command.
const TIMEOUT: &str = "timeout";

/// Why a command line is none, and because of which of its words.
#[derive(Debug)]
pub struct Misread {
    /// Why.
    pub fault: Fault,
    /// Which word; the verb is 0. Nothing where something is missing.
    pub word: Option<usize>,
}

/// Reads one command line.
pub fn parse_line(words: &[String]) -> Result<Command, Fault> {
    read_line(words).map_err(|misread| misread.fault)
}

/// The same, and where it is wrong.
pub fn read_line(words: &[String]) -> Result<Command, Misread> {
    let line = LineParser::shared().read(words).map_err(|error| misread(&error, words))?;
    if line.timeout.is_none() {
        return Ok(line.command);
    }
    let fault = Fault::new(Kind::Usage, "--timeout is not part of the command here")
        .hint("a step of a playbook has a `timeout` of its own");
    Err(Misread { fault, word: words.iter().position(|word| word.starts_with("--timeout")) })
}

fn misread(error: &clap::Error, words: &[String]) -> Misread {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let word =
            words.iter().position(|word| matches!(word.as_str(), "--help" | "-h" | "--version" | "-V"));
        let fault = Fault::new(Kind::Usage, "help is not part of the command here")
            .hint("`surehand tools NAME` shows what it takes");
        return Misread { fault, word };
    }
    let said = [ContextKind::InvalidValue, ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let said = said.iter().filter_map(|kind| match error.get(*kind) {
        // An option is told with what it takes: `--delay <MS>`.
        Some(ContextValue::String(text)) => Some(text.split(" <").next().unwrap_or_default().to_owned()),
        _ => None,
    });
    let place = |text: &String| {
        let is_it = |word: &&String| *word == text || word.ends_with(&format!("={text}"));
        words.iter().skip(1).position(|word| is_it(&word)).map(|index| index + 1)
    };
    let word = said.filter(|text| !text.is_empty()).find_map(|text| place(&text));
    Misread { fault: usage_fault(error), word }
}

/// An error of the grammar as a fault: one sentence, and the nearest word as a hint.
pub fn usage_fault(error: &clap::Error) -> Fault {
    let text = error.render().to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let message = match error.kind() {
        ErrorKind::MissingRequiredArgument => missing(error).unwrap_or(message),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return incomplete(&text),
        _ => message,
    };
    let kind = match error.kind() {
        ErrorKind::ValueValidation => Kind::BadNumber,
        ErrorKind::InvalidUtf8 => {
            return Fault::new(Kind::NotUtf8, "an argument is not UTF-8 text")
                .hint("write it in UTF-8; a file with another name can be renamed or linked");
        }
        _ => Kind::Usage,
    };
    let mut fault = Fault::new(kind, message);
    for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue] {
        match error.get(kind) {
            Some(ContextValue::String(near)) => fault = fault.hint(format!("did you mean {near:?}?")),
            // The nearest comes last.
            Some(ContextValue::Strings(near)) => {
                if let Some(near) = near.last() {
                    fault = fault.hint(format!("did you mean {near:?}?"));
                }
            }
            _ => {}
        }
    }
    if let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue)
        && !values.is_empty()
    {
        fault = fault.hint(format!("it can be {}", values.join(", ")));
    }
    match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => fault.hint(usage.to_string().trim().to_owned()),
        _ => fault.hint("see `surehand --help`"),
    }
}

/// A command that needs one of its own: clap answers with its help, which names them.
fn incomplete(help: &str) -> Fault {
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let usage = help.lines().find(|line| line.starts_with("Usage:")).unwrap_or("see `surehand --help`");
    Fault::new(Kind::Usage, format!("this needs one of: {}", names.join(", "))).hint(usage)
}

fn missing(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::Strings(names)) = error.get(ContextKind::InvalidArg) else { return None };
    Some(format!("this is missing: {}", names.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, Fault> {
        parse_line(&line.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_grammar_is_sound() {
        LineParser::new().0.debug_assert();
    }

    #[test]
    fn verbs_and_aliases_are_read() {
        assert!(matches!(parse("open http://a").unwrap(), Command::Open(_)));
        assert!(matches!(parse("goto http://a").unwrap(), Command::Open(_)));
        assert!(matches!(parse("tab t2").unwrap(), Command::Tab(tab) if tab.to.as_deref() == Some("t2")));
        assert!(matches!(parse("tab close t2").unwrap(), Command::Tab(tab) if tab.to.is_none()));
        assert!(matches!(parse("wait 500").unwrap(), Command::Wait(_)));
        assert!(matches!(parse("fill #a -5").unwrap(), Command::Fill(fill) if fill.value == "-5"));
    }

    #[test]
    fn the_word_that_is_wrong_is_named() {
        for (line, word) in [
            ("set viewport 800 tall", Some(3)),
            ("set viewport abc 600", Some(2)),
            ("click #a --bogus", Some(2)),
            ("click #a --button=lef", Some(2)),
            ("press Enter Tab", Some(2)),
            ("cookies sett a b", Some(1)),
            ("type #a x --delay", Some(3)),
            ("click #a --timeout 5", Some(2)),
            ("click --help", Some(1)),
            ("click", None),
        ] {
            let words: Vec<String> = line.split(' ').map(ToOwned::to_owned).collect();
            let misread = read_line(&words).unwrap_err();
            assert_eq!(misread.word, word, "{line}: {misread:?}");
        }
    }

    #[test]
    fn what_is_unknown_suggests_the_nearest() {
        let fault = parse("clik #a").unwrap_err();
        assert_eq!(fault.kind, Kind::Usage);
        assert_eq!(parse("opne x").unwrap_err().hints[0], "did you mean \"open\"?");
        assert!(fault.hints.iter().any(|hint| hint.contains("click")), "{fault:?}");
        let fault = parse("snapshot --interactiv").unwrap_err();
        assert!(fault.hints.iter().any(|hint| hint.contains("--interactive")), "{fault:?}");
        assert!(parse("click").unwrap_err().message.contains("SELECTOR"));
        assert!(parse("click #a b").is_err());
        assert_eq!(parse("snapshot -d x").unwrap_err().kind, Kind::BadNumber);
        assert_eq!(parse("wait -5").map(|_| ()).ok(), Some(()));
        let fault = parse("get").unwrap_err();
        assert!(fault.message.contains("text, html, value"), "{fault:?}");
    }
}
