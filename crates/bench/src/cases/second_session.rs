//! Another session beside a running one: a context, a tab and a page.

use std::cell::Cell;
use std::time::Instant;

use anyhow::Result;

use super::{Case, interleave};
use crate::bench::Bench;
use crate::measure::{Limit, Row};
use crate::options::ROUNDS;
use crate::raw::RawPage;

const LIMIT: Limit = Limit::Times(1.5);

pub struct SecondSession;

impl Case for SecondSession {
    fn name(&self) -> &'static str {
        "second-session"
    }

    fn about(&self) -> &'static str {
        "`--session NEW open` less process start, against raw context + tab + navigation to load"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let url = bench.site.url("/small");
        bench.warm("/small")?;
        bench.raw()?;

        let number = Cell::new(0);
        let rounds = bench.options.rounds(ROUNDS);
        let [floor, begun, whole] = interleave(
            bench,
            rounds,
            [
                &|bench| {
                    let raw = bench.raw()?;
                    let started = Instant::now();
                    let page = RawPage::open_isolated(raw)?;
                    page.navigate(raw, &url)?;
                    let elapsed = started.elapsed();
                    page.close(raw)?;
                    Ok(Some(elapsed))
                },
                &|bench| bench.process_start(),
                &|bench| {
                    let Some(subject) = &bench.subject else { return Ok(None) };
                    number.set(number.get() + 1);
                    let session = format!("s{}", number.get());
                    let called = subject.call(Some(&session), &["open", &url])?;
                    subject.call(Some(&session), &["close"])?;
                    Ok(Some(called.elapsed))
                },
            ],
        )?;
        let row = |what: &str, ours, limit| Row {
            case: self.name().into(),
            what: what.into(),
            floor: floor.median(),
            ours,
            limit,
        };
        Ok(vec![
            row(self.about(), whole.less(&begun).median(), LIMIT),
            row("the same, process start included", whole.median(), Limit::None),
        ])
    }
}
