use serde_json::json;

use super::*;
use crate::run::{FailureEvidence, Phase, Picture, RunReport, StepReport};
use crate::samples::{HOSTILE, failed_run, hostile_run, passed_run, passed_step, suite};
use crate::suite::Outcome;

fn page(suite: &SuiteReport) -> String {
    html_page(suite).unwrap()
}

fn picture(mime_type: &str) -> Option<Picture> {
    Some(Picture { bytes: vec![0xfb, 0xff, 0xfe], mime_type: mime_type.to_owned() })
}

/// The page without its own style and script.
fn body(page: &str) -> String {
    let script = with_plain_line_ends(SCRIPT);
    assert_eq!(page.matches(&script).count(), 1);
    page.replace(&script, "").replace(&with_plain_line_ends(STYLE), "")
}

#[test]
fn a_suite_tells_its_result_and_its_tests() {
    let page = page(&suite());
    assert!(page.contains("<h1 class=\"failed\">2 of 4 tests failed</h1>"), "{page}");
    for (outcome, group) in
        [("passed", "passed"), ("failed", "failed"), ("flaky", "flaky"), ("broken", "failed")]
    {
        let element = format!("<details class=\"test {outcome}\" id=");
        assert_eq!(page.matches(&element).count(), 1, "{outcome}");
        assert!(page.contains(&format!("data-group=\"{group}\"")));
    }
    assert!(
        page.contains("Failed <span class=\"count\">2</span>"),
        "broken tests are failures to who looks for them"
    );
    assert!(page.contains("there is no verb &quot;clik&quot;"));
}

#[test]
fn failures_are_open_and_the_rest_is_closed() {
    let page = page(&suite());
    assert!(page.contains("<details class=\"test passed\" id=\"t1\" data-group=\"passed\">"));
    assert!(page.contains("<details class=\"test failed\" id=\"t2\" data-group=\"failed\" open>"));
    assert_eq!(page.matches("<details open>").count(), 2, "the failed step of each failed attempt");
    assert!(page.contains("<h3>Expected</h3>") && page.contains("<h3>Found</h3><pre>Hello</pre>"));
}

#[test]
fn what_needs_a_reader_is_first() {
    let page = page(&suite());
    let places: Vec<usize> =
        ["t2", "t4", "t3", "t1"].map(|id| page.find(&format!("id=\"{id}\"")).unwrap()).to_vec();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn attempts_of_a_flaky_test_are_told_apart() {
    let page = page(&suite());
    assert!(page.contains("Attempt 1 failed") && page.contains("Attempt 2 passed"));
    assert!(page.contains("id=\"t3-a1-s1\"") && page.contains("id=\"t3-s0\""));
}

#[test]
fn a_single_run_needs_no_filters() {
    let page = page(&passed_run().into());
    assert!(page.contains("<h1 class=\"ok\">Passed</h1>"));
    assert!(page.contains("<p class=\"kicker\">sanity</p>"));
    assert!(!body(&page).contains("id=\"tools\""));
}

#[test]
fn an_empty_suite_is_a_page_too() {
    let page = page(&SuiteReport { tests: Vec::new(), duration_ms: 0, workers: 1, not_run: 0, error: None });
    assert!(page.contains("No tests ran"));
}

#[test]
fn hostile_text_is_only_text() {
    let mut run = hostile_run();
    let evidence = FailureEvidence {
        screenshot: picture("image/png\" onload=\"alert(1)"),
        snapshot: Some(HOSTILE.to_owned()),
        console: vec![HOSTILE.to_owned()],
        failed_requests: vec![HOSTILE.to_owned()],
        url: Some("javascript:alert(1)".to_owned()),
        dialog: Some(HOSTILE.to_owned()),
    };
    run.steps.iter_mut().for_each(|step| step.evidence = Some(evidence.clone().into()));
    run.steps[0].thumbnail = picture("image/svg+xml");
    let mut suite = suite();
    let hostile = SuiteReport::from(run.clone()).tests.remove(0);
    suite.tests.push(hostile.clone());
    suite.tests.push(crate::TestReport {
        outcome: Outcome::Broken,
        problem: Some(HOSTILE.to_owned()),
        run: None,
        earlier: vec![run],
        ..hostile
    });
    let page = page(&suite);
    let body = body(&page);
    assert_eq!(body.matches("<script>").count(), 1, "only our own");
    assert_eq!(body.matches("</script>").count(), 1);
    assert_eq!(body.matches("<img").count(), 1, "only the enlarged picture: the others are of unknown types");
    assert!(!body.contains("\" onload="), "quotes are escaped");
    assert!(!body.contains("' `x`"), "single quotes too");
    assert!(body.contains("{{ 7*7 }}"), "what is said is not a template");
    assert!(!body.contains("href=\"javascript:"), "what a page says is never a link");
    assert!(!body.contains(['\u{1b}', '\u{202e}', '\r', '\u{0}']), "what acts is shown");
    assert!(body.contains("&lt;script&gt;") && body.contains(r"\u{202e}"));
}

#[test]
fn the_policy_allows_this_style_and_this_script_only() {
    let page = page(&suite());
    let between = |start: &str, end: &str| {
        let from = page.find(start).unwrap() + start.len();
        page[from..from + page[from..].find(end).unwrap()].to_owned()
    };
    let policy = between("Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src &#x27;none&#x27;; img-src data:;"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let escaped = |digest: String| digest.replace('/', "&#x2f;");
    assert!(policy.contains(&escaped(digest(&between("<style>", "</style>")))), "{policy}");
    assert!(policy.contains(&escaped(digest(&between("<script>", "</script>")))), "{policy}");
}

#[test]
fn a_digest_is_that_of_the_standard() {
    assert_eq!(digest("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

#[test]
fn nothing_is_loaded_and_nothing_is_styled_inline() {
    let page = page(&suite());
    assert!(!page.contains("style=\""), "the policy forbids it");
    assert!(
        !page.contains("src=\"http") && !page.contains("href=\"http") && !page.contains("url("),
        "{page}"
    );
    assert!(!STYLE.contains("@import"));
    assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("</script"));
}

#[test]
fn pictures_are_in_the_page() {
    let mut run = failed_run();
    run.steps[0].thumbnail = picture("image/jpeg");
    let evidence = FailureEvidence { screenshot: picture("image/png"), ..FailureEvidence::default() };
    run.steps[1].evidence = Some(evidence.into());
    let page = page(&run.into());
    assert!(page.contains("src=\"data:image/jpeg;base64,+//+\""), "{page}");
    assert!(page.contains("src=\"data:image/png;base64,+//+\""));
}

#[test]
fn every_failure_has_its_own_evidence() {
    let mut run = failed_run();
    for (step, path) in run.steps.iter_mut().zip(["x", "y"]) {
        step.status = crate::Status::Failed;
        let url = Some(format!("http://a/{path}"));
        let dialog = Some(format!("confirm {path}"));
        step.evidence = Some(FailureEvidence { url, dialog, ..FailureEvidence::default() }.into());
    }
    let page = page(&run.into());
    for path in ["x", "y"] {
        assert!(page.contains(&format!("<p class=\"url\">http:&#x2f;&#x2f;a&#x2f;{path}</p>")), "{path}");
        assert!(page.contains(&format!("confirm {path}")), "{path}");
    }
}

#[test]
fn phases_have_headings() {
    let mut run = failed_run();
    run.steps[0].phase = Phase::Setup;
    let page = page(&run.into());
    let setup = page.find("<h2>Setup</h2>").unwrap();
    assert!(page[setup..].contains("<h2>Steps</h2>"));
    assert!(!self::page(&passed_run().into()).contains("<h2>"), "steps alone need none");
}

#[test]
fn long_results_are_cut() {
    let mut run = passed_run();
    run.steps[0].result = Some(json!("x".repeat(50_000)));
    let page = page(&run.into());
    assert!(page.contains("(50000 characters in all)"));
    assert!(page.len() < 60_000, "{}", page.len());
}

#[test]
fn thousands_of_steps_take_time_in_proportion() {
    let run = |count: usize| {
        let steps: Vec<StepReport> =
            (0..count).map(|index| passed_step(index, "click", json!({ "selector": "#a" }), 1)).collect();
        SuiteReport::from(RunReport::new(None, None, steps))
    };
    let (small, large) = (page(&run(1_000)), page(&run(10_000)));
    assert_eq!(large.matches("class=\"step ok\"").count(), 10_000);
    assert!(large.len() < small.len() * 11, "{} {}", small.len(), large.len());
    assert!(large.contains(">1500 passed steps (0 to 1499)</summary>"));
}
