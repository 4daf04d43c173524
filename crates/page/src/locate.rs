//! Finds the frame that an element is in: a selector is looked for in every frame of the tab.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;

use crate::page::Page;
use crate::{Deadline, Error, FrameId, Handle, Locator, Match, Result};

/// How many of several matches an error lists.
const LISTED: usize = 10;

/// A frame that does not answer in this time is left out: it stalls only itself.
const FRAME_TIME: Duration = Duration::from_millis(1500);

#[derive(Debug, Deserialize)]
pub(crate) struct Matches {
    pub count: usize,
    #[serde(default)]
    items: Vec<MatchedItem>,
}

#[derive(Debug, Deserialize)]
struct MatchedItem {
    #[serde(flatten)]
    element: Match,
    visible: bool,
}

#[derive(Debug, Deserialize)]
struct Found {
    id: u64,
    preview: String,
}

impl Matches {
    pub fn first(self, world: u64) -> Option<Handle> {
        self.items.into_iter().next().map(|item| item.element.in_world(world).handle())
    }
}

/// What a selector matches in one frame.
pub(crate) struct InFrame {
    pub frame: FrameId,
    pub count: usize,
    pub any_visible: bool,
    matches: Vec<Match>,
}

impl Page {
    /// The one frame in which an action on `locator` is to happen, waiting for a match to appear.
    pub(crate) async fn frame_to_act_in(&self, locator: &Locator, deadline: &Deadline) -> Result<FrameId> {
        if let Some(frame) = self.only_frame_for(locator)? {
            return Ok(frame);
        }
        loop {
            let found = self.matches_by_frame(locator, deadline).await?;
            match found.as_slice() {
                [] => {}
                [one] => return Ok(one.frame.clone()),
                several => return Err(ambiguous(locator, several)),
            }
            if deadline.passed() {
                return Err(self.not_there(locator, deadline).await);
            }
            self.wait_for_match(locator, deadline).await?;
        }
    }

    /// Nothing matches; of one that is chosen by its number it is told how many there are.
    pub(crate) async fn not_there(&self, locator: &Locator, deadline: &Deadline) -> Error {
        let what = locator.to_string();
        if locator.nth().is_none() {
            return Error::NotFound { what };
        }
        let every = locator.with_nth(None);
        let found = self.matches_by_frame(&every, &deadline.for_last_word()).await.unwrap_or_default();
        let count: usize = found.iter().map(|in_frame| in_frame.count).sum();
        Error::NotFound { what: format!("{what}: there are only {count}") }
    }

    /// Calls a function of the script in the frame that has the match, with the locator and what `argument` adds (it gets the
    /// milliseconds that are left). A match that is not there yet, or not any more, is
    /// waited for in every frame, also in those that come meanwhile.
    pub(crate) async fn script_at<T: serde::de::DeserializeOwned>(
        &self,
        locator: &Locator,
        function: &str,
        argument: impl Fn(u64) -> serde_json::Value,
        deadline: &Deadline,
    ) -> Result<(FrameId, T)> {
        let locator = &*self.pinned(locator, deadline).await?;
        loop {
            let frame = self.frame_to_act_in(locator, deadline).await?;
            let mut argument = argument(deadline.remaining_ms());
            argument["locator"] = json!(locator);
            match self.script(&frame, function, &argument, &deadline.with_grace()).await {
                Ok(answer) => return Ok((frame, answer)),
                Err(Error::NotFound { .. }) if may_come(locator, deadline) => {
                    self.wait_for_match(locator, deadline).await?;
                }
                Err(error) => return Err(with_locator(error, locator)),
            }
        }
    }

    /// The frame to read from: the first with a visible match, else the first with a match; and the number of all
    /// matches.
    pub(crate) async fn frame_to_read_in(
        &self,
        locator: &Locator,
        deadline: &Deadline,
    ) -> Result<Option<(FrameId, usize)>> {
        let found = self.matches_by_frame(locator, deadline).await?;
        let total = found.iter().map(|in_frame| in_frame.count).sum();
        let first = found.iter().find(|in_frame| in_frame.any_visible).or(found.first());
        Ok(first.map(|in_frame| (in_frame.frame.clone(), total)))
    }

    /// The frame, when there is no choice: a reference knows its own, and most tabs have only one.
    pub(crate) fn only_frame_for(&self, locator: &Locator) -> Result<Option<FrameId>> {
        if let Some(handle) = locator.as_handle() {
            let stale = || Error::Stale { what: locator.to_string() };
            return self.frame_of(handle).ok_or_else(stale).map(Some);
        }
        let frames = self.frames_to_search()?;
        Ok(frames.first().filter(|_| frames.len() == 1).cloned())
    }

    /// The frames that selectors are looked for in.
    pub(crate) fn frames_to_search(&self) -> Result<Vec<FrameId>> {
        let state = self.lock();
        let Some(scope) = &state.scope else { return Ok(state.frames.ids()) };
        let within = state.frames.ids_within(scope);
        if within.is_empty() { Err(Error::FrameGone) } else { Ok(within) }
    }

    /// The frame that was chosen, or the main frame.
    pub(crate) fn frame_in_scope(&self) -> Result<FrameId> {
        let state = self.lock();
        match &state.scope {
            Some(scope) if state.frames.get(scope).is_none() => Err(Error::FrameGone),
            Some(scope) => Ok(scope.clone()),
            None => Ok(state.frames.main().id.clone()),
        }
    }

    /// From now on selectors are looked for in the frame that this element shows; `None` for the whole tab.
    pub async fn enter_frame(&self, locator: Option<&Locator>, deadline: &Deadline) -> Result<String> {
        let Some(locator) = locator else {
            self.lock().scope = None;
            return Ok(self.url());
        };
        let argument = |timeout: u64| json!({ "need": [], "timeout": timeout, "retarget": "none" });
        let (outer, found): (_, Found) = self.script_at(locator, "prepare", argument, deadline).await?;
        let inner = self.frame_shown_by(&outer, found.id, deadline).await?;
        let Some(inner) = inner else {
            return Err(Error::WrongType { preview: found.preview, why: "it shows no frame".to_owned() });
        };
        let mut state = self.lock();
        let url = state.frames.get(&inner).map(|frame| frame.url.clone()).unwrap_or_default();
        state.scope = Some(inner);
        Ok(url)
    }

    async fn frame_shown_by(
        &self,
        outer: &FrameId,
        element: u64,
        deadline: &Deadline,
    ) -> Result<Option<FrameId>> {
        let frames = self.lock().frames.ids();
        for frame in frames {
            if let Some((parent, owner)) = self.frame_owner(&frame, deadline).await?
                && parent == *outer
                && owner.element == element
            {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// Frames with at least one match, in the order of the frames.
    pub(crate) async fn matches_by_frame(
        &self,
        locator: &Locator,
        deadline: &Deadline,
    ) -> Result<Vec<InFrame>> {
        let frames = self.frames_to_search()?;
        let argument = json!({ "locator": locator, "limit": LISTED });
        // The page itself is waited for: without it nothing can be said.
        let bounded = deadline.at_most(FRAME_TIME);
        let limits = std::iter::once(deadline).chain(std::iter::repeat(&bounded));
        let asked = frames
            .iter()
            .zip(limits)
            .map(|(frame, limit)| self.script::<Matches>(frame, "matches", &argument, limit));
        let answers = join_all(asked).await;
        let mut found = Vec::new();
        for (index, (frame, answer)) in frames.into_iter().zip(answers).enumerate() {
            match answer {
                Ok(matches) if matches.count > 0 => {
                    let world = self.world(&frame).await?.id;
                    let place =
                        self.lock().frames.get(&frame).filter(|_| index > 0).map(|one| one.url.clone());
                    found.push(InFrame::new(frame, world, place, matches));
                }
                Ok(_) => {}
                // A frame that is going away or stuck has no say, unless it is the page itself.
                Err(Error::Timeout { .. } | Error::Unresponsive { .. }) if index > 0 => {}
                Err(Error::NavigatedAway { .. }) => {}
                Err(error) => return Err(with_locator(error, locator)),
            }
        }
        Ok(found)
    }

    /// Waits until some frame has a match, or the frames change.
    pub(crate) async fn wait_for_match(&self, locator: &Locator, deadline: &Deadline) -> Result<()> {
        let frames = self.frames_to_search()?;
        let timeout = deadline.remaining_ms();
        let argument = json!({ "cond": { "selector": locator, "state": "attached" }, "timeout": timeout });
        let waiting = frames.iter().map(|frame| {
            Box::pin(self.script::<serde::de::IgnoredAny>(frame, "waitFor", &argument, deadline))
        });
        let known = self.lock().frames.generation();
        let changed =
            self.until(deadline, "a match", |state| (state.frames.generation() != known).then_some(()));
        tokio::select! {
            (answer, _, _) = futures_util::future::select_all(waiting) => match answer {
                Err(Error::DialogOpen(dialog)) => Err(Error::DialogOpen(dialog)),
                Err(Error::Timeout { .. } | Error::Unresponsive { .. }) => Err(self.not_there(locator, deadline).await),
                _ => Ok(()),
            },
            changed = changed => match changed {
                Err(Error::Timeout { .. }) => Err(self.not_there(locator, deadline).await),
                other => other,
            },
        }
    }
}

/// Can what does not match yet still come? A reference to what is gone never does.
pub(crate) fn may_come(locator: &Locator, deadline: &Deadline) -> bool {
    locator.as_handle().is_none() && !deadline.passed()
}

impl InFrame {
    fn new(frame: FrameId, world: u64, place: Option<String>, found: Matches) -> Self {
        let any_visible = found.items.iter().any(|item| item.visible);
        let matches = found
            .items
            .into_iter()
            .map(|item| item.element.in_world(world).in_frame(place.clone()))
            .collect();
        Self { frame, count: found.count, any_visible, matches }
    }
}

fn ambiguous(locator: &Locator, found: &[InFrame]) -> Error {
    Error::Ambiguous {
        what: locator.to_string(),
        count: found.iter().map(|in_frame| in_frame.count).sum(),
        matches: found.iter().flat_map(|in_frame| in_frame.matches.iter().cloned()).take(LISTED).collect(),
    }
}

/// The script does not know how the user wrote the locator.
pub(crate) fn with_locator(error: Error, locator: &Locator) -> Error {
    let what = locator.to_string();
    match error {
        Error::NotFound { .. } => Error::NotFound { what },
        Error::Stale { .. } => Error::Stale { what },
        Error::Ambiguous { count, matches, .. } => Error::Ambiguous { what, count, matches },
        Error::BadSelector { reason, .. } => {
            Error::BadSelector { selector: what.trim_matches('`').to_owned(), reason }
        }
        other => other,
    }
}
