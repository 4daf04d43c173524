//! Annotations: for the moment of a picture, elements are framed and labelled, or covered.

use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::page::Page;
use crate::pointer::{Boxes, Cut};
use crate::{BoxRect, Deadline, FrameId, Handle, Picture, Result};

/// An element that a picture shows with a label.
#[derive(Debug, Clone, Serialize)]
pub struct Labelled {
    /// The element.
    #[serde(skip)]
    pub handle: Handle,
    /// What is written on it.
    pub label: String,
    /// Where it is in the picture.
    #[serde(flatten)]
    pub place: BoxRect,
}

#[derive(Deserialize)]
struct Shown {
    fields: Vec<Field>,
}

#[derive(Deserialize)]
struct Field {
    id: u64,
    value: String,
}

impl Page {
    /// Covers the fields of which `is_secret` says so of what stands in them, until [`Page::end_annotation`]; says how many
    /// the picture will show.
    pub async fn cover(
        &self,
        is_secret: impl Fn(&str) -> bool,
        picture: &Picture,
        deadline: &Deadline,
    ) -> Result<usize> {
        let frames = self.lock().frames.ids();
        let mut covered = Vec::new();
        for frame in frames {
            // A frame that is going away or stuck is not the page's: what it showed nobody can say.
            let Ok(shown) = self.script::<Shown>(&frame, "shownValues", &json!({}), deadline).await else {
                continue;
            };
            let world = self.world(&frame).await?.id;
            let secret = shown.fields.into_iter().filter(|field| is_secret(&field.value));
            covered.extend(secret.map(|field| (Handle { world, element: field.id }, String::new())));
        }
        if covered.is_empty() {
            return Ok(0);
        }
        Ok(self.draw(covered, true, picture, deadline).await?.len())
    }

    /// Frames and labels those of the elements that the picture will show, and tells which.
    pub async fn annotate(
        &self,
        labels: Vec<(Handle, String)>,
        picture: &Picture,
        deadline: &Deadline,
    ) -> Result<Vec<Labelled>> {
        self.draw(labels, false, picture, deadline).await
    }

    async fn draw(
        &self,
        labels: Vec<(Handle, String)>,
        covers: bool,
        picture: &Picture,
        deadline: &Deadline,
    ) -> Result<Vec<Labelled>> {
        let order: HashMap<Handle, usize> =
            labels.iter().enumerate().map(|(at, (handle, _))| (*handle, at)).collect();
        let mut by_frame: HashMap<FrameId, Vec<(Handle, String)>> = HashMap::new();
        for (handle, label) in labels {
            if let Some(frame) = self.frame_of(handle) {
                by_frame.entry(frame).or_default().push((handle, label));
            }
        }
        let seen = self.seen_in(picture, deadline).await?;
        let mut shown = Vec::new();
        for (frame, labels) in by_frame {
            shown.extend(self.places_in(&frame, labels, picture.cut(), deadline).await?);
        }
        shown.retain_mut(|one| overlap(one.place, seen).map(|place| one.place = place).is_some());
        shown.sort_by_key(|one| order.get(&one.handle).copied());
        let main = self.lock().frames.main().id.clone();
        let drawn = json!({ "labels": shown, "left": seen.x, "top": seen.y, "covers": covers });
        let _: IgnoredAny = self.script(&main, "annotate", &drawn, deadline).await?;
        for Labelled { place, .. } in &mut shown {
            (place.x, place.y) = (place.x - seen.x, place.y - seen.y);
        }
        Ok(shown)
    }

    /// Takes the frames and labels away.
    pub async fn end_annotation(&self, deadline: &Deadline) -> Result<()> {
        let main = self.lock().frames.main().id.clone();
        let _: IgnoredAny = self.script(&main, "annotateEnd", &json!({}), deadline).await?;
        Ok(())
    }

    async fn places_in(
        &self,
        frame: &FrameId,
        labels: Vec<(Handle, String)>,
        cut: Cut,
        deadline: &Deadline,
    ) -> Result<Vec<Labelled>> {
        let ids: Vec<u64> = labels.iter().map(|(handle, _)| handle.element).collect();
        let argument = json!({ "ids": ids, "cut": cut.name() });
        let own: Boxes = self.script(frame, "boxesInView", &argument, deadline).await?;
        let places = self.boxes_in_page(frame, own.boxes, cut, deadline).await?;
        let label = |((handle, label), place): ((Handle, String), Option<BoxRect>)| {
            Some(Labelled { handle, label, place: place? })
        };
        Ok(labels.into_iter().zip(places).filter_map(label).collect())
    }
}

/// What two boxes have in common, if anything.
fn overlap(one: BoxRect, other: BoxRect) -> Option<BoxRect> {
    let (x, y) = (one.x.max(other.x), one.y.max(other.y));
    let width = (one.x + one.width).min(other.x + other.width) - x;
    let height = (one.y + one.height).min(other.y + other.height) - y;
    (width > 0.0 && height > 0.0).then_some(BoxRect { x, y, width, height })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_overlap_where_both_are() {
        let at = |x, y, width, height| BoxRect { x, y, width, height };
        assert_eq!(
            overlap(at(0.0, 0.0, 10.0, 10.0), at(5.0, -5.0, 10.0, 10.0)),
            Some(at(5.0, 0.0, 5.0, 5.0))
        );
        assert_eq!(overlap(at(0.0, 0.0, 10.0, 10.0), at(10.0, 0.0, 10.0, 10.0)), None);
    }
}
