//! The smallest command, warm: what the CLI, the socket and the daemon add to one round trip.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::{Case, cheap_rounds, interleave};
use crate::bench::Bench;
use crate::measure::{Limit, Row};
use crate::raw::RawPage;

const LIMIT: Limit = Limit::Above(2.0);

pub struct GetUrl;

impl Case for GetUrl {
    fn name(&self) -> &'static str {
        "get-url"
    }

    fn about(&self) -> &'static str {
        "warm `get url`, process start included, against `--version` + one raw Runtime.evaluate"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let url = bench.site.url("/small");
        bench.warm("/small")?;
        let raw = bench.raw()?;
        let page = RawPage::open(raw)?;
        page.navigate(raw, &url)?;

        let rounds = cheap_rounds(bench);
        let [start, trip, ours] = interleave(
            bench,
            rounds,
            [
                &|bench| bench.process_start(),
                &|bench| {
                    let raw = bench.raw()?;
                    let started = Instant::now();
                    let value = page.evaluate(raw, "location.href")?;
                    let elapsed = started.elapsed();
                    ensure!(value == url.as_str(), "the raw page is at {value}");
                    Ok(Some(elapsed))
                },
                &|bench| {
                    let Some(called) = bench.ours(&["get", "url"])? else { return Ok(None) };
                    ensure!(called.stdout.contains(&url), "`get url` printed {:?}", called.stdout);
                    Ok(Some(called.elapsed))
                },
            ],
        )?;
        page.close(bench.raw()?)?;

        let row = |what: &str, floor, ours, limit| Row {
            case: self.name().into(),
            what: what.into(),
            floor,
            ours,
            limit,
        };
        Ok(vec![
            row(self.about(), start.plus(&trip).median(), ours.median(), LIMIT),
            row("of that, one raw Runtime.evaluate", trip.median(), None, Limit::None),
            row("of that, `--version`", start.median(), None, Limit::None),
        ])
    }
}
