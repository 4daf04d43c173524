//! Waiting for something to be seen: an element, a text, an address.

use std::time::Duration;

use futures_util::future::{FutureExt, join_all, select_all};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::locate::with_locator;
use crate::page::Page;
use crate::state::State;
use crate::{Deadline, Error, Locator, Request, Result};

/// What an element is waited to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum ElementState {
    /// There, and a person can see it.
    #[default]
    Visible,
    /// Not to be seen: hidden or not there.
    Hidden,
    /// In the document.
    Attached,
    /// Not in the document.
    Detached,
}

impl ElementState {
    /// Does one frame that has it suffice, or must all frames agree that it is not there?
    fn is_presence(self) -> bool {
        matches!(self, Self::Visible | Self::Attached)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Hidden => "hidden",
            Self::Attached => "attached",
            Self::Detached => "detached",
        }
    }
}

/// What an expression of the user gives: a function is called, as it is meant, and a promise is waited for.
const CALL_FUNCTION: &str = "async (text) => { let it = await (0, eval)(text); if (typeof it === 'function') it = await it(); return it }";

/// A last look at a page after a wait in vain.
const LAST_LOOK: Duration = Duration::from_millis(300);

impl Page {
    /// Waits until an element is in a state.
    pub async fn wait_for_element(
        &self,
        locator: &Locator,
        state: ElementState,
        deadline: &Deadline,
    ) -> Result<()> {
        let what = format!("{locator} to be {}", state.word());
        if locator.as_handle().is_some_and(|handle| !self.has(handle)) {
            // A reference to a page that is gone: it is surely not there, and never will be.
            return if state.is_presence() {
                Err(Error::Stale { what: locator.to_string() })
            } else {
                Ok(())
            };
        }
        let condition = json!({ "selector": locator, "state": state });
        let any = state.is_presence();
        self.wait_in_frames(&condition, any, &what, deadline)
            .await
            .map_err(|error| with_locator(error, locator))
    }

    /// Waits until the page shows a text.
    pub async fn wait_for_text(&self, text: &str, deadline: &Deadline) -> Result<()> {
        self.wait_in_frames(&json!({ "text": text }), true, &format!("the text {text:?}"), deadline).await
    }

    /// Waits until the address matches.
    pub async fn wait_for_url(&self, pattern: &UrlPattern, deadline: &Deadline) -> Result<String> {
        let matching = |url: &str| pattern.matches(url).then(|| url.to_owned());
        let what = format!("an address like {}", pattern.0);
        match self.until(deadline, &what, |state| matching(&state.frames.main().url)).await {
            Err(Error::Timeout { .. }) => {
                deadline.note(format_args!("the address is {}", self.url()));
                Err(deadline.timeout(what))
            }
            other => other,
        }
    }

    /// Waits for a navigation since the last command that acts; one that is done already counts. Returns the address.
    pub async fn wait_for_navigation(&self, deadline: &Deadline) -> Result<String> {
        let moved = |state: &State| {
            let done = state.navigation.done() > state.acted_at.navigations && !state.navigation.pending;
            done.then(|| state.frames.main().url.clone())
        };
        let what = "a navigation";
        match self.until(deadline, what, moved).await {
            Err(Error::Timeout { .. }) => {
                deadline.note(format_args!("the page is still {}", self.url()));
                Err(deadline.timeout(what))
            }
            other => other,
        }
    }

    /// Waits until a request to a matching address, sent since the last command that acts, has its answer.
    pub async fn wait_for_request(&self, pattern: &UrlPattern, deadline: &Deadline) -> Result<Request> {
        let matching = |state: &State| {
            let since = state.acted_at.requests;
            let mut sent = state.network.requests.since(since);
            sent.find(|request| pattern.matches(&request.url) && request.is_answered()).cloned()
        };
        let what = format!("a request to an address like {}", pattern.0);
        match self.until(deadline, &what, matching).await {
            Err(Error::Timeout { .. }) => {
                deadline.note(self.requests_so_far());
                Err(deadline.timeout(what))
            }
            other => other,
        }
    }

    fn requests_so_far(&self) -> String {
        const LISTED: usize = 5;
        let state = self.lock();
        let since = state.acted_at.requests;
        let sent: Vec<&str> = state.network.requests.since(since).map(|one| one.url.as_str()).collect();
        match sent.len() {
            0 => "nothing was requested since the last action".to_owned(),
            n if n <= LISTED => format!("requested were {}", sent.join(", ")),
            n => format!("requested were {} and {} more", sent[..LISTED].join(", "), n - LISTED),
        }
    }

    /// Waits until a JavaScript expression of the user is true; returns what it gave. Survives navigations.
    pub async fn wait_for_function(&self, expression: &str, deadline: &Deadline) -> Result<crate::Evaluated> {
        // The pause between two looks is made in our own world: pages put their own things in place of `Promise`, timers and
        // frames. An async function needs none of them.
        let text = crate::world::to_json(&as_expression(expression))?;
        let look = format!("(async () => (await ({CALL_FUNCTION})({text})) || false)()");
        loop {
            match self.evaluate(&look, deadline).await {
                Ok(value) if value.result.get() == "false" => {
                    if deadline.passed() {
                        return Err(self.never_true(expression, deadline).await);
                    }
                    self.next_frame(&deadline.with_grace()).await?;
                }
                Err(Error::NavigatedAway { .. }) if !deadline.passed() => {
                    self.wait_for_load(crate::LoadState::DomContentLoaded, deadline).await?;
                }
                Err(Error::Timeout { .. }) => return Err(self.never_true(expression, deadline).await),
                other => return other,
            }
        }
    }

    async fn never_true(&self, expression: &str, deadline: &Deadline) -> Error {
        deadline.note(self.value_instead(expression).await);
        deadline.note(format_args!("the page is {}", self.url()));
        deadline.timeout(format!("`{expression}` to be true"))
    }

    /// Waits for the next frame of the page; one that leaves has no more frames.
    async fn next_frame(&self, deadline: &Deadline) -> Result<()> {
        let main = self.lock().frames.main().id.clone();
        match self.script::<IgnoredAny>(&main, "pause", &json!({}), deadline).await {
            Err(Error::NavigatedAway { .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    /// What an expression gives that never became true.
    async fn value_instead(&self, expression: &str) -> String {
        let look = crate::world::to_json(&as_expression(expression)).unwrap_or_default();
        let look = format!("({CALL_FUNCTION})({look})");
        match self.evaluate(&look, &Deadline::after(LAST_LOOK)).await {
            Ok(value) => format!("it is {}", value.result.get()),
            Err(error) => format!("it has no value: {error}"),
        }
    }

    pub(crate) async fn wait_until_attached(&self, locator: &Locator, deadline: &Deadline) -> Result<()> {
        match self.wait_for_element(locator, ElementState::Attached, deadline).await {
            Err(Error::Timeout { .. }) => Err(self.not_there(locator, deadline).await),
            other => other,
        }
    }

    /// Asks every frame to tell when the condition holds in it, and asks anew when the frames change.
    async fn wait_in_frames(
        &self,
        condition: &Value,
        any: bool,
        what: &str,
        deadline: &Deadline,
    ) -> Result<()> {
        loop {
            let before = self.lock().frames.generation();
            let frames = self.frames_to_search()?;
            let argument = json!({ "cond": condition, "timeout": deadline.remaining_ms() });
            let grace = deadline.with_grace();
            let asked =
                frames.iter().map(|f| Box::pin(self.script::<IgnoredAny>(f, "waitFor", &argument, &grace)));
            let told = async {
                if any {
                    first_success(asked).await
                } else {
                    join_all(asked).await.into_iter().collect::<Result<Vec<_>>>().map(drop)
                }
            };
            let changed =
                self.until(&grace, what, |state| (state.frames.generation() != before).then_some(()));
            let answer = tokio::select! {
                biased;
                answer = told => answer,
                changed = changed => { changed?; continue }
            };
            match answer {
                Err(Error::NavigatedAway { .. }) if !deadline.passed() => {
                    // The commit that follows starts the loop anew.
                    self.until(deadline, what, |state| (state.frames.generation() != before).then_some(()))
                        .await?;
                }
                Err(Error::Timeout { what: seen, .. }) => {
                    deadline.note(if seen.is_empty() { "the page shows no text".to_owned() } else { seen });
                    deadline.note(format_args!("the page is {}", self.url()));
                    return Err(deadline.timeout(what));
                }
                other => return other,
            }
        }
    }
}

/// A function without a name is an expression only in brackets.
fn as_expression(text: &str) -> String {
    let trimmed = text.trim().trim_end_matches(';');
    let rest = trimmed.strip_prefix("async").map_or(trimmed, str::trim_start);
    let after =
        rest.strip_prefix("function").map(|rest| rest.trim_start().trim_start_matches('*').trim_start());
    if after.is_some_and(|rest| rest.starts_with('(')) { format!("({trimmed})") } else { text.to_owned() }
}

/// The first frame that says yes; if all fail, the failure of the main frame (the first), or of one that says the same and
/// more: a page may show everything in a frame.
async fn first_success<F>(asked: impl Iterator<Item = F>) -> Result<()>
where
    F: Future<Output = Result<IgnoredAny>> + Unpin,
{
    let numbered = asked.enumerate().map(|(frame, asked)| asked.map(move |answer| (frame, answer)));
    let mut waiting: Vec<_> = numbered.collect();
    let mut failures = Vec::new();
    while !waiting.is_empty() {
        let ((frame, answer), _, rest) = select_all(waiting).await;
        match answer {
            Ok(_) => return Ok(()),
            Err(error @ (Error::DialogOpen(_) | Error::BadSelector { .. } | Error::Stale { .. })) => {
                return Err(error);
            }
            Err(error) => failures.push((frame, error)),
        }
        waiting = rest;
    }
    failures.sort_by_key(|(frame, _)| *frame);
    let mut failures = failures.into_iter().map(|(_, error)| error);
    let first = failures.next().unwrap_or(Error::TabClosed);
    Err(failures.find(|other| says_more(&first, other)).unwrap_or(first))
}

fn says_more(first: &Error, other: &Error) -> bool {
    match (first, other) {
        (Error::Timeout { what: first, .. }, Error::Timeout { what: other, .. }) => {
            other.len() > first.len() && other.starts_with(first)
        }
        _ => false,
    }
}

/// A pattern for addresses: a glob (`*` within a path segment, `**` across them, `{a,b}`), or `/a regex/`.
/// A pattern without wildcards matches any address that contains it.
#[derive(Debug, Clone)]
pub struct UrlPattern(String, regex_lite::Regex);

impl UrlPattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(pattern: &str) -> std::result::Result<Self, String> {
        let inner =
            pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|rest| !rest.is_empty());
        let expression = match inner {
            Some(expression) => expression.to_owned(),
            None if pattern.contains(['*', '{']) => format!("^{}$", glob_to_regex(pattern)),
            None => regex_lite::escape(pattern),
        };
        let regex = regex_lite::Regex::new(&expression).map_err(|error| error.to_string())?;
        Ok(Self(pattern.to_owned(), regex))
    }

    /// Does the address match?
    pub fn matches(&self, url: &str) -> bool {
        self.1.is_match(url)
    }
}

fn glob_to_regex(glob: &str) -> String {
    let mut out = String::new();
    let mut rest = glob;
    let mut in_braces = false;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**") {
            out.push_str(".*");
            rest = after;
            continue;
        }
        match c {
            '*' => out.push_str("[^/]*"),
            '{' => {
                in_braces = true;
                out.push_str("(?:");
            }
            '}' if in_braces => {
                in_braces = false;
                out.push(')');
            }
            ',' if in_braces => out.push('|'),
            other => out.push_str(&regex_lite::escape(other.encode_utf8(&mut [0; 4]))),
        }
        rest = &rest[c.len_utf8()..];
    }
    if in_braces {
        out.push(')');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_regexes_and_plain_parts_match_addresses() {
        for (pattern, url, matches) in [
            ("**/p/arrival.html", "http://127.0.0.1:80/p/arrival.html", true),
            ("http://*/a", "http://host/a", true),
            ("http://*/a", "http://host/b/a", false),
            ("**/{a,b}?x=1", "http://h/b?x=1", true),
            ("/\\d+$/", "http://h/item/42", true),
            ("/\\d+$/", "http://h/item/none", false),
            ("dashboard", "http://h/dashboard?tab=1", true),
            ("dash.oard", "http://h/dashboard", false),
        ] {
            assert_eq!(UrlPattern::parse(pattern).unwrap().matches(url), matches, "{pattern} {url}");
        }
    }

    #[test]
    fn a_broken_regex_is_an_error() {
        assert!(UrlPattern::parse("/(/").is_err());
    }
}
