//! What a client sent, judged by the rules of JSON-RPC and MCP before the SDK sees it: the SDK drops what it cannot read, and
//! takes a call whose parameters do not fit for one of an unknown method.

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorCode, RequestId};
use serde::Deserialize;
use serde_json::{Value, json};

/// A tool call is not a film.
pub(super) const LARGEST_REQUEST: usize = 16 * 1024 * 1024;

/// See the module.
#[derive(Debug)]
pub(super) enum Judged {
    /// A message for the server.
    Message(Box<ClientJsonRpcMessage>),
    /// Several at once, each judged.
    Batch(Vec<Judged>),
    /// What to answer instead.
    Refused(Refusal),
    /// Nothing that could be answered.
    Nothing,
}

/// An error, and whose it is; nobody's when that cannot be known.
#[derive(Debug)]
pub(super) struct Refusal {
    pub id: Option<RequestId>,
    pub error: ErrorData,
}

impl Refusal {
    fn new(id: Option<RequestId>, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { id, error: ErrorData::new(code, message.into(), None) }
    }

    pub fn too_large(id: Option<RequestId>) -> Self {
        let message = format!("a message has at most {} MiB", LARGEST_REQUEST / 1024 / 1024);
        Self::new(id, ErrorCode::INVALID_REQUEST, message)
    }

    pub fn invalid(why: impl Into<String>) -> Self {
        Self::new(None, ErrorCode::INVALID_REQUEST, why)
    }

    pub fn empty() -> Self {
        Self::new(None, ErrorCode::PARSE_ERROR, "there is nothing")
    }

    /// As JSON-RPC wants it: with an `id` also where there is none.
    pub fn to_json(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": self.error })
    }
}

/// Methods that this server has, and that the SDK takes for unknown ones when their parameters do not fit.
const OURS: [&str; 5] = ["initialize", "ping", "server/discover", "tools/call", "tools/list"];

/// Judges what came at once: a line, or a body.
pub(super) fn judge(bytes: &[u8], takes_batches: bool) -> Judged {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return Judged::Nothing;
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Array(values)) => batch(values, takes_batches),
        Ok(value) => message(value),
        Err(error) => Judged::Refused(unreadable(bytes, &error)),
    }
}

/// What is nested too deeply is JSON all the same, and has an id at its top.
fn unreadable(bytes: &[u8], error: &serde_json::Error) -> Refusal {
    #[derive(Deserialize)]
    struct Head {
        id: Option<RequestId>,
    }
    match serde_json::from_slice::<Head>(bytes) {
        Ok(head) => Refusal::new(head.id, ErrorCode::INVALID_REQUEST, format!("cannot be read: {error}")),
        Err(_) => Refusal::new(None, ErrorCode::PARSE_ERROR, format!("this is not JSON: {error}")),
    }
}

fn batch(values: Vec<Value>, taken: bool) -> Judged {
    let refused = |why: &str| Judged::Refused(Refusal::invalid(why));
    match (taken, values.is_empty()) {
        (false, _) => refused("only revision 2025-03-26 has batches, once it was agreed upon"),
        (true, true) => refused("a batch has at least one message"),
        (true, false) => Judged::Batch(values.into_iter().map(message).collect()),
    }
}

/// Judges one message.
pub(super) fn message(value: Value) -> Judged {
    let id = value.get("id").map(|id| RequestId::deserialize(id).ok());
    let invalid =
        |why: &str| Judged::Refused(Refusal::new(id.clone().flatten(), ErrorCode::INVALID_REQUEST, why));
    let Some(members) = value.as_object() else { return invalid("a message is an object") };
    let method = members.get("method").cloned();
    if method.is_none() && (members.contains_key("result") || members.contains_key("error")) {
        // An answer is never answered, whatever is wrong with it.
        return serde_json::from_value(value)
            .map_or(Judged::Nothing, |answer| Judged::Message(Box::new(answer)));
    }
    if members.get("jsonrpc") != Some(&Value::from("2.0")) {
        return invalid("\"jsonrpc\" must be \"2.0\"");
    }
    let Some(Value::String(method)) = method else { return invalid("\"method\" must be a text") };
    if matches!(id, Some(None)) {
        return invalid("\"id\" must be a text or a whole number");
    }
    let params = members.get("params").cloned();
    match (serde_json::from_value::<ClientJsonRpcMessage>(value), id.flatten()) {
        (Ok(ClientJsonRpcMessage::Request(request)), id) => {
            let misfit = match &request.request {
                ClientRequest::CustomRequest(custom) => misfit(&custom.method, custom.params.as_ref()),
                _ => None,
            };
            match misfit {
                Some(error) => Judged::Refused(Refusal { id, error }),
                None => Judged::Message(Box::new(ClientJsonRpcMessage::Request(request))),
            }
        }
        (Ok(message), _) => Judged::Message(Box::new(message)),
        (Err(error), Some(id)) => {
            let error = misfit(&method, params.as_ref())
                .unwrap_or_else(|| ErrorData::invalid_params(error.to_string(), None));
            Judged::Refused(Refusal { id: Some(id), error })
        }
        (Err(_), None) => Judged::Nothing,
    }
}

/// Why the parameters of a method that there is do not fit; `None` for other methods.
pub(super) fn misfit(method: &str, params: Option<&Value>) -> Option<ErrorData> {
    if !OURS.contains(&method) {
        return None;
    }
    let why = match params {
        Some(params) if method == "tools/call" => CallToolRequestParams::deserialize(params).err(),
        _ => None,
    };
    let why = why.map(|error| format!(": {error}")).unwrap_or_default();
    Some(ErrorData::invalid_params(format!("the params of {method} do not fit{why}"), None))
}

/// Finds the id in a message that is too long to be kept: the last member at its top that is called so.
#[derive(Debug, Default)]
pub(super) struct IdFinder {
    depth: usize,
    quoted: bool,
    escaped: bool,
    /// The name or value at the top that is being read.
    token: Vec<u8>,
    /// Is `token` the value of `id`?
    is_id: bool,
    pub found: Option<RequestId>,
}

/// No id is longer.
const LONGEST_TOKEN: usize = 1024;

impl IdFinder {
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        let at_top = self.depth == 1;
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if at_top {
                    self.end_value();
                }
            }
            b':' if at_top => {
                self.is_id = self.token.trim_ascii() == b"\"id\"";
                return self.token.clear();
            }
            b',' if at_top => return self.end_value(),
            _ => {}
        }
        // The brace that opens the message is no part of its first name.
        if at_top && self.token.len() < LONGEST_TOKEN {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if std::mem::take(&mut self.is_id) {
            self.found = serde_json::from_slice(&self.token).ok();
        }
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Value {
        match judge(text.as_bytes(), false) {
            Judged::Refused(refusal) => refusal.to_json(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn what_cannot_be_read_is_nobodys() {
        for text in ["not json", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi", "{} {}", "{\"id\":01}"] {
            let refused = refusal(text);
            assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32700), &Value::Null), "{text}");
            assert!(refused.as_object().unwrap().contains_key("id"));
        }
        let Judged::Refused(refused) = judge(b"\xff\xfe{}", false) else { panic!("taken") };
        assert_eq!(refused.error.code, ErrorCode::PARSE_ERROR);
        for text in ["", "  \r", "\u{feff}"] {
            assert!(matches!(judge(text.as_bytes(), false), Judged::Nothing), "{text:?}");
        }
    }

    #[test]
    fn what_is_nested_too_deeply_is_refused_by_its_id() {
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        let refused = refusal(&format!(
            r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"arguments":{deep}}},"id":7}}"#
        ));
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!(7)));
    }

    #[test]
    fn invalid_requests_keep_their_id_where_they_have_one() {
        for (text, id) in [
            (r#"5"#, Value::Null),
            (r#"null"#, Value::Null),
            (r#"[]"#, Value::Null),
            (r#"{"jsonrpc":"2.0"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":77,"method":5}"#, json!(77)),
            (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a")),
            (r#"{"id":3,"method":"ping"}"#, json!(3)),
        ] {
            let refused = refusal(text);
            assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &id), "{text}");
        }
    }

    #[test]
    fn params_that_do_not_fit_are_told_as_such() {
        for params in [
            "",
            r#","params":null"#,
            r#","params":[]"#,
            r#","params":"x""#,
            r#","params":{}"#,
            r#","params":{"name":5}"#,
            r#","params":{"name":"navigate","arguments":"x"}"#,
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call"{params}}}"#);
            let refused = refusal(&text);
            assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32602), &json!(9)), "{text}");
        }
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#)["error"]["code"],
            -32602
        );
    }

    #[test]
    fn everything_else_passes() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"tools/list","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such/method","params":{"a":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(matches!(judge(text.as_bytes(), false), Judged::Message(_)), "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":null,"error":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#,
        ] {
            assert!(!matches!(judge(text.as_bytes(), false), Judged::Refused(_)), "{text}");
        }
    }

    #[test]
    fn batches_are_taken_where_they_are_known() {
        let text = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},5]"#;
        assert!(matches!(judge(text, false), Judged::Refused(_)));
        let Judged::Batch(parts) = judge(text, true) else { panic!("no batch") };
        assert!(matches!(parts.as_slice(), [Judged::Message(_), Judged::Refused(_)]));
        assert!(matches!(judge(b"[]", true), Judged::Refused(_)));
    }

    #[test]
    fn the_id_of_a_long_message_is_found_wherever_it_stands() {
        let find = |text: &str| {
            let mut finder = IdFinder::default();
            for part in text.as_bytes().chunks(3) {
                finder.feed(part);
            }
            finder.found.map(|id| json!(id))
        };
        assert_eq!(find(r#"{"id":5,"params":{"id":6,"x":"}\",\"id\":7"}}"#), Some(json!(5)));
        assert_eq!(find(r#"{"params":[{"id":1}], "id" : "a,b" }"#), Some(json!("a,b")));
        assert_eq!(find(r#"{"method":"id","params":{"id":1}}"#), None);
        assert_eq!(find(r#"[{"id":1}]"#), None);
        assert_eq!(find(r#"{"id":{"id":1}}"#), None);
        assert_eq!(find(&format!(r#"{{"a":"{}","id":8}}"#, "x".repeat(5000))), Some(json!(8)));
    }
}
