//! What the page's script said and where it failed.

use serde::Serialize;
use surehand_cdp::protocol::runtime as cdp;

/// A `console.…` call.
#[derive(Debug, Clone, Serialize)]
pub struct ConsoleMessage {
    /// `log`, `info`, `warning`, `error`, `debug` …
    #[serde(rename = "type")]
    pub kind: String,
    /// The arguments, as a console would show them.
    pub text: String,
    /// Where it was called: script address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// One-based line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// When: milliseconds since 1970.
    #[serde(skip)]
    pub timestamp: f64,
}

/// An exception or a rejection that nobody caught.
#[derive(Debug, Clone, Serialize)]
pub struct PageError {
    /// The exception, with its stack as far as the browser gives it.
    pub text: String,
    /// The script.
    pub url: Option<String>,
    /// One-based line.
    pub line: Option<i64>,
    /// One-based column.
    pub column: Option<i64>,
    /// When: milliseconds since 1970.
    #[serde(skip)]
    pub timestamp: f64,
}

impl ConsoleMessage {
    pub(crate) fn from_event(event: cdp::ConsoleApiCalled) -> Self {
        let text = event.args.iter().map(shown).collect::<Vec<_>>().join(" ");
        let place = event.stack_trace.and_then(|stack| stack.call_frames.into_iter().next());
        let (url, line) = match place {
            Some(frame) => (Some(frame.url), Some(frame.line_number + 1)),
            None => (None, None),
        };
        Self { kind: event.r#type, text, url, line, timestamp: event.timestamp }
    }
}

impl PageError {
    pub(crate) fn from_event(event: cdp::ExceptionThrown) -> Self {
        let details = event.exception_details;
        let line = Some(details.line_number + 1);
        let column = Some(details.column_number + 1);
        let url = details.url.clone().or_else(|| first_script(&details));
        Self { text: exception_text(&details), url, line, column, timestamp: event.timestamp }
    }
}

fn first_script(details: &cdp::ExceptionDetails) -> Option<String> {
    Some(details.stack_trace.as_ref()?.call_frames.first()?.url.clone())
}

/// The words of an exception: its own description if it has one, which includes the stack.
pub(crate) fn exception_text(details: &cdp::ExceptionDetails) -> String {
    let thrown = details.exception.as_ref().map(shown).filter(|text| !text.is_empty());
    match thrown {
        Some(thrown) if details.text.starts_with("Uncaught") => thrown,
        Some(thrown) => format!("{} {thrown}", details.text),
        None => details.text.clone(),
    }
}

/// A value as a console shows it: strings bare, everything else as the browser describes it.
fn shown(object: &cdp::RemoteObject) -> String {
    if object.r#type == "string"
        && let Some(text) = object.value.as_ref().and_then(|v| serde_json::from_str::<String>(v.get()).ok())
    {
        return text;
    }
    if object.r#type == "undefined" || object.subtype.as_deref() == Some("null") {
        return object.subtype.clone().unwrap_or_else(|| "undefined".to_owned());
    }
    if let Some(preview) = object.preview.as_ref().filter(|preview| preview.r#type == "object") {
        return shown_preview(preview);
    }
    let value = object.value.as_ref().map(|value| value.get().to_owned());
    object.unserializable_value.clone().or_else(|| object.description.clone()).or(value).unwrap_or_default()
}

fn shown_preview(preview: &cdp::ObjectPreview) -> String {
    let is_array = preview.subtype.as_deref() == Some("array");
    if matches!(preview.subtype.as_deref(), Some(kind) if kind != "array") {
        return preview.description.clone().unwrap_or_default();
    }
    let more = if preview.overflow { ", …" } else { "" };
    let parts: Vec<String> = preview
        .properties
        .iter()
        .map(|property| {
            let value = property.value.clone().unwrap_or_else(|| property.r#type.clone());
            if is_array { value } else { format!("{}: {value}", property.name) }
        })
        .collect();
    let inner = parts.join(", ");
    if is_array { format!("[{inner}{more}]") } else { format!("{{{inner}{more}}}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(json: &str) -> ConsoleMessage {
        ConsoleMessage::from_event(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn arguments_are_joined_the_way_a_console_shows_them() {
        let message = event(
            r#"{"type":"log","args":[{"type":"string","value":"total"},{"type":"number","value":3,"description":"3"},
                {"type":"object","description":"Object","preview":{"type":"object","description":"Object",
                 "overflow":false,"properties":[{"name":"a","type":"number","value":"1"}]}}]}"#,
        );
        assert_eq!(message.text, "total 3 {a: 1}");
    }

    #[test]
    fn nothing_is_shown_as_what_it_is_called() {
        let message = event(
            r#"{"type":"log","args":[{"type":"object","subtype":"null","value":null},{"type":"undefined"},
                {"type":"symbol","description":"Symbol(q)"}]}"#,
        );
        assert_eq!(message.text, "null undefined Symbol(q)");
    }

    #[test]
    fn special_numbers_are_shown() {
        let message = event(r#"{"type":"log","args":[{"type":"number","unserializableValue":"NaN"}]}"#);
        assert_eq!(message.text, "NaN");
    }
}
