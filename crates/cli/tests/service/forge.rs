//! Tokens that the program itself would not make, signed with its own key.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use serde_json::Value;

/// A token with this header and these claims; the signature is of HS256, whatever the header says.
pub fn token(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let part = |value: &Value| BASE64.encode(value.to_string());
    let signed = format!("{}.{}", part(header), part(claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
    format!("{signed}.{}", BASE64.encode(signature))
}
