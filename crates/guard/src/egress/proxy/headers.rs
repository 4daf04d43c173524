//! Headers that belong to one connection and not to the message: taken out on the way, in both directions.

use hyper::HeaderMap;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
};

use super::answer::{MARK, Refusal};

/// What a request is not let through with, because servers behind us could read it in another way.
pub(super) fn check(headers: &HeaderMap) -> Result<(), Refusal> {
    if headers.get_all(HOST).iter().count() > 1 {
        return Err(Refusal::Bad("more than one Host"));
    }
    let encodings = headers.get_all(TRANSFER_ENCODING);
    if encodings.iter().count() > 1
        || encodings.iter().any(|one| !one.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        return Err(Refusal::Bad("a Transfer-Encoding other than chunked"));
    }
    let lengths = headers.get_all(CONTENT_LENGTH).iter().count();
    if lengths > 1 || lengths + encodings.iter().count() > 1 {
        return Err(Refusal::Bad("more than one length"));
    }
    Ok(())
}

/// Takes out of a request what is for this proxy. What it asks to upgrade to is given back.
pub(super) fn clean_request(headers: &mut HeaderMap) -> Option<HeaderValue> {
    let chunked = headers.contains_key(TRANSFER_ENCODING);
    let upgrade = take_connection(headers);
    // Whoever waits for "100 Continue" was told so by us.
    headers.remove(EXPECT);
    if chunked {
        // Not left to hyper, which would send no body with GET.
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    upgrade
}

/// Takes out of an answer what was for this proxy.
pub(super) fn clean_response(headers: &mut HeaderMap) -> Option<HeaderValue> {
    headers.remove(MARK);
    take_connection(headers)
}

/// Says on this connection, too, what the message wants to upgrade to.
pub(super) fn ask_upgrade(headers: &mut HeaderMap, to: HeaderValue) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, to);
}

fn take_connection(headers: &mut HeaderMap) -> Option<HeaderValue> {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let upgrade = if named.contains(&UPGRADE) { headers.get(UPGRADE).cloned() } else { None };
    // A message cannot take out what says how long it is, or to whom it goes.
    for name in named.iter().filter(|name| ![CONTENT_LENGTH, HOST].contains(name)) {
        headers.remove(name);
    }
    for name in [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
    for name in ["keep-alive", "proxy-connection", "proxy-authentication-info"] {
        headers.remove(name);
    }
    upgrade
}
