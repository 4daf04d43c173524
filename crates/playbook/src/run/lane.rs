//! One session of a browser and the calls in it, one after the other.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use surehand_report::{FailureEvidence, Picture};
use surehand_session::Fault;
use surehand_tools::{Answer, Caller};

use super::outcome::{self, Failure};

/// Verbs that go on in the tab of the step before when they name none.
const SAME_TAB: [&str; 7] =
    ["interact", "act", "fill_form", "wait_for", "page_screenshot", "read_page", "javascript_tool"];

/// A call that says nothing about its time is given up after this; every tool of ours gives up long before.
const LONGEST_CALL: Duration = Duration::from_secs(120);

/// See the module.
#[derive(Debug)]
pub(super) struct Lane<'a> {
    pub caller: &'a dyn Caller,
    /// The tab that later steps go on in.
    tab: Option<String>,
}

/// One call, and what came of it.
#[derive(Debug)]
pub(super) struct Called {
    pub answer: Option<Answer>,
    pub failure: Option<Failure>,
    pub took: Duration,
    pub attempts: u32,
}

/// What to call, and how often.
#[derive(Debug, Clone)]
pub(super) struct Call<'c> {
    pub tool: &'c str,
    pub arguments: Value,
    pub timeout: Option<Duration>,
    pub retries: u32,
}

impl<'a> Lane<'a> {
    pub fn new(caller: &'a dyn Caller) -> Self {
        Self { caller, tab: None }
    }

    /// The arguments as they are sent: with the tab, where the verb wants one and the step names none.
    pub fn address(&self, verb: &str, mut arguments: Value) -> Value {
        if let (Some(tab), Value::Object(members)) = (&self.tab, &mut arguments)
            && SAME_TAB.contains(&verb)
        {
            members.entry("tabId").or_insert_with(|| json!(tab));
        }
        arguments
    }

    /// Calls until it succeeds or was tried often enough. A fault ends everything.
    pub async fn call(&mut self, call: &Call<'_>) -> Result<Called, Fault> {
        let began = Instant::now();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (answer, failure) = self.call_once(call).await?;
            if failure.is_none() || attempts > call.retries {
                return Ok(Called { answer, failure, took: began.elapsed(), attempts });
            }
        }
    }

    async fn call_once(&mut self, call: &Call<'_>) -> Result<(Option<Answer>, Option<Failure>), Fault> {
        let limit = call.timeout.unwrap_or(LONGEST_CALL);
        let calling = self.caller.call(call.tool, call.arguments.clone());
        let Ok(called) = tokio::time::timeout(limit, calling).await else {
            let failure = Failure::new(format!("no answer within {} ms", limit.as_millis()));
            return Ok((None, Some(failure)));
        };
        let answer = called?;
        let failure = outcome::judge(call.tool, &answer).err();
        if !answer.is_error
            && let Some(tab) = outcome::tab_id(&outcome::data(&answer))
        {
            self.tab = Some(tab);
        }
        Ok((Some(answer), failure))
    }

    /// What a tool answers that only looks; nothing if it cannot.
    async fn look(&self, tool: &str, arguments: Value) -> Option<Answer> {
        let looking = tokio::time::timeout(LOOK, self.caller.call(tool, arguments)).await;
        looking.ok()?.ok().filter(|answer| !answer.is_error)
    }

    /// A small picture of the page.
    pub async fn thumbnail(&self) -> Option<Picture> {
        self.picture(json!({ "format": "jpeg", "quality": 40 })).await
    }

    async fn picture(&self, options: Value) -> Option<Picture> {
        let taken = self.look("page_screenshot", self.address("page_screenshot", options)).await?;
        let image = taken.image?;
        Some(Picture { bytes: image.bytes, mime_type: image.mime_type.into_owned() })
    }

    /// What the page is like now, as far as the server's tools can tell.
    pub async fn evidence(&self) -> FailureEvidence {
        let read = self.look("read_page", self.address("read_page", json!({ "mode": "ax" }))).await;
        let read = read.map(|answer| outcome::data(&answer)).unwrap_or_default();
        let text = |name: &str| read[name].as_str().map(ToOwned::to_owned);
        FailureEvidence {
            screenshot: self.picture(json!({})).await,
            snapshot: text("content"),
            url: text("url"),
            console: self.lines("console", json!({}), &["messages", "errors"], |_| true).await,
            failed_requests: self
                .lines("network", json!({ "what": { "requests": {} } }), &["requests"], has_failed)
                .await,
        }
    }

    /// The entries of a log that one of the verbs keeps, a line each.
    async fn lines(
        &self,
        verb: &str,
        arguments: Value,
        members: &[&str],
        is_wanted: fn(&Value) -> bool,
    ) -> Vec<String> {
        let Some(answer) = self.look(verb, arguments).await else { return Vec::new() };
        let data = outcome::data(&answer);
        let entries = members.iter().filter_map(|name| data[name].as_array()).flatten();
        entries.filter(|entry| is_wanted(entry)).map(line_of).collect()
    }
}

/// Looking at a page that just failed must not take as long as the failure.
const LOOK: Duration = Duration::from_secs(5);

fn has_failed(request: &Value) -> bool {
    request["failed"] == true || request["status"].as_u64().is_some_and(|status| status >= 400)
}

/// A log entry in one line: what it is about first.
fn line_of(entry: &Value) -> String {
    let words = ["type", "method", "status", "url", "text", "error"];
    let written = words.iter().filter_map(|name| match &entry[name] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    written.collect::<Vec<_>>().join(" ")
}
