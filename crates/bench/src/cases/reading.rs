//! The smallest questions to a page: what the daemon adds to one round trip.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Case, cheap_rounds, interleave, open_hands, timed};
use crate::bench::Bench;
use crate::measure::{Limit, Row};

const LIMIT: Limit = Limit::Above(1.0);

/// A verb that reads, what it says on the page, and the expression with the same answer.
pub struct Reading {
    name: &'static str,
    about: &'static str,
    command: Value,
    /// Where in the verb's data the answer is.
    place: &'static str,
    expression: &'static str,
}

/// One case per verb.
pub fn all() -> Vec<Box<dyn Case>> {
    vec![
        Box::new(Reading {
            name: "get-text",
            about: "`get text` in the daemon, against one raw Runtime.evaluate",
            command: json!({"get": {"what": {"text": {"selector": "#text"}}}}),
            place: "/text",
            expression: "document.querySelector('#text').innerText",
        }),
        Box::new(Reading {
            name: "is-visible",
            about: "`is visible` in the daemon, against one raw Runtime.evaluate",
            command: json!({"is": {"state": "visible", "selector": "#text"}}),
            place: "/visible",
            expression: "document.querySelector('#text').checkVisibility()",
        }),
        Box::new(Reading {
            name: "eval",
            about: "`eval` in the daemon, against one raw Runtime.evaluate",
            command: json!({"eval": {"script": "document.title"}}),
            place: "/result",
            expression: "document.title",
        }),
    ]
}

impl Case for Reading {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let page = open_hands(bench)?;
        let answer = page.evaluate(bench.raw()?, self.expression)?;
        let rounds = cheap_rounds(bench);
        let [floor, ours] = interleave(
            bench,
            rounds,
            [
                &|bench| {
                    let raw = bench.raw()?;
                    let (elapsed, value) = timed(|| page.evaluate(raw, self.expression))?;
                    ensure!(value == answer, "the raw page said {value}");
                    Ok(Some(elapsed))
                },
                &|bench| {
                    let Some(asked) = bench.asked(&self.command)? else { return Ok(None) };
                    let value = asked.data.pointer(self.place).context("no answer")?;
                    ensure!(*value == answer, "`{}` said {}", self.name, asked.data);
                    Ok(Some(asked.elapsed))
                },
            ],
        )?;
        page.close(bench.raw()?)?;
        Ok(vec![Row {
            case: self.name.into(),
            what: self.about.into(),
            floor: floor.median(),
            ours: ours.median(),
            limit: LIMIT,
        }])
    }
}
