//! `click`: what its checks and waits add to the bare events of the mouse, alone and in a long batch.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Case, cheap_rounds, interleave, open_hands, timed};
use crate::bench::Bench;
use crate::measure::{FRAME, Limit, Row, Samples};
use crate::raw::RawPage;

/// Two frames in which the element must be at rest, and the calls besides.
const LIMIT: Limit = Limit::Above(2.0 * FRAME + 2.0);

const BATCH: u32 = 1000;

const MIDDLE: &str = "(() => { const box = document.querySelector('#go').getBoundingClientRect(); \
    return [box.x + box.width / 2, box.y + box.height / 2] })()";

pub struct Click;

impl Case for Click {
    fn name(&self) -> &'static str {
        "click"
    }

    fn about(&self) -> &'static str {
        "`click` in the daemon, against raw mouse events: moved, pressed, released"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let page = open_hands(bench)?;
        let middle = middle(bench, &page)?;
        let rounds = cheap_rounds(bench);
        let [floor, ours] = interleave(
            bench,
            rounds,
            [
                &|bench| {
                    let raw = bench.raw()?;
                    Ok(Some(timed(|| page.click(raw, middle))?.0))
                },
                &|bench| {
                    let asked = bench.asked(&json!({"click": {"selector": "#go"}}))?;
                    Ok(asked.map(|asked| asked.elapsed))
                },
            ],
        )?;
        count_clicks(bench, &page, rounds + 1)?;
        page.close(bench.raw()?)?;
        Ok(vec![row(self, &floor, &ours)])
    }
}

pub struct ClickBatch;

impl Case for ClickBatch {
    fn name(&self) -> &'static str {
        "click-batch"
    }

    fn about(&self) -> &'static str {
        "each `click` of a `batch` of 1,000, against as many raw clicks"
    }

    /// One round: it takes a minute. The raw clicks come half before and half after it.
    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let page = open_hands(bench)?;
        let middle = middle(bench, &page)?;
        let (mut floor, mut ours) = (Samples::default(), Samples::default());
        let half = |bench: &mut Bench| -> Result<Duration> {
            let raw = bench.raw()?;
            Ok(timed(|| (0..BATCH / 2).try_for_each(|_| page.click(raw, middle)))?.0)
        };
        let before = half(bench)?;
        let commands = vec!["click #go"; BATCH as usize];
        if let Some(asked) = bench.asked(&json!({"batch": {"commands": commands}}))? {
            ours.push(asked.elapsed / BATCH);
        }
        floor.push((before + half(bench)?) / BATCH);
        count_clicks(bench, &page, BATCH)?;
        page.close(bench.raw()?)?;
        Ok(vec![row(self, &floor, &ours)])
    }
}

fn row(case: &dyn Case, floor: &Samples, ours: &Samples) -> Row {
    Row {
        case: case.name().into(),
        what: case.about().into(),
        floor: floor.median(),
        ours: ours.median(),
        limit: LIMIT,
    }
}

fn middle(bench: &mut Bench, page: &RawPage) -> Result<(f64, f64)> {
    let point = page.evaluate(bench.raw()?, MIDDLE)?;
    let part = |index: usize| point[index].as_f64().context("the button has no box");
    Ok((part(0)?, part(1)?))
}

/// Clicks that do not arrive would be fast: each page must have seen every one.
fn count_clicks(bench: &mut Bench, page: &RawPage, wanted: u32) -> Result<()> {
    let check = |who: &str, seen: &Value| {
        ensure!(*seen == wanted, "{who} page saw {seen} of {wanted} clicks");
        Ok(())
    };
    check("the raw", &page.evaluate(bench.raw()?, "clicks")?)?;
    match bench.asked(&json!({"eval": {"script": "clicks"}}))? {
        Some(asked) => check("the product's", &asked.data["result"]),
        None => Ok(()),
    }
}
