//! `fill`: what the daemon's checks add to the calls that fill a field.

use std::cell::Cell;

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Case, cheap_rounds, interleave, open_hands, timed};
use crate::bench::Bench;
use crate::measure::{Limit, Row};

const LIMIT: Limit = Limit::Above(2.0);

const SELECT: &str =
    "(() => { const field = document.querySelector('#field'); field.focus(); field.select() })()";
const VALUE: &str = "document.querySelector('#field').value";

pub struct Fill;

impl Case for Fill {
    fn name(&self) -> &'static str {
        "fill"
    }

    fn about(&self) -> &'static str {
        "`fill` in the daemon, against raw focus and select + Input.insertText + reading back"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let page = open_hands(bench)?;
        let number = Cell::new(0);
        let next = || {
            number.set(number.get() + 1);
            format!("Text {}", number.get())
        };
        let rounds = cheap_rounds(bench);
        let [floor, ours] = interleave(
            bench,
            rounds,
            [
                &|bench| {
                    let (raw, text) = (bench.raw()?, next());
                    let (elapsed, value) = timed(|| {
                        page.evaluate(raw, SELECT)?;
                        page.insert_text(raw, &text)?;
                        page.evaluate(raw, VALUE)
                    })?;
                    ensure!(value == text.as_str(), "the raw field holds {value}");
                    Ok(Some(elapsed))
                },
                &|bench| {
                    let text = next();
                    let fill = json!({"fill": {"selector": "#field", "value": text}});
                    let Some(asked) = bench.asked(&fill)? else { return Ok(None) };
                    let read = bench.asked(&json!({"eval": {"script": VALUE}}))?;
                    ensure!(read.is_some_and(|it| it.data["result"] == text.as_str()), "not filled: {text}");
                    Ok(Some(asked.elapsed))
                },
            ],
        )?;
        page.close(bench.raw()?)?;
        Ok(vec![Row {
            case: self.name().into(),
            what: self.about().into(),
            floor: floor.median(),
            ours: ours.median(),
            limit: LIMIT,
        }])
    }
}
