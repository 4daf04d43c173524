//! One request and one response: reading the former, describing the latter.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::time::Duration;

use super::serve::Origins;

const LONGEST_LINE: u64 = 64 * 1024;
const MOST_HEADERS: usize = 200;
const LARGEST_BODY: u64 = 256 * 1024 * 1024;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, `POST`, ….
    pub method: String,
    /// Without the query.
    pub path: String,
    /// What follows `?`, not decoded; empty if nothing does.
    pub query: String,
    /// In order of arrival, names as sent.
    pub headers: Vec<(String, String)>,
    /// Empty if there is none.
    pub body: Vec<u8>,
    pub(super) origins: Arc<Origins>,
}

impl Request {
    /// The first header with that name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }

    /// The decoded value of one field of the query.
    #[must_use]
    pub fn query_value(&self, name: &str) -> Option<String> {
        form_value(&self.query, name)
    }

    /// The decoded value of one field of an `application/x-www-form-urlencoded` body.
    #[must_use]
    pub fn form_value(&self, name: &str) -> Option<String> {
        form_value(&String::from_utf8_lossy(&self.body), name)
    }

    /// Reads one request; `None` where the other side ended between two of them.
    pub(super) fn read(reader: &mut impl BufRead, origins: &Arc<Origins>) -> io::Result<Option<Self>> {
        let Some(first) = read_line(reader)? else { return Ok(None) };
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some(_)) = (words.next(), words.next(), words.next()) else {
            return Err(malformed("request line"));
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers = vec![];
        loop {
            let line = read_line(reader)?.ok_or_else(|| malformed("headers without an end"))?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| malformed("header"))?;
            headers.push((name.to_owned(), value.trim().to_owned()));
            if headers.len() > MOST_HEADERS {
                return Err(malformed("number of headers"));
            }
        }
        if find_header(&headers, "transfer-encoding").is_some() {
            return Err(malformed("chunked body, which this server does not read"));
        }
        let length = match find_header(&headers, "content-length") {
            Some(length) => length.parse().map_err(|_| malformed("content length"))?,
            None => 0,
        };
        if length > LARGEST_BODY {
            return Err(malformed("size of the body"));
        }
        let mut body = vec![];
        if reader.take(length).read_to_end(&mut body)? as u64 != length {
            return Err(malformed("length of the body"));
        }
        Ok(Some(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers,
            body,
            origins: Arc::clone(origins),
        }))
    }
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("malformed request: {what}"))
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = vec![];
    if reader.take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(malformed("line"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).map(Some).map_err(|_| malformed("encoding"))
}

fn find_header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(each, _)| each.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn form_value(form: &str, name: &str) -> Option<String> {
    form.split('&').find_map(|field| {
        let (key, value) = field.split_once('=').unwrap_or((field, ""));
        (decode(key) == name).then(|| decode(value))
    })
}

fn decode(text: &str) -> String {
    let mut bytes = vec![];
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match after {
            [high, low, ..] if *first == b'%' => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok()),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A response: status, headers and body, and how it is sent.
#[derive(Debug, Clone)]
pub struct Response {
    /// 200 unless said otherwise; 0 means that nothing at all is sent (see [`Response::silence`]).
    pub status: u16,
    /// Beside those about length and connection, which the server adds.
    pub headers: Vec<(String, String)>,
    /// The body, or its first part if there are `chunks`.
    pub body: Vec<u8>,
    /// How long the server waits before it sends anything.
    pub delay: Duration,
    /// Further parts of the body, each with the pause before it.
    pub chunks: Vec<(Duration, Vec<u8>)>,
    /// Whether the end of the body never comes.
    pub never_ends: bool,
    /// Whether the connection is closed in the middle of the body.
    pub breaks_off: bool,
    /// Whether the connection is closed instead of a response.
    pub hangs_up: bool,
}

impl Response {
    /// Bytes with a content type.
    #[must_use]
    pub fn bytes(content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: vec![("Content-Type".into(), content_type.into())],
            body: bytes.into(),
            delay: Duration::ZERO,
            chunks: vec![],
            never_ends: false,
            breaks_off: false,
            hangs_up: false,
        }
    }

    /// An HTML page.
    #[must_use]
    pub fn html(html: impl Into<String>) -> Self {
        Self::bytes("text/html; charset=utf-8", html.into())
    }

    /// Plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::bytes("text/plain; charset=utf-8", text.into())
    }

    /// A JSON document.
    #[must_use]
    pub fn json(value: &serde_json::Value) -> Self {
        Self::bytes("application/json", value.to_string())
    }

    /// A redirect to `location`.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::text("").status(status).header("Location", location)
    }

    /// A download named `name`.
    #[must_use]
    pub fn attachment(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self::bytes("application/octet-stream", bytes)
            .header("Content-Disposition", &format!("attachment; filename=\"{name}\""))
    }

    /// Nothing, for as long as the other side listens.
    #[must_use]
    pub fn silence() -> Self {
        Self::text("").status(0).never_ending()
    }

    /// Closes the connection without a response.
    #[must_use]
    pub fn hang_up() -> Self {
        Self { hangs_up: true, ..Self::text("") }
    }

    /// The same with another status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same, sent after `delay`.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The same with one more part of the body, sent `pause` after the one before.
    #[must_use]
    pub fn chunk(mut self, pause: Duration, bytes: impl Into<Vec<u8>>) -> Self {
        self.chunks.push((pause, bytes.into()));
        self
    }

    /// The same, with the connection closed before the end of the body. That comes in chunks, unless a header says how long
    /// it would have been.
    #[must_use]
    pub fn broken_off(mut self) -> Self {
        self.breaks_off = true;
        self
    }

    /// The same without an end.
    #[must_use]
    pub fn never_ending(mut self) -> Self {
        self.never_ends = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Option<Request>> {
        Request::read(&mut text.as_bytes(), &Arc::new(Origins { main: String::new(), cross: String::new() }))
    }

    #[test]
    fn reads_a_request_with_a_body() {
        let text = "POST /a/b?x=1&y=a%20b+c HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nname=%C3%A9GET /";
        let request = read(text).unwrap().unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/a/b"));
        assert_eq!(request.header("HOST"), Some("h"));
        assert_eq!(request.query_value("y").as_deref(), Some("a b c"));
        assert_eq!(request.query_value("z"), None);
        assert_eq!(request.body, b"name=%C3%".to_vec());
        assert_eq!(request.form_value("name").as_deref(), Some("\u{fffd}%"));
    }

    #[test]
    fn an_end_is_not_an_error_but_a_half_request_is() {
        assert!(read("").unwrap().is_none());
        for text in [
            "GET",
            "GET /\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc",
            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }
}
