//! Any secrets in any text: they come out in none of their forms, JSON stays JSON, and members and parameters that are
//! secret by their names are masked.
#![no_main]

use arbitrary::Arbitrary;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use surehand_guard::{Secrets, redact};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    value: &'a str,
    other: &'a str,
    before: &'a str,
    after: &'a str,
    depth: u8,
}

fuzz_target!(|input: Input| {
    by_name(&input);
    let pairs = [("TOKEN", input.value), ("OTHER", input.other)].map(|(a, b)| (a.to_owned(), b.to_owned()));
    let many = Secrets::revealed(pairs.clone());
    let Ok(secrets) = many.or_else(|_| Secrets::revealed(pairs.into_iter().take(1))) else { return };
    let Input { value, before, after, .. } = input;
    // What touches a placeholder is meant to stay.
    if [value, input.other, before, after].iter().any(|text| text.contains(['$', '}', GONE])) {
        return;
    }
    for form in forms(value) {
        let text = format!("{before}{form}{after}");
        let masked = secrets.mask(&text);
        assert!(!rest(&masked).contains(&form), "{form:?} in {masked:?}");
        assert_eq!(secrets.mask(&masked), masked, "of {text:?}");
    }
    let all = format!("{before}{value}{after}");
    let bits = (before.len() * 8, (before.len() + value.len()) * 8);
    for encoded in [STANDARD.encode(&all), URL_SAFE_NO_PAD.encode(&all)] {
        let digits = &encoded[bits.0.div_ceil(6)..bits.1 / 6];
        let masked = secrets.mask(&encoded);
        assert!(!rest(&masked).contains(digits), "{digits} in {masked}");
    }
    for document in [json!({ before: [value, all], value: after }).to_string(), all] {
        let masked = secrets.mask_document(&document);
        let Ok(_) = serde_json::from_str::<Value>(&document) else { continue };
        let structure: Value = serde_json::from_str(&masked).unwrap_or_else(|_| panic!("no JSON: {masked}"));
        assert!(!holds(&structure, value), "{value:?} in {masked}");
    }
});

/// What stands for a placeholder: nothing is to be found across its edges.
const GONE: char = '\u{10ffff}';

fn rest(masked: &str) -> String {
    let gone = GONE.to_string();
    masked.replace("${SECRET:TOKEN}", &gone).replace("${SECRET:OTHER}", &gone)
}

fn forms(value: &str) -> Vec<String> {
    let each = |write: fn(u8) -> String| value.bytes().map(write).collect::<String>();
    let quoted = Value::from(value).to_string();
    let component = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    vec![
        value.to_owned(),
        quoted[1..quoted.len() - 1].to_owned(),
        each(|byte| format!("%{byte:02X}")),
        each(|byte| format!("%{byte:02x}")),
        each(|byte| format!("{byte:02X}")),
        each(|byte| format!("{byte:02x}")),
        each(component),
        value.chars().map(|c| format!("&#{};", u32::from(c))).collect(),
    ]
}

fn holds(value: &Value, secret: &str) -> bool {
    match value {
        Value::String(text) => rest(text).contains(secret),
        Value::Array(values) => values.iter().any(|value| holds(value, secret)),
        Value::Object(members) => {
            members.iter().any(|(name, value)| rest(name).contains(secret) || holds(value, secret))
        }
        Value::Number(number) => number.to_string().contains(secret),
        Value::Null | Value::Bool(_) => false,
    }
}

fn by_name(input: &Input) {
    let Input { value, before, after, depth, .. } = input;
    let _ = redact::mask_queries(before);
    let _ = redact::mask_members(before, redact::is_sensitive_name);
    let mut document = json!({ "first": before, "password": value, "last": after });
    for _ in 0..depth % 4 {
        document = json!({ "text": before, "inside": document.to_string() });
    }
    let masked = redact::mask_members(&document.to_string(), redact::is_sensitive_name).into_owned();
    let mut inner: Value = serde_json::from_str(&masked).unwrap_or_else(|_| panic!("no JSON: {masked}"));
    for _ in 0..depth % 4 {
        let text = inner["inside"].as_str().expect("a text").to_owned();
        inner = serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text} in {masked}"));
    }
    assert_eq!(inner["password"], redact::MASK, "{masked}");
    let value = value.replace(['&', '#', '"', '\'', '\\', ' ', '<', '\n', '='], "");
    let text = format!("{before}&token={value}&{after}");
    assert!(redact::mask_queries(&text).contains(&format!("&token={}&", redact::MASK)), "{text}");
}
