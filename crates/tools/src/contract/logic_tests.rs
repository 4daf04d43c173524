//! Truth tables and laws of three values.

use proptest::prelude::*;

use super::super::evidence::{Entries, Exemplar, Known, Measured, Said, Sent, Text};
use super::super::{Since, Unit, parse};
use super::*;

/// Counts by selector: `p` is there once, `f` never, of `i` nobody knows. Remembers what was asked.
#[derive(Default)]
struct Table(std::sync::Mutex<Vec<String>>);

fn unknown<T>() -> Known<T> {
    Err(Unknown::because("nobody knows"))
}

impl Evidence for Table {
    async fn count(&self, selector: &str) -> Known<u64> {
        self.0.lock().unwrap().push(selector.to_owned());
        match selector {
            "p" => Ok(1),
            "f" => Ok(0),
            "!" => Err(Unknown::wrong("selector", "is no selector")),
            _ => unknown(),
        }
    }
    async fn url(&self) -> Known<String> {
        unknown()
    }
    async fn text(&self, _: &str) -> Known<Option<Text>> {
        unknown()
    }
    async fn requests(&self, _: Since) -> Known<Entries<Sent>> {
        unknown()
    }
    async fn dialog(&self) -> Known<Option<String>> {
        unknown()
    }
    async fn console(&self) -> Known<Entries<Said>> {
        unknown()
    }
    async fn metric(&self, _: &str, _: Unit) -> Known<Measured> {
        unknown()
    }
    async fn picture(&self) -> Known<Vec<u8>> {
        unknown()
    }
    async fn class(&self, _: &str) -> Known<Vec<Exemplar>> {
        unknown()
    }
}

fn leaf(name: &str) -> Value {
    json!({ "kind": "dom_count", "selector": name, "op": "eq", "value": 1 })
}

fn joined(kind: &str, names: &str) -> Value {
    let children: Vec<Value> = names.chars().map(|name| leaf(&name.to_string())).collect();
    json!({ "kind": kind, "children": children })
}

fn run(contract: &Value) -> (Judgement, String) {
    let table = Table::default();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let judged = runtime.block_on(judge(&parse(contract).unwrap(), &table));
    let asked = table.0.into_inner().unwrap().concat();
    (judged, asked)
}

fn letter(contract: &Value) -> char {
    match run(contract).0.verdict {
        Verdict::Pass => 'p',
        Verdict::Fail => 'f',
        Verdict::Inconclusive => 'i',
    }
}

#[test]
fn truth_tables() {
    for (names, and, or) in [
        ("pp", 'p', 'p'),
        ("pf", 'f', 'p'),
        ("pi", 'i', 'p'),
        ("fp", 'f', 'p'),
        ("ff", 'f', 'f'),
        ("fi", 'f', 'i'),
        ("ip", 'i', 'p'),
        ("if", 'f', 'i'),
        ("ii", 'i', 'i'),
    ] {
        assert_eq!(letter(&joined("and", names)), and, "and {names}");
        assert_eq!(letter(&joined("or", names)), or, "or {names}");
    }
    for (name, not) in [("p", 'f'), ("f", 'p'), ("i", 'i')] {
        assert_eq!(letter(&json!({ "kind": "not", "child": leaf(name) })), not, "not {name}");
    }
}

#[test]
fn the_first_that_decides_ends_it() {
    for (kind, names, asked) in
        [("and", "pfpi", "pf"), ("and", "ippf", "ippf"), ("or", "fipf", "fip"), ("or", "ff", "ff")]
    {
        assert_eq!(run(&joined(kind, names)).1, asked, "{kind} {names}");
    }
    let evidence = run(&joined("and", "pfpi")).0.evidence;
    assert_eq!(evidence["details"]["skipped"], 2);
    assert_eq!(evidence["details"]["children"].as_array().unwrap().len(), 2);
}

#[test]
fn failures_name_what_failed_and_where() {
    let failed = run(&joined("and", "ipf")).0.failed;
    let expected = json!([{
        "name": "dom_count",
        "expected": { "selector": "f", "op": "eq", "value": 1 },
        "actual": { "count": 0 },
        "location": "/children/2",
    }]);
    assert_eq!(serde_json::to_value(failed).unwrap(), expected);
    let places = |contract: &Value| -> Vec<String> {
        run(contract).0.failed.into_iter().map(|one| format!("{} {}", one.name, one.location)).collect()
    };
    assert_eq!(places(&leaf("f")), ["dom_count /"]);
    assert_eq!(places(&joined("or", "ff")), ["dom_count /children/0", "dom_count /children/1"]);
    assert_eq!(places(&joined("or", "fp")), [""; 0]);
    assert_eq!(places(&json!({ "kind": "not", "child": joined("or", "fp") })), ["not /"]);
    assert_eq!(places(&joined("or", "fi")), [""; 0], "in doubt nothing is said to have failed");
}

#[test]
fn doubts_are_named_and_a_wrong_field_is_an_error_of_the_contract() {
    let (judged, _) = run(&joined("and", "pip"));
    assert_eq!(judged.reason().as_deref(), Some("/children/1 (dom_count): nobody knows"));
    assert_eq!(judged.evidence["details"]["children"][1]["details"]["error"], "nobody knows");
    assert_eq!(judged.evidence["passed"], false);
    assert!(judged.invalid().is_empty());
    assert_eq!(run(&leaf("i")).0.reason().as_deref(), Some("nobody knows"));
    assert_eq!(run(&joined("or", "ip")).0.reason(), None);
    let wrong = run(&joined("and", "p!")).0.invalid();
    assert_eq!(wrong, [Invalid { path: "/children/1/selector".into(), message: "is no selector".into() }]);
}

fn contract() -> impl Strategy<Value = Value> {
    let single = prop::sample::select(vec!["p", "f", "i"]).prop_map(leaf);
    single.prop_recursive(4, 24, 4, |inner| {
        let several = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            inner.prop_map(|child| json!({ "kind": "not", "child": child })),
            (prop::sample::select(vec!["and", "or"]), several)
                .prop_map(|(kind, children)| json!({ "kind": kind, "children": children })),
        ]
    })
}

fn negated(contract: &Value) -> Value {
    json!({ "kind": "not", "child": contract })
}

proptest! {
    #[test]
    fn twice_not_changes_nothing(contract in contract()) {
        prop_assert_eq!(letter(&negated(&negated(&contract))), letter(&contract));
    }

    #[test]
    fn de_morgan_holds(children in prop::collection::vec(contract(), 1..4)) {
        let turned: Vec<Value> = children.iter().map(negated).collect();
        for (one, other) in [("and", "or"), ("or", "and")] {
            let left = negated(&json!({ "kind": one, "children": children }));
            let right = json!({ "kind": other, "children": turned });
            prop_assert_eq!(letter(&left), letter(&right));
        }
    }

    #[test]
    fn failures_and_doubts_are_there_exactly_when_the_verdict_says_so(contract in contract()) {
        let (judged, _) = run(&contract);
        prop_assert_eq!(judged.failed.is_empty(), judged.verdict != Verdict::Fail);
        prop_assert_eq!(judged.reason().is_some(), judged.verdict == Verdict::Inconclusive);
    }
}
