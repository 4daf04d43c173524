//! Values that must not be shown: overwritten when they go, and silent about themselves.

use std::fmt;

use serde_json::Value;
use zeroize::Zeroizing;

/// A text that is a secret.
#[derive(Clone)]
pub struct SecretText(Zeroizing<String>);

impl SecretText {
    /// From a text that is moved in; copies elsewhere are the caller's.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text itself, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for SecretText {
    fn from(text: &str) -> Self {
        Self::new(text.to_owned())
    }
}

/// Bytes that are a secret and no text.
#[derive(Clone)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// From bytes that are moved in.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes themselves.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// What a credential holds.
#[derive(Debug, Clone)]
pub enum SecretValue {
    /// One text.
    Text(SecretText),
    /// Bytes that are no text; they cannot be typed, only read as bytes.
    Bytes(SecretBytes),
    /// Texts by name, such as `username` and `password`.
    Fields(Vec<(String, SecretText)>),
}

impl SecretValue {
    /// From what somebody uploads: a JSON object of texts is fields, other UTF-8 is a text, and anything else is bytes.
    pub fn from_plaintext(bytes: Vec<u8>) -> Self {
        if let Some(fields) = fields(&bytes) {
            drop(Zeroizing::new(bytes));
            return Self::Fields(fields);
        }
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(SecretText::new(text)),
            Err(error) => Self::Bytes(SecretBytes::new(error.into_bytes())),
        }
    }

    /// What its fields are called; none if it is one value.
    pub fn field_names(&self) -> Vec<String> {
        match self {
            Self::Fields(fields) => fields.iter().map(|(name, _)| name.clone()).collect(),
            Self::Text(_) | Self::Bytes(_) => Vec::new(),
        }
    }

    /// As bytes to be sealed, with room for the tag, so that nothing is moved and left behind.
    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        const TAG: usize = 16;
        let parts: Vec<&[u8]> = match self {
            Self::Text(text) => vec![text.reveal().as_bytes()],
            Self::Bytes(bytes) => vec![bytes.reveal()],
            Self::Fields(fields) => {
                fields.iter().flat_map(|(name, text)| [name.as_bytes(), text.reveal().as_bytes()]).collect()
            }
        };
        let length = parts.iter().map(|part| part.len() + 8).sum::<usize>() + 1;
        let mut out = Zeroizing::new(Vec::with_capacity(length + TAG));
        out.push(match self {
            Self::Text(_) => b't',
            Self::Bytes(_) => b'b',
            Self::Fields(_) => b'f',
        });
        for part in parts {
            out.extend_from_slice(&(part.len() as u64).to_be_bytes());
            out.extend_from_slice(part);
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (length, behind) = rest.split_first_chunk::<8>()?;
            let (part, behind) =
                behind.split_at_checked(usize::try_from(u64::from_be_bytes(*length)).ok()?)?;
            parts.push(part);
            rest = behind;
        }
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(SecretText::from);
        match (kind, parts.as_slice()) {
            (b't', [one]) => text(one).map(Self::Text),
            (b'b', [one]) => Some(Self::Bytes(SecretBytes::new(one.to_vec()))),
            (b'f', parts) => {
                let pairs = parts.chunks(2).map(|pair| match pair {
                    [name, value] => Some((std::str::from_utf8(name).ok()?.to_owned(), text(value)?)),
                    _ => None,
                });
                pairs.collect::<Option<_>>().map(Self::Fields)
            }
            _ => None,
        }
    }
}

fn fields(bytes: &[u8]) -> Option<Vec<(String, SecretText)>> {
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    let Ok(Value::Object(members)) = serde_json::from_slice(bytes) else { return None };
    if members.is_empty() || !members.values().all(Value::is_string) {
        return None;
    }
    let texts = members.into_iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some((name, SecretText::new(text))),
        _ => None,
    });
    Some(texts.collect())
}
