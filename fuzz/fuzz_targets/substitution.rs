//! Any text and values: what comes out is what a plain reading of the rules gives, so every variable that is known is put
//! in, what is no reference stays, what a value brings in is not looked through again, and no value becomes a secret.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use surehand_playbook::vars::{Piece, pieces, references};
use surehand_playbook::{Files, Overrides, OwnCatalog, Playbook, Scope, Secrets, Source, parse};

static PLAYBOOK: LazyLock<Playbook> = LazyLock::new(|| {
    let text = "steps: [{ click: '#a' }]";
    let source = Source::from_bytes(Path::new("fuzz.yaml"), text.into()).expect("a good file");
    parse(source, &OwnCatalog, &Files).playbook.expect("a good playbook")
});

/// There is one secret, `S`.
struct One;

impl Secrets for One {
    fn has(&self, name: &str) -> bool {
        name == "S"
    }
}

fuzz_target!(|input: (&str, &str, &str)| {
    let (text, a, b) = input;
    let again: String = pieces(text)
        .map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Escape => "$${".to_owned(),
            Piece::Reference(reference) => format!("${{{}}}", reference.key()),
        })
        .collect();
    assert_eq!(again, text);
    if !text.contains("${") {
        assert_eq!(references(text).count(), 0);
    }
    let known = [("a", a), ("b_1:c", b), ("SECRET:d.e-f", a)];
    let given = Overrides::parse(&known.map(|(name, value)| format!("{name}={value}"))).expect("variables");
    let expected = expect(text, &known);
    match Scope::of(&PLAYBOOK, &given).fill(text, &One) {
        Ok(filling) if !expected.unknown.is_empty() => {
            assert_eq!(filling.unknown, expected.unknown);
            assert_eq!(filling.text, text);
        }
        Ok(filling) => {
            assert_eq!(filling.text, expected.text);
            assert!(!expected.is_smuggled, "{text:?} became {:?}", filling.text);
            assert!(!filling.waits && filling.unknown.is_empty());
        }
        Err(smuggled) => {
            assert_eq!(smuggled.name, "S");
            assert!(expected.is_smuggled, "{text:?} refused");
        }
    }
});

#[derive(Default)]
struct Expected {
    text: String,
    unknown: Vec<String>,
    is_smuggled: bool,
}

/// The rules, read without a thought of time.
fn expect(text: &str, known: &[(&str, &str)]) -> Expected {
    const SECRET: &str = "${SECRET:S}";
    let mut expected = Expected::default();
    let mut written = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("$${") {
            expected.text.push_str("${");
            rest = after;
            continue;
        }
        let name = rest.strip_prefix("${").and_then(|inside| inside.split_once('}')).map(|(name, _)| name);
        let Some(name) = name.filter(|name| is_name(name)) else {
            expected.text.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        rest = &rest[name.len() + 3..];
        if name == "SECRET:S" {
            written.push(expected.text.len());
            expected.text.push_str(SECRET);
        } else if let Some((_, value)) = known.iter().find(|(known, _)| *known == name) {
            expected.text.push_str(value);
        } else if !expected.unknown.iter().any(|unknown| unknown == name) {
            expected.unknown.push(name.to_owned());
        }
    }
    expected.is_smuggled = expected.text.match_indices(SECRET).any(|(at, _)| !written.contains(&at));
    expected
}

fn is_name(name: &str) -> bool {
    let of_secret = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let of_variable = |c: char| c.is_ascii_alphanumeric() || "_:".contains(c);
    name.strip_prefix("SECRET:").is_some_and(|name| !name.is_empty() && name.chars().all(of_secret))
        || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(of_variable)
}
