//! The wire log: `SUREHAND_LOG=cdp=trace` shows every message, readable and without secrets.

use std::borrow::Cow;

use surehand_guard::redact;

/// More of a message than this is rarely read; its length is told instead.
const SHOWN: usize = 2000;

pub(crate) fn sent(text: &str) {
    if tracing::enabled!(target: "cdp", tracing::Level::TRACE) {
        tracing::trace!(target: "cdp", "→ {}", readable(without_keys(text), is_secret_when_sent));
    }
}

pub(crate) fn received(text: &str) {
    if tracing::enabled!(target: "cdp", tracing::Level::TRACE) {
        tracing::trace!(target: "cdp", "← {}", readable(text, secrets_of(text)));
    }
}

/// What is typed or filled may be a password, and the wire cannot know: it is never shown.
fn is_secret_when_sent(name: &str) -> bool {
    matches!(name, "text" | "value" | "unmodifiedText" | "key" | "code" | "promptText" | "postData")
        || redact::is_sensitive_name(name)
}

/// A cookie's value has no telling name of its own.
fn secrets_of(text: &str) -> fn(&str) -> bool {
    let has_cookies = text.contains(r#"ookies":[{"#) || text.contains(r#""cookie":{"#);
    if has_cookies {
        |name| name == "value" || is_secret_when_received(name)
    } else {
        is_secret_when_received
    }
}

fn is_secret_when_received(name: &str) -> bool {
    matches!(name, "postData" | "bytes") || redact::is_sensitive_name(name)
}

/// A key press spells what is typed in several of its members: only that there was one is shown.
fn without_keys(text: &str) -> &str {
    match text.find(r#""Input.dispatchKeyEvent""#) {
        Some(at) => &text[..at + r#""Input.dispatchKeyEvent""#.len()],
        None => text,
    }
}

fn readable(text: &str, is_secret: fn(&str) -> bool) -> Cow<'_, str> {
    let masked = redact::mask_members(cut(text), is_secret);
    let masked = redact::mask_queries(&masked).into_owned();
    if text.len() > SHOWN {
        Cow::Owned(format!("{masked}… ({} bytes)", text.len()))
    } else {
        Cow::Owned(masked)
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_is_masked() {
        let text = r#"{"id":1,"method":"Input.insertText","params":{"text":"hunter2"}}"#;
        assert_eq!(
            readable(text, is_secret_when_sent),
            r#"{"id":1,"method":"Input.insertText","params":{"text":"[REDACTED]"}}"#
        );
    }

    #[test]
    fn keys_do_not_spell_what_is_typed() {
        let text = r#"{"id":1,"method":"Input.dispatchKeyEvent","params":{"windowsVirtualKeyCode":90}}"#;
        assert!(!readable(without_keys(text), is_secret_when_sent).contains("90"));
    }

    #[test]
    fn values_of_cookies_are_masked() {
        let text = r#"{"associatedCookies":[{"cookie":{"name":"sid","value":"s3cret"}}]}"#;
        assert!(!readable(text, secrets_of(text)).contains("s3cret"));
        let plain = r#"{"result":{"value":"Title"}}"#;
        assert!(readable(plain, secrets_of(plain)).contains("Title"));
    }

    #[test]
    fn a_value_inside_a_script_call_is_masked() {
        let text = r#"{"params":{"expression":"surehand.fillStart({\"value\":\"hunter2\"})"}}"#;
        assert!(!readable(text, is_secret_when_sent).contains("hunter2"));
    }

    #[test]
    fn long_messages_are_cut_and_their_length_told() {
        let text = format!(r#"{{"data":"{}"}}"#, "é".repeat(3000));
        let shown = readable(&text, redact::is_sensitive_name);
        assert!(shown.len() < 2100 && shown.ends_with("(6011 bytes)"), "{}", &shown[1900..]);
    }
}
