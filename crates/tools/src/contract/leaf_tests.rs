//! Single assertions over logs that are not complete.

use super::super::dsl::Op;
use super::*;

fn said(kind: &str, text: &str, age_ms: f64) -> Said {
    Said { kind: kind.to_owned(), text: text.to_owned(), uncaught: kind == "error", age_ms: Some(age_ms) }
}

fn judged(said: &Entries<Said>, op: Op, value: f64, max_age_ms: Option<u64>) -> Option<bool> {
    console(said, Some("error"), None, None, Comparison { op, value }, max_age_ms, preview).unwrap().holds
}

#[test]
fn a_console_that_forgot_messages_decides_only_what_they_cannot_change() {
    let entries = vec![said("log", "a", 900.0), said("error", "b", 100.0)];
    let log = Entries { entries, dropped: 7, complete_ms: 800.0 };
    assert_eq!(judged(&log, Op::Gte, 1.0, None), Some(true));
    assert_eq!(judged(&log, Op::Eq, 1.0, None), None);
    assert_eq!(judged(&log, Op::Lte, 0.0, None), Some(false));
    assert_eq!(judged(&log, Op::Eq, 1.0, Some(500)), Some(true), "nothing was dropped in the last 500 ms");
    assert_eq!(judged(&log, Op::Eq, 0.0, Some(50)), Some(true));
    assert_eq!(judged(&log, Op::Eq, 1.0, Some(850)), None);
}

#[test]
fn messages_are_chosen_by_type_pattern_and_whether_they_were_caught() {
    let log = Entries::all(vec![said("log", "hello 1", 1.0), said("error", "hello 2", 1.0)]);
    let count = |kind, pattern: Option<&str>, uncaught| {
        let pattern = pattern.map(|pattern| Pattern::either(pattern).unwrap());
        let wanted = Comparison { op: Op::Gte, value: 0.0 };
        console(&log, kind, pattern.as_ref(), uncaught, wanted, None, preview).unwrap().actual["count"]
            .clone()
    };
    assert_eq!(count(None, None, None), 2);
    assert_eq!(count(Some("error"), None, None), 1);
    assert_eq!(count(None, Some(r"hello \d"), None), 2);
    assert_eq!(count(None, Some("hello 1"), Some(true)), 0);
    assert_eq!(count(None, None, Some(false)), 1);
}

#[test]
fn previews_are_short_and_whole_characters() {
    assert_eq!(preview(&"é".repeat(1000)).chars().count(), PREVIEW);
}
