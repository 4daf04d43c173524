//! What is found before anything runs.

use serde_json::json;

use super::*;
use crate::call::{call, contract_call};
use crate::testing::{Has, Tools, heads, opened, said};

#[test]
fn unknown_variables_are_shown_where_they_stand() {
    let text = "vars: { base: x }\nsteps:\n  - reload:\n  - navigate:\n      url: http://${bas}/login\n";
    let expected = "\
a.yaml:5:19: unknown variable \"bas\" in step 1; did you mean \"base\"?
  5 |       url: http://${bas}/login
    |                   ^";
    assert_eq!(opened(text, &[], &[]).problems.to_string(), expected);
    let far = opened("steps: [ { click: \"${zzz}\" } ]", &[], &[]).problems.to_string();
    assert!(far.ends_with("note: give it with --vars zzz=…; for the text itself write $${zzz}"), "{far}");
}

#[test]
fn variables_are_looked_for_everywhere() {
    let text = "\
setup: [ { click: '${a}' } ]
steps:
  - if: { kind: url, pattern: '${b}' }
    then: [ { click: '${c}' } ]
    else: [ { fill_form: { fields: { x: [ '${d}' ] } } } ]
  - repeat: { until: { kind: url, pattern: '${e}' } }
    steps: [ { click: '${f}' } ]
  - for_each: { v: [ '${g}' ] }
    steps: [ { click: '${v}' } ]
  - parallel: [ [ { click: '${h}' } ] ]
  - click: '${v}'
teardown: [ { click: ['${i}'] } ]
";
    let names: Vec<String> =
        said(text).iter().map(|line| line.split('"').nth(1).unwrap_or_default().to_owned()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e", "f", "g", "h", "v", "i"]);
}

#[test]
fn captured_variables_are_known_from_then_on_in_their_block() {
    let text = "\
setup: [ { read_page: , capture: s } ]
steps:
  - click: '${x}'
  - { read_page: , capture: x }
  - click: '${x}${s}'
  - if: { kind: url, pattern: '${x}' }
    then: [ { read_page: , capture: { y: /a } }, { click: '${y}' } ]
  - click: '${y}'
teardown: [ { click: '${x}' } ]
";
    assert_eq!(
        said(text),
        ["a.yaml:3:13: unknown variable \"x\" in step 0", "a.yaml:8:13: unknown variable \"y\" in step 4",]
    );
}

#[test]
fn the_command_line_wins_and_served_addresses_are_known() {
    let text = "serve: x\nvars: { mode: bad }\nsteps: [ { read_page: { mode: '${mode}' } }, { click: '${base_url}' } ]\n";
    assert_eq!(heads(&opened(text, &[], &["mode=ax"])), [""; 0]);
    assert_eq!(
        heads(&opened(text, &[], &[])),
        ["a.yaml:3:31: step 0: read_page mode: \"${mode}\" is neither ax nor html"]
    );
}

#[test]
fn values_are_in_no_message() {
    let text = "\
vars: { mode: hunter2, kind: hunter2, time: hunter2, option: --hunter2 }
steps:
  - read_page: { mode: '${mode}' }
  - assert: { kind: '${kind}' }
  - wait: '${time}'
  - click: '${option}'
";
    let opened = opened(text, &[], &["mode=s3cret", "kind=s3cret", "time=s3cret", "option=--s3cret"]);
    assert_eq!(
        heads(&opened),
        [
            "a.yaml:3:24: step 0: read_page mode: \"${mode}\" is neither ax nor html",
            "a.yaml:4:21: step 1: oc_assert kind: there is no kind \"${kind}\"",
            "a.yaml:5:11: step 2: \"${time}\" is no time",
            "a.yaml:6:12: step 3: with its variables put in, \"${option}\" would be an option; \
             write the arguments as a mapping instead",
        ]
    );
    assert!(!opened.problems.to_string().contains("s3cret"));
}

#[test]
fn arguments_are_checked_where_they_stand() {
    let text = "\
steps:
  - navigate: { ulr: x }
  - assert: { kind: nope }
  - assert: { contract: { kind: nope } }
  - if: { pattern: x }
    then: []
  - click: [a, b]
  - read_page: { mode: dom }
";
    assert_eq!(
        said(text),
        [
            "a.yaml:2:15: step 0: navigate url: is missing",
            "a.yaml:2:17: step 0: navigate ulr: there is no such argument",
            "a.yaml:3:21: step 1: oc_assert kind: there is no kind \"nope\"",
            "a.yaml:4:33: step 2: oc_assert contract.kind: there is no kind \"nope\"",
            "a.yaml:5:9: step 3: oc_assert kind: is missing",
            "a.yaml:7:12: step 4: click does not take 2 words",
            "a.yaml:8:24: step 5: read_page mode: \"dom\" is neither ax nor html",
        ]
    );
}

#[test]
fn what_is_known_only_at_run_time_is_not_judged() {
    let text = "\
steps:
  - { read_page: , capture: x }
  - read_page: { mode: '${x}', extra: 1 }
  - wait: '${x}'
  - read_page: { mode: '${SECRET:KEPT}' }
";
    assert_eq!(said(text), ["a.yaml:3:32: step 1: read_page extra: there is no such argument"]);
}

#[test]
fn secrets_are_kept_or_warned_about_once() {
    let text = "steps: [ { click: '${SECRET:KEPT}' }, { click: '${SECRET:B}' }, { click: '${SECRET:B}${SECRET:C}' } ]";
    let opened = opened(text, &[], &["SECRET:B=s3cret"]);
    assert_eq!(
        heads(&opened),
        ["a.yaml:1:86: unknown variable \"SECRET:C\" in step 2; did you mean \"SECRET:B\"?"]
    );
    assert_eq!(opened.warnings.len(), 2);
    assert!(opened.warnings[0].starts_with("[playbook] WARNING: SECRET:B is a secret reference"));
    assert!(opened.warnings[0].contains("masking (#834)") && opened.warnings[0].contains("used as-is"));
}

#[test]
fn used_playbooks_have_defaults_that_the_user_overrides() {
    let login = "vars: { user: nobody, mode: bad }\nsteps: [ { read_page: { mode: '${mode}' } }, { click: '${user}${out}' } ]";
    let text = "vars: { out: x, m: ax }\nsteps:\n- { use: login.yaml, vars: { mode: '${m}' } }\n- use: login.yaml\n\
                - { use: login.yaml, vars: { mode: '${none}' } }\n- click: '${user}'\n";
    assert_eq!(
        heads(&opened(text, &[("login.yaml", login)], &[])),
        [
            "a.yaml:5:37: unknown variable \"none\" in step 2",
            "a.yaml:6:11: unknown variable \"user\" in step 3",
            "login.yaml:2:31: step 0: read_page mode: \"${mode}\" is neither ax nor html",
        ]
    );
}

#[test]
fn using_many_times_over_ends_somewhere() {
    let ten = |next: &str| format!("steps: [{}]", vec![format!("{{use: {next}}}"); 20].join(", "));
    let texts: Vec<String> = (1..9).map(|level| ten(&format!("{level}.yaml"))).collect();
    let names: Vec<String> = (0..9).map(|level| format!("{level}.yaml")).collect();
    let last = "steps: [{ reload: }]".to_owned();
    let files: Vec<_> =
        names.iter().map(String::as_str).zip(texts.iter().chain([&last]).map(String::as_str)).collect();
    let opened = opened("steps: [ { use: 0.yaml } ]", &files, &[]);
    assert!(opened.problems.to_string().contains("more than 200000 steps"), "{}", opened.problems);
}

#[test]
fn parse_errors_and_the_rest_are_reported_together() {
    let text = "steps:\n- click: '${a}'\n- clik: x\n  capture: b\n- click: '${b}'\n- navigate: {}\n";
    assert_eq!(
        said(text),
        [
            "a.yaml:2:11: unknown variable \"a\" in step 0",
            "a.yaml:3:3: unknown verb \"clik\" in step 1; did you mean \"click\"?",
            "a.yaml:6:13: step 3: navigate url: is missing",
        ]
    );
}

#[test]
fn calls_are_what_was_checked() {
    let text = "\
vars: { a: A }
steps:
  - navigate: { url: '${a}/$${a}', tabId: 3 }
  - fill: ['#x', '${a}']
  - assert: { kind: url, pattern: '${SECRET:KEPT}' }
  - if: { kind: url, pattern: '${a}' }
    then: []
  - click: '${SECRET:KEPT}'
";
    let opened = opened(text, &[], &[]);
    let playbook = opened.into_result().unwrap();
    let mut scope = Scope::of(&playbook, &Overrides::default());
    let made = |index: usize, scope: &Scope| match &playbook.steps[index].action {
        Action::Plain(plain) => call(plain, scope, &Has("KEPT"), &Tools::new()),
        Action::If(choice) => contract_call(&choice.contract, scope, &Has("KEPT")),
        _ => panic!(),
    };
    assert_eq!(made(0, &scope).unwrap().arguments, json!({ "url": "A/${a}", "tabId": 3 }));
    assert_eq!(made(1, &scope).unwrap().arguments, json!({ "selector": "#x", "value": "A" }));
    let judged = made(2, &scope).unwrap();
    assert_eq!(judged.tool, "oc_assert");
    assert_eq!(judged.arguments, json!({ "contract": { "kind": "url", "pattern": "${SECRET:KEPT}" } }));
    assert_eq!(made(3, &scope).unwrap().arguments, json!({ "contract": { "kind": "url", "pattern": "A" } }));
    scope.bind("a", Binding::Known("--all".to_owned()));
    assert_eq!(made(1, &scope), Err(CallError::Option("${a}".to_owned())));
    scope.bind("a", Binding::Known("-5".to_owned()));
    assert!(made(1, &scope).is_ok());
    scope.bind("a", Binding::Later);
    assert_eq!(made(1, &scope), Err(CallError::NoValue("a".to_owned())));
}

/// Comparing each with each would take quadratic time.
#[test]
fn of_many_unknown_variables_among_many_only_the_first_get_suggestions() {
    let vars: String = (0..3_000).map(|number| format!("  variable_{number}: x\n")).collect();
    let steps: String = (0..900).map(|number| format!("  - click: ${{varable_{number}_}}\n")).collect();
    let problems = opened(&format!("vars:\n{vars}steps:\n{steps}"), &[], &[]).problems;
    assert_eq!(problems.len(), 900);
    let suggests = |problem: Option<&Problem>| problem.unwrap().message.contains("did you mean");
    assert!(suggests(problems.iter().next()) && !suggests(problems.iter().last()));
}
