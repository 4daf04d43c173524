//! The outer shape of every message, borrowed from the bytes that came in.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A message of the browser: an answer when it has an `id`, else an event.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Incoming<'a> {
    pub id: Option<u64>,
    /// The protocol's method names are plain ASCII, so a borrow always works.
    pub method: Option<&'a str>,
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    pub error: Option<Refusal>,
    pub session_id: Option<&'a str>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refusal {
    #[serde(default)]
    pub code: i64,
    #[serde(default)]
    pub message: String,
    /// Some refusals say what is wrong only here.
    #[serde(default)]
    pub data: Option<String>,
}

impl Refusal {
    pub fn text(self) -> String {
        match self.data {
            Some(data) => format!("{} ({data})", self.message),
            None => self.message,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outgoing<'a, P: ?Sized> {
    pub id: u64,
    pub method: &'a str,
    pub params: &'a P,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_keeps_its_params_raw() {
        let text = r#"{"method":"Page.loadEventFired","params":{"timestamp":1.5,"new":[]},"sessionId":"S"}"#;
        let message: Incoming<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(message.method, Some("Page.loadEventFired"));
        assert_eq!(message.session_id, Some("S"));
        assert_eq!(message.params.unwrap().get(), r#"{"timestamp":1.5,"new":[]}"#);
        assert!(message.id.is_none());
    }

    #[test]
    fn unknown_members_do_not_break_the_envelope() {
        let text = r#"{"id":7,"result":{},"surprise":{"a":1}}"#;
        let message: Incoming<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(message.id, Some(7));
        assert_eq!(message.result.unwrap().get(), "{}");
    }

    #[test]
    fn a_refusal_carries_its_data() {
        let text = r#"{"id":7,"error":{"code":-32602,"message":"Invalid parameters","data":"url: missing"}}"#;
        let message: Incoming<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(message.error.unwrap().text(), "Invalid parameters (url: missing)");
    }
}
