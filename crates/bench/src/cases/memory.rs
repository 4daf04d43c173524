//! What the daemon keeps in memory, the browser not included.

use anyhow::{Context, Result};
use surehand_testkit::processes;

use super::Case;
use crate::bench::Bench;
use crate::measure::{Amount, Limit, Row};
use crate::pages::{LIST_SIZES, list_path};

const LIMIT: Limit = Limit::Under(Amount::Bytes(20_000_000));

pub struct Memory;

impl Case for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn about(&self) -> &'static str {
        "resident memory of a fresh daemon with one session that was used"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let row = |what: &str, ours, limit| Row {
            case: self.name().into(),
            what: what.into(),
            floor: None,
            ours,
            limit,
        };
        if bench.subject.is_none() {
            return Ok(vec![row(self.about(), None, LIMIT)]);
        }
        // What earlier cases left in the daemon is not one session's.
        bench.shut_down()?;
        bench.warm("/small")?;
        bench.ours(&["get", "url"])?;
        bench.ours(&["snapshot", "-i"])?;
        let small = resident(bench)?;
        bench.warm(&list_path(LIST_SIZES[2]))?;
        bench.ours(&["snapshot", "-i"])?;
        let large = resident(bench)?;
        Ok(vec![
            row(self.about(), Some(small), LIMIT),
            row("the same, after a snapshot of 20,000 elements", Some(large), Limit::None),
        ])
    }
}

fn resident(bench: &Bench) -> Result<Amount> {
    let daemon =
        bench.subject.as_ref().and_then(|subject| subject.daemon()).context("no daemon was found")?;
    let bytes = processes::resident_bytes(daemon).context("the daemon's memory cannot be read")?;
    Ok(Amount::Bytes(bytes))
}
