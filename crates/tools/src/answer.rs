//! What a tool answers: a text for the model, and where it helps a structure or a picture.

use serde::Serialize;
use serde_json::Value;
use surehand_session::{Fault, Kind};

/// See the module.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What the model reads.
    pub text: String,
    /// The same for programs. Left out where it would only repeat a large text.
    pub structured: Option<Value>,
    /// A picture to look at.
    pub image: Option<Image>,
    /// The tab that it is about, where a server of another make says so beside the first text.
    pub tab: Option<Value>,
    /// Did the tool fail?
    pub is_error: bool,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// E.g. `image/png`.
    pub mime_type: std::borrow::Cow<'static, str>,
}

/// A message with more characters is not read: somebody wrote a whole document where a word was wanted.
const LONGEST_MESSAGE: usize = 4000;

impl Answer {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Default::default() }
    }

    /// JSON, as text and as structure.
    pub fn json(value: &impl Serialize) -> Result<Self, Fault> {
        let value = serde_json::to_value(value)
            .map_err(|error| Fault::new(Kind::Internal, format!("an answer is no JSON: {error}")))?;
        Ok(Self { text: value.to_string(), structured: Some(value), ..Default::default() })
    }

    /// A failure, as the model reads it: code, message, what to do next.
    pub fn failure(fault: &Fault) -> Self {
        let message = match fault.message.char_indices().nth(LONGEST_MESSAGE) {
            Some((end, _)) => format!("{}…", &fault.message[..end]),
            None => fault.message.clone(),
        };
        let error = serde_json::json!({
            "error": { "code": fault.kind.code(), "message": message, "hints": fault.hints },
        });
        Self { text: error.to_string(), structured: Some(error), is_error: true, ..Default::default() }
    }
}
