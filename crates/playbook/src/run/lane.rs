//! One session of a browser and the calls in it, one after the other.

use std::time::Duration;

use serde_json::{Value, json};
use surehand_report::{FailureEvidence, Picture};
use surehand_session::{Fault, Kind};
use surehand_tools::{Answer, Caller};

use super::outcome::{self, Failure};

/// Verbs that go on in the tab of the step before when they name none.
const SAME_TAB: [&str; 7] =
    ["interact", "act", "fill_form", "wait_for", "page_screenshot", "read_page", "javascript_tool"];

/// A call that says nothing about its time is given up after this; every tool of ours gives up long before.
const LONGEST_CALL: Duration = Duration::from_secs(120);

/// A step says how long its tool may take. The tool keeps to that and says what it missed; it needs this to do so.
const NET: Duration = Duration::from_secs(2);

/// Beyond what a tool may wait for, its answer needs this to come.
const WAY_BACK: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug)]
pub(super) struct Lane<'a> {
    pub caller: &'a dyn Caller,
    /// The tab that later steps go on in.
    tab: Option<Value>,
}

/// One call, and what came of it.
#[derive(Debug)]
pub(super) struct Called {
    pub answer: Option<Answer>,
    pub failure: Option<Failure>,
    pub attempts: u32,
}

impl Called {
    /// One that came to nothing, and none after it will.
    pub fn cut_off(why: impl Into<String>, fault: Fault) -> Self {
        Self { answer: None, failure: Some(Failure::outage(why, fault)), attempts: 1 }
    }
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
            members.entry("tabId").or_insert_with(|| tab.clone());
        }
        arguments
    }

    /// Calls until it succeeds or was tried often enough, or the server is out of reach.
    pub async fn call(&mut self, call: &Call<'_>) -> Called {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (answer, failure) = match self.call_once(call).await {
                Ok(answer) => {
                    let failure = outcome::judge(call.tool, &answer).err();
                    (Some(answer), failure)
                }
                Err(failure) if failure.outage.is_some() => {
                    return Called { answer: None, failure: Some(failure), attempts };
                }
                Err(failure) => (None, Some(failure)),
            };
            if failure.is_none() || attempts > call.retries {
                return Called { answer, failure, attempts };
            }
        }
    }

    async fn call_once(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let calling = self.caller.call_within(call.tool, call.arguments.clone(), call.timeout);
        let limit = self.limit(call);
        let Ok(called) = tokio::time::timeout(limit, calling).await else {
            return Err(self.no_answer(call, limit));
        };
        let answer = called.map_err(|fault| Failure::outage(fault.message.clone(), fault))?;
        if !answer.is_error
            && let Some(tab) = outcome::tab_id(&answer)
        {
            self.tab = Some(tab);
        }
        Ok(answer)
    }

    fn limit(&self, call: &Call<'_>) -> Duration {
        call.timeout.map(|timeout| timeout.saturating_add(NET)).unwrap_or_else(|| {
            self.patience(call).unwrap_or_else(|| LONGEST_CALL.max(longest_wait(call) + WAY_BACK))
        })
    }

    /// How long to wait for a server that may be stuck, if it is one.
    fn patience(&self, call: &Call<'_>) -> Option<Duration> {
        self.caller.patience().map(|patience| patience.max(longest_wait(call)) + WAY_BACK)
    }

    /// A step that has less time than a server is believed to need says nothing about the server.
    fn no_answer(&self, call: &Call<'_>, limit: Duration) -> Failure {
        let limit = call.timeout.unwrap_or(limit);
        let message = format!("no answer within {} ms", limit.as_millis());
        if self.patience(call).is_none_or(|patience| limit < patience) {
            return Failure::new(message);
        }
        let said = format!("the server gave no answer within {} s", limit.as_secs());
        let fault = Fault::new(Kind::ServerUnreachable, said)
            .hint("if the tool may take so long, give the step more time with `timeout`");
        Failure::outage(message, fault)
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

    /// What the page is like now, as far as the server's tools can tell. While a dialog is open there is neither a picture nor
    /// a tree: it is dismissed for them, if nobody will want to answer it.
    pub async fn evidence(&self, may_dismiss: bool) -> FailureEvidence {
        let dialog = self.dialog().await;
        let console = self.lines("console", json!({}), &["messages", "errors"], |_| true).await;
        let requests = json!({ "what": { "requests": {} } });
        let failed_requests = self.lines("network", requests, &["requests"], has_failed).await;
        if dialog.is_some() && may_dismiss {
            self.look("dialog", json!({ "answer": "dismiss" })).await;
        }
        let read = self.look("read_page", self.address("read_page", json!({ "mode": "ax" }))).await;
        let read = read.map(|answer| outcome::data(&answer)).unwrap_or_default();
        let text = |name: &str| read[name].as_str().map(ToOwned::to_owned);
        FailureEvidence {
            screenshot: self.picture(json!({})).await,
            snapshot: text("content"),
            url: text("url"),
            console,
            failed_requests,
            dialog,
        }
    }

    /// The dialog that is open, in words.
    async fn dialog(&self) -> Option<String> {
        let answer = self.look("dialog", json!({ "answer": "status" })).await?;
        let is_open = outcome::data(&answer)["hasDialog"] == true;
        is_open.then(|| answer.text.trim_start_matches("open: ").to_owned())
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

/// How long a tool may wait for something, as its arguments say it.
pub(super) fn longest_wait(call: &Call<'_>) -> Duration {
    let Value::Object(members) = &call.arguments else { return Duration::ZERO };
    let is_wait = matches!(call.tool, "wait" | "wait_for");
    let names: &[&str] = if is_wait { &["timeout", "target", "value"] } else { &WAITS };
    let time = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let given = names.iter().filter_map(|name| members.get(*name).and_then(time));
    let given = Duration::from_millis(given.max().unwrap_or_default());
    // Each command of a batch may wait by itself.
    let commands = members.values().filter_map(Value::as_array).map(Vec::len).max();
    let commands = commands.filter(|_| call.tool == "batch").unwrap_or_default();
    given.max(EACH_OF_A_BATCH * u32::try_from(commands).unwrap_or(u32::MAX))
}

/// What tools call the time that they may take, in milliseconds.
const WAITS: [&str; 5] = ["timeout", "timeoutMs", "ms", "waitForMs", "waitAfter"];

const EACH_OF_A_BATCH: Duration = Duration::from_secs(30);

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
