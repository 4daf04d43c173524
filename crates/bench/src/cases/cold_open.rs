//! `open` from nothing: no daemon, no browser, no profile.

use std::time::Instant;

use anyhow::Result;

use super::{Case, interleave};
use crate::bench::Bench;
use crate::measure::{Limit, Row};
use crate::raw::RawPage;

const LIMIT: Limit = Limit::Times(1.2);
const ROUNDS: u32 = 9;

pub struct ColdOpen;

impl Case for ColdOpen {
    fn name(&self) -> &'static str {
        "cold-open"
    }

    fn about(&self) -> &'static str {
        "`open` with daemon and browser down, against raw launch (same arguments) + navigation to load"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let url = bench.site.url("/small");
        // Asked for now, because it may take a running product to know; then nothing else may run.
        bench.launch()?;
        bench.shut_down()?;
        bench.close_raw();

        let rounds = bench.options.rounds(ROUNDS);
        let [floor, ours] = interleave(
            bench,
            rounds,
            [
                &|bench| {
                    let started = Instant::now();
                    let mut raw = bench.launch_raw()?;
                    let page = RawPage::open(&mut raw)?;
                    page.navigate(&mut raw, &url)?;
                    let elapsed = started.elapsed();
                    drop(raw);
                    Ok(Some(elapsed))
                },
                &|bench| {
                    let called = bench.ours(&["open", &url])?;
                    bench.shut_down()?;
                    Ok(called.map(|called| called.elapsed))
                },
            ],
        )?;
        Ok(vec![Row {
            case: self.name().into(),
            what: self.about().into(),
            floor: floor.median(),
            ours: ours.median(),
            limit: LIMIT,
        }])
    }
}
