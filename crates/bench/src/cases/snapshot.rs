//! `snapshot -i` of list pages: what it adds to reading every element once.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::{Case, interleave};
use crate::bench::Bench;
use crate::measure::{Limit, Row, Samples};
use crate::options::ROUNDS;
use crate::ours::Called;
use crate::pages::list_path;
use crate::raw::{RawPage, WALK};

/// Against one raw walk.
const LIMIT: Limit = Limit::Times(2.0);

/// Against the whole accessibility tree, on the largest page.
const TREE_LIMIT: Limit = Limit::Times(0.1);
const TREE_AT: usize = 20_000;
const TREE_ROUNDS: u32 = 3;

pub struct Snapshot {
    pub elements: usize,
}

impl Case for Snapshot {
    fn name(&self) -> &'static str {
        match self.elements {
            400 => "snapshot-400",
            4_000 => "snapshot-4000",
            _ => "snapshot-20000",
        }
    }

    fn about(&self) -> &'static str {
        "`snapshot -i` less process start, against one raw in-page walk"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let path = list_path(self.elements);
        let url = bench.site.url(&path);
        bench.warm(&path)?;
        let raw = bench.raw()?;
        let page = RawPage::open(raw)?;
        page.navigate(raw, &url)?;

        let walk = |bench: &mut Bench| {
            let raw = bench.raw()?;
            let started = Instant::now();
            let value = page.evaluate(raw, WALK)?;
            let elapsed = started.elapsed();
            let lines = value.as_str().map_or(0, |text| text.lines().count());
            ensure!(lines >= self.elements, "the raw walk saw {lines} elements");
            Ok(Some(elapsed))
        };
        let start = |bench: &mut Bench| bench.process_start();
        let ours = |bench: &mut Bench| {
            let Some(called) = bench.ours(&["snapshot", "-i"])? else { return Ok(None) };
            self.check(&called)?;
            Ok(Some(called.elapsed))
        };

        let rounds = bench.options.rounds(ROUNDS);
        let [floor, begun, whole] = interleave(bench, rounds, [&walk, &start, &ours])?;
        let mut rows = vec![
            self.row(self.about(), &floor, &whole.less(&begun), LIMIT),
            self.row("the same, process start included", &floor, &whole, Limit::None),
        ];
        if self.elements == TREE_AT {
            let tree = |bench: &mut Bench| {
                let raw = bench.raw()?;
                let started = Instant::now();
                let tree = page.accessibility_tree(raw)?;
                let elapsed = started.elapsed();
                ensure!(tree.get().len() > self.elements * 100, "a small tree: {} bytes", tree.get().len());
                Ok(Some(elapsed))
            };
            let rounds = bench.options.rounds(TREE_ROUNDS);
            let [floor, begun, whole] = interleave(bench, rounds, [&tree, &start, &ours])?;
            let what = "the same, against raw Accessibility.getFullAXTree";
            rows.push(self.row(what, &floor, &whole.less(&begun), TREE_LIMIT));
        }
        page.close(bench.raw()?)?;
        Ok(rows)
    }
}

impl Snapshot {
    fn row(&self, what: &str, floor: &Samples, ours: &Samples, limit: Limit) -> Row {
        Row { case: self.name().into(), what: what.into(), floor: floor.median(), ours: ours.median(), limit }
    }

    /// A snapshot that leaves things out would be fast: every link and every button must be there.
    fn check(&self, called: &Called) -> Result<()> {
        let last = self.elements / 4 - 1;
        for role in ["link \"Item", "button \"Buy"] {
            let count = called
                .stdout
                .lines()
                .filter(|line| line.trim_start().starts_with(&format!("- {role} ")))
                .count();
            ensure!(count == last + 1, "{count} of {} lines begin with `- {role}`", last + 1);
        }
        ensure!(called.stdout.contains(&format!("Buy {last}\"")), "the last button is missing");
        Ok(())
    }
}
