use quick_junit::FlakyOrRerun;

use super::*;
use crate::run::FailureEvidence;
use crate::samples::{failed_run, hostile_run, suite};

fn read_back(suite: &SuiteReport) -> (String, Report) {
    let xml = junit_xml(suite).unwrap();
    let report = Report::deserialize_from_str(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    (xml, report)
}

#[test]
fn there_is_a_suite_for_each_file_and_a_case_for_each_test() {
    let (_, report) = read_back(&suite());
    assert_eq!((report.tests, report.failures, report.errors), (4, 1, 1));
    let names: Vec<(&str, usize)> =
        report.test_suites.iter().map(|suite| (suite.name.as_str(), suite.test_cases.len())).collect();
    let expected =
        [("tests/sanity.playbook.yaml", 2), ("tests/fail.playbook.yaml", 1), ("tests/bad.playbook.yaml", 1)];
    assert_eq!(names, expected);
    let failed = &report.test_suites[1].test_cases[0];
    assert_eq!(failed.classname.as_deref(), Some("tests.fail"));
    assert_eq!(failed.extra.get("file").map(|file| file.as_str()), Some("tests/fail.playbook.yaml"));
    assert_eq!(failed.extra.get("line").map(|line| line.as_str()), Some("7"));
}

#[test]
fn a_failure_says_why_and_the_steps_are_its_output() {
    let (_, report) = read_back(&suite());
    let failed = &report.test_suites[1].test_cases[0];
    let TestCaseStatus::NonSuccess { kind, message, description, .. } = &failed.status else {
        panic!("{:?}", failed.status)
    };
    assert_eq!(*kind, NonSuccessKind::Failure);
    assert_eq!(message.as_deref(), Some(r#"Step 1 (assert): assert verdict="fail""#));
    assert!(description.as_deref().unwrap().contains("actual:   Hello"));
    assert_eq!(failed.system_out.as_deref().map(str::trim_end), Some(run_text(&failed_run()).trim_end()));
}

#[test]
fn a_broken_test_is_an_error() {
    let (_, report) = read_back(&suite());
    let broken = &report.test_suites[2].test_cases[0];
    let TestCaseStatus::NonSuccess { kind, message, .. } = &broken.status else {
        panic!("{:?}", broken.status)
    };
    assert_eq!(*kind, NonSuccessKind::Error);
    assert_eq!(message.as_deref(), Some("line 3, column 5: there is no verb \"clik\""));
}

#[test]
fn a_flaky_test_passed_and_tells_of_its_failure() {
    let (xml, report) = read_back(&suite());
    let flaky = &report.test_suites[0].test_cases[1];
    assert_eq!(flaky.name.as_str(), "sanity (repeat 2)");
    let TestCaseStatus::Success { flaky_runs } = &flaky.status else { panic!("{:?}", flaky.status) };
    assert_eq!(flaky_runs.len(), 1);
    assert!(xml.contains("<flakyFailure"), "{xml}");
    let properties: Vec<(&str, &str)> =
        flaky.properties.iter().map(|property| (property.name.as_str(), property.value.as_str())).collect();
    assert_eq!(properties, [("repeat", "2"), ("attempt", "2"), ("flaky", "true")]);
}

#[test]
fn attempts_of_a_failed_test_are_reruns() {
    let mut suite = suite();
    suite.tests[1].earlier = vec![failed_run(), failed_run()];
    let (_, report) = read_back(&suite);
    let TestCaseStatus::NonSuccess { reruns, .. } = &report.test_suites[1].test_cases[0].status else {
        panic!("it failed")
    };
    assert_eq!((reruns.kind, reruns.runs.len()), (FlakyOrRerun::Rerun, 2));
}

#[test]
fn evidence_in_words_is_the_error_output() {
    let mut run = failed_run();
    let evidence = FailureEvidence {
        url: Some("http://a/".to_owned()),
        console: vec!["error: boom".to_owned()],
        failed_requests: vec!["GET http://a/x 404".to_owned()],
        ..FailureEvidence::default()
    };
    run.steps[1].evidence = Some(evidence.into());
    let (_, report) = read_back(&run.into());
    assert_eq!(
        report.test_suites[0].test_cases[0].system_err.as_deref(),
        Some("url: http://a/\nconsole: error: boom\nfailed request: GET http://a/x 404")
    );
}

#[test]
fn hostile_text_is_well_formed_xml() {
    let mut suite = SuiteReport::from(hostile_run());
    suite.tests[0].earlier = vec![hostile_run()];
    suite.tests[0].title.push_str("\u{0}\u{b}\u{ffff}");
    let (xml, report) = read_back(&suite);
    assert_eq!(report.tests, 1);
    assert!(!xml.contains("<script"), "{xml}");
    assert!(!xml.contains(['\u{0}', '\u{b}', '\u{1b}', '\u{ffff}']), "{xml}");
    assert!(xml.contains(r"\u{1b}[31m"), "what acts is shown: {xml}");
}

#[test]
fn class_names_have_no_endings() {
    assert_eq!(class_name("tests/shop/login.playbook.yaml"), "tests.shop.login");
    assert_eq!(class_name("./../a.b.yml"), "a_b");
    assert_eq!(class_name("C:\\site\\x.json"), "C:.site.x");
    assert_eq!(class_name(""), "");
}
