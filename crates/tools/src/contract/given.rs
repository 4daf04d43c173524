//! Evidence that a caller hands in. What is not in it is not known.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use serde_json::{Map, Value};

use super::dsl::Observed;
use super::evidence::{Entries, Exemplar, Known, Measured, Said, Sent, Text, Unknown};
use super::{Classes, Evidence, Since, Unit};
use crate::Misfit;

/// What a snapshot may say.
const MEMBERS: &[&str] = &[
    "url",
    "dom_text",
    "dom_count",
    "network",
    "has_open_dialog",
    "console",
    "performance",
    "screenshot_png_base64",
];

/// See the module.
#[derive(Debug)]
pub struct Given<'a> {
    snapshot: Option<&'a Map<String, Value>>,
    classes: &'a Classes,
}

impl<'a> Given<'a> {
    /// `{snapshot: {…}}`
    pub fn new(evidence: &'a Value, classes: &'a Classes) -> Self {
        Self { snapshot: evidence.get("snapshot").and_then(Value::as_object), classes }
    }

    /// Members that no contract asks for.
    pub(crate) fn unknown_members(evidence: &Value) -> Vec<Misfit> {
        let strangers = |value: Option<&Value>, at: &str, known: &'static [&'static str]| {
            let names = value.and_then(Value::as_object).into_iter().flat_map(Map::keys);
            let unknown = names.filter(|name| !known.contains(&name.as_str()));
            let misfit = |name: &String| Misfit::unknown(name, format!("{at}/{name}"), known.iter().copied());
            unknown.map(misfit).collect::<Vec<_>>()
        };
        let mut found = strangers(Some(evidence), "/evidence", &["snapshot"]);
        found.extend(strangers(evidence.get("snapshot"), "/evidence/snapshot", MEMBERS));
        found
    }

    fn member(&self, name: &str) -> Known<&'a Value> {
        let Some(snapshot) = self.snapshot else {
            return Err(Unknown::because(
                "the evidence has no snapshot; leave the evidence out to judge the live tab",
            ));
        };
        snapshot.get(name).ok_or_else(|| Unknown::because(format!("evidence.snapshot has no {name}")))
    }

    fn list(&self, name: &str) -> Known<&'a Vec<Value>> {
        self.member(name)?.as_array().ok_or_else(|| is_no(name, "list"))
    }

    /// What a map in the evidence says about a selector.
    fn of_selector(&self, name: &str, selector: &str) -> Known<&'a Value> {
        let map = self.member(name)?.as_object().ok_or_else(|| is_no(name, "map of selectors"))?;
        map.get(selector)
            .ok_or_else(|| Unknown::because(format!("evidence.snapshot.{name} has no {selector:?}")))
    }
}

fn is_no(name: &str, sort: &str) -> Unknown {
    Unknown::because(format!("evidence.snapshot.{name} is no {sort}"))
}

fn text_of<'a>(entry: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| entry.get(name)?.as_str())
}

/// From `age_ms`, or from `timestamp` in milliseconds since 1970.
fn age_of(entry: &Value) -> Option<f64> {
    let number = |name: &str| entry.get(name).and_then(Value::as_f64);
    number("age_ms").or_else(|| Some((now_ms() - number("timestamp")?).max(0.0)))
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1000.0
}

impl Evidence for Given<'_> {
    async fn url(&self) -> Known<String> {
        self.member("url")?.as_str().map(str::to_owned).ok_or_else(|| is_no("url", "text"))
    }

    /// A bare text is the text of whatever the contract asks for; null means that it is not there.
    async fn text(&self, selector: &str) -> Known<Option<Text>> {
        let said = match self.member("dom_text")? {
            Value::Object(_) => self.of_selector("dom_text", selector)?,
            bare => bare,
        };
        match said {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(Text { text: text.clone(), matches: None })),
            _ => Err(is_no("dom_text", "text or map of texts")),
        }
    }

    async fn count(&self, selector: &str) -> Known<u64> {
        let count = self.of_selector("dom_count", selector)?;
        count.as_u64().ok_or_else(|| is_no("dom_count", "map of whole numbers"))
    }

    /// Whoever hands them in chose those that count: `since` means nothing here.
    async fn requests(&self, _: Since) -> Known<Entries<Sent>> {
        let read = |entry: &Value| {
            let url = text_of(entry, &["url"])?.to_owned();
            Some(Sent { url, status: entry.get("status").and_then(Value::as_i64) })
        };
        let entries = self.list("network")?.iter().map(read).collect::<Option<_>>();
        entries.map(Entries::all).ok_or_else(|| is_no("network", "list of {url, status}"))
    }

    async fn dialog(&self) -> Known<Option<String>> {
        let open = self.member("has_open_dialog")?.as_bool();
        let open = open.ok_or_else(|| is_no("has_open_dialog", "true or false"))?;
        Ok(open.then(|| "a dialog is open".to_owned()))
    }

    async fn console(&self) -> Known<Entries<Said>> {
        let mut entries = Vec::new();
        for entry in self.list("console")? {
            let (Some(kind), Some(text)) = (text_of(entry, &["type"]), text_of(entry, &["message", "text"]))
            else {
                return Err(is_no("console", "list of {type, message}"));
            };
            let kind = if kind == "warn" { "warning" } else { kind };
            let said = Said {
                kind: kind.to_owned(),
                text: text.to_owned(),
                uncaught: entry.get("uncaught").and_then(Value::as_bool).unwrap_or(false),
                age_ms: age_of(entry),
            };
            entries.push(said);
        }
        Ok(Entries::all(entries))
    }

    async fn metric(&self, metric: &str, unit: Unit) -> Known<Measured> {
        let list = self.list("performance")?;
        let named = |entry: &&Value| text_of(entry, &["metric", "name"]) == Some(metric);
        // The last one is the newest.
        let Some(entry) = list.iter().rev().find(named) else {
            return Err(Unknown::because(format!("evidence.snapshot.performance has no {metric:?}")));
        };
        let Some(value) = entry.get("value").and_then(Value::as_f64) else {
            return Err(is_no("performance", "list of {metric, unit, value}"));
        };
        let Some((_, given)) = Unit::NAMES.iter().find(|(name, _)| text_of(entry, &["unit"]) == Some(name))
        else {
            return Err(Unknown::because(format!(
                "evidence.snapshot.performance does not say the unit of {metric:?}"
            )));
        };
        let Some(value) = given.convert(value, unit) else {
            let reason = format!("{metric:?} is given in {}, not in {}", given.name(), unit.name());
            return Err(Unknown::wrong("unit", reason));
        };
        Ok(Measured { observed: Observed::Exactly(value), age_ms: age_of(entry) })
    }

    async fn picture(&self) -> Known<Vec<u8>> {
        let name = "screenshot_png_base64";
        let text = self.member(name)?.as_str().ok_or_else(|| is_no(name, "text"))?;
        let text = text.trim().trim_start_matches("data:image/png;base64,");
        base64::engine::general_purpose::STANDARD.decode(text).map_err(|_| is_no(name, "base64"))
    }

    async fn class(&self, class_id: &str) -> Known<Vec<Exemplar>> {
        self.classes.exemplars(class_id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::phash::tests::picture;
    use super::super::{Verdict, judge, parse};
    use super::*;

    async fn verdict(contract: Value, snapshot: Value) -> (Verdict, Option<String>) {
        let home = tempfile::tempdir().unwrap();
        let evidence = json!({ "snapshot": snapshot });
        let classes = Classes::new(home.path().to_owned());
        let judged = judge(&parse(&contract).unwrap(), &Given::new(&evidence, &classes)).await;
        (judged.verdict, judged.reason())
    }

    #[tokio::test]
    async fn each_kind_is_judged_by_what_is_handed_in() {
        let snapshot = json!({
            "url": "https://shop.test/orders/7",
            "dom_text": { "h1": "Thank you", ".gone": null },
            "dom_count": { "li": 3 },
            "network": [{ "url": "https://shop.test/api/orders?x=1", "status": 201 }],
            "has_open_dialog": false,
            "console": [{ "type": "error", "message": "boom", "uncaught": true, "age_ms": 10 }],
            "performance": [{ "metric": "navigation.duration", "unit": "ms", "value": 800, "age_ms": 5 }],
        });
        for (contract, expected) in [
            (json!({"kind": "url", "pattern": "/orders/\\d+$"}), Verdict::Pass),
            (json!({"kind": "dom_text", "selector": "h1", "contains": "Thank"}), Verdict::Pass),
            (json!({"kind": "dom_text", "selector": ".gone", "contains": "x"}), Verdict::Fail),
            (json!({"kind": "dom_text", "selector": "h2", "contains": "x"}), Verdict::Inconclusive),
            (json!({"kind": "dom_count", "selector": "li", "op": "gte", "value": 2}), Verdict::Pass),
            (json!({"kind": "dom_count", "selector": "a", "op": "eq", "value": 0}), Verdict::Inconclusive),
            (
                json!({"kind": "network", "url_pattern": "/api/orders?x=1", "status_in": [200, 201]}),
                Verdict::Pass,
            ),
            (json!({"kind": "network", "url_pattern": "/api/orders", "status_in": [500]}), Verdict::Fail),
            (json!({"kind": "no_dialog"}), Verdict::Pass),
            (json!({"kind": "console", "uncaught": true, "op": "eq", "value": 0}), Verdict::Fail),
            (json!({"kind": "console", "type": "warn", "op": "eq", "value": 0}), Verdict::Pass),
            (json!({"kind": "console", "op": "eq", "value": 0, "max_age_ms": 5}), Verdict::Pass),
            (
                json!({"kind": "performance", "metric": "navigation.duration", "unit": "seconds", "op": "lte", "value": 1}),
                Verdict::Pass,
            ),
            (
                json!({"kind": "performance", "metric": "navigation.duration", "unit": "ms", "op": "lte", "value": 900, "max_age_ms": 1}),
                Verdict::Inconclusive,
            ),
            (json!({"kind": "screenshot_class", "class_id": "x", "distance_max": 4}), Verdict::Inconclusive),
        ] {
            assert_eq!(verdict(contract.clone(), snapshot.clone()).await.0, expected, "{contract}");
        }
    }

    #[tokio::test]
    async fn what_is_missing_or_misshapen_is_inconclusive_and_named() {
        for (contract, snapshot, named) in [
            (json!({"kind": "url", "pattern": "x"}), json!({}), "no url"),
            (json!({"kind": "no_dialog"}), json!({"has_open_dialog": "no"}), "no true or false"),
            (json!({"kind": "url", "pattern": "x"}), json!(null), "no snapshot"),
            (
                json!({"kind": "console", "op": "eq", "value": 0}),
                json!({"console": [1]}),
                "list of {type, message}",
            ),
        ] {
            let (verdict, reason) = verdict(contract, snapshot).await;
            assert_eq!(verdict, Verdict::Inconclusive);
            assert!(reason.as_ref().is_some_and(|reason| reason.contains(named)), "{reason:?}");
        }
    }

    #[tokio::test]
    async fn a_bare_text_is_the_text_of_whatever_is_asked_for() {
        let contract = json!({"kind": "dom_text", "selector": "h1", "pattern": "^Thank .*7$"});
        assert_eq!(verdict(contract, json!({"dom_text": "Thank you, order 7"})).await.0, Verdict::Pass);
    }

    #[tokio::test]
    async fn pictures_are_compared() {
        let home = tempfile::tempdir().unwrap();
        let classes = Classes::new(home.path().to_owned());
        let card = |left: u32, top: u32| {
            picture(90, 60, move |x, y| {
                let inside = (left..left + 25).contains(&x) && (top..top + 20).contains(&y);
                if inside { [0; 3] } else { [255 - (x + y) as u8; 3] }
            })
        };
        let (left, lower) = (card(5, 5), card(50, 35));
        fs_err::write(home.path().join("left.png"), &left).unwrap();
        let contract =
            parse(&json!({"kind": "screenshot_class", "class_id": "left", "distance_max": 6})).unwrap();
        for (bytes, expected) in [(&left, Verdict::Pass), (&lower, Verdict::Fail)] {
            let text = base64::engine::general_purpose::STANDARD.encode(bytes);
            let evidence = json!({ "snapshot": { "screenshot_png_base64": text } });
            let judged = judge(&contract, &Given::new(&evidence, &classes)).await;
            assert_eq!(judged.verdict, expected, "{}", judged.evidence);
        }
    }
}
