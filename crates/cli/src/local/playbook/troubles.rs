//! What goes wrong around a run: it is told beside what ran, never instead of it.

use std::process::ExitCode;

use surehand_report::Trouble;
use surehand_session::Fault;

use crate::printer::Printer;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Troubles(Vec<Fault>);

/// Something was out of reach: a server, a browser, a file.
const OUT_OF_REACH: u8 = 3;

impl Troubles {
    pub fn of(fault: Option<&Fault>) -> Self {
        Self(fault.cloned().into_iter().collect())
    }

    /// Notes a failure and goes on.
    pub fn note(&mut self, done: Result<(), Fault>) {
        self.0.extend(done.err());
    }

    /// All of it as one, under the code of the first, as reports have it.
    pub fn told(&self) -> Option<Trouble> {
        let first = self.0.first()?;
        let messages: Vec<&str> = self.0.iter().map(|fault| fault.message.as_str()).collect();
        let hints = self.0.iter().flat_map(|fault| fault.hints.clone()).collect();
        Some(Trouble { code: first.kind.code().to_owned(), message: messages.join("; "), hints })
    }

    /// Tells a person, and ends with the exit code that all this has; without troubles with that of the results.
    pub fn end(&self, printer: &Printer, results: u8) -> ExitCode {
        for fault in &self.0 {
            printer.trouble(fault);
        }
        ExitCode::from(if self.0.is_empty() { results } else { OUT_OF_REACH })
    }
}
