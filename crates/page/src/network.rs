//! The requests of a tab, from its first one, in a bounded ring.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use surehand_cdp::Session;
use surehand_cdp::protocol::network as cdp;
use surehand_cdp::protocol::runtime::Evaluate;
use tokio::time::Instant;

use crate::page::Page;
use crate::{Deadline, Result, Ring};

/// One request and what became of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The browser's id; redirects share it.
    pub request_id: String,
    /// Where to.
    pub url: String,
    /// `GET`, `POST` …
    pub method: String,
    /// `Document`, `Script`, `XHR`, `Fetch`, `Image` …
    pub resource_type: String,
    /// The HTTP status, once there is an answer.
    pub status: Option<i64>,
    /// The answer's media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Did it fail without an HTTP answer?
    pub failed: bool,
    /// Why it failed, e.g. `net::ERR_CONNECTION_REFUSED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Who asked for it.
    pub initiator: Initiator,
    /// Seconds since 1970.
    pub timestamp: f64,
    /// From sending to the end, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// Bytes over the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Where a redirect led.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirected_to: Option<String>,
    /// Sent headers.
    #[serde(skip)]
    pub headers: BTreeMap<String, String>,
    /// Received headers.
    #[serde(skip)]
    pub response_headers: BTreeMap<String, String>,
    /// The document load that this request belongs to.
    #[serde(skip)]
    pub loader_id: String,
    /// The browser's clock when it was sent; zero where nobody told.
    #[serde(skip)]
    sent_at: f64,
    /// Who knows its body.
    #[serde(skip)]
    session: Option<Session>,
    /// Is there a body that was sent along?
    #[serde(skip)]
    has_post_data: bool,
}

/// A request with everything that is known about it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestDetails {
    /// What a listing shows.
    #[serde(flatten)]
    pub request: Request,
    /// Sent headers.
    pub request_headers: BTreeMap<String, String>,
    /// What was sent along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_data: Option<String>,
    /// Received headers.
    pub response_headers: BTreeMap<String, String>,
    /// The body of the answer; base64 if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Is the body base64?
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub body_is_base64: bool,
}

/// What caused a request.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Initiator {
    /// `parser`, `script`, `other` …
    #[serde(rename = "type")]
    pub kind: String,
    /// The document or script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// One-based line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
}

impl Initiator {
    fn from_protocol(initiator: cdp::Initiator) -> Self {
        let caller = initiator.stack.and_then(|stack| stack.call_frames.into_iter().next());
        let line = initiator.line_number.map(|line| line as i64 + 1);
        match caller {
            Some(frame) if initiator.url.is_none() => {
                Self { kind: initiator.r#type, url: Some(frame.url), line: Some(frame.line_number + 1) }
            }
            _ => Self { kind: initiator.r#type, url: initiator.url, line },
        }
    }
}

/// A page that loads more than this keeps the newest.
const CAPACITY: usize = 1000;

/// Requests, newest last, and which are still under way.
#[derive(Debug)]
pub(crate) struct NetworkLog {
    pub requests: Ring<Request>,
    pub in_flight: HashMap<String, Flight>,
    /// When the browser last told of any request.
    last_event: Option<Instant>,
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Flight {
    /// The document load that it belongs to.
    loader_id: String,
    /// Have the headers of the answer come?
    is_answered: bool,
}

/// What a document knows of its own request.
const RECALL: &str = "(() => { const [n] = performance.getEntriesByType('navigation'); \
    return { status: n?.responseStatus || null, at: performance.timeOrigin / 1000, duration: n?.responseEnd || null } })()";

#[derive(Deserialize)]
struct Recalled {
    status: Option<i64>,
    at: f64,
    duration: Option<f64>,
}

fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// A network that is silent for this long is idle.
const SILENCE: Duration = Duration::from_millis(500);

impl Default for NetworkLog {
    fn default() -> Self {
        Self { requests: Ring::new(CAPACITY), in_flight: HashMap::new(), last_event: None }
    }
}

impl NetworkLog {
    pub fn sent(&mut self, session: Option<&Session>, event: cdp::RequestWillBeSent) {
        if let Some(response) = event.redirect_response {
            self.with(&event.request_id, |request| {
                request.take_response(response);
                request.finish(event.timestamp);
                request.redirected_to = Some(event.request.url.clone());
            });
        }
        self.last_event = Some(Instant::now());
        let flight = Flight { loader_id: event.loader_id.clone(), is_answered: false };
        self.in_flight.insert(event.request_id.clone(), flight);
        self.requests.push(Request {
            request_id: event.request_id,
            url: event.request.url,
            method: event.request.method,
            resource_type: event.r#type.unwrap_or_default(),
            status: None,
            mime_type: None,
            failed: false,
            error: None,
            initiator: Initiator::from_protocol(event.initiator),
            timestamp: event.wall_time,
            duration: None,
            size: None,
            redirected_to: None,
            headers: event.request.headers,
            response_headers: BTreeMap::new(),
            loader_id: event.loader_id,
            sent_at: event.timestamp,
            session: session.cloned(),
            has_post_data: event.request.has_post_data.unwrap_or(false),
        });
    }

    pub fn answered(&mut self, session: Option<&Session>, event: cdp::ResponseReceived) {
        self.last_event = Some(Instant::now());
        let is_known = self.requests.iter().rev().any(|request| request.request_id == event.request_id);
        if !is_known && event.r#type == "Document" {
            self.missed(session, &event.loader_id, &event.response.url);
        }
        if let Some(flight) = self.in_flight.get_mut(&event.request_id) {
            flight.is_answered = true;
        }
        self.with(&event.request_id, |request| request.take_response(event.response));
    }

    /// The document of a tab that asked for it before we heard of the tab. Only a link that is followed into a new tab does that.
    fn missed(&mut self, session: Option<&Session>, loader_id: &str, url: &str) {
        self.requests.push(Request {
            request_id: loader_id.to_owned(),
            url: url.to_owned(),
            method: "GET".to_owned(),
            resource_type: "Document".to_owned(),
            status: None,
            mime_type: None,
            failed: false,
            error: None,
            initiator: Initiator { kind: "other".to_owned(), ..Default::default() },
            timestamp: now(),
            duration: None,
            size: None,
            redirected_to: None,
            headers: BTreeMap::new(),
            response_headers: BTreeMap::new(),
            loader_id: loader_id.to_owned(),
            sent_at: 0.0,
            session: session.cloned(),
            has_post_data: false,
        });
    }

    /// A part of a body came.
    pub fn went_on(&mut self) {
        self.last_event = Some(Instant::now());
    }

    pub fn finished(&mut self, event: &cdp::LoadingFinished) {
        self.last_event = Some(Instant::now());
        self.in_flight.remove(&event.request_id);
        self.with(&event.request_id, |request| {
            request.size = Some(event.encoded_data_length);
            request.finish(event.timestamp);
        });
    }

    pub fn failed(&mut self, event: cdp::LoadingFailed) {
        self.last_event = Some(Instant::now());
        self.in_flight.remove(&event.request_id);
        self.with(&event.request_id, |request| {
            request.failed = true;
            request.finish(event.timestamp);
            request.error = Some(match event.blocked_reason {
                Some(reason) => format!("{} (blocked: {reason})", event.error_text),
                None => event.error_text,
            });
        });
    }

    /// The tab has another document: what the one before it asked for is nobody's concern any more.
    pub fn new_document(&mut self, loader_id: &str) {
        self.in_flight.retain(|_, flight| flight.loader_id == loader_id);
    }

    /// When the network will have been idle for long enough if nothing more comes; `None` while an answer is due. An answer
    /// that has begun and is silent counts as over: the browser never tells the end of a body that nobody reads.
    pub fn idle_at(&self) -> Option<Instant> {
        let is_due = self.in_flight.values().any(|flight| !flight.is_answered);
        self.last_event.filter(|_| !is_due).map(|last| last + SILENCE)
    }

    /// The request of the document that a navigation loaded.
    pub fn document(&self, loader_id: &str) -> Option<&Request> {
        self.requests.iter().rev().find(|r| r.loader_id == loader_id && r.resource_type == "Document")
    }

    /// Did the last document that was asked for say that there is nothing to show?
    pub fn last_was_empty(&self) -> bool {
        let last = self.requests.iter().rev().find(|request| request.resource_type == "Document");
        last.is_some_and(|request| matches!(request.status, Some(204 | 205)))
    }

    fn with(&mut self, id: &str, change: impl FnOnce(&mut Request)) {
        if let Some(request) = self.requests.iter_mut().rev().find(|request| request.request_id == id) {
            change(request);
        }
    }
}

impl Page {
    /// A tab that a link opened asked for its document before anybody could listen: the document knows what came of that.
    pub(crate) async fn recall_document(&self) {
        let Some(document) = self.lock().missed_document.take() else { return };
        if !document.url.starts_with("http") || self.lock().network.document(&document.loader_id).is_some() {
            return;
        }
        let ask =
            Evaluate { expression: RECALL.to_owned(), return_by_value: Some(true), ..Default::default() };
        let answer = self.session().call(&ask).await.ok().and_then(|answer| answer.result.value);
        let recalled: Option<Recalled> = answer.and_then(|value| serde_json::from_str(value.get()).ok());
        self.0.change(|state| {
            let log = &mut state.network;
            if log.document(&document.loader_id).is_some() {
                return;
            }
            log.missed(Some(self.session()), &document.loader_id, &document.url);
            log.with(&document.loader_id, |request| {
                request.mime_type = Some(document.mime_type);
                if let Some(recalled) = recalled {
                    request.status = recalled.status;
                    request.timestamp = recalled.at;
                    request.duration = recalled.duration;
                }
            });
        });
    }

    /// A request with its headers and bodies; `None` if there is none of that number.
    pub async fn request_details(&self, id: &str, deadline: &Deadline) -> Result<Option<RequestDetails>> {
        let found = self.lock().network.requests.iter().rev().find(|one| one.request_id == id).cloned();
        let Some(request) = found else { return Ok(None) };
        let session = request.session.clone().unwrap_or_else(|| self.session().clone());
        let request_id = request.request_id.clone();
        let sent = session.call(&cdp::GetRequestPostData { request_id: request_id.clone() });
        let received = session.call(&cdp::GetResponseBody { request_id });
        let (sent, received) = deadline.run("the bodies", async { (sent.await, received.await) }).await?;
        // The browser keeps bodies only for a while, and redirects and failures have none.
        let body = received.ok();
        Ok(Some(RequestDetails {
            request_headers: request.headers.clone(),
            response_headers: request.response_headers.clone(),
            post_data: sent.ok().map(|sent| sent.post_data).filter(|_| request.has_post_data),
            body_is_base64: body.as_ref().is_some_and(|body| body.base64_encoded),
            body: body.map(|body| body.body),
            request,
        }))
    }
}

impl Request {
    /// Is there an answer, or will there never be one?
    pub(crate) fn is_answered(&self) -> bool {
        self.status.is_some() || self.failed
    }

    fn take_response(&mut self, response: cdp::Response) {
        self.status = Some(response.status);
        self.mime_type = Some(response.mime_type);
        self.response_headers = response.headers;
    }

    fn finish(&mut self, timestamp: f64) {
        if self.sent_at > 0.0 {
            self.duration = Some(((timestamp - self.sent_at) * 1000.0).max(0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(id: &str, url: &str, redirect: bool) -> cdp::RequestWillBeSent {
        let redirect_response = redirect.then(|| cdp::Response { status: 302, ..Default::default() });
        cdp::RequestWillBeSent {
            request_id: id.into(),
            loader_id: "L".into(),
            request: cdp::Request { url: url.into(), method: "GET".into(), ..Default::default() },
            r#type: Some("Document".into()),
            redirect_response,
            ..Default::default()
        }
    }

    #[test]
    fn a_redirect_is_two_entries_and_the_status_is_the_last_ones() {
        let mut log = NetworkLog::default();
        log.sent(None, sent("1", "http://a/", false));
        log.sent(None, sent("1", "http://b/", true));
        let response = cdp::Response { status: 200, ..Default::default() };
        log.answered(None, cdp::ResponseReceived { request_id: "1".into(), response, ..Default::default() });
        let seen: Vec<_> = log.requests.iter().map(|r| (r.url.as_str(), r.status)).collect();
        assert_eq!(seen, [("http://a/", Some(302)), ("http://b/", Some(200))]);
        assert_eq!(log.document("L").unwrap().status, Some(200));
    }

    #[test]
    fn a_failure_without_an_answer_is_recorded() {
        let mut log = NetworkLog::default();
        log.sent(None, sent("1", "http://a/", false));
        let error_text = "net::ERR_CONNECTION_REFUSED".to_owned();
        log.failed(cdp::LoadingFailed { request_id: "1".into(), error_text, ..Default::default() });
        let request = log.requests.iter().next().unwrap();
        assert!(request.failed && request.status.is_none());
        assert!(log.in_flight.is_empty());
    }

    #[test]
    fn an_answer_that_is_due_keeps_the_network_busy_and_a_silent_one_does_not() {
        let mut log = NetworkLog::default();
        assert!(log.idle_at().is_none());
        log.sent(None, sent("1", "http://a/", false));
        assert!(log.idle_at().is_none());
        log.answered(None, cdp::ResponseReceived { request_id: "1".into(), ..Default::default() });
        assert!(log.idle_at().is_some());
        log.sent(None, sent("2", "http://b/", false));
        log.new_document("L");
        assert!(log.idle_at().is_none());
        log.new_document("M");
        assert!(log.idle_at().is_some());
    }
}
