//! Reading contracts.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn errors(contract: Value) -> Vec<(String, String)> {
    let errors = parse(&contract).expect_err("it is wrong");
    errors.into_iter().map(|error| (error.path, error.message)).collect()
}

fn paths(contract: Value) -> Vec<String> {
    errors(contract).into_iter().map(|(path, _)| path).collect()
}

#[test]
fn every_kind_is_read() {
    for contract in [
        json!({"kind": "url", "pattern": "^https://"}),
        json!({"kind": "dom_text", "pattern": "hi"}),
        json!({"kind": "dom_text", "selector": "h1", "contains": "hi"}),
        json!({"kind": "dom_count", "selector": "li", "op": "eq", "value": 0}),
        json!({"kind": "network", "url_pattern": "/api(", "status_in": [200, 204], "since": "last_tool_call"}),
        json!({"kind": "no_dialog"}),
        json!({"kind": "console", "op": "lte", "value": 0}),
        json!({"kind": "console", "schema_version": 1, "type": "error", "message_pattern": "x", "uncaught": true,
               "op": "eq", "value": 1, "max_age_ms": 300_000}),
        json!({"kind": "performance", "metric": "load", "unit": "ms", "op": "lte", "value": 1.5}),
        json!({"kind": "screenshot_class", "class_id": "checkout.success", "distance_max": 64}),
        json!({"kind": "and", "children": [{"kind": "not", "child": {"kind": "no_dialog"}}]}),
    ] {
        let parsed = parse(&contract).unwrap_or_else(|errors| panic!("{contract}: {errors:?}"));
        assert_eq!(contract["kind"], parsed.kind());
    }
}

#[test]
fn a_variable_that_became_a_text_is_a_number() {
    let parsed = parse(&json!({"kind": "dom_count", "selector": "li", "op": "eq", "value": "3"})).unwrap();
    assert_eq!(parsed.expected(), json!({"selector": "li", "op": "eq", "value": 3}));
}

#[test]
fn all_errors_are_told_at_once_with_their_places() {
    let contract = json!({"kind": "and", "children": [
        {"kind": "url", "pattern": "("},
        {"kind": "dom_count", "selecter": "li", "op": "==", "value": -1},
        {"kind": "or", "children": []},
        {"kind": "not", "children": []},
        {"kind": "network", "url_pattern": "x", "status_in": [200, 999, "x"], "since": "yesterday"},
        {"kind": "dom_texts", "pattern": "x"},
        7,
    ]});
    assert_eq!(
        paths(contract),
        [
            "/children/0/pattern",
            "/children/1/selecter",
            "/children/1/selector",
            "/children/1/op",
            "/children/1/value",
            "/children/2/children",
            "/children/3/children",
            "/children/3/child",
            "/children/4/status_in/1",
            "/children/4/status_in/2",
            "/children/4/since",
            "/children/5/kind",
            "/children/6",
        ]
    );
}

#[test]
fn unknown_words_come_with_the_nearest_known_one() {
    let found =
        errors(json!({"kind": "dom_count", "selecter": "li", "selector": "li", "op": "gt", "value": 1}));
    assert!(found[0].1.contains("did you mean \"selector\"?"), "{found:?}");
    assert!(found[1].1.contains("one of eq, gte, lte, not \"gt\", did you mean \"gte\"?"), "{found:?}");
    let found = errors(json!({"kind": "domtext"}));
    assert!(found[0].1.contains("did you mean \"dom_text\"?"), "{found:?}");
    let found = errors(json!({"kind": "no_dialog", "type": "alert"}));
    assert_eq!(
        found,
        [("/type".to_owned(), "there is no field \"type\" in no_dialog (it has none)".to_owned())]
    );
    assert!(errors(json!({"kind": "image_qa"}))[0].1.contains("without one"));
}

#[test]
fn limits_hold() {
    for (contract, path) in [
        (json!({"kind": "url", "pattern": "a".repeat(513)}), "/pattern"),
        (json!({"kind": "url"}), "/pattern"),
        (json!({"kind": "dom_text"}), "/pattern"),
        (json!({"kind": "dom_text", "pattern": "a", "contains": "a"}), "/contains"),
        (json!({"kind": "dom_text", "selector": " ", "contains": "a"}), "/selector"),
        (json!({"kind": "dom_count", "selector": "li", "op": "eq", "value": 1.5}), "/value"),
        (json!({"kind": "network", "url_pattern": "a", "status_in": []}), "/status_in"),
        (json!({"kind": "console", "schema_version": 2, "op": "eq", "value": 0}), "/schema_version"),
        (json!({"kind": "console", "op": "eq", "value": 0, "max_age_ms": 300_001}), "/max_age_ms"),
        (json!({"kind": "performance", "metric": "load", "op": "lte", "value": 1}), "/unit"),
        (json!({"kind": "screenshot_class", "class_id": "..", "distance_max": 1}), "/class_id"),
        (json!({"kind": "screenshot_class", "class_id": "../x", "distance_max": 1}), "/class_id"),
        (json!({"kind": "screenshot_class", "class_id": "x", "distance_max": 65}), "/distance_max"),
        (json!({"kind": "screenshot_class", "class_id": "x"}), "/distance_max"),
        (json!({"kind": 1}), "/kind"),
        (json!({}), "/kind"),
        (json!("url"), "/"),
        (json!(null), "/"),
    ] {
        assert_eq!(paths(contract.clone()), [path], "{contract}");
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = |levels| {
        (0..levels).fold(json!({"kind": "no_dialog"}), |inner, _| json!({"kind": "not", "child": inner}))
    };
    assert!(parse(&deep(DEEPEST)).is_ok());
    let found = errors(deep(200));
    assert!(found[0].1.contains("nested deeper"), "{found:?}");
}

#[test]
fn names_in_places_are_escaped() {
    assert_eq!(paths(json!({"kind": "no_dialog", "a/b~": 1})), ["/a~1b~0"]);
}

/// Any JSON, often with our own words in it.
fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "kind",
        "url",
        "dom_text",
        "dom_count",
        "network",
        "console",
        "performance",
        "screenshot_class",
        "and",
        "or",
        "not",
        "children",
        "child",
        "pattern",
        "selector",
        "op",
        "value",
        "eq",
        "status_in",
        "(",
        "\u{0}é",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(words.clone().prop_map(str::to_owned), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_json_never_panics_and_errors_are_never_silent(contract in any_json()) {
        if let Err(errors) = parse(&contract) {
            prop_assert!(!errors.is_empty());
            prop_assert!(errors.iter().all(|error| error.path.starts_with('/') && !error.message.is_empty()));
        }
    }
}
