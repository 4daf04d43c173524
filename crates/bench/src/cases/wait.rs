//! `wait SELECTOR`: how long after the change the answer is there.

use std::cell::Cell;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde_json::json;

use super::{Case, cheap_rounds, interleave, open_hands, timed};
use crate::bench::Bench;
use crate::measure::{FRAME, Limit, Row};

const LIMIT: Limit = Limit::Above(FRAME);

pub struct Wait;

impl Case for Wait {
    fn name(&self) -> &'static str {
        "wait"
    }

    fn about(&self) -> &'static str {
        "from an element's appearance (the page's clock) to the answer of `wait`, against one raw round trip"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let page = open_hands(bench)?;
        let round = Cell::new(0_u32);
        let rounds = cheap_rounds(bench);
        let [floor, ours] = interleave(
            bench,
            rounds,
            [
                &|bench| {
                    let raw = bench.raw()?;
                    Ok(Some(timed(|| page.evaluate(raw, "document.title"))?.0))
                },
                &|bench| {
                    // Long enough for the wait to be in place, and at another time of a frame in each round.
                    round.set(round.get() + 1);
                    let delay = 60 + round.get() * 7 % 17;
                    bench.asked(&json!({"eval": {"script": format!("showLater({delay})")}}))?;
                    let Some(asked) = bench.asked(&json!({"wait": {"target": "#late"}}))? else {
                        return Ok(None);
                    };
                    let noted = bench.asked(&json!({"eval": {"script": "changed"}}))?;
                    let changed = noted.and_then(|it| it.data["result"].as_u64()).context("no time noted")?;
                    let changed = UNIX_EPOCH + Duration::from_millis(changed);
                    Ok(Some(asked.answered.duration_since(changed).context("the answer came too early")?))
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
            row(self.about(), floor.median(), ours.median(), LIMIT),
            row("the slowest of them", None, ours.largest(), Limit::None),
        ])
    }
}
