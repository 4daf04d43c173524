//! What YAML is read and what is refused, and where.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};
use surehand_testkit::Effort;

use super::*;

fn source(text: &str) -> Source {
    Source::from_bytes(Path::new("a.yaml"), text.into()).unwrap()
}

/// As most tests of this file mean it: nothing is wrong at all.
fn read(source: &Source) -> Result<Node, Problem> {
    let mut problems = Problems::default();
    let node = super::read(source, &mut problems)?;
    problems.iter().next().cloned().map_or(Ok(node), Err)
}

fn json_of(text: &str) -> Json {
    read(&source(text)).unwrap_or_else(|problem| panic!("{text}: {problem}")).to_json()
}

/// Where it is refused and why; quickly, whatever it is.
fn refusal(text: &str) -> (Position, String) {
    let effort = Effort::begin();
    let Err(problem) = read(&source(text)) else { panic!("this was read: {text:.200}") };
    assert!(effort.spent() < Duration::from_secs(10), "{:?}", effort.spent());
    (problem.at.unwrap(), problem.message)
}

fn at(line: u32, column: u32) -> Position {
    Position { line, column }
}

#[test]
fn scalars_are_of_the_core_schema() {
    assert_eq!(
        json_of("[yes, on, true, 12, 0x10, -3, 1.5, 1e3, '1', null, ~, 1:30, 2024-01-01, 0o17]"),
        json!(["yes", "on", true, 12, 16, -3, 1.5, 1000.0, "1", null, null, "1:30", "2024-01-01", 15])
    );
    assert_eq!(json_of("a: 18446744073709551615\nb: |\n  x\n  y\n"), json!({"a": u64::MAX, "b": "x\ny\n"}));
    assert_eq!(json_of(""), Json::Null);
    assert_eq!(json_of("# nothing\n"), Json::Null);
    assert_eq!(json_of("---\na: 1\n...\n"), json!({ "a": 1 }));
    assert_eq!(json_of("1: a\ntrue: b\n007: c\n"), json!({ "1": "a", "true": "b", "007": "c" }));
    assert_eq!(json_of("[+1, -0, .5, 5., +.5e-1]"), json!([1, 0, 0.5, 5.0, 0.05]));
    assert_eq!(json_of("[18446744073709551616]"), json!([18446744073709551616.0]));
    let texts = ["1e", "1_000", "0x", ".", "1.2.3", "inf", "0xg", "0x+1", "127.0.0.1"];
    assert_eq!(json_of(&format!("[{}]", texts.join(", "))), json!(texts));
    assert_eq!(
        json_of("[!!str 1, ! 1, !!int '1', !!float 1, !!bool 'true', !!null x]"),
        json!(["1", "1", 1, 1, true, null])
    );
    assert_eq!(refusal("!!int x").0, at(1, 7));
    assert_eq!(json_of("!!map { !!str a: !!seq [1] }"), json!({ "a": [1] }));
}

#[test]
fn tags_that_mean_nothing_are_refused_where_they_stand() {
    for (text, tag) in [
        ("a: !own 1", "!own"),
        ("a: !own '1'", "!own"),
        ("a: !!binary YQ==", "!!binary"),
        ("a: !own [1]", "!own"),
        ("a: !!set { b: 1 }", "!!set"),
        ("!own a: 1", "!own"),
    ] {
        let mut problems = Problems::default();
        super::read(&source(text), &mut problems).unwrap();
        let told = problems.to_string();
        assert!(told.starts_with("a.yaml:1:") && told.contains(&format!("the tag {tag} means")), "{told}");
    }
}

#[test]
fn anchors_and_merges_keep_the_place_where_they_are_written() {
    let text = "base: &b { url: x, n: 1 }\nuse: *b\nmerged: { <<: *b, n: 2 }\n";
    let node = read(&source(text)).unwrap();
    let expected = json!({ "base": { "url": "x", "n": 1 }, "use": { "url": "x", "n": 1 }, "merged": { "url": "x", "n": 2 } });
    assert_eq!(node.to_json(), expected);
    assert_eq!(node.at_pointer("/use/url"), at(1, 17));
    assert_eq!(node.at_pointer("/merged/url"), at(1, 17));
    let several = json_of(
        "a: &a {k: 1, x: 1}\nb: &b {k: 2, y: 2}\nc: {<<: [*a, *b], y: 3}\nd: {'<<': 1}\ne: &e f\n*e : g\n",
    );
    assert_eq!(several["c"], json!({ "k": 1, "x": 1, "y": 3 }));
    assert_eq!(several["d"], json!({ "<<": 1 }));
    assert_eq!(several["f"], json!("g"));
}

#[test]
fn syntax_errors_have_places() {
    assert_eq!(refusal("a: [1, 2\nb: 3\n").0.line, 2);
    assert_eq!(refusal("steps:\n\t- a: 1\n").0.line, 2);
    assert_eq!(refusal("a: 1\nb: 2\na: 3\n").0, at(3, 1));
    assert_eq!(refusal("a: *none\n").0, at(1, 4));
    assert_eq!(refusal("a: 1\n---\nb: 2\n").0.line, 2);
    assert_eq!(refusal("a: \"open").0.line, 1);
    assert_eq!(refusal("a: .nan\n").0, at(1, 4));
    assert_eq!(refusal("x: 1\n[a]: 1\n").0.line, 2);
    assert_eq!(refusal("a: 1\na: 2\n").1, "the key \"a\" is there twice");
    let many: String = (0..100).map(|number| format!("k{number}: 1\n")).collect();
    assert_eq!(refusal(&format!("{many}k5: 1\n")).0, at(101, 1));
    assert_eq!(refusal("<<: 3\n").0, at(1, 5));
    assert_eq!(refusal(": x\n").1, NO_KEY);
}

#[test]
fn everything_that_is_odd_is_told_at_once() {
    let mut problems = Problems::default();
    let text = "a: .inf\nb: { c: 1, c: 2, c: .nan }\na: !!int x\n";
    let node = super::read(&source(text), &mut problems).unwrap();
    let places: Vec<_> = problems.iter().map(|problem| problem.at.unwrap().to_string()).collect();
    assert_eq!(places, ["1:4", "2:21", "2:12", "2:18", "3:10", "3:1"]);
    assert_eq!(node.to_json(), json!({ "a": ".inf", "b": { "c": 1 } }));
}

#[test]
fn scalars_keep_their_spelling() {
    let words =
        ["01234", "1.50", "0x1F", "+1", "True", "99999999999999999999999", "-0", "0o17", "1e3", "FALSE"];
    let node = read(&source(&format!("[{}]", words.join(", ")))).unwrap();
    let Value::List(items) = node.value else { panic!() };
    assert!(items.iter().all(|item| !matches!(item.value, Value::String(_))));
    let kept: Vec<_> = items.into_iter().filter_map(Node::into_word).collect();
    assert_eq!(kept, words);
    let mut fields = read(&source("{ a: 01234, b: 5, c: [1.50, x], d: True, e: 1.5 }")).unwrap();
    fields.keep_spelling();
    assert_eq!(fields.to_json(), json!({ "a": "01234", "b": 5, "c": ["1.50", "x"], "d": true, "e": 1.5 }));
}

#[test]
fn bombs_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let alias = format!("*a{}", level - 1);
        let aliases = vec![alias; 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    refusal(&bomb);
    let large = "x".repeat(1024 * 1024);
    let repeated = format!("a: &a {large}\nb: [{}]\n", vec!["*a"; 9_000].join(", "));
    refusal(&repeated);
    // What is merged twice is there once, so this does not grow.
    let mut merges = "a0: &a0 {k: 1}\n".to_owned();
    for level in 1..60 {
        let before = level - 1;
        merges.push_str(&format!("a{level}: &a{level} {{<<: [*a{before}, *a{before}], k{level}: 1}}\n"));
    }
    assert_eq!(json_of(&merges)["a59"].as_object().unwrap().len(), 60);
}

#[test]
fn anchors_that_loop_are_refused() {
    assert_eq!(refusal("a: &a [*a]\n").0.line, 1);
    assert_eq!(refusal("a: &a { b: *a }\n").0.line, 1);
    assert_eq!(refusal("a: &a\n  <<: *a\n").0.line, 2);
}

#[test]
fn deep_documents_are_refused() {
    let nested = |text: String| assert_eq!(refusal(&text).1, "this is nested deeper than 64 levels");
    for depth in [100, 10_000, 100_000] {
        nested("[".repeat(depth));
        nested("{a: ".repeat(depth));
        nested("- ".repeat(depth));
        assert_eq!(refusal(&"? ".repeat(depth)).0, at(1, 3));
        nested(format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    }
    nested((0..2_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect());
    // As deep as is allowed, on the stack that a test has.
    json_of(&format!("{}{}", "[".repeat(DEEPEST), "]".repeat(DEEPEST)));
}
