//! Masks the values of sensitive members in JSON text, also where that JSON is itself quoted inside a
//! JSON string (`"expression":"f({\"password\":\"…\"})"`), to any depth.
//!
//! It works on text and not on a parsed tree because what it sees may be cut off or may only contain
//! JSON; and because it must never fail.

mod words;

use std::borrow::Cow;
use std::ops::Range;

pub use words::names_a_secret;

/// What stands in place of a masked value.
pub const MASK: &str = "[REDACTED]";

/// Longer names of parameters are none.
const LONGEST_NAME: usize = 64;

/// Names of members that hold secrets between programs, or only there: an e-mail has a signature as well. They count where
/// they begin or end a name (`Set-Cookie`, `tokenValue`): what is masked for nothing here costs nobody anything.
const MEMBERS: [&str; 7] =
    ["authorization", "bearer", "cookie", "signature", "credential", "token", "secret"];

/// Is a member of this name a secret by its name alone?
pub fn is_sensitive_name(name: &str) -> bool {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    matches!(plain.as_str(), "auth" | "sig")
        || MEMBERS.iter().any(|word| plain.ends_with(word) || plain.starts_with(word))
        || names_a_secret(name)
}

/// Replaces the string values of all members whose name `is_secret` says so.
pub fn mask_members<'a>(text: &'a str, is_secret: impl Fn(&str) -> bool) -> Cow<'a, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(member) = next_member(text, at) {
        if is_secret(&text[member.name.0..member.name.1]) {
            out.push_str(&text[copied..member.value.0]);
            out.push_str(MASK);
            copied = member.value.1;
            at = member.value.1;
        } else {
            // Not a secret itself, but its value may be quoted JSON that holds one.
            at = member.name.1 + 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Replaces what is secret in addresses and form bodies: the values of sensitive parameters (`?token=…`, `&password=…`,
/// `#access_token=…`, and the first of a body), and passwords before the host.
pub fn mask_queries(text: &str) -> Cow<'_, str> {
    match mask_logins(text) {
        Cow::Borrowed(text) => mask_parameters(text),
        Cow::Owned(text) => Cow::Owned(mask_parameters(&text).into_owned()),
    }
}

/// Replaces passwords before the host of addresses: `http://user:…@host/`.
pub fn mask_logins(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for at in login_passwords(text) {
        out.push_str(&text[copied..at.start]);
        out.push_str(MASK);
        copied = at.end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Where in a text passwords stand before the host of an address. What stands for a secret already is none.
pub fn login_passwords(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices("://").filter_map(move |(at, slashes)| {
        let start = at + slashes.len();
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '\\' | '"' | '<' | '>');
        let rest = &text[start..];
        let authority = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let login = &authority[..authority.rfind('@')?];
        let colon = login.find(':')?;
        let is_known = login.contains("${SECRET:") || &login[colon + 1..] == MASK;
        (colon + 1 < login.len() && !is_known).then(|| start + colon + 1..start + login.len())
    })
}

fn mask_parameters(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let separators = text.match_indices(['?', '&', '#']).map(|(at, _)| at + 1);
    for at in std::iter::once(0).chain(separators) {
        let rest = &text[at..];
        // Only a name is looked through for its `=`: many separators and none of it would take quadratic time otherwise.
        let length = rest.bytes().take(LONGEST_NAME).take_while(|byte| is_name_byte(*byte)).count();
        let (name, rest) = rest.split_at(length);
        let Some(value) = rest.strip_prefix('=') else { continue };
        if at < copied || !is_sensitive_name(name) {
            continue;
        }
        let start = at + name.len() + 1;
        let end = value.find(['&', '#', '"', '\'', '\\', ' ', '<', '\n']).unwrap_or(value.len());
        out.push_str(&text[copied..start]);
        out.push_str(MASK);
        copied = start + end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'[' | b']')
}

/// Byte ranges of a member's name and of its string value, both without their quotes.
struct Member {
    name: (usize, usize),
    value: (usize, usize),
}

fn next_member(text: &str, from: usize) -> Option<Member> {
    let mut open = next_quote(text, from)?;
    loop {
        let close = next_quote(text, open.at + 1)?;
        if close.level == open.level
            && let Some(value_open) = string_value_after(text, &close)
        {
            let name = (open.at + 1, close.content_end());
            let value = value_range(text, &value_open);
            return Some(Member { name, value });
        }
        open = close;
    }
}

/// The opening quote of the value, when `close` ends a member's name.
fn string_value_after(text: &str, close: &Quote) -> Option<Quote> {
    let rest = &text[close.at + 1..];
    let after_colon = rest.trim_start().strip_prefix(':')?.trim_start();
    let quote = next_quote(text, text.len() - after_colon.len())?;
    let starts_here = quote.content_end() == text.len() - after_colon.len();
    (starts_here && quote.level == close.level).then_some(quote)
}

/// From the opening quote to the closing one of the same level; to the end if the text is cut off.
fn value_range(text: &str, open: &Quote) -> (usize, usize) {
    let start = open.at + 1;
    let mut from = start;
    while let Some(quote) = next_quote(text, from) {
        if quote.level <= open.level {
            return (start, quote.content_end().max(start));
        }
        from = quote.at + 1;
    }
    (start, text.len())
}

struct Quote {
    at: usize,
    backslashes: usize,
    /// How deep in quoted strings this quote delimits: 0 for `"`, 1 for `\"`, 2 for `\\\"` …
    level: u32,
}

impl Quote {
    /// Where what stands before this quote ends: the backslashes that escape it are its own.
    fn content_end(&self) -> usize {
        self.at - ((1usize << self.level) - 1).min(self.backslashes)
    }
}

fn next_quote(text: &str, from: usize) -> Option<Quote> {
    let at = from + text.get(from..)?.find('"')?;
    let backslashes = text.as_bytes()[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    // At level L a delimiting quote has 2^L - 1 backslashes of its own, and each backslash of the content
    // before it appears 2^(L+1) times: the level is the number of trailing zeros of the count plus one.
    Some(Quote { at, backslashes, level: (backslashes + 1).trailing_zeros() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mask(text: &str) -> Cow<'_, str> {
        mask_members(text, is_sensitive_name)
    }

    #[test]
    fn a_secret_member_is_masked() {
        assert_eq!(
            mask(r#"{"user":"ada","password":"open sesame"}"#),
            r#"{"user":"ada","password":"[REDACTED]"}"#
        );
    }

    #[test]
    fn text_without_secrets_is_borrowed() {
        assert!(matches!(mask(r#"{"url":"http://127.0.0.1/"}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn json_inside_a_string_is_masked_too() {
        let text = r#"{"expression":"f({\"a\":1,\"token\":\"x\\\"y\",\"b\":\"z\"})"}"#;
        assert_eq!(mask(text), r#"{"expression":"f({\"a\":1,\"token\":\"[REDACTED]\",\"b\":\"z\"})"}"#);
    }

    #[test]
    fn a_value_that_ends_in_a_backslash_is_closed_rightly() {
        assert_eq!(mask(r#"{"secret":"a\\","b":"keep"}"#), r#"{"secret":"[REDACTED]","b":"keep"}"#);
    }

    #[test]
    fn a_cut_off_value_is_masked_to_the_end() {
        assert_eq!(mask(r#"{"authorization":"Bearer abc"#), r#"{"authorization":"[REDACTED]"#);
    }

    #[test]
    fn header_spellings_are_recognised() {
        for name in ["Authorization", "Proxy-Authorization", "Set-Cookie", "x-api-key", "accessToken", "pass"]
        {
            assert!(is_sensitive_name(name), "{name}");
        }
        for name in
            ["apikeyid", "accesstokenvalue", "passwordConfirm", "client_secret", "sessiontoken", "cookies"]
        {
            assert!(is_sensitive_name(name), "{name}");
        }
        for name in ["url", "title", "passive", "compass", "author", "text", "keyCode", "shipping"] {
            assert!(!is_sensitive_name(name), "{name}");
        }
    }

    #[test]
    fn secrets_in_addresses_are_masked() {
        assert_eq!(
            mask_queries("GET http://h/?a=1&token=abc&b=2#x http://h/?password=p%20q\""),
            "GET http://h/?a=1&token=[REDACTED]&b=2#x http://h/?password=[REDACTED]\""
        );
        assert_eq!(mask_queries("password=p&a=1&token=t"), "password=[REDACTED]&a=1&token=[REDACTED]");
        assert_eq!(mask_queries("http://h/#access_token=abc"), "http://h/#access_token=[REDACTED]");
        assert!(matches!(mask_queries("http://h/?page=2"), Cow::Borrowed(_)));
    }

    #[test]
    fn many_separators_take_no_quadratic_time() {
        let effort = surehand_testkit::Effort::begin();
        for text in ["?".repeat(400_000), "&a".repeat(200_000) + "="] {
            assert!(matches!(mask_queries(&text), Cow::Borrowed(_)));
        }
        assert!(effort.spent().as_secs() < 10, "{:?}", effort.spent());
    }

    #[test]
    fn passwords_before_the_host_are_masked() {
        assert_eq!(
            mask_queries("go to http://ada:le:ak@h:80/a@b?token=x or https://h/c:d@e"),
            "go to http://ada:[REDACTED]@h:80/a@b?token=[REDACTED] or https://h/c:d@e"
        );
        assert_eq!(mask_logins("ws://u:p@ss@h"), "ws://u:[REDACTED]@h");
        for harmless in
            ["http://ada@h/", "http://h:80/x@y", "http://u:@h", "http://u:${SECRET:P}@h", "a://", ""]
        {
            assert!(matches!(mask_logins(harmless), Cow::Borrowed(_)), "{harmless}");
        }
        let masked = mask_logins("http://u:secret@h").into_owned();
        assert!(matches!(mask_logins(&masked), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn logins_never_panic(text in "[:/@a-zé ]{0,40}") {
            let _ = mask_queries(&text);
        }

        #[test]
        fn never_panics(text in "[\"\\\\:,{} a-z]{0,80}") {
            let _ = mask(&text);
        }

        #[test]
        fn a_secret_never_survives_at_any_depth(secret in "[a-z\"\\\\]{0,6}QZQ[a-z\"\\\\]{0,6}", depth in 0u8..3) {
            let mut text = serde_free_json("password", &secret);
            for _ in 0..depth {
                text = serde_free_json("expression", &text);
            }
            prop_assert!(!mask(&text).contains("QZQ"), "{}", mask(&text));
        }
    }

    fn serde_free_json(name: &str, value: &str) -> String {
        format!(r#"{{"{name}":"{}"}}"#, value.replace('\\', r"\\").replace('"', "\\\""))
    }
}
