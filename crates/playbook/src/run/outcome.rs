//! What an answer of a tool means for the step that called it.

use serde_json::{Value, json};
use surehand_session::{Fault, Kind};
use surehand_tools::Answer;

use crate::document::{ASSERT_TOOL, Capture};

/// The answer as it is told in reports: the content of the MCP result.
pub(super) fn content(answer: &Answer) -> Value {
    let mut content = vec![json!({ "type": "text", "text": answer.text })];
    if let Some(image) = &answer.image {
        use base64::Engine;
        let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
        content.push(json!({ "type": "image", "data": data, "mimeType": image.mime_type }));
    }
    Value::Array(content)
}

/// The answer as data: its structure, else its text read as JSON, else the text itself. A text that is only a number stays
/// a text: `1.50` is not `1.5` to who captures it.
pub(super) fn data(answer: &Answer) -> Value {
    let text = || Value::String(answer.text.clone());
    match &answer.structured {
        Some(structured) => structured.clone(),
        None if answer.text.trim_start().starts_with(['{', '[', '"']) => {
            serde_json::from_str(&answer.text).unwrap_or_else(|_| text())
        }
        None => text(),
    }
}

/// The structure of an answer whose text does not show it.
pub(super) fn beyond_text(answer: &Answer) -> Option<Value> {
    let structured = answer.structured.as_ref()?;
    let told: Option<Value> = serde_json::from_str(&answer.text).ok();
    (told.as_ref() != Some(structured)).then(|| structured.clone())
}

/// Why a step failed.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    /// In words, without the step.
    pub message: String,
    /// Why a contract could not be judged.
    pub reason: Option<String>,
    /// What a contract asked for, and what there was.
    pub compared: Option<Box<(Value, Value)>>,
    /// Why no other step can work either.
    pub outage: Option<Box<Fault>>,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), reason: None, compared: None, outage: None }
    }

    /// One that ends the run.
    pub fn outage(message: impl Into<String>, fault: Fault) -> Self {
        Self { outage: Some(Box::new(fault)), ..Self::new(message) }
    }
}

/// Without a browser no step works.
const OUTAGES: [Kind; 6] = [
    Kind::NoBrowser,
    Kind::BrowserFailed,
    Kind::BrowserGone,
    Kind::EndpointUnreachable,
    Kind::NotABrowser,
    Kind::DaemonUnreachable,
];

/// Does a tool say that there is no browser? Then that is why.
fn outage(data: &Value) -> Option<Fault> {
    let error = data.get("error")?;
    let kind = Kind::from_code(error["code"].as_str()?).filter(|kind| OUTAGES.contains(kind))?;
    let hints = error["hints"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Some(hints.fold(Fault::new(kind, error["message"].as_str()?), Fault::hint))
}

/// Did the tool do what the step asks for?
pub(super) fn judge(tool: &str, answer: &Answer) -> Result<(), Failure> {
    let data = data(answer);
    if answer.is_error {
        let why = data.pointer("/error/message").and_then(Value::as_str).unwrap_or(&answer.text);
        let failure = Failure::new(format!("tool call returned failure: {why}"));
        return Err(Failure { outage: outage(&data).map(Box::new), ..failure });
    }
    if tool != ASSERT_TOOL {
        return Ok(());
    }
    match verdict(&data) {
        Some("pass") => Ok(()),
        verdict => {
            let compared = data
                .pointer("/failed_assertions/0")
                .map(|failed| Box::new((failed["expected"].clone(), failed["actual"].clone())));
            let verdict = verdict.unwrap_or("none");
            let failure = Failure::new(format!("assert verdict=\"{verdict}\""));
            Err(Failure { compared, reason: doubt(&data), ..failure })
        }
    }
}

/// Why a contract could not be judged.
fn doubt(data: &Value) -> Option<String> {
    let reason = data["inconclusive_reason"].as_str().map(ToOwned::to_owned);
    let wrong = data["validation_errors"].as_array().into_iter().flatten().map(|error| {
        let said = |name: &str| error[name].as_str().unwrap_or_default();
        format!("{} {}", said("path"), said("message")).trim().to_owned()
    });
    let all: Vec<String> = reason.into_iter().chain(wrong).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The verdict of a contract.
pub(super) fn verdict(data: &Value) -> Option<&str> {
    data["verdict"].as_str()
}

/// The tab that an answer is about, as the server writes it: a text, or a number.
pub(super) fn tab_id(answer: &Answer) -> Option<Value> {
    let told = [data(answer).get("tabId").cloned(), answer.tab.clone()];
    told.into_iter().flatten().find(|id| id.is_string() || id.is_number())
}

/// The variables that a step takes out of its answer: all of it as it is told, or parts of its structure.
pub(super) fn captured(capture: &Capture, answer: &Answer) -> Result<Vec<(String, String)>, Failure> {
    let data = data(answer);
    match capture {
        Capture::Whole(name) => Ok(vec![(name.clone(), whole(answer, &data))]),
        Capture::Parts(parts) => parts
            .iter()
            .map(|(name, pointer)| match data.pointer(pointer) {
                Some(value) => Ok((name.clone(), written(value))),
                None => {
                    let known = members(&data);
                    Err(Failure::new(format!("the result has nothing at {pointer} for {name:?}{known}")))
                }
            })
            .collect(),
    }
}

/// What an answer says. A verb that tells one value may have a note below it, which is no part of the value.
fn whole(answer: &Answer, data: &Value) -> String {
    if answer.structured.is_none() {
        return written(data);
    }
    let is_told = |value: &String| {
        let rest = answer.text.strip_prefix(value.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("\nnote: "))
    };
    let values = data.as_object().into_iter().flat_map(|members| members.values()).map(written);
    // The longest: an empty value would fit every note.
    values.filter(is_told).max_by_key(String::len).unwrap_or_else(|| answer.text.clone())
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Where there is something, for who pointed at nothing.
fn members(data: &Value) -> String {
    let members = match data {
        Value::Object(members) if !members.is_empty() => members,
        Value::Array(items) => return format!("; it is a list of {}", items.len()),
        Value::String(_) => return "; it is a plain text without parts".to_owned(),
        _ => return "; it is empty".to_owned(),
    };
    let pointer = |name: &String| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    let shown: Vec<String> = members.keys().take(MOST_SHOWN).map(pointer).collect();
    let more = if members.len() > MOST_SHOWN { " …" } else { "" };
    format!("; it has {}{more}", shown.join(", "))
}

/// Enough to find the right one among what tools answer.
const MOST_SHOWN: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &Value, is_error: bool) -> Answer {
        Answer { is_error, ..Answer::text(body.to_string()) }
    }

    #[test]
    fn only_a_pass_passes() {
        assert!(judge("oc_assert", &answer(&json!({ "verdict": "pass" }), false)).is_ok());
        for (body, message) in [
            (json!({ "verdict": "inconclusive" }), "assert verdict=\"inconclusive\""),
            (json!({ "verdict": "fail" }), "assert verdict=\"fail\""),
            (json!({ "ok": true }), "assert verdict=\"none\""),
        ] {
            assert_eq!(judge("oc_assert", &answer(&body, false)).unwrap_err().message, message);
        }
        let compared =
            json!({ "verdict": "fail", "failed_assertions": [{ "expected": "a", "actual": "b" }] });
        let failure = judge("oc_assert", &answer(&compared, false)).unwrap_err();
        assert_eq!(failure.compared.as_deref(), Some(&(json!("a"), json!("b"))));
    }

    #[test]
    fn a_failing_tool_says_why() {
        let failing = answer(&json!({ "error": { "code": "not-found", "message": "no button" } }), true);
        assert_eq!(judge("interact", &failing).unwrap_err().message, "tool call returned failure: no button");
        let words = Answer { is_error: true, ..Answer::text("gone") };
        assert_eq!(judge("browser_click", &words).unwrap_err().message, "tool call returned failure: gone");
        assert!(judge("interact", &answer(&json!({ "verdict": "fail" }), false)).is_ok());
    }

    #[test]
    fn without_a_browser_nothing_works() {
        let failing = |code: &str| {
            let body = json!({ "error": { "code": code, "message": "no", "hints": ["do"] } });
            judge("interact", &answer(&body, true)).unwrap_err().outage
        };
        for code in ["no-browser", "browser-failed", "browser-gone"] {
            let outage = failing(code).unwrap();
            assert_eq!(
                (outage.kind.exit_code(), outage.hints.as_slice()),
                (3, &["do".to_owned()][..]),
                "{code}"
            );
        }
        assert!(failing("not-found").is_none() && failing("unwritable-path").is_none());
    }

    #[test]
    fn results_become_variables() {
        let body = answer(&json!({ "result": { "total": 5, "name": "x" } }), false);
        let parts =
            Capture::Parts(vec![("n".into(), "/result/total".into()), ("s".into(), "/result/name".into())]);
        assert_eq!(captured(&parts, &body).unwrap(), [("n".into(), "5".into()), ("s".into(), "x".into())]);
        let missing = Capture::Parts(vec![("n".into(), "/none".into())]);
        let said = captured(&missing, &body).unwrap_err().message;
        assert_eq!(said, "the result has nothing at /none for \"n\"; it has /result");
        let said = captured(&missing, &Answer::text("words")).unwrap_err().message;
        assert!(said.ends_with("it is a plain text without parts"), "{said}");
    }

    #[test]
    fn a_tab_is_a_text_or_a_number() {
        assert_eq!(tab_id(&answer(&json!({ "tabId": "t1" }), false)), Some(json!("t1")));
        assert_eq!(tab_id(&answer(&json!({ "tabId": 7 }), false)), Some(json!(7)));
        assert_eq!(tab_id(&answer(&json!({ "tabId": null }), false)), None);
        let beside = Answer { tab: Some(json!(9)), ..Answer::text("went there") };
        assert_eq!(tab_id(&beside), Some(json!(9)));
    }

    #[test]
    fn doubt_says_why() {
        let reason = |body: Value| judge("oc_assert", &answer(&body, false)).unwrap_err().reason;
        let unsure = json!({ "verdict": "inconclusive", "inconclusive_reason": "no tab" });
        assert_eq!(reason(unsure).as_deref(), Some("no tab"));
        let wrong = json!({ "verdict": "inconclusive", "validation_errors": [{ "path": "/kind", "message": "is missing" }] });
        assert_eq!(reason(wrong).as_deref(), Some("/kind is missing"));
        assert_eq!(reason(json!({ "verdict": "fail" })), None);
    }

    #[test]
    fn all_of_a_result_is_what_is_told_of_it() {
        let whole = |text: &str, structured: Option<Value>| {
            let answer = Answer { structured, ..Answer::text(text) };
            captured(&Capture::Whole("all".into()), &answer).unwrap()[0].1.clone()
        };
        assert_eq!(whole("x", None), "x");
        assert_eq!(whole("hello", Some(json!({ "text": "hello", "origin": "o" }))), "hello");
        assert_eq!(whole("hello\nnote: 2 match", Some(json!({ "text": "hello", "matches": 2 }))), "hello");
        assert_eq!(whole("\nnote: 2 match", Some(json!({ "text": "" }))), "");
        assert_eq!(whole("a\nnote: b", Some(json!({ "text": "a\nnote: b" }))), "a\nnote: b");
        let body = json!({ "result": 5 });
        assert_eq!(whole(&body.to_string(), Some(body.clone())), body.to_string());
        assert_eq!(
            beyond_text(&Answer { structured: Some(body.clone()), ..Answer::text("5") }),
            Some(body.clone())
        );
        assert_eq!(
            beyond_text(&Answer { structured: Some(body.clone()), ..Answer::text(body.to_string()) }),
            None
        );
        for text in ["1.50", "99999999999999999999999", "01234", "true"] {
            assert_eq!(data(&Answer::text(text)), json!(text), "the spelling stays");
        }
    }
}
