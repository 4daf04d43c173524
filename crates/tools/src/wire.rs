//! An answer as JSON, for those who call a tool through the daemon's socket.

use base64::Engine;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Answer, Image};

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerBody {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    image: Option<ImageBody>,
    is_error: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImageBody {
    data: String,
    mime_type: String,
}

impl From<Answer> for AnswerBody {
    fn from(answer: Answer) -> Self {
        let image = |image: Image| ImageBody {
            data: base64::engine::general_purpose::STANDARD.encode(image.bytes),
            mime_type: image.mime_type.into_owned(),
        };
        let Answer { text, structured, image: picture, tab: _, is_error } = answer;
        Self { text, structured, image: picture.map(image), is_error }
    }
}

impl TryFrom<AnswerBody> for Answer {
    type Error = base64::DecodeError;

    fn try_from(body: AnswerBody) -> Result<Self, Self::Error> {
        let image = |image: ImageBody| {
            let bytes = base64::engine::general_purpose::STANDARD.decode(image.data)?;
            Ok(Image { bytes, mime_type: image.mime_type.into() })
        };
        let AnswerBody { text, structured, image: picture, is_error } = body;
        Ok(Self { text, structured, image: picture.map(image).transpose()?, tab: None, is_error })
    }
}
