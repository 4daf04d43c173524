//! Waiting for something to be seen: an element, a text, an address.

use futures_util::future::{join_all, select_all};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::locate::with_locator;
use crate::page::Page;
use crate::{Deadline, Error, Locator, Result};

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

    /// Waits until a JavaScript expression of the user is true; returns what it gave. Survives navigations.
    pub async fn wait_for_function(&self, expression: &str, deadline: &Deadline) -> Result<crate::Evaluated> {
        let loop_in_page = format!(
            "new Promise((done, fail) => {{ const look = () => {{ try {{ const value = (0, eval)({}); \
             const settle = v => v ? done(v) : requestAnimationFrame(look); \
             value instanceof Promise ? value.then(settle, fail) : settle(value) }} catch (error) {{ fail(error) }} }}; look() }})",
            crate::world::to_json(expression)?
        );
        loop {
            match self.evaluate(&loop_in_page, deadline).await {
                Err(Error::NavigatedAway { .. }) if !deadline.passed() => {
                    self.wait_for_load(crate::LoadState::DomContentLoaded, deadline).await?;
                }
                Err(Error::Timeout { .. }) => {
                    return Err(deadline.timeout(format!("`{expression}` to be true")));
                }
                other => return other,
            }
        }
    }

    pub(crate) async fn wait_until_attached(&self, locator: &Locator, deadline: &Deadline) -> Result<()> {
        match self.wait_for_element(locator, ElementState::Attached, deadline).await {
            Err(Error::Timeout { .. }) => Err(Error::NotFound { what: locator.to_string() }),
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
            let before = {
                let state = self.lock();
                (state.navigation.committed, state.frames.len())
            };
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
            let changed = self.until(&grace, what, |state| {
                ((state.navigation.committed, state.frames.len()) != before).then_some(())
            });
            let answer = tokio::select! {
                biased;
                answer = told => answer,
                changed = changed => { changed?; continue }
            };
            match answer {
                Err(Error::NavigatedAway { .. }) if !deadline.passed() => {
                    // The commit that follows starts the loop anew.
                    self.until(deadline, what, |state| {
                        ((state.navigation.committed, state.frames.len()) != before).then_some(())
                    })
                    .await?;
                }
                Err(Error::Timeout { what: seen, .. }) => {
                    deadline.note(if seen.is_empty() { "it did not happen".to_owned() } else { seen });
                    return Err(deadline.timeout(what));
                }
                other => return other,
            }
        }
    }
}

/// The first frame that says yes; if all fail, the failure of the main frame (the first).
async fn first_success<F>(asked: impl Iterator<Item = F>) -> Result<()>
where
    F: Future<Output = Result<IgnoredAny>> + Unpin,
{
    let mut waiting: Vec<_> = asked.collect();
    let mut failure = None;
    while !waiting.is_empty() {
        let (answer, index, rest) = select_all(waiting).await;
        match answer {
            Ok(_) => return Ok(()),
            Err(error @ (Error::DialogOpen(_) | Error::BadSelector { .. } | Error::Stale { .. })) => {
                return Err(error);
            }
            Err(error) if index == 0 || failure.is_none() => failure = Some(error),
            Err(_) => {}
        }
        waiting = rest;
    }
    Err(failure.unwrap_or(Error::TabClosed))
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
