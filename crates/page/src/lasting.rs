//! Selectors that mean an element after its handle is gone. Each was tried: at this moment it means this element, as an
//! action on it would find it, whatever frames there are.

use futures_util::future::{BoxFuture, join_all};
use serde::Deserialize;
use serde_json::json;

use crate::page::Page;
use crate::{Deadline, FrameId, Handle, Locator, Result};

/// One that means an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasting {
    /// The selector.
    pub selector: String,
    /// `<iframe>` elements to go into before, from the page itself, the outermost first; `None` if it holds where we are.
    pub frames: Option<Vec<String>>,
    /// Does it hold only after a snapshot, which opens closed shadow roots?
    pub after_snapshot: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ways {
    ways: Vec<Way>,
    after_snapshot: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Way {
    selector: String,
    /// Which of all that it means in its frame.
    place: usize,
    count: usize,
    /// Does it tell only where the element stands?
    is_place: bool,
}

impl Page {
    /// Selectors of an element, the best first; none if nothing means it and nothing else.
    pub async fn lasting(&self, handle: Handle, deadline: &Deadline) -> Result<Vec<Lasting>> {
        let scope = self.lock().scope.clone();
        self.lasting_within(handle, scope, deadline).await
    }

    /// The same when selectors are looked for only in this frame and those in it.
    fn lasting_within<'a>(
        &'a self,
        handle: Handle,
        scope: Option<FrameId>,
        deadline: &'a Deadline,
    ) -> BoxFuture<'a, Result<Vec<Lasting>>> {
        Box::pin(async move {
            let Some(own) = self.frame_of(handle) else { return Ok(Vec::new()) };
            let Ways { ways, after_snapshot } =
                self.script(&own, "lasting", &json!({ "id": handle.element }), deadline).await?;
            let searched = {
                let state = self.lock();
                scope.as_ref().map_or_else(|| state.frames.ids(), |scope| state.frames.ids_within(scope))
            };
            let Some(at) = searched.iter().position(|frame| *frame == own) else {
                return self.lasting_elsewhere(handle, &own, deadline).await;
            };
            let mut tried = Vec::new();
            for way in ways {
                tried.push(self.try_way(way, &searched, at, deadline).await);
            }
            let sure = |tried: &&Tried| !tried.is_place && (tried.count == 1 || at == 0);
            let written = |tried: &Tried| tried.written(after_snapshot);
            let mut found: Vec<Lasting> = tried.iter().filter(sure).map(written).collect();
            if at > 0 {
                found.extend(self.lasting_elsewhere(handle, &own, deadline).await?);
            }
            // Better than nothing: where it stands, and its place among all in the order in which frames came.
            found.extend(tried.iter().filter(|tried| !sure(tried)).map(written));
            Ok(found)
        })
    }

    /// Selectors that hold only inside of the element's own frame.
    async fn lasting_elsewhere(
        &self,
        handle: Handle,
        own: &FrameId,
        deadline: &Deadline,
    ) -> Result<Vec<Lasting>> {
        let (frames, after_snapshot) = match self.frame_owner(own, deadline).await? {
            None => (Vec::new(), false),
            Some((_, owner)) => {
                let outer = self.lasting_within(owner, None, deadline).await?.into_iter().next();
                let Some(outer) = outer else { return Ok(Vec::new()) };
                let frames: Vec<String> =
                    outer.frames.into_iter().flatten().chain([outer.selector]).collect();
                (frames, outer.after_snapshot)
            }
        };
        let inside = self.lasting_within(handle, Some(own.clone()), deadline).await?;
        let with_frames = |inner: Lasting| Lasting {
            frames: Some(frames.clone()),
            after_snapshot: inner.after_snapshot || after_snapshot,
            ..inner
        };
        Ok(inside.into_iter().map(with_frames).collect())
    }

    /// How many of all frames a way means, and which of them is ours. A frame that does not answer has no say, as when the
    /// selector is used.
    async fn try_way(&self, way: Way, searched: &[FrameId], own: usize, deadline: &Deadline) -> Tried {
        let locator = Locator::parse(&way.selector);
        let count = async |index: usize, frame: &FrameId| match index == own {
            true => way.count,
            false => self.matches_in(frame, &locator, 0, deadline).await.map_or(0, |found| found.count),
        };
        let counts = join_all(searched.iter().enumerate().map(|(index, frame)| count(index, frame))).await;
        let before: usize = counts.iter().take(own).sum();
        Tried {
            place: before + way.place,
            count: counts.iter().sum(),
            selector: way.selector,
            is_place: way.is_place,
        }
    }
}

/// A way, as it is in all frames that are searched.
struct Tried {
    selector: String,
    place: usize,
    count: usize,
    is_place: bool,
}

impl Tried {
    fn written(&self, after_snapshot: bool) -> Lasting {
        let selector = match self.count {
            1 => self.selector.clone(),
            _ => format!("{} >> nth={}", self.selector, self.place),
        };
        Lasting { selector, frames: None, after_snapshot }
    }
}
