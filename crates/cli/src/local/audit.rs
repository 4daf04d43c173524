//! `audit`: what the service did, whether somebody changed the record, and throwing away what is old.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;
use surehand_server::{Home, Safe, store_fault};
use surehand_session::{Fault, Kind};
use surehand_store::{
    AuditFilter, AuditHead, AuditRow, Break, Pruned, Reason, Severity, Store, Timestamp, verify,
};

use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show what was done, newest first
    List(List),
    /// Check the chain of hashes: exit 1 if a row was changed, taken away or moved
    Verify {
        /// SEQ:HASH that an earlier check printed: the chain must still pass it
        #[arg(long, value_name = "SEQ:HASH")]
        anchor: Option<AuditHead>,
    },
    /// Throw the oldest rows away, and the record of how credentials were used then; the rest can still be checked
    Prune(Prune),
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Prune {
    /// What is earlier than this, e.g. 2026-11-16T10:00:00Z
    #[arg(long, value_name = "TIME")]
    before: Option<Timestamp>,
    /// What is older than so many days
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..))]
    keep: Option<u16>,
}

#[derive(Debug, Args)]
struct List {
    /// This time and later, e.g. 2026-11-16T10:00:00Z
    #[arg(long, value_name = "TIME")]
    from: Option<Timestamp>,
    /// Earlier than this
    #[arg(long, value_name = "TIME")]
    to: Option<Timestamp>,
    /// pack_call, action, egress, auth …
    #[arg(long, value_name = "TYPE")]
    event_type: Option<String>,
    /// Of this session
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// By this subject
    #[arg(long, value_name = "SUBJECT")]
    actor: Option<String>,
    /// info, warning or error
    #[arg(long)]
    severity: Option<Severity>,
    /// Of this request
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// How many rows
    #[arg(long, default_value_t = AuditFilter::USUAL, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

impl Audit {
    pub fn run(self, printer: &Printer) -> Result<ExitCode, Fault> {
        let safe = Safe::of(&Home::from_env()?);
        if !safe.exists() {
            return Err(Fault::new(Kind::MissingFile, "nothing was ever written down here")
                .hint("start the service with `surehand serve`, or set SUREHAND_HOME to where it ran"));
        }
        let store = safe.store()?;
        match self.action {
            Action::List(list) => {
                let rows = store.query_audit(&list.filter()).map_err(store_fault)?;
                let lines: Vec<String> = rows.iter().map(|row| in_one_line(&line(row))).collect();
                Ok(printer.result(&json!({ "entries": rows }), &lines.join("\n")))
            }
            Action::Verify { anchor } => {
                let found = verify(&*store, anchor.as_ref()).map_err(store_fault)?;
                if let Some(broken) = &found.broken {
                    return Err(changed(broken));
                }
                let value = serde_json::to_value(found).map_err(crate::internal)?;
                let before = found.pruned.as_ref().map(went).unwrap_or_default();
                let text = format!("{before}{} rows, whole; the last is {}", found.rows, found.head);
                Ok(printer.result(&value, &text))
            }
            Action::Prune(prune) => prune.run(&*store, printer),
        }
    }
}

/// Nobody who chooses a name writes lines of this list.
fn in_one_line(text: &str) -> String {
    text.chars().fold(String::new(), |mut line, character| {
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
        line
    })
}

fn changed(broken: &Break) -> Fault {
    match broken.reason {
        Reason::AnchorPruned => Fault::new(Kind::CheckFailed, broken.to_string())
            .hint("check without --anchor, and note what is printed then"),
        _ => Fault::new(Kind::CheckFailed, format!("the record was changed: {broken}"))
            .hint("compare with a copy; rows before this one are as they were written"),
    }
}

/// A line about rows that are not there any more.
fn went(pruned: &Pruned) -> String {
    format!("{} rows were pruned, all before {}\n", pruned.last.seq, pruned.before)
}

impl Prune {
    fn run(&self, store: &dyn Store, printer: &Printer) -> Result<ExitCode, Fault> {
        let before = self.time()?;
        // Who changed something must not get rid of it in this way.
        let found = verify(store, None).map_err(store_fault)?;
        if let Some(broken) = &found.broken {
            return Err(changed(broken).hint("nothing was pruned"));
        }
        let pruning = store.prune_audit(before).map_err(store_fault)?;
        let value = serde_json::to_value(pruning).map_err(crate::internal)?;
        let text = format!(
            "{} rows and {} uses of credentials before {before} were pruned; the last row is {}",
            pruning.rows, pruning.usage, pruning.head
        );
        Ok(printer.result(&value, &text))
    }

    fn time(&self) -> Result<Timestamp, Fault> {
        const DAY: i64 = 86_400_000;
        let now = Timestamp::now();
        match (self.before, self.keep) {
            (Some(before), _) if before > now => {
                Err(Fault::new(Kind::Usage, format!("{before} is in the future"))
                    .hint("--before takes a time that is over"))
            }
            (Some(before), _) => Ok(before),
            (None, keep) => {
                Ok(Timestamp::from_millis(now.millis() - i64::from(keep.unwrap_or(u16::MAX)) * DAY))
            }
        }
    }
}

impl List {
    fn filter(self) -> AuditFilter {
        AuditFilter {
            from: self.from,
            to: self.to,
            event_type: self.event_type,
            session_id: self.session_id,
            actor_subject: self.actor,
            severity: self.severity,
            request_id: self.request_id,
            limit: Some(self.limit),
            ..AuditFilter::default()
        }
    }
}

fn line(row: &AuditRow) -> String {
    let entry = &row.entry;
    let words = [
        Some(row.seq.to_string()),
        Some(entry.ts.to_string()),
        Some(entry.severity.to_string()),
        Some(entry.event_type.clone()),
        entry.actor_subject.clone(),
        entry.method.clone(),
        entry.path.clone(),
        entry.status.map(|status| status.to_string()),
        entry.duration_ms.map(|time| format!("{time} ms")),
        entry.code.clone(),
        entry.cause.clone(),
        Some(entry.payload.as_str().to_owned()).filter(|payload| payload != "{}"),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join("  ")
}
