//! `batch`: several commands in one go.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_session::{Fault, Kind};

use crate::list::Command;
use crate::parse::{Line, LineParser};
use crate::words::{join_words, split_words};
use crate::{Context, Effect, Flaw, Report, Verb};

/// Run several commands in one go
///
/// Each argument is one command line. From standard input: one command per line, or a JSON array of strings or of arrays
/// of strings. A failed command does not stop the rest unless --bail is given. A line may have a --timeout of its own.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand batch 'open 127.0.0.1:8000' 'click #go' 'get text h1'\n  echo '[[\"get\",\"url\"]]' | surehand batch")]
pub struct Batch {
    /// The commands
    #[serde(default)]
    pub commands: Vec<String>,
    /// Stop at the first failure
    #[arg(long)]
    #[serde(default)]
    pub bail: bool,
    /// What stood on standard input
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

/// What became of each command.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct BatchReport {
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Step {
    command: Vec<String>,
    success: bool,
    result: Option<Box<RawValue>>,
    error: Option<StepError>,
    #[serde(skip)]
    text: String,
}

#[derive(Debug, Serialize)]
struct StepError {
    code: &'static str,
    message: String,
    hints: Vec<String>,
}

impl Report for BatchReport {
    fn text(&self) -> String {
        self.steps.iter().map(|step| format!("$ {}\n{}", join_words(&step.command), step.text)).collect::<Vec<_>>().join("\n")
    }

    fn failed(&self) -> bool {
        self.steps.iter().any(|step| !step.success)
    }
}

impl Verb for Batch {
    /// What it runs has an effect of its own.
    const EFFECT: Effect = Effect::Manages;
    const NOTED: bool = false;
    // Each of its commands is checked by itself.
    const BLOCKED_BY_DIALOG: bool = false;
    type Output = BatchReport;

    fn flaws(&self) -> Vec<Flaw> {
        if self.commands.is_empty() && self.input.is_none() {
            return vec![Flaw::new("/commands", "there is no command in this batch")];
        }
        let mut flaws = Vec::new();
        for (index, line) in self.commands.iter().enumerate() {
            let pointer = format!("/commands/{index}");
            let read = words_of(line).and_then(|words| LineParser::shared().parse(&words));
            match read {
                Ok(line) => {
                    let inner = line.command.flaws().into_iter();
                    flaws.extend(inner.map(|flaw| Flaw::new(pointer.clone(), flaw.message)));
                }
                fault => flaws.extend(Flaw::of(pointer, fault)),
            }
        }
        flaws
    }

    async fn run(self, cx: &Context) -> Result<BatchReport, Fault> {
        let lines = match &self.input {
            Some(input) => lines_of(input)?,
            None => self.commands.iter().map(|line| words_of(line)).collect::<Result<_, _>>()?,
        };
        if lines.is_empty() {
            return Err(Fault::new(Kind::Usage, "there is no command in this batch")
                .hint("give each command as one argument: surehand batch 'open URL' 'get title'"));
        }
        let mut parser = LineParser::new();
        // All lines are read before the first runs: a typing error in the last must not leave half a batch done.
        let commands: Vec<Line> =
            lines.iter().map(|line| parser.parse(line).map_err(|fault| about(line, fault))).collect::<Result<_, _>>()?;
        let mut steps = Vec::new();
        for (line, command) in lines.into_iter().zip(commands) {
            let step = run_one(line, command, cx).await;
            let stop = self.bail && !step.success;
            steps.push(step);
            if stop {
                break;
            }
        }
        Ok(BatchReport { steps })
    }

    fn wants_stdin(&self) -> bool {
        self.commands.is_empty()
    }

    fn take_stdin(&mut self, text: String) {
        self.input = Some(text);
    }
}

/// Says which command is meant.
fn about(line: &[String], mut fault: Fault) -> Fault {
    fault.message = format!("`{}`: {}", join_words(line), fault.message);
    fault
}

async fn run_one(line: Vec<String>, Line { command, timeout }: Line, cx: &Context) -> Step {
    let cx = &cx.with_timeout(timeout);
    let outcome = match command {
        Command::Batch(_) => Err(Fault::new(Kind::Usage, "a batch cannot hold a batch").hint("put its commands here")),
        command => command.execute(cx).await,
    };
    match outcome {
        Ok(output) => Step {
            command: line,
            success: true,
            result: output.json().ok(),
            error: None,
            text: if cx.settings.json { String::new() } else { output.text() },
        },
        Err(fault) => Step {
            command: line,
            success: false,
            result: None,
            text: format!("error[{}]: {}", fault.kind.code(), fault.message),
            error: Some(StepError { code: fault.kind.code(), message: fault.message, hints: fault.hints }),
        },
    }
}

/// One line of a JSON batch: a command line, or its words.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Words(Vec<String>),
}

fn lines_of(input: &str) -> Result<Vec<Vec<String>>, Fault> {
    if input.trim_start().starts_with('[') {
        let lines: Vec<Written> = serde_json::from_str(input).map_err(|error| {
            Fault::new(Kind::Usage, format!("the batch is no JSON array of commands: {error}"))
                .hint("write [[\"open\",\"127.0.0.1:8000\"],[\"get\",\"title\"]]")
        })?;
        return lines
            .into_iter()
            .map(|line| match line {
                Written::Words(words) => Ok(words),
                Written::Text(text) => words_of(&text),
            })
            .collect();
    }
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#');
    input.lines().map(str::trim).filter(is_command).map(words_of).collect()
}

fn words_of(line: &str) -> Result<Vec<String>, Fault> {
    split_words(line).ok_or_else(|| {
        Fault::new(Kind::Usage, format!("a quote is not closed in {line:?}")).hint("close it, or write it as \\\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_input_are_read() {
        let want = vec![vec!["open".to_owned(), "a b".to_owned()], vec!["get".to_owned(), "url".to_owned()]];
        assert_eq!(lines_of("# first\nopen 'a b'\n\nget url\n").unwrap(), want);
        assert_eq!(lines_of(r#"[["open","a b"],"get url"]"#).unwrap(), want);
        assert_eq!(lines_of("[[1]]").unwrap_err().kind, Kind::Usage);
        assert_eq!(lines_of("open 'a").unwrap_err().kind, Kind::Usage);
    }
}
