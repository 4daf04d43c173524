//! Judging a single assertion.

use serde_json::{Map, Value, json};

use super::dsl::{Observed, number};
use super::evidence::{Entries, Known, Said, Sent, Unknown};
use super::logic::{Found, Verdict};
use super::pattern::Fit;
use super::{Assertion, Comparison, Evidence, Pattern, Since, Unit, phash};

/// As much of a text as evidence shows.
const PREVIEW: usize = 240;

/// As many entries of a log as evidence shows.
const SHOWN: usize = 5;

/// Judges anything but `and`, `or` and `not`.
pub(super) async fn find<E: Evidence>(assertion: &Assertion, evidence: &E) -> Found {
    // What is expected is part of the evidence, so that it can be read alone.
    let details = match assertion.expected() {
        Value::Object(expected) => expected,
        _ => Map::new(),
    };
    let found = match assertion {
        Assertion::Url { pattern } => url(pattern, evidence).await,
        Assertion::DomText { selector, text, .. } => dom_text(selector, text, evidence).await,
        Assertion::DomCount { selector, wanted } => dom_count(selector, *wanted, evidence).await,
        Assertion::Network { url, status_in, since } => network(url, status_in, *since, evidence).await,
        Assertion::NoDialog => no_dialog(evidence).await,
        Assertion::Console { kind, message, uncaught, wanted, max_age_ms } => {
            match evidence.console().await {
                Ok(said) => {
                    let shown = |text: &str| preview(&evidence.masked(text));
                    let (kind, message) = (kind.as_deref(), message.as_ref());
                    console(&said, kind, message, *uncaught, *wanted, *max_age_ms, shown)
                }
                Err(why) => Err(why),
            }
        }
        Assertion::Performance { metric, unit, wanted, max_age_ms } => {
            performance(metric, *unit, *wanted, *max_age_ms, evidence).await
        }
        Assertion::ScreenshotClass { class_id, distance_max } => {
            screenshot_class(class_id, *distance_max, evidence).await
        }
        Assertion::And(_) | Assertion::Or(_) | Assertion::Not(_) => {
            Err(Unknown::because(format!("{} is no single assertion", assertion.kind())))
        }
    };
    match found {
        Ok(Seen { holds, actual, more, doubt }) => {
            let verdict = holds.map_or(Verdict::Inconclusive, Verdict::from);
            let why = holds.is_none().then(|| Unknown::because(doubt));
            Found { verdict, actual, details: joined(details, more), why }
        }
        Err(why) => Found { verdict: Verdict::Inconclusive, actual: Value::Null, details, why: Some(why) },
    }
}

/// What was seen.
struct Seen {
    /// Does it hold? `None` when what is known does not tell, and then `doubt` says why.
    holds: Option<bool>,
    /// What there is, for a failure.
    actual: Value,
    /// More details.
    more: Value,
    doubt: String,
}

impl Seen {
    fn clear(holds: bool, actual: Value, more: Value) -> Self {
        Self { holds: Some(holds), actual, more, doubt: String::new() }
    }
}

fn joined(mut details: Map<String, Value>, more: Value) -> Map<String, Value> {
    if let Value::Object(more) = more {
        details.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
    }
    details
}

async fn url<E: Evidence>(pattern: &Pattern, evidence: &E) -> Known<Seen> {
    let url = evidence.url().await?;
    Ok(Seen::clear(pattern.fits(&url), json!(url), json!({ "url": url })))
}

async fn dom_text<E: Evidence>(selector: &str, wanted: &Pattern, evidence: &E) -> Known<Seen> {
    let Some(found) = evidence.text(selector).await? else {
        return Ok(Seen::clear(false, Value::Null, json!({ "matches": 0 })));
    };
    let fit = wanted.fit(&found.text);
    let shown = json!({ "text_preview": preview(&evidence.masked(&found.text)), "text_length": found.text.chars().count() });
    let mut more = shown.clone();
    more["matches"] = json!(found.matches);
    more["matched_as"] = json!(fit.map(Fit::name));
    Ok(Seen::clear(fit.is_some(), shown, more))
}

async fn dom_count<E: Evidence>(selector: &str, wanted: Comparison, evidence: &E) -> Known<Seen> {
    let count = evidence.count(selector).await?;
    let holds = wanted.holds(Observed::Exactly(count as f64)).unwrap_or(false);
    Ok(Seen::clear(holds, json!({ "count": count }), json!({ "observed": count })))
}

async fn network<E: Evidence>(url: &Pattern, status_in: &[u16], since: Since, evidence: &E) -> Known<Seen> {
    let requests = evidence.requests(since).await?;
    let at_address: Vec<&Sent> = requests.entries.iter().filter(|sent| url.fits(&sent.url)).collect();
    let wanted =
        |sent: &&&Sent| sent.status.is_some_and(|s| status_in.iter().any(|one| i64::from(*one) == s));
    let matched: Vec<&&Sent> = at_address.iter().filter(wanted).collect();
    let show = |sent: &Sent| json!({ "url": preview(&evidence.masked(&sent.url)), "status": sent.status });
    let near: Vec<Value> = at_address.iter().rev().take(SHOWN).map(|sent| show(sent)).collect();
    let more = json!({
        "matched_count": matched.len(),
        "scanned_count": requests.entries.len(),
        "dropped_count": (requests.dropped > 0).then_some(requests.dropped),
        "last_match": matched.last().map(|sent| show(sent)),
    });
    let actual = json!({ "scanned_count": requests.entries.len(), "to_that_address": near });
    // A request that was forgotten may have been the one.
    let holds = if matched.is_empty() && requests.dropped > 0 { None } else { Some(!matched.is_empty()) };
    let doubt = format!("{} older requests are not recorded any more", requests.dropped);
    Ok(Seen { holds, actual, more, doubt })
}

async fn no_dialog<E: Evidence>(evidence: &E) -> Known<Seen> {
    let dialog = evidence.dialog().await?;
    let more = json!({ "dialog_open": dialog.is_some(), "dialog": dialog });
    Ok(Seen::clear(dialog.is_none(), more.clone(), more))
}

fn console(
    said: &Entries<Said>,
    kind: Option<&str>,
    message: Option<&Pattern>,
    uncaught: Option<bool>,
    wanted: Comparison,
    max_age_ms: Option<u64>,
    shown: impl Fn(&str) -> String,
) -> Known<Seen> {
    let is_meant = |one: &&Said| {
        kind.is_none_or(|kind| one.kind == kind)
            && message.is_none_or(|message| message.fits(&one.text))
            && uncaught.is_none_or(|uncaught| one.uncaught == uncaught)
    };
    let mut meant: Vec<&Said> = said.entries.iter().filter(is_meant).collect();
    let mut dropped = said.dropped;
    if let Some(limit) = max_age_ms {
        if meant.iter().any(|one| one.age_ms.is_none()) {
            return Err(Unknown::because("max_age_ms: the messages do not say how old they are"));
        }
        let is_old = |one: &Said| one.age_ms.is_some_and(|age| age > limit as f64);
        if limit as f64 <= said.complete_ms {
            dropped = 0;
        }
        meant.retain(|one| !is_old(one));
    }
    let count = meant.len() as f64;
    let observed = if dropped > 0 { Observed::AtLeast(count) } else { Observed::Exactly(count) };
    let show =
        |one: &&Said| json!({ "type": one.kind, "message": shown(&one.text), "uncaught": one.uncaught });
    let messages: Vec<Value> = meant.iter().rev().take(SHOWN).map(show).collect();
    let more = json!({
        "observed": meant.len(),
        "dropped_count": (dropped > 0).then_some(dropped),
        "messages": messages,
    });
    let actual = json!({ "count": meant.len(), "messages": messages });
    let doubt = format!("{dropped} older messages are not recorded any more");
    Ok(Seen { holds: wanted.holds(observed), actual, more, doubt })
}

async fn performance<E: Evidence>(
    metric: &str,
    unit: Unit,
    wanted: Comparison,
    max_age_ms: Option<u64>,
    evidence: &E,
) -> Known<Seen> {
    let measured = evidence.metric(metric, unit).await?;
    if let Some(limit) = max_age_ms {
        match measured.age_ms {
            None => return Err(Unknown::because("max_age_ms: the measurement does not say how old it is")),
            Some(age) if age > limit as f64 => {
                return Err(Unknown::because(format!(
                    "the measurement is {age:.0} ms old, more than {limit} ms"
                )));
            }
            Some(_) => {}
        }
    }
    let (Observed::Exactly(value) | Observed::AtLeast(value)) = measured.observed;
    let is_part = matches!(measured.observed, Observed::AtLeast(_));
    Ok(Seen {
        holds: wanted.holds(measured.observed),
        actual: json!({ "value": number(value), "unit": unit.name() }),
        more: json!({ "observed": number(value), "is_lower_bound": is_part.then_some(true) }),
        doubt: format!("the page does not remember all of it: {value} or more"),
    })
}

async fn screenshot_class<E: Evidence>(class_id: &str, distance_max: u32, evidence: &E) -> Known<Seen> {
    let exemplars = evidence.class(class_id).await?;
    let picture = evidence.picture().await?;
    let hash =
        phash::of_png(&picture).map_err(|error| Unknown::because(format!("the screenshot: {error}")))?;
    let nearest = exemplars.iter().min_by_key(|exemplar| phash::distance(exemplar.hash, hash));
    let Some(nearest) = nearest else {
        return Err(Unknown::because(format!("class {class_id:?} has no reference picture")));
    };
    let distance = phash::distance(nearest.hash, hash);
    let more = json!({
        "distance": distance,
        "phash": format!("{hash:016x}"),
        "nearest_exemplar": nearest.name,
    });
    Ok(Seen::clear(distance <= distance_max, more.clone(), more))
}

fn preview(text: &str) -> String {
    text.chars().take(PREVIEW).collect()
}

#[cfg(test)]
#[path = "leaf_tests.rs"]
mod tests;
