use serde_json::json;

use super::*;
use crate::samples::{failed_run, passed_step};

#[test]
fn a_plain_run_has_the_documented_fields_and_no_others() {
    let mut step = passed_step(0, "navigate", json!({ "url": "http://a/" }), 45);
    step.result = Some(json!({ "tabId": "T1" }));
    let report = RunReport::new(Some("sanity".to_owned()), Some("a.yaml".to_owned()), vec![step]);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(
        text,
        concat!(
            r#"{"name":"sanity","steps":[{"index":0,"verb":"navigate","tool":"navigate","#,
            r#""args":{"url":"http://a/"},"status":"ok","durationMs":45,"result":{"tabId":"T1"}}],"#,
            r#""summary":{"ok":true,"total":1,"passed":1,"failed":0,"skipped":0}}"#
        )
    );
}

#[test]
fn a_run_without_a_name_has_no_name() {
    let report = serde_json::to_value(RunReport::new(None, None, Vec::new())).unwrap();
    let summary = json!({ "ok": true, "total": 0, "passed": 0, "failed": 0, "skipped": 0 });
    assert_eq!(report, json!({ "steps": [], "summary": summary }));
}

#[test]
fn a_failed_run_tells_tool_and_arguments_of_skipped_steps() {
    let report = serde_json::to_value(failed_run()).unwrap();
    assert_eq!(
        report["steps"][2],
        json!({
            "index": 2, "verb": "interact", "tool": "interact", "args": { "ref": "More" },
            "status": "skipped", "durationMs": 0,
        })
    );
    assert_eq!(report["steps"][1]["error"], r#"Step 1 (assert): assert verdict="fail""#);
    assert_eq!(report["summary"], json!({ "ok": false, "total": 3, "passed": 1, "failed": 1, "skipped": 1 }));
}

#[test]
fn optional_fields_appear_when_they_say_something() {
    let mut step = passed_step(4, "click", json!({}), 7);
    step.id = Some("login".to_owned());
    step.name = Some("Log in".to_owned());
    step.phase = Phase::Setup;
    step.path = Some("repeat 2/3".to_owned());
    step.attempts = 3;
    step.expected = Some(json!("a"));
    step.actual = Some(json!(null));
    let step = serde_json::to_value(step).unwrap();
    assert_eq!(
        step,
        json!({
            "index": 4, "id": "login", "name": "Log in", "phase": "setup", "path": "repeat 2/3",
            "verb": "click", "tool": "click", "args": {}, "status": "ok", "durationMs": 7, "attempts": 3,
            "expected": "a", "actual": null,
        })
    );
}

#[test]
fn evidence_has_texts_and_no_bytes() {
    let mut report = failed_run();
    let picture = Picture { bytes: vec![1, 2, 3], mime_type: "image/png".to_owned() };
    let step = &mut report.steps[1];
    step.evidence = Some(FailureEvidence { screenshot: Some(picture), ..FailureEvidence::default() }.into());
    assert!(serde_json::to_value(&*step).unwrap().get("evidence").is_none(), "there is no text in it");
    if let Some(evidence) = &mut step.evidence {
        evidence.url = Some("http://a/".to_owned());
        evidence.failed_requests = vec!["GET http://a/x 404".to_owned()];
    }
    assert_eq!(
        serde_json::to_value(&report).unwrap()["steps"][1]["evidence"],
        json!({ "url": "http://a/", "failedRequests": ["GET http://a/x 404"] })
    );
}

#[test]
fn a_run_ends_with_its_last_step() {
    let mut long = passed_step(0, "wait_for", json!({}), 500);
    long.started_ms = 10;
    let mut short = passed_step(1, "click", json!({}), 5);
    short.started_ms = 20;
    assert_eq!(RunReport::new(None, None, vec![long, short]).duration_ms(), 510);
}

#[test]
fn a_picture_is_told_by_its_size() {
    let picture = Picture { bytes: vec![0; 5], mime_type: "image/png".to_owned() };
    assert_eq!(format!("{picture:?}"), "Picture(image/png, 5 bytes)");
}
