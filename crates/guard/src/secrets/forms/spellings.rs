//! The texts that stand for a value: as it is, as a page shows it, in hexadecimal, and in base64, also of what was encoded
//! before.
//!
//! Escapes outside base64 need no texts of their own: they are followed character by character.

use std::fmt::Write;

use super::super::Secrets;
use super::{Edges, Pattern};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// All patterns of a value.
pub(super) fn patterns(of: usize, value: &str) -> Vec<Pattern> {
    let shown = shown(value);
    let mut plain: Vec<String> = shown.iter().flat_map(|text| recased(text)).collect();
    distinct(&mut plain);
    let mut patterns: Vec<Pattern> =
        plain.iter().map(|text| Pattern::new(of, text.chars().collect(), None)).collect();
    for bytes in shown.iter().flat_map(|text| bytes_of(text)) {
        patterns.extend(in_hex(bytes).map(|text| Pattern::in_hexadecimal(of, &text)));
    }
    let mut inner: Vec<Inner> = shown.iter().flat_map(|text| bytes_of(text)).map(Inner::whole).collect();
    inner.extend(bytes_of(value).iter().flat_map(|bytes| once_in_base64(bytes)));
    inner.extend(encoded(value).into_iter().map(|text| Inner::whole(text.into_bytes())));
    distinct(&mut inner);
    for bytes in &inner {
        patterns.extend(
            (0..3)
                .map(|shift| in_base64(bytes, shift))
                .map(|(digits, edges)| Pattern::new(of, digits, Some(edges))),
        );
    }
    patterns
}

/// The value, and what a page makes of its blanks and line breaks: HTML shows a run of them as one blank and drops those at
/// the ends, a field of one line drops line breaks, and a field of several has its own.
fn shown(value: &str) -> Vec<String> {
    let one_line = value.replace(['\r', '\n'], "");
    let breaks = value.replace("\r\n", "\n").replace('\r', "\n");
    let collapsed = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let mut all = vec![value.to_owned()];
    for text in [collapsed, one_line, breaks.replace('\n', "\r\n"), breaks] {
        // What is left of it may be too little to be told from other text.
        if text.chars().count() >= Secrets::SHORTEST {
            all.push(text);
        }
    }
    distinct(&mut all);
    all
}

/// As it is, and as a page shows it with `text-transform`.
fn recased(text: &str) -> [String; 4] {
    let mut inside = false;
    let capitalized = text.chars().flat_map(|character| {
        let begins = !std::mem::replace(&mut inside, character.is_alphanumeric());
        let upper = (begins && character.is_alphabetic()).then(|| character.to_uppercase());
        let same = upper.is_none().then_some(character);
        upper.into_iter().flatten().chain(same)
    });
    [text.to_owned(), capitalized.collect(), text.to_uppercase(), text.to_lowercase()]
}

fn distinct<T: PartialEq>(all: &mut Vec<T>) {
    let mut kept: Vec<T> = Vec::with_capacity(all.len());
    for one in all.drain(..) {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    *all = kept;
}

/// In UTF-8, and as `btoa` takes it: one byte a character.
fn bytes_of(text: &str) -> Vec<Vec<u8>> {
    let latin: Option<Vec<u8>> = text.chars().map(|character| u8::try_from(character).ok()).collect();
    let mut all = vec![text.as_bytes().to_vec()];
    all.extend(latin);
    distinct(&mut all);
    all
}

/// In small and in capital letters.
fn in_hex(bytes: Vec<u8>) -> [String; 2] {
    let digits = bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    [digits.to_ascii_uppercase(), digits]
}

/// The value as addresses, forms, JSON and HTML write it.
fn encoded(value: &str) -> Vec<String> {
    let component = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
    let strict = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let form = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.* ".contains(&byte);
    let json = serde_json::Value::from(value).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let ascii = json.chars().fold(String::new(), |mut text, character| {
        if character.is_ascii() {
            text.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
        text
    });
    vec![
        percent(value, component),
        percent(value, strict),
        percent(value, strict).replace("%20", "+"),
        percent(value, form).replace(' ', "+"),
        escape(value),
        json,
        ascii,
        html.replace('"', "&quot;"),
        html,
    ]
}

fn percent(value: &str, keeps: impl Fn(u8) -> bool) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        if keeps(byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// As the function of that name in JavaScript.
fn escape(value: &str) -> String {
    value.encode_utf16().fold(String::new(), |mut text, unit| {
        let _ = match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() || b"@*_+-./".contains(&byte) => {
                text.write_char(char::from(byte))
            }
            Ok(byte) => write!(text, "%{byte:02X}"),
            Err(_) => write!(text, "%u{unit:04X}"),
        };
        text
    })
}

/// Bytes that are encoded in base64, of which neighbours may tell something about the value, too.
#[derive(PartialEq)]
struct Inner {
    bytes: Vec<u8>,
    before: usize,
    behind: usize,
}

impl Inner {
    fn whole(bytes: Vec<u8>) -> Self {
        Self { bytes, before: 0, behind: 0 }
    }
}

/// Base64 that is encoded once more, in both alphabets.
fn once_in_base64(value: &[u8]) -> Vec<Inner> {
    let value = Inner::whole(value.to_vec());
    let mut all = Vec::new();
    for shift in 0..3 {
        let (digits, edges) = in_base64(&value, shift);
        let standard: String = digits.into_iter().collect();
        let for_addresses = standard.replace('+', "-").replace('/', "_");
        for text in [standard, for_addresses] {
            all.push(Inner { bytes: text.into_bytes(), before: edges.before, behind: edges.behind });
        }
    }
    distinct(&mut all);
    all
}

/// The digits that depend on nothing but the value, when it begins `shift` bytes into a group of three, and how many beside
/// them carry some of its bits.
fn in_base64(value: &Inner, shift: usize) -> (Vec<char>, Edges) {
    let bits = value.bytes.len() * 8;
    // Whole groups in front make room for what is told by bytes before the value.
    let offset = shift * 8 + 24;
    let (first, last) = (offset.div_ceil(6), (offset + bits) / 6);
    let bit = |at: usize| (value.bytes[at / 8] >> (7 - at % 8)) & 1;
    let digit = |group: usize| {
        let number = (0..6).fold(0, |number, at| number << 1 | bit(group * 6 + at - offset));
        char::from(DIGITS[usize::from(number)])
    };
    let edges = Edges {
        before: first - (offset - value.before * 8) / 6,
        behind: (offset + bits + value.behind * 8).div_ceil(6) - last,
    };
    ((first..last).map(digit).collect(), edges)
}
