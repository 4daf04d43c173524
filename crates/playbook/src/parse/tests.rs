//! What is understood, and what is said about the rest.

use std::path::Path;

use proptest::prelude::*;
use surehand_testkit::Effort;

use super::*;
use crate::document::{Action, Arguments, Capture, Count, Served, Until};
use crate::testing::{Texts, Tools, heads, opened, said, source};

fn understood(text: &str) -> Playbook {
    opened(text, &[], &[]).into_result().unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

/// What is said about steps that stand under `steps:`.
fn about_steps(steps: &str) -> Vec<String> {
    said(&format!("steps:\n{steps}"))
}

const FULL: &str = r##"
name: Checkout
vars: { base: http://127.0.0.1:8000, heading: Example }
viewport: 1280x720
device: Pixel 7
serve: { dir: ./site, var: site }
setup:
  - reload:
steps:
  - navigate: { url: "${base}/login" }
  - id: title
    name: The title
    timeout: 2000
    retries: 2
    capture: { title: /result }
    javascript_tool: { code: "document.title" }
  - click: "#a"
  - fill: ["#a", 5]
  - if: { kind: dom_text, selector: h1, pattern: "${title}" }
    then: [ { click: x } ]
    else: [ { click: y } ]
  - repeat: { until: { kind: url, pattern: x } }
    steps: [ { read_page: } ]
  - for_each: { item: [a, "${heading}"] }
    steps: [ { click: "${item}" } ]
  - parallel:
      - [ { click: "${site}" } ]
      - name: second
        steps: [ { click: b } ]
teardown:
  - assert: { kind: url, pattern: "${title}" }
"##;

#[test]
fn the_whole_grammar_is_understood() {
    let playbook = understood(FULL);
    assert_eq!(playbook.name.as_deref(), Some("Checkout"));
    let viewport = playbook.viewport.unwrap();
    assert_eq!((viewport.width, viewport.height), (1280, 720));
    assert_eq!(playbook.serve.as_ref().unwrap().var, "site");
    let Action::Plain(plain) = &playbook.steps[1].action else { panic!() };
    assert_eq!((&plain.timeout_ms, plain.retries), (&Some(Count::Is(2000)), 2));
    assert_eq!(plain.capture, Some(Capture::Parts(vec![("title".to_owned(), "/result".to_owned())])));
    assert_eq!(playbook.steps[1].id.as_deref(), Some("title"));
    let Action::Plain(fill) = &playbook.steps[3].action else { panic!() };
    let Arguments::Words { words, .. } = &fill.arguments else { panic!() };
    assert!(words.iter().map(|word| word.text.as_str()).eq(["#a", "5"]));
    let Action::Repeat(repeat) = &playbook.steps[5].action else { panic!() };
    assert!(matches!(repeat.until, Until::Passes { max: Count::Is(10), .. }));
    let Action::Parallel(branches) = &playbook.steps[7].action else { panic!() };
    assert_eq!(branches[1].steps[0].label, "step 7/second/0");
    assert_eq!(playbook.teardown[0].label, "teardown step 0");
}

#[test]
fn json_has_the_same_shape() {
    let text = r#"{"name": "x", "vars": {"url": "u"}, "steps": [{"navigate": {"url": "${url}"}}, {"assert": null}]}"#;
    let source = Source::from_bytes(Path::new("a.json"), text.into()).unwrap();
    let parsed = parse(source, &Tools::new(), &Texts::new(&[]));
    assert!(parsed.problems.is_empty(), "{}", parsed.problems);
    assert_eq!(parsed.playbook.unwrap().steps.len(), 2);
}

#[test]
fn serving_is_a_directory_or_a_command() {
    let served = |serve: &str| understood(&format!("serve: {serve}\nsteps: []\n")).serve.unwrap();
    assert_eq!(served("./site").var, "base_url");
    let command = served("{ command: npm start, url: http://127.0.0.1:3000 }");
    assert!(matches!(command.what, Served::Command { timeout_ms: 30_000, .. }));
    let wrong = |serve: &str| said(&format!("serve: {serve}\nsteps: [ {{ click: \"${{base_url}}\" }} ]\n"));
    assert_eq!(wrong("{ }"), ["a.yaml:1:8: `serve` needs `dir` or `command`"]);
    assert_eq!(
        wrong("3"),
        ["a.yaml:1:8: `serve` is a directory or a mapping with `dir` or `command`, not a number"]
    );
    assert_eq!(
        wrong("{ command: x }"),
        ["a.yaml:1:8: `serve` with a `command` needs the `url` where it answers"]
    );
    assert_eq!(wrong("{ dir: x, url: y }"), ["a.yaml:1:18: \"url\" is for `command`, not for `dir`"]);
    assert_eq!(
        wrong("{ dir: x, command: y }"),
        ["a.yaml:1:18: `serve` has either `dir` or `command`, not both"]
    );
    assert_eq!(wrong("{ dir: x, prot: 3 }"), ["a.yaml:1:18: unknown key \"prot\" in `serve`"]);
}

#[test]
fn the_top_is_a_mapping_with_steps() {
    assert_eq!(said(""), ["a.yaml:1:1: the file is empty"]);
    assert_eq!(said("- a"), ["a.yaml:1:1: a playbook is a mapping with `steps`, not a list"]);
    assert_eq!(said("name: x"), ["a.yaml:1:1: `steps` is missing"]);
    assert_eq!(said("steps:"), ["a.yaml:1:6: `steps` is a list of steps, not nothing"]);
    assert_eq!(said("steps: {}"), ["a.yaml:1:8: `steps` is a list of steps, not a mapping"]);
    assert_eq!(
        said("stpes: []\nsteps: []\nnmae: x\n"),
        [
            "a.yaml:1:1: unknown key \"stpes\" in a playbook; did you mean \"steps\"?",
            "a.yaml:3:1: unknown key \"nmae\" in a playbook; did you mean \"name\"?"
        ]
    );
    assert_eq!(
        said(
            "name: 5\nvars: { port: 80, a-b: x }\nviewport: 12\ndevice: []\nsteps: [ { click: \"${port}\" } ]\n"
        ),
        [
            "a.yaml:1:7: `name` is a text, not a number; put it in quotes",
            "a.yaml:2:15: the variable \"port\" is a text, not a number; put it in quotes",
            "a.yaml:2:19: \"a-b\" is no name for a variable: letters, digits and _, not a digit first",
            "a.yaml:3:11: `viewport` is a text, not a number; put it in quotes",
            "a.yaml:4:9: `device` is a text, not a list",
        ]
    );
    assert_eq!(
        said("viewport: 12by9\nsteps: []"),
        ["a.yaml:1:11: `viewport` is WIDTHxHEIGHT in pixels such as 1280x720, not \"12by9\""]
    );
}

#[test]
fn a_step_has_exactly_one_verb() {
    assert_eq!(
        about_steps("- navigate: { url: x }\n  click: a\n"),
        ["a.yaml:3:3: step 0 has two verbs: \"navigate\" at 2:3 and \"click\" at 3:3"]
    );
    assert_eq!(
        about_steps("- if: { kind: url }\n  click: a\n  repeat: 3\n"),
        ["a.yaml:3:3: step 0 has 3 verbs: \"if\" at 2:3 and \"click\" at 3:3 and \"repeat\" at 4:3"]
    );
    assert_eq!(about_steps("- timeout: 5\n"), ["a.yaml:2:3: step 0 has no verb"]);
    assert_eq!(
        about_steps("- {}\n- hello\n"),
        [
            "a.yaml:2:3: step 0 has no verb",
            "a.yaml:3:3: step 1 is a mapping with one verb such as `navigate: { url: … }`, not a text"
        ]
    );
    assert_eq!(
        about_steps("- timout: 5\n  clik: a\n"),
        [
            "a.yaml:2:3: unknown key \"timout\" in step 0; did you mean \"timeout\"?",
            "a.yaml:3:3: unknown verb \"clik\" in step 0; did you mean \"click\"?"
        ]
    );
    assert_eq!(
        about_steps("- then: []\n"),
        ["a.yaml:2:3: \"then\" belongs to \"if\", which step 0 does not have"]
    );
}

#[test]
fn an_unknown_verb_is_shown_with_all_that_there_are() {
    let problems = opened("steps:\n  - clik: a\n", &[], &[]).problems.to_string();
    let expected = "\
a.yaml:2:5: unknown verb \"clik\" in step 0; did you mean \"click\"?
  2 |   - clik: a
    |     ^
  note: the verbs are navigate, interact, act, fill_form, wait_for, page_screenshot, read_page, javascript_tool, assert
  note: and if, repeat, for_each, parallel, use, and those of the command line such as click and fill";
    assert_eq!(problems, expected);
}

#[test]
fn beside_a_verb_stand_only_modifiers() {
    let text = "- navigate:\n  url: x\n";
    let problems = opened(&format!("steps:\n{text}"), &[], &[]).problems.to_string();
    assert!(problems.starts_with("a.yaml:2:3: step 0: navigate url: is missing\n"), "{problems}");
    assert!(problems.contains("a.yaml:3:3: unknown key \"url\" in step 0\n"), "{problems}");
    assert!(problems.contains("the arguments of \"navigate\" stand below it"), "{problems}");
    assert_eq!(
        about_steps("- click: a\n  then: []\n- repeat: 2\n  steps: []\n  timeout: 5\n"),
        [
            "a.yaml:3:3: \"then\" belongs to \"if\", and step 0 is \"click\"",
            "a.yaml:6:3: \"timeout\" is for plain steps, and step 1 is \"repeat\"",
        ]
    );
}

#[test]
fn modifiers_have_types() {
    assert_eq!(
        about_steps("- click: a\n  timeout: 0\n  retries: 101\n  id: A\n  name: 3\n  capture: 5\n"),
        [
            "a.yaml:3:12: `timeout` is a whole number of at least 1, not 0",
            "a.yaml:4:12: `retries` is a whole number from 0 to 100, not 101",
            "a.yaml:5:7: \"A\" is no id",
            "a.yaml:6:9: `name` is a text, not a number; put it in quotes",
            "a.yaml:7:12: `capture` is a variable, or a mapping such as { total: /result }, not a number",
        ]
    );
    assert_eq!(
        about_steps("- click: a\n  capture: { x: result, SECRET:y: /a }\n- click: ${x}\n"),
        [
            "a.yaml:3:17: \"result\" is no JSON pointer into the result: it begins with /",
            "a.yaml:3:25: \"SECRET:y\" is no name for a variable: letters, digits and _, not a digit first",
        ]
    );
}

#[test]
fn ids_are_used_once() {
    let problems = opened("steps:\n- { id: a, click: x }\n- { id: a, click: x }\n", &[], &[]).problems;
    let expected = "\
a.yaml:3:9: the id \"a\" is used twice
  3 | - { id: a, click: x }
    |         ^
  note: its first use is at 2:9";
    assert_eq!(problems.to_string(), expected);
}

#[test]
fn arguments_have_shapes() {
    assert_eq!(
        about_steps("- navigate: http://x\n- click: [[a]]\n- fill: [a, null]\n- assert: [x]\n"),
        [
            "a.yaml:2:13: \"navigate\" in step 0 takes a mapping such as { url: … }, not a text",
            "a.yaml:3:11: a word of \"click\" in step 1 is a text, not a list",
            "a.yaml:4:13: a word of \"fill\" in step 2 is a text, not nothing",
            "a.yaml:5:11: \"assert\" in step 3 takes a mapping such as { kind: … }, not a list",
        ]
    );
}

#[test]
fn control_steps_have_what_they_need() {
    assert_eq!(
        about_steps(
            "- if: x\n- repeat: 0\n  steps: 3\n- repeat: { times: 2, until: { kind: url } }\n  steps: []\n\
             - repeat: {}\n  steps: []\n- for_each: { a: [1], b: [x] }\n  steps: []\n- for_each: { a: x }\n  steps: []\n\
             - parallel: []\n- parallel: [ { click: a } ]\n- use: 3\n- for_each: { a: [1] }\n  steps: []\n"
        ),
        [
            "a.yaml:2:3: step 0 is \"if\" and has no `then`",
            "a.yaml:2:7: `if` takes a contract such as { kind: url, pattern: … }, not a text",
            "a.yaml:3:11: `repeat` is a whole number from 1 to 10000, not 0",
            "a.yaml:4:10: `steps` is a list of steps, not a number",
            "a.yaml:5:23: `repeat` has either `times` or `until`, not both",
            "a.yaml:7:11: `repeat` is a number, or a mapping with `times` or `until`",
            "a.yaml:9:13: `for_each` has one variable with a list, such as { item: [a, b] }",
            "a.yaml:11:18: the values of \"a\" are a list of texts, not a text",
            "a.yaml:13:13: `parallel` has no branches",
            "a.yaml:14:15: a branch has no `steps`",
            "a.yaml:14:17: unknown key \"click\" in a branch",
            "a.yaml:15:8: `use` is a text, not a number; put it in quotes",
            "a.yaml:16:19: a value of \"a\" is a text, not a number; put it in quotes",
        ]
    );
}

#[test]
fn used_playbooks_are_read_once_and_their_problems_carry_their_name() {
    let text = "steps:\n- use: b.yaml\n- use: b.yaml\n- use: none.yaml\n- use: c.yaml\n";
    let opened = opened(text, &[("b.yaml", "steps: [ { clik: a } ]"), ("c.yaml", "steps: [")], &[]);
    assert_eq!(
        heads(&opened),
        [
            "a.yaml:4:8: \"none.yaml\" cannot be used: there is no such file",
            "b.yaml:1:12: unknown verb \"clik\" in step 0; did you mean \"click\"?",
            "c.yaml:1:8: this is not YAML that can be read: unclosed bracket '['",
        ]
    );
}

#[test]
fn used_playbooks_say_nothing_of_what_surrounds_them() {
    let files = [("b.yaml", "viewport: 800x600\nserve: ./x\nsteps: []")];
    let opened = opened("steps: [ { use: b.yaml } ]", &files, &[]);
    assert_eq!(
        heads(&opened),
        [
            "a.yaml:1:17: \"b.yaml\" has `viewport`, which is only for a playbook that is run by itself",
            "a.yaml:1:17: \"b.yaml\" has `serve`, which is only for a playbook that is run by itself",
        ]
    );
    assert!(opened.problems.to_string().contains("it is at b.yaml:2:8"), "{}", opened.problems);
}

#[test]
fn words_and_fields_keep_their_spelling() {
    let playbook = understood(
        "steps:\n- fill: ['#zip', 01234]\n- click: 1.50\n- click: True\n- fill_form: { fields: { Zip: 01234, Age: 5 } }\n",
    );
    let words = |index: usize| match &playbook.steps[index].action {
        Action::Plain(plain) => match &plain.arguments {
            Arguments::Words { words, .. } => words.iter().map(|word| word.text.clone()).collect::<Vec<_>>(),
            Arguments::Object(node) => vec![node.to_json().to_string()],
        },
        _ => panic!(),
    };
    assert_eq!(words(0), ["#zip", "01234"]);
    assert_eq!((words(1), words(2)), (vec!["1.50".to_owned()], vec!["True".to_owned()]));
    assert_eq!(words(3), [r#"{"fields":{"Zip":"01234","Age":5}}"#]);
}

#[test]
fn circles_are_shown() {
    let files = [("b.yaml", "steps: [ { use: c.yaml } ]"), ("c.yaml", "steps: [ { use: b.yaml } ]")];
    let opened = opened("steps: [ { use: b.yaml } ]", &files, &[]);
    assert_eq!(
        heads(&opened),
        ["c.yaml:1:17: playbooks use each other in a circle: b.yaml → c.yaml → b.yaml"]
    );
    let own = [("a.yaml", "steps: [ { use: a.yaml } ]")];
    let problems = crate::testing::opened("steps: [ { use: a.yaml } ]", &own, &[]).problems;
    assert!(problems.to_string().contains("circle: a.yaml → a.yaml"), "{problems}");
}

#[test]
fn using_ends_somewhere() {
    let names: Vec<String> = (0..30).map(|number| format!("{number}.yaml")).collect();
    let texts: Vec<String> = (1..31).map(|number| format!("steps: [ {{ use: {number}.yaml }} ]")).collect();
    let files: Vec<_> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let opened = opened("steps: [ { use: 0.yaml } ]", &files, &[]);
    assert_eq!(heads(&opened), ["14.yaml:1:17: playbooks use each other more than 16 deep"]);
}

#[test]
fn files_are_found_beside_the_one_that_uses_them() {
    let directory = tempfile::tempdir().unwrap();
    fs_err::create_dir_all(directory.path().join("sub")).unwrap();
    let main = directory.path().join("sub/main.yaml");
    fs_err::write(&main, "steps: [ { use: ./../login.yaml } ]").unwrap();
    fs_err::write(directory.path().join("login.yaml"), "steps: [ { use: sub/main.yaml } ]").unwrap();
    let parsed = parse(Source::read(&main).unwrap(), &Tools::new(), &Files);
    assert!(parsed.problems.to_string().contains("in a circle"), "{}", parsed.problems);
    assert_eq!(normal(Path::new("a/./b/../../../c")), Path::new("../c"));
}

proptest! {
    #[test]
    fn nothing_panics(text in "\\PC{0,60}|[\\[\\]{}:,&*!|>'\"a \n-]{0,40}") {
        let _ = opened(&text, &[], &[]);
    }

    #[test]
    fn nothing_panics_near_the_grammar(lines in proptest::collection::vec(
        ("[ -]{0,6}", "name|vars|steps|serve|navigate|click|if|then|repeat|for_each|parallel|use|id|capture|\\$\\{a\\}",
         "|: *[a&*b]|: 3|: \\[|: \\{|: \\$\\{a\\}|: \\{a: b\\}|:"), 0..10)) {
        let text: String = lines.iter().map(|(indent, key, value)| format!("{indent}{key}{value}\n")).collect();
        let opened = opened(&text, &[], &[]);
        prop_assert!(opened.problems.iter().all(|problem| problem.at.is_some()));
        let _ = parse(source(&text), &Tools::new(), &Texts::new(&[]));
    }
}

/// Pictures of long lines and suggestions cost, and nobody sees those of further problems.
#[test]
fn very_many_problems_take_no_quadratic_time() {
    let steps = |step: &str, times: usize| format!("{{\"steps\": [{}]}}", vec![step; times].join(", "));
    let keys: String = (0..6_000).map(|number| format!(", \"clik{number}\": 1")).collect();
    let effort = Effort::begin();
    for text in [
        steps("1", 40_000),
        steps("{\"id\": \"\", \"x\": 1}", 8_000),
        steps("{\"navigate\": {\"none\": 1}}", 6_000),
        steps("{\"click\": [1, 2]}", 8_000),
        steps(&format!("{{\"id\": \"a\"{keys}}}"), 1),
        steps(&format!("{{\"click\": \"a\"{keys}}}"), 1),
    ] {
        assert!(opened(&text, &[], &[]).problems.len() >= 1_000, "{text:.100}");
    }
    assert!(effort.spent().as_secs() < 30, "{:?}", effort.spent());
}
