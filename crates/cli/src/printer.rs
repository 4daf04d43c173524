//! The only place that prints. Colours only where a person looks (and `NO_COLOR` is not set): anstream sees to that.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use surehand_guard::Secrets;
use surehand_server::{Envelope, ErrorBody, Listener, Message};
use surehand_session::{Fault, Kind};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// Prints results for people or for programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    json: bool,
}

impl Printer {
    pub fn new(json: bool) -> Self {
        is_for_terminal();
        Self { json }
    }

    /// Are results for programs?
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// A result, with a newline.
    pub fn line(&self, text: &str) {
        write_out(&format!("{text}\n"));
    }

    /// `--help` and `--version`.
    pub fn help(&self, text: &str) -> ExitCode {
        write_out(text);
        ExitCode::SUCCESS
    }

    /// Something a person should know; never on standard output.
    pub fn note(&self, text: &str) {
        write_err(&format!("{DIM}{text}{DIM:#}\n"));
    }

    /// What is wrong, in lines of its own; never on standard output.
    pub fn complaint(&self, text: &str) {
        write_err(&format!("{ERROR}error{ERROR:#}: {}\n", text.trim_end()));
    }

    /// The result of a local command: data for programs, text for people.
    pub fn result(&self, data: &serde_json::Value, text: &str) -> ExitCode {
        if self.json {
            self.line(&Envelope::data(data));
        } else if !text.is_empty() {
            self.line(text);
        }
        ExitCode::SUCCESS
    }

    /// The result of a local command that tells of a failure.
    pub fn failed_result(&self, data: &serde_json::Value, text: &str, fault: Fault) -> ExitCode {
        let code = fault.kind.exit_code();
        if self.json {
            self.line(&Envelope::failed_data(data, fault));
        } else if !text.is_empty() {
            self.line(text);
        }
        ExitCode::from(code)
    }

    /// A failure.
    pub fn fault(&self, fault: Fault) -> ExitCode {
        let code = fault.kind.exit_code();
        if self.json {
            self.line(&Envelope::failure(fault));
        } else {
            self.failure(&fault.into());
        }
        ExitCode::from(code)
    }

    /// A failure beside a result that was told: for people, whatever the result is for.
    pub fn trouble(&self, fault: &Fault) {
        self.failure(&fault.clone().into());
    }

    fn failure(&self, error: &ErrorBody) {
        let mut out = format!("{ERROR}error[{}]{ERROR:#}: {}\n", error.code, error.message);
        for hint in &error.hints {
            out.push_str(&format!("{HINT}hint{HINT:#}: {hint}\n"));
        }
        write_err(&out);
    }

    /// The last line of the daemon's answer.
    pub fn answer(&self, line: &str) -> ExitCode {
        if self.json {
            self.line(line);
            return exit_code_of_envelope(line);
        }
        match serde_json::from_str::<Message>(line) {
            Ok(Message::Text { text, aside, failed }) => {
                if !text.is_empty() {
                    self.line(&harmless(&text));
                }
                if let Some(aside) = aside {
                    self.note(&aside);
                }
                if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
            }
            _ => {
                let error = error_of(line);
                self.failure(&error);
                exit_code(&error.code)
            }
        }
    }
}

#[derive(serde::Deserialize)]
struct Failed {
    error: ErrorBody,
}

fn error_of(line: &str) -> ErrorBody {
    serde_json::from_str::<Failed>(line).map(|failed| failed.error).unwrap_or_else(|_| ErrorBody {
        code: Kind::Internal.code().to_owned(),
        message: "the daemon's answer cannot be read".to_owned(),
        hints: Vec::new(),
    })
}

/// A success may be large: it is told by its first bytes.
fn exit_code_of_envelope(line: &str) -> ExitCode {
    if line.starts_with(r#"{"success":true"#) { ExitCode::SUCCESS } else { exit_code(&error_of(line).code) }
}

fn exit_code(code: &str) -> ExitCode {
    ExitCode::from(Kind::from_code(code).unwrap_or(Kind::Internal).exit_code())
}

/// A reader that went away (`surehand … | head`) is no failure of ours; a full disk is.
fn write_out(text: &str) {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if !is_nobody_there(&error) => {
            write_err(&format!(
                "{ERROR}error[unwritable-path]{ERROR:#}: the result cannot be written: {error}\n"
            ));
            std::process::exit(i32::from(Kind::UnwritablePath.exit_code()));
        }
        _ => {}
    }
}

/// Has the reader gone? A terminal that was closed answers with an input/output error, and what runs must still end in order.
fn is_nobody_there(error: &std::io::Error) -> bool {
    const INPUT_OUTPUT: i32 = 5;
    let is_closed = is_for_terminal() && error.raw_os_error() == Some(INPUT_OUTPUT);
    is_closed || error.kind() == std::io::ErrorKind::BrokenPipe
}

/// Was standard output a terminal when this began? One that was closed is none any more.
fn is_for_terminal() -> bool {
    static IS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *IS.get_or_init(|| std::io::stdout().is_terminal())
}

/// What a page says is data: on a terminal its control characters must not become commands.
fn harmless(text: &str) -> std::borrow::Cow<'_, str> {
    let is_command = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if std::io::stdout().is_terminal() && text.contains(is_command) {
        return text.replace(is_command, "").into();
    }
    text.into()
}

fn write_err(text: &str) {
    let mut out = anstream::stderr().lock();
    let _ = out.write_all(text.as_bytes());
}

/// Shows notes, progress and log lines while a command runs.
pub(crate) struct Progress {
    printer: Printer,
    secrets: Arc<Secrets>,
    bar: Option<indicatif::ProgressBar>,
}

impl Progress {
    pub fn new(printer: Printer) -> Self {
        Self::masked(printer, Arc::default())
    }

    /// The same, with the values of secrets masked.
    pub fn masked(printer: Printer, secrets: Arc<Secrets>) -> Self {
        Self { printer, secrets, bar: None }
    }

    fn advance(&mut self, what: String, done: u64, total: Option<u64>) {
        let bar = self.bar.get_or_insert_with(|| {
            let bar = indicatif::ProgressBar::new(total.unwrap_or_default());
            let shape = "{msg} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec}";
            if let Ok(style) = indicatif::ProgressStyle::with_template(shape) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        });
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_message(what);
        bar.set_position(done);
        if Some(done) == total {
            bar.finish();
            self.bar = None;
        }
    }
}

impl Listener for Progress {
    fn hear(&mut self, message: Message) {
        match message {
            Message::Note(line) => match &self.bar {
                Some(bar) => bar.println(self.secrets.mask(&line)),
                None => self.printer.note(&self.secrets.mask(&line)),
            },
            Message::Progress { what, done, total } => {
                self.advance(self.secrets.mask(&what).into_owned(), done, total);
            }
            Message::Log(line) => self.printer.note(&self.secrets.mask(&line)),
            Message::Alive | Message::Replaced | Message::Text { .. } => {}
        }
    }
}

/// The same for work in this process.
pub(crate) struct ProgressNotes(std::sync::Mutex<Progress>);

impl ProgressNotes {
    pub fn new(printer: Printer) -> Self {
        Self::masked(printer, Arc::default())
    }

    /// The same, with the values of secrets masked.
    pub fn masked(printer: Printer, secrets: Arc<Secrets>) -> Self {
        Self(std::sync::Mutex::new(Progress::masked(printer, secrets)))
    }

    fn hear(&self, message: Message) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).hear(message);
    }
}

impl surehand_browser::Notes for ProgressNotes {
    fn note(&self, line: &str) {
        self.hear(Message::Note(line.to_owned()));
    }

    fn progress(&self, what: &str, done: u64, total: Option<u64>) {
        self.hear(Message::Progress { what: what.to_owned(), done, total });
    }
}
