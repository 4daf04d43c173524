//! Numbers that a page knows about its own loading, read by a script.

use serde::Deserialize;
use surehand_page::{Deadline, Error, Page};

use super::Unit;
use super::dsl::Observed;
use super::evidence::{Known, Measured, Unknown};

/// What can be asked for, and what it is measured in.
const METRICS: &[(&str, Unit)] = &[
    ("load", Unit::Ms),
    ("domcontentloaded", Unit::Ms),
    ("first-contentful-paint", Unit::Ms),
    ("largest-contentful-paint", Unit::Ms),
    ("transfer-size", Unit::Bytes),
    ("request-count", Unit::Count),
    ("dom-nodes", Unit::Count),
    ("js-heap", Unit::Bytes),
];

/// Answers `{value}`, with `is_part` where the page does not remember everything, or `{why}`. What the browser keeps of
/// resources is limited to 250 unless the page wants more.
const SCRIPT: &str = r"(async (metric) => {
  const navigation = performance.getEntriesByType('navigation')[0];
  const resources = performance.getEntriesByType('resource');
  const isPart = resources.length >= 250;
  const after = (value, why) => (value > 0 ? { value } : { why });
  const painted = () => new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0));
    observer.observe({ type: 'largest-contentful-paint', buffered: true });
    setTimeout(() => { observer.disconnect(); resolve(0); }, 250);
  });
  switch (metric) {
    case 'load': return after(navigation?.loadEventEnd, 'the page has not finished loading');
    case 'domcontentloaded': return after(navigation?.domContentLoadedEventEnd, 'the document is not complete yet');
    case 'first-contentful-paint':
      return after(performance.getEntriesByName('first-contentful-paint')[0]?.startTime, 'nothing has been painted yet');
    case 'largest-contentful-paint': return after(await painted(), 'nothing has been painted yet');
    case 'transfer-size': {
      const sum = resources.reduce((sum, one) => sum + one.transferSize, navigation?.transferSize ?? 0);
      return { value: sum, is_part: isPart };
    }
    case 'request-count': return { value: resources.length + (navigation ? 1 : 0), is_part: isPart };
    case 'dom-nodes': return { value: document.getElementsByTagName('*').length };
    case 'js-heap': return after(performance.memory?.usedJSHeapSize, 'the browser does not tell');
  }
})";

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answer {
    Value {
        value: f64,
        #[serde(default)]
        is_part: bool,
    },
    Why {
        why: String,
    },
}

/// Reads a metric of the main frame's document.
pub(super) async fn read(page: &Page, metric: &str, unit: Unit, deadline: &Deadline) -> Known<Measured> {
    let Some((_, measured_in)) = METRICS.iter().find(|(name, _)| *name == metric) else {
        let known: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
        let reason = format!("there is no metric {metric:?}; metrics are {}", known.join(", "));
        return Err(Unknown::wrong("metric", reason));
    };
    if measured_in.convert(0.0, unit).is_none() {
        let reason = format!("{metric} is measured in {}, not in {}", measured_in.name(), unit.name());
        return Err(Unknown::wrong("unit", reason));
    }
    let expression = format!("{SCRIPT}({})", serde_json::Value::from(metric));
    let answer = page.peek(&expression, deadline).await.map_err(unknown)?;
    match serde_json::from_str(answer.result.get()) {
        Ok(Answer::Value { value, is_part }) => {
            let value = measured_in.convert(value, unit).unwrap_or(value);
            // The page's clock has no more digits; what looks like them is arithmetic.
            let value = (value * 10_000.0).round() / 10_000.0;
            let observed = if is_part { Observed::AtLeast(value) } else { Observed::Exactly(value) };
            Ok(Measured { observed, age_ms: Some(0.0) })
        }
        Ok(Answer::Why { why }) => Err(Unknown::because(why)),
        Err(error) => Err(Unknown::because(format!("the page answered something unexpected: {error}"))),
    }
}

/// Why the page did not answer.
pub(super) fn unknown(error: Error) -> Unknown {
    match &error {
        Error::BadSelector { .. } => Unknown::wrong("selector", error.to_string()),
        Error::DialogOpen(dialog) => open_dialog(dialog),
        _ => Unknown::because(error.to_string()),
    }
}

/// A dialog stops the page's scripts, and with them every look at it.
pub(super) fn open_dialog(dialog: &surehand_page::Dialog) -> Unknown {
    let surehand_page::Dialog { kind, message, .. } = dialog;
    Unknown::because(format!("a {kind} dialog is open and blocks the page: {message:?}; answer it first"))
}
