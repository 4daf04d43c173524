//! `oc_assert`: does the page look as it must?

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use surehand_page::Deadline;
use surehand_session::{Fault, Session, Tab};
use surehand_verbs::Flaw;

use crate::check::cut;
use crate::contract::{Assertion, Classes, Failed, Given, Invalid, Judgement, Live, Verdict, judge, parse};
use crate::{Answer, Hints, Misfit, Tool, ToolContext};

// The arguments. A contract that is missing is judged like one that is malformed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OcAssert {
    #[schemars(schema_with = "contract_schema")]
    contract: Option<Value>,
    #[serde(default)]
    #[schemars(schema_with = "evidence_schema")]
    evidence: Option<Value>,
    /// Which tab; without it, the active one
    #[serde(rename = "tabId")]
    tab_id: Option<String>,
    /// Look again until it passes, at most this long; without it, look once
    timeout_ms: Option<u64>,
}

fn contract_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "One assertion: {kind, …}. \
            url{pattern: regex} · dom_text{selector?=body, pattern: substring or regex | contains} · \
            dom_count{selector, op: eq|gte|lte, value} · \
            network{url_pattern, status_in: [200], since?: contract_enter|last_tool_call} · no_dialog{} · \
            console{type?, message_pattern?, uncaught?, op, value, max_age_ms?} · \
            performance{metric: load|domcontentloaded|first-contentful-paint|largest-contentful-paint|transfer-size|\
            request-count|dom-nodes|js-heap, unit: ms|seconds|bytes|count, op, value} · \
            screenshot_class{class_id, distance_max: 0..64} · and{children: []} · or{children: []} · not{child}",
        "properties": { "kind": { "type": "string" } },
        "required": ["kind"],
    })
}

fn evidence_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "Judge this instead of the live tab: {snapshot: {url, dom_text: text or {selector: text}, \
            dom_count: {selector: n}, network: [{url, status}], has_open_dialog, console: [{type, message, uncaught}], \
            performance: [{metric, unit, value}], screenshot_png_base64}}",
    })
}

/// What is answered.
#[derive(Debug, Serialize)]
struct Answered {
    verdict: Verdict,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_assertions: Vec<Failed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inconclusive_reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    validation_errors: Vec<Invalid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_handle: Option<String>,
    #[serde(rename = "tabId", skip_serializing_if = "Option::is_none")]
    tab_id: Option<String>,
}

impl Tool for OcAssert {
    const NAME: &'static str = "oc_assert";
    const DESCRIPTION: &'static str = "Check what the page must look like, without a model: gives verdict pass, fail or \
        inconclusive with evidence. Judges the live tab, or the evidence that is handed in.";
    const HINTS: Hints = Hints::READS;

    const STRUCTURED: bool = true;

    fn answer_schema() -> Map<String, Value> {
        let verdicts = json!({ "type": "string", "enum": ["pass", "fail", "inconclusive"] });
        let schema =
            json!({ "type": "object", "properties": { "verdict": verdicts }, "required": ["verdict"] });
        schema.as_object().cloned().unwrap_or_default()
    }

    fn misfits(&self) -> Vec<Misfit> {
        let Some(evidence) = &self.evidence else { return Vec::new() };
        let live = [("tabId", self.tab_id.is_some()), ("timeout_ms", self.timeout_ms.is_some())];
        let idle = live.iter().filter(|(_, given)| *given);
        let idle = idle.map(|(name, _)| Misfit::idle(name, "the evidence is judged, not a tab"));
        idle.chain(Given::unknown_members(evidence)).collect()
    }

    /// A malformed contract is no refusal but a verdict: it cannot be judged.
    fn doubts(&self) -> Vec<Misfit> {
        let contract = self.contract.clone().unwrap_or_default();
        let errors = parse(&contract).err().unwrap_or_default();
        let misfit = |error: Invalid| {
            Misfit::value(format!("/contract{}", error.path.trim_end_matches('/')), error.message)
        };
        // An empty one is told above.
        let flaws = Flaw::of_selectors(&contract)
            .into_iter()
            .map(|flaw| Misfit::value(format!("/contract{}", flaw.pointer), flaw.message));
        let told: Vec<Misfit> = errors.into_iter().map(misfit).collect();
        let is_new = |flaw: &Misfit| told.iter().all(|told| told.pointer != flaw.pointer);
        let flaws: Vec<Misfit> = flaws.filter(is_new).collect();
        told.into_iter().chain(flaws).collect()
    }

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        let assertion = match parse(&self.contract.unwrap_or_default()) {
            Ok(assertion) => assertion,
            Err(errors) => return told(&malformed(errors)),
        };
        let classes = Classes::new(cx.verbs.sessions.places().screenshot_classes());
        if let Some(evidence) = &self.evidence {
            let judgement = judge(&assertion, &Given::new(evidence, &classes)).await;
            return told(&answered(judgement, None));
        }
        // A contract about nothing is not judged on a blank page that nobody opened.
        let session = cx.verbs.session().await?;
        let _running = session.begin();
        let tab = tab(&session, self.tab_id.as_deref())?;
        let tab_id = tab.id();
        let live = Live::enter(session, tab, classes, cx.verbs.deadline()).masking(&cx.secrets);
        let judgement = match self.timeout_ms {
            None => judge(&assertion, &live).await,
            Some(limit) => until_it_passes(&assertion, live, Duration::from_millis(limit)).await,
        };
        told(&answered(judgement, Some(tab_id)))
    }
}

/// A structure larger than this is left to the text.
const LARGEST_STRUCTURE: usize = 3500;

/// Text and structure; of a large one only what a program decides by is told twice.
fn told(answered: &Answered) -> Result<Answer, Fault> {
    let answer = Answer::json(answered)?;
    if answer.text.len() <= LARGEST_STRUCTURE {
        return Ok(answer);
    }
    let short = json!({ "verdict": answered.verdict, "tabId": answered.tab_id });
    Ok(Answer { structured: Some(short), ..answer })
}

fn tab(session: &Session, tab_id: Option<&str>) -> Result<Tab, Fault> {
    match tab_id {
        Some(id) => session.tabs().find(id),
        None => session.active_tab(),
    }
}

/// Between two looks: the first are soon, because most pages are nearly there.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(50), Duration::from_millis(100)];

/// How long one look may take, at least and at most, whatever is left of the whole time.
const LOOK: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

async fn until_it_passes(assertion: &Assertion, mut live: Live, limit: Duration) -> Judgement {
    let end = Deadline::after(limit);
    let mut pauses = PAUSES.into_iter();
    loop {
        live.again(Deadline::after(end.remaining().clamp(LOOK.0, LOOK.1)));
        let judgement = judge(assertion, &live).await;
        // What the contract itself gets wrong does not mend with time.
        if judgement.verdict == Verdict::Pass || !judgement.invalid().is_empty() || end.passed() {
            return judgement;
        }
        let pause = pauses.next().unwrap_or(PAUSES[2]);
        tokio::time::sleep(pause.min(end.remaining())).await;
    }
}

fn answered(judgement: Judgement, tab_id: Option<String>) -> Answered {
    Answered {
        verdict: judgement.verdict,
        inconclusive_reason: judgement.reason(),
        validation_errors: judgement.invalid(),
        failed_assertions: judgement.failed,
        evidence: Some(judgement.evidence),
        evidence_handle: Some(new_handle()),
        tab_id,
    }
}

/// More errors at once are not read.
const ERRORS: usize = 50;

fn malformed(mut errors: Vec<Invalid>) -> Answered {
    let reason = match errors.len() {
        1 => "the contract has an error".to_owned(),
        count if count > ERRORS => format!("the contract has {count} errors; the first {ERRORS} are told"),
        count => format!("the contract has {count} errors"),
    };
    errors.truncate(ERRORS);
    for error in &mut errors {
        (error.path, error.message) = (cut(&error.path), cut(&error.message));
    }
    Answered {
        verdict: Verdict::Inconclusive,
        failed_assertions: Vec::new(),
        inconclusive_reason: Some(reason),
        validation_errors: errors,
        evidence: None,
        evidence_handle: None,
        tab_id: None,
    }
}

/// A name that no other evidence has: a random UUID. The standard library's hashers have random keys.
fn new_handle() -> String {
    let random = || RandomState::new().build_hasher().finish();
    let (a, b) = (random(), random());
    let version = (a & 0xffff_ffff_ffff_0fff) | 0x4000;
    let variant = (b & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
    format!(
        "ev_{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        version >> 32,
        version >> 16 & 0xffff,
        version & 0xffff,
        variant >> 48,
        variant & 0xffff_ffff_ffff,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_tells_what_a_contract_is() {
        let schema = crate::schema::of::<OcAssert>();
        assert_eq!(schema.get("required"), Some(&serde_json::json!(["contract"])), "{schema:?}");
        assert_eq!(schema.get("description"), None);
        let text = |name: &str| schema["properties"][name]["description"].as_str().unwrap_or_default();
        assert!(text("contract").contains("dom_count{") && text("evidence").contains("snapshot"));
    }

    #[test]
    fn a_large_answer_is_told_once_and_still_has_its_verdict() {
        let errors = vec![Invalid { path: "/children/1".into(), message: "is wrong".repeat(20) }; 100_000];
        let answer = told(&malformed(errors)).unwrap();
        assert!(answer.text.len() < 20_000 && answer.text.contains("100000 errors"), "{}", answer.text.len());
        assert_eq!(answer.structured.unwrap()["verdict"], "inconclusive");
    }

    #[test]
    fn handles_look_like_uuids_and_differ() {
        let handle = new_handle();
        let shape: Vec<usize> = handle.trim_start_matches("ev_").split('-').map(str::len).collect();
        assert_eq!(shape, [8, 4, 4, 4, 12], "{handle}");
        assert_eq!(handle.as_bytes()[17], b'4', "{handle}");
        assert_ne!(handle, new_handle());
    }
}
