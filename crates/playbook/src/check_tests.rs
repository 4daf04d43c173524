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
fn a_block_sets_variables_that_there_are_outside() {
    let text = "\
vars: { mode: bad }
steps:
  - { read_page: , capture: x }
  - repeat: 2
    steps:
      - if: { kind: url }
        then: [ { read_page: , capture: { mode: /a, x: /b } } ]
  - read_page: { mode: '${mode}' }
";
    assert_eq!(said(text), [""; 0], "what was captured is not judged");
    let branches =
        text.replace("repeat: 2\n    steps:", "parallel:\n      -").replace("      - if", "        - if");
    let branches = branches.replace("        then", "          then");
    assert_eq!(said(&branches).len(), 1, "a branch has variables of its own: {branches}");
    let used = [("b.yaml", "steps: [ { read_page: , capture: mode } ]")];
    let user = "vars: { mode: bad }\nsteps: [ { use: b.yaml }, { read_page: { mode: '${mode}' } } ]";
    assert_eq!(heads(&opened(user, &used, &[])).len(), 1, "and so has a playbook that is used");
}

#[test]
fn rounds_count_also_where_nothing_is_done() {
    let text = "steps: [ { repeat: 10000, steps: [ { repeat: 10000, steps: [] } ] } ]";
    assert_eq!(said(text), ["a.yaml:1:36: these are more than 200000 rounds of loops in all"]);
    assert_eq!(said("steps: [ { repeat: 10000, steps: [] } ]"), [""; 0]);
}

#[test]
fn steps_of_a_loop_that_is_wrong_are_looked_at() {
    let text = "steps: [ { repeat: 0, steps: [ { click: '${none}' } ] } ]";
    assert_eq!(said(text).len(), 2, "{:?}", said(text));
}

#[test]
fn secrets_may_be_handed_on_and_still_belong_somewhere() {
    let used = [("b.yaml", "vars: { pw: '' }\nsteps: [ { click: '${pw}' } ]")];
    let text = "\
vars: { own: '${SECRET:KEPT}' }
steps:
  - { use: b.yaml, vars: { pw: '<${SECRET:KEPT}>' } }
  - { use: b.yaml, vars: { pw: '${own}' } }
  - { for_each: { pw: [ x, '${SECRET:KEPT}' ] }, steps: [ { click: '${pw}' } ] }
";
    assert_eq!(heads(&opened(text, &used, &[])), [""; 0]);
    let given = heads(&opened(text, &used, &["own=${SECRET:KEPT}"]));
    assert_eq!(given.len(), 1, "what the command line says is no reference: {given:?}");
    let escaped = said("steps: [ { click: 'a $${SECRET:NONE}' } ]");
    assert_eq!(
        escaped,
        [
            "a.yaml:1:19: step 0: no tool can be given the plain text ${SECRET:NONE}: it always stands for the secret"
        ]
    );
}

#[test]
fn numbers_may_be_variables() {
    let text = "\
vars: { ms: '200', often: '3', word: x }
steps:
  - { click: a, timeout: '${ms}' }
  - { repeat: '${often}', steps: [] }
  - { click: a, timeout: '${word}' }
  - { repeat: '${word}', steps: [] }
  - { read_page: , capture: later }
  - { click: a, timeout: '${later}' }
  - { repeat: '${later}', steps: [] }
  - { click: a, timeout: '1${ms}' }
";
    let said = said(text);
    assert_eq!(said.len(), 4, "{said:#?}");
    assert!(
        said[0].contains("`timeout` is a whole number of at least 1, and with its variable put in"),
        "{said:?}"
    );
    assert!(said[1].contains("a.yaml:6:15: step 3: `repeat` is a whole number from 1 to 10000"), "{said:?}");
    assert!(said[2].contains("step 6: `repeat` must be known before anything runs"), "{said:?}");
    assert!(said[3].contains("`timeout` is a whole number of at least 1, not a text"), "{said:?}");
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
fn steps_count_as_often_as_they_may_run() {
    let nested = |times: u32| {
        format!(
            "steps:\n- repeat: {times}\n  steps:\n  - for_each: {{ a: [x, y] }}\n    steps: [ {{ reload: }} ]\n"
        )
    };
    assert_eq!(said(&nested(10_000)), [""; 0]);
    let twice = nested(10_000).replace("[x, y]", &format!("[{}]", vec!["x"; 21].join(", ")));
    assert_eq!(said(&twice), ["a.yaml:5:14: these are more than 200000 steps in all"]);
    // Only one of two branches runs, and what only holds steps is no row.
    let branches = "steps:\n- repeat: 10000\n  steps:\n  - if: { kind: url }\n    then: [A]\n    else: [A]\n";
    let branches = branches.replace('A', &vec!["{ reload: }"; 19].join(", "));
    assert_eq!(said(&branches), [""; 0]);
    let until = "steps:\n- repeat: { until: { kind: url }, max: 10000 }\n  steps: [A]\n";
    assert_eq!(said(&until.replace('A', &vec!["{ reload: }"; 19].join(", "))), [""; 0]);
    assert_eq!(said(&until.replace('A', &vec!["{ reload: }"; 20].join(", "))).len(), 1);
}

#[test]
fn what_variables_make_is_bounded() {
    let large = "x".repeat(600_000);
    let one = format!("vars: {{ a: {large} }}\nsteps:\n- click: '${{a}}${{a}}'\n");
    let told = said(&one);
    assert_eq!(told, ["a.yaml:3:10: step 0: with its variables put in, this text is larger than 1 MiB"]);
    let fields: String = (0..5).map(|number| format!("    f{number}: '${{a}}'\n")).collect();
    let several = format!("vars: {{ a: {large} }}\nsteps:\n- fill_form:\n   fields:\n{fields}");
    let told = said(&several);
    assert!(
        told[0].starts_with("a.yaml:6:9: step 0: with their variables put in, the arguments are"),
        "{told:?}"
    );
    let effort = surehand_testkit::Effort::begin();
    let many = format!("vars: {{ a: {large} }}\nsteps:\n{}", "- click: '${a}'\n".repeat(10_000));
    let told = said(&many);
    assert!(told.len() == 1 && told[0].contains("64 MiB in all"), "{told:?}");
    // Each level twice as much as the one above.
    let doubling =
        |next: &str| format!("steps: [ {{ use: {next}, vars: {{ a: '${{a}}${{a}}${{a}}${{a}}' }} }} ]");
    let names: Vec<String> = (0..15).map(|level| format!("{level}.yaml")).collect();
    let texts: Vec<String> = (1..15).map(|level| doubling(&format!("{level}.yaml"))).collect();
    let last = "steps: [ { click: '${a}' } ]".to_owned();
    let files: Vec<_> = names
        .iter()
        .map(String::as_str)
        .zip(texts.iter().chain([&last]).map(String::as_str))
        .take(15)
        .collect();
    let first = "vars: { a: x123456789 }\nsteps: [ { use: 0.yaml } ]";
    let told = opened(first, &files, &[]).problems.to_string();
    assert!(told.contains("larger than 1 MiB"), "{told}");
    assert!(effort.spent().as_secs() < 10, "{:?}", effort.spent());
}

#[test]
fn many_problems_on_one_line_are_found_quickly() {
    for bad in
        ["{\"clik\": \"a\"}", "{\"click\": [1, 2]}", "{\"click\": \"${a}\"}", "{\"navigate\": {\"x\": 1}}"]
    {
        let text = format!("{{\"steps\": [{}]}}", vec![bad; 40_000].join(","));
        let effort = surehand_testkit::Effort::begin();
        let opened = opened(&text, &[], &[]);
        assert!(opened.problems.len() >= 1_000, "{:.300}", opened.problems.to_string());
        // Without optimization; with it, tens of milliseconds.
        assert!(effort.spent().as_secs() < 6, "{bad}: {:?}", effort.spent());
    }
}

#[test]
fn words_that_are_wrong_are_pointed_at() {
    let text = "vars: { w: soon }\nsteps:\n- wait:\n  - soon\n- wait: [ '${w}' ]\n";
    assert_eq!(
        said(text),
        ["a.yaml:4:5: step 0: \"soon\" is no time", "a.yaml:5:11: step 1: \"${w}\" is no time"]
    );
    let own = |steps: &str| {
        let source = crate::testing::source(&format!("vars: {{ w: abc }}\nsteps:\n{steps}"));
        let opened = crate::open_source(
            source,
            &crate::OwnCatalog,
            &crate::testing::Texts::new(&[]),
            &Overrides::default(),
            &Has("KEPT"),
        );
        let first = |problem: &Problem| format!("{} {}", problem.at.unwrap(), problem.message);
        opened.problems.iter().map(first).collect::<Vec<_>>()
    };
    for (steps, mark) in [
        ("- set: [viewport, 800, tall]", "tall"),
        ("- set: [viewport, \"${w}\", 600]", "\"${w}"),
        ("- click: ['#a', --position, nowhere]", "nowhere"),
        ("- click: ['#a', --position=nowhere]", "--pos"),
        ("- press: Entr", "Entr"),
        ("- press: { key: Entr }", "Entr"),
        ("- click: ['role=button[', --force]", "'role"),
        ("- find: [role, button, clik]", "clik"),
        ("- batch: ['get title', 'clik a']", "'clik"),
        ("- navigate: { url: 'ftp://x' }", "'ftp"),
        ("- navigate: { url: '' }", "''"),
        ("- act: { action: dance wildly }", "dance"),
        ("- fill_form: { fields: {} }", "{} "),
        ("- interact: { ref: '' }", "''"),
        ("- wait_for: { condition: selector, value: 'a[' }", "'a["),
        ("- assert: { kind: dom_text, selector: 'a[', pattern: x }", "'a["),
        (
            "- assert: { kind: and, children: [{ kind: dom_count, selector: 'role=a[', op: eq, value: 1 }] }",
            "'role",
        ),
        ("- eval: []", "[]"),
        ("- batch: []", "[]"),
        ("- fill: { selector: '#a', valu: x }", "valu"),
        ("- set: { what: { viewport: { width: 5, height: 5 }, x: 1 } }", "x: 1"),
        ("- navigate: { url: 'http://x/${SECRET:KEPT}' }", "${"),
        ("- assert: { kind: url, pattern: 'a${SECRET:KEPT}' }", "${"),
        ("- eval: '${SECRET:KEPT}'", "${"),
        ("- press: '${SECRET:KEPT}'", "${"),
        ("- click: ['#${SECRET:KEPT}', --force]", "${"),
        ("- if: { kind: url, pattern: '${SECRET:KEPT}' }\n  then: []", "${"),
    ] {
        let told = own(steps);
        let place = format!("3:{} ", steps.find(mark).unwrap() + 1);
        assert!(told.len() == 1 && told[0].starts_with(&place), "{steps}: {told:?}");
        assert!(!told[0].contains("single key"), "{told:?}");
    }
    for fine in [
        "- fill: ['#a', '${SECRET:KEPT}']",
        "- fill_form: { fields: { A: '${SECRET:KEPT}' } }",
        "- { read_page: , capture: x }\n- press: '${x}'\n- find: [role, button, '${x}']\n- batch: ['${x} a']\n- act: { action: 'click ${x}' }",
        "- { read_page: , capture: x }\n- navigate: { url: '${x}' }\n- click: 'a[${x}'\n- set: [device, '${x}']",
    ] {
        assert_eq!(own(fine), [""; 0], "{fine}");
    }
}

#[test]
fn what_surrounds_the_steps_is_checked() {
    assert_eq!(said("device: Pixl\nsteps: []\n"), ["a.yaml:1:9: `device`: there is no such device"]);
    assert_eq!(
        said("device: '${d}'\nserve: '${s}'\nsteps: [ { use: '${u}' }, { click: '${base_url}' } ]\n"),
        [
            "a.yaml:1:9: `device` takes no variables, and this refers to \"d\"",
            "a.yaml:2:8: `serve` takes no variables, and this refers to \"s\"",
            "a.yaml:3:17: `use` takes no variables, and this refers to \"u\"",
        ]
    );
    assert_eq!(
        said("serve: none\nsteps: [ { click: '${base_url}' } ]\n"),
        ["a.yaml:1:8: `serve` is a directory, and \"none\" is none"]
    );
    for url in
        ["http://example.com:80", "http://127.0.0.1", "https://127.0.0.1:3000", "x", "http://192.168.0.1:80"]
    {
        let told = said(&format!("serve: {{ command: x, url: '{url}' }}\nsteps: []\n"));
        assert!(
            told.len() == 1 && told[0].starts_with("a.yaml:1:27: `url` is an address of this machine"),
            "{told:?}"
        );
    }
    for url in ["http://127.0.0.1:3000", "http://localhost:3000/x", "http://[::1]:3000"] {
        assert_eq!(said(&format!("serve: {{ command: 'x ${{PORT}}', url: '{url}' }}\nsteps: []\n")), [""; 0]);
    }
}

#[test]
fn odd_values_are_told_once_with_the_rest() {
    let text = "steps:\n- click: a\n  timeout: .inf\n  id: A\n  id: b\n- click: .nan\n- clik: a\n";
    assert_eq!(
        said(text),
        [
            "a.yaml:3:12: a number must be finite; put it in quotes if it is a text",
            "a.yaml:4:7: \"A\" is no id",
            "a.yaml:5:3: the key \"id\" is there twice",
            "a.yaml:6:10: a number must be finite; put it in quotes if it is a text",
            "a.yaml:7:3: unknown verb \"clik\" in step 2; did you mean \"click\"?",
        ]
    );
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
        Action::If(choice) => contract_call(&choice.contract, scope, &Has("KEPT"), &Tools::new()),
        _ => panic!(),
    };
    assert_eq!(made(0, &scope).unwrap().arguments, json!({ "url": "A/${a}", "tabId": 3 }));
    assert_eq!(made(1, &scope).unwrap().arguments, json!({ "selector": "#x", "value": "A" }));
    let judged = made(2, &scope).unwrap();
    assert_eq!(judged.tool, "oc_assert");
    assert_eq!(judged.arguments, json!({ "contract": { "kind": "url", "pattern": "${SECRET:KEPT}" } }));
    assert_eq!(made(3, &scope).unwrap().arguments, json!({ "contract": { "kind": "url", "pattern": "A" } }));
    scope.bind("a", Binding::plain("--all"));
    assert_eq!(made(1, &scope), Err(CallError::Option("${a}".to_owned())));
    scope.bind("a", Binding::plain("-5"));
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
