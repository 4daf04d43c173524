//! Three-valued judging: pass, fail, inconclusive.
//!
//! `and` and `or` go through their children in order and stop at the first that decides: a fail, or a pass. A child that is
//! inconclusive decides nothing: when no other child does, the whole is inconclusive. `not` leaves it as it is.

use std::pin::Pin;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::evidence::Unknown;
use super::{Assertion, Evidence, Invalid, leaf};

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// Nobody knows.
    Inconclusive,
}

impl From<bool> for Verdict {
    fn from(holds: bool) -> Self {
        if holds { Verdict::Pass } else { Verdict::Fail }
    }
}

impl std::ops::Not for Verdict {
    type Output = Self;
    fn not(self) -> Self {
        match self {
            Verdict::Pass => Verdict::Fail,
            Verdict::Fail => Verdict::Pass,
            Verdict::Inconclusive => Verdict::Inconclusive,
        }
    }
}

/// An assertion that does not hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failed {
    /// Its kind.
    pub name: &'static str,
    /// What the contract says.
    pub expected: Value,
    /// What there is instead.
    pub actual: Value,
    /// Where in the contract, e.g. `/children/1`; `/` is the contract itself.
    pub location: String,
}

/// Something that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclear {
    kind: &'static str,
    path: String,
    why: Unknown,
}

/// What was found, with everything that led to it.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// See [`Verdict`].
    pub verdict: Verdict,
    /// `{passed, verdict, assertion_kind, details}`; those of children are in the details.
    pub evidence: Value,
    /// What does not hold; empty unless the verdict is `fail`.
    pub failed: Vec<Failed>,
    unclear: Vec<Unclear>,
}

impl Judgement {
    /// Why it is inconclusive, if it is.
    pub fn reason(&self) -> Option<String> {
        let whole = |one: &Unclear| match one.path.as_str() {
            "" => one.why.reason.clone(),
            path => format!("{path} ({}): {}", one.kind, one.why.reason),
        };
        let reasons: Vec<String> = self.unclear.iter().map(whole).collect();
        (self.verdict == Verdict::Inconclusive).then(|| reasons.join("; "))
    }

    /// What is wrong with the contract and could only be seen in the face of the evidence.
    pub fn invalid(&self) -> Vec<Invalid> {
        let invalid = |one: &Unclear| {
            let field = one.why.field?;
            Some(Invalid { path: format!("{}/{field}", one.path), message: one.why.reason.clone() })
        };
        self.unclear.iter().filter_map(invalid).collect()
    }
}

/// What a leaf found.
pub(super) struct Found {
    pub verdict: Verdict,
    /// What there is, for a failure.
    pub actual: Value,
    pub details: Map<String, Value>,
    pub why: Option<Unknown>,
}

type Judging<'a> = Pin<Box<dyn Future<Output = Judgement> + Send + 'a>>;

/// Judges a contract.
pub async fn judge(assertion: &Assertion, evidence: &impl Evidence) -> Judgement {
    judge_at(assertion, String::new(), evidence).await
}

fn judge_at<'a, E: Evidence>(assertion: &'a Assertion, path: String, evidence: &'a E) -> Judging<'a> {
    Box::pin(async move {
        match assertion {
            Assertion::And(children) => several(assertion, children, Verdict::Fail, &path, evidence).await,
            Assertion::Or(children) => several(assertion, children, Verdict::Pass, &path, evidence).await,
            Assertion::Not(child) => {
                let found = judge_at(child, format!("{path}/child"), evidence).await;
                not(assertion, found, path)
            }
            _ => one(assertion, leaf::find(assertion, evidence).await, path),
        }
    })
}

/// `and`, where a fail decides, or `or`, where a pass does.
async fn several<E: Evidence>(
    assertion: &Assertion,
    children: &[Assertion],
    deciding: Verdict,
    path: &str,
    evidence: &E,
) -> Judgement {
    let (mut seen, mut failed, mut unclear) = (Vec::new(), Vec::new(), Vec::new());
    let mut verdict = !deciding;
    for (index, child) in children.iter().enumerate() {
        let found = judge_at(child, format!("{path}/children/{index}"), evidence).await;
        seen.push(found.evidence);
        failed.extend(found.failed);
        unclear.extend(found.unclear);
        if found.verdict == deciding {
            verdict = deciding;
            break;
        }
        if found.verdict == Verdict::Inconclusive {
            verdict = Verdict::Inconclusive;
        }
    }
    let skipped = children.len() - seen.len();
    let mut details = Map::from_iter([("children".to_owned(), Value::Array(seen))]);
    if skipped > 0 {
        details.insert("skipped".to_owned(), json!(skipped));
    }
    judgement(assertion, verdict, details, failed, unclear)
}

fn not(assertion: &Assertion, child: Judgement, path: String) -> Judgement {
    let verdict = !child.verdict;
    let failure = Failed {
        name: assertion.kind(),
        expected: assertion.expected(),
        actual: child.evidence.get("details").cloned().unwrap_or_default(),
        location: location(&path),
    };
    let details = Map::from_iter([("child".to_owned(), child.evidence)]);
    judgement(assertion, verdict, details, vec![failure], child.unclear)
}

fn one(assertion: &Assertion, found: Found, path: String) -> Judgement {
    let Found { verdict, actual, mut details, why } = found;
    if let Some(why) = &why {
        details.insert("error".to_owned(), json!(why.reason));
    }
    let failed =
        Failed { name: assertion.kind(), expected: assertion.expected(), actual, location: location(&path) };
    let unclear = why.map(|why| Unclear { kind: assertion.kind(), path, why });
    judgement(assertion, verdict, details, vec![failed], unclear.into_iter().collect())
}

/// Failures count where the whole fails, doubts where it is in doubt.
fn judgement(
    assertion: &Assertion,
    verdict: Verdict,
    details: Map<String, Value>,
    mut failed: Vec<Failed>,
    mut unclear: Vec<Unclear>,
) -> Judgement {
    if verdict != Verdict::Fail {
        failed.clear();
    }
    if verdict != Verdict::Inconclusive {
        unclear.clear();
    }
    let evidence = json!({
        "assertion_kind": assertion.kind(),
        "passed": verdict == Verdict::Pass,
        "verdict": verdict,
        "details": details,
    });
    Judgement { verdict, evidence, failed, unclear }
}

fn location(path: &str) -> String {
    if path.is_empty() { "/".to_owned() } else { path.to_owned() }
}

#[cfg(test)]
#[path = "logic_tests.rs"]
mod tests;
