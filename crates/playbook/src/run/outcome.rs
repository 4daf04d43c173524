//! What an answer of a tool means for the step that called it.

use serde_json::{Value, json};
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

/// The answer as data: its structure, else its text read as JSON, else the text itself.
pub(super) fn data(answer: &Answer) -> Value {
    match &answer.structured {
        Some(structured) => structured.clone(),
        None => serde_json::from_str(&answer.text).unwrap_or_else(|_| Value::String(answer.text.clone())),
    }
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    /// In words, without the step.
    pub message: String,
    /// What a contract asked for, and what there was.
    pub compared: Option<Box<(Value, Value)>>,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), compared: None }
    }
}

/// Did the tool do what the step asks for?
pub(super) fn judge(tool: &str, answer: &Answer) -> Result<(), Failure> {
    let data = data(answer);
    if answer.is_error {
        let why = data.pointer("/error/message").and_then(Value::as_str).unwrap_or(&answer.text);
        return Err(Failure::new(format!("tool call returned failure: {why}")));
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
            Err(Failure { message: format!("assert verdict=\"{verdict}\""), compared })
        }
    }
}

/// The verdict of a contract.
pub(super) fn verdict(data: &Value) -> Option<&str> {
    data["verdict"].as_str()
}

/// The tab that an answer is about.
pub(super) fn tab_id(data: &Value) -> Option<String> {
    data["tabId"].as_str().map(ToOwned::to_owned)
}

/// The variables that a step takes out of its answer.
pub(super) fn captured(capture: &Capture, data: &Value) -> Result<Vec<(String, String)>, Failure> {
    let written = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match capture {
        Capture::Whole(name) => Ok(vec![(name.clone(), written(data))]),
        Capture::Parts(parts) => parts
            .iter()
            .map(|(name, pointer)| match data.pointer(pointer) {
                Some(value) => Ok((name.clone(), written(value))),
                None => Err(Failure::new(format!("the result has nothing at {pointer} for {name:?}"))),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &Value, is_error: bool) -> Answer {
        Answer { is_error, ..Answer::text(body.to_string()) }
    }

    #[test]
    fn only_a_pass_passes() {
        assert_eq!(judge("oc_assert", &answer(&json!({ "verdict": "pass" }), false)), Ok(()));
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
        assert_eq!(judge("interact", &answer(&json!({ "verdict": "fail" }), false)), Ok(()));
    }

    #[test]
    fn results_become_variables() {
        let data = json!({ "result": { "total": 5, "name": "x" } });
        let parts =
            Capture::Parts(vec![("n".into(), "/result/total".into()), ("s".into(), "/result/name".into())]);
        assert_eq!(captured(&parts, &data).unwrap(), [("n".into(), "5".into()), ("s".into(), "x".into())]);
        let missing = Capture::Parts(vec![("n".into(), "/none".into())]);
        assert!(captured(&missing, &data).unwrap_err().message.contains("/none"));
        assert_eq!(captured(&Capture::Whole("all".into()), &json!("x")).unwrap()[0].1, "x");
    }
}
