//! Choosing one of several matches in a tab with several frames: the script counts only those of its own frame.

use std::borrow::Cow;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::locate::Matches;
use crate::page::Page;
use crate::{Deadline, FrameId, Locator, Result};

/// Between two looks while there are too few matches.
const PAUSE: Duration = Duration::from_millis(50);

impl Page {
    /// A locator that chooses one of several matches, resolved to that element where several frames have a say.
    pub(crate) async fn pinned<'a>(
        &self,
        locator: &'a Locator,
        deadline: &Deadline,
    ) -> Result<Cow<'a, Locator>> {
        let Some(nth) = locator.nth() else { return Ok(Cow::Borrowed(locator)) };
        while self.frames_to_search()?.len() > 1 {
            if let Some(pinned) = self.pinned_now(locator, nth, deadline).await? {
                return Ok(Cow::Owned(pinned));
            }
            if deadline.passed() {
                return Err(self.not_there(locator, deadline).await);
            }
            tokio::time::sleep(PAUSE.min(deadline.remaining())).await;
        }
        Ok(Cow::Borrowed(locator))
    }

    /// The same without waiting: `None` when there are too few matches.
    pub(crate) async fn pinned_if_present<'a>(
        &self,
        locator: &'a Locator,
        deadline: &Deadline,
    ) -> Result<Option<Cow<'a, Locator>>> {
        match locator.nth() {
            Some(nth) if self.frames_to_search()?.len() > 1 => {
                Ok(self.pinned_now(locator, nth, deadline).await?.map(Cow::Owned))
            }
            _ => Ok(Some(Cow::Borrowed(locator))),
        }
    }

    async fn pinned_now(&self, locator: &Locator, nth: i64, deadline: &Deadline) -> Result<Option<Locator>> {
        let frames = self.frames_to_search()?;
        let every = locator.with_nth(None);
        let counted = join_all(frames.iter().map(|frame| self.matches_in(frame, &every, 0, deadline))).await;
        // A frame that is going away or stuck has no say.
        let counts: Vec<usize> =
            counted.into_iter().map(|found| found.map_or(0, |found| found.count)).collect();
        let Some((index, local)) = position(nth, &counts) else { return Ok(None) };
        let Some(frame) = frames.get(index) else { return Ok(None) };
        let chosen = locator.with_nth(i64::try_from(local).ok());
        let found = self.matches_in(frame, &chosen, 1, deadline).await?;
        let world = self.world(frame).await?.id;
        Ok(found.first(world).map(|handle| Locator::handle(handle, &locator.to_string())))
    }

    pub(crate) async fn matches_in(
        &self,
        frame: &FrameId,
        locator: &Locator,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Matches> {
        self.script(frame, "matches", &json!({ "locator": locator, "limit": limit }), deadline).await
    }
}

/// Which list holds the n-th of all, and where in it; negative counts from the end.
fn position(nth: i64, counts: &[usize]) -> Option<(usize, usize)> {
    let total: usize = counts.iter().sum();
    let mut left = match usize::try_from(nth) {
        Ok(nth) => nth,
        Err(_) => total.checked_sub(usize::try_from(nth.unsigned_abs()).ok()?)?,
    };
    for (index, count) in counts.iter().enumerate() {
        if left < *count {
            return Some((index, left));
        }
        left -= count;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_of_all_is_found_in_its_list() {
        let counts = [2, 0, 3];
        assert_eq!(position(0, &counts), Some((0, 0)));
        assert_eq!(position(2, &counts), Some((2, 0)));
        assert_eq!(position(-1, &counts), Some((2, 2)));
        assert_eq!(position(-5, &counts), Some((0, 0)));
        assert_eq!(position(5, &counts), None);
        assert_eq!(position(-6, &counts), None);
    }
}
