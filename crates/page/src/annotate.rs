//! Annotations: for the moment of a picture, elements are framed and labelled.

use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::page::Page;
use crate::{BoxRect, Deadline, FrameId, Handle, Result};

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
struct Boxes {
    boxes: Vec<Option<BoxRect>>,
}

impl Page {
    /// Frames and labels those of the elements that can be seen, and tells which; `whole` counts what is out of view.
    pub async fn annotate(
        &self,
        labels: Vec<(Handle, String)>,
        whole: bool,
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
        let mut shown = Vec::new();
        for (frame, labels) in by_frame {
            shown.extend(self.places_in(&frame, labels, whole, deadline).await?);
        }
        shown.sort_by_key(|one| order.get(&one.handle).copied());
        let main = self.lock().frames.main().id.clone();
        let _: IgnoredAny = self.script(&main, "annotate", &json!({ "labels": shown }), deadline).await?;
        if whole {
            // The picture begins at the top of the page.
            let view = self.layout(deadline).await?.css_visual_viewport;
            for Labelled { place, .. } in &mut shown {
                (place.x, place.y) = (place.x + view.page_x, place.y + view.page_y);
            }
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
        whole: bool,
        deadline: &Deadline,
    ) -> Result<Vec<Labelled>> {
        let ids: Vec<u64> = labels.iter().map(|(handle, _)| handle.element).collect();
        let argument = json!({ "ids": ids, "whole": whole });
        let seen: Boxes = self.script(frame, "boxesInView", &argument, deadline).await?;
        let (left, top) = self.point_in_page(frame, (0.0, 0.0), deadline).await?;
        let label = |((handle, label), place): ((Handle, String), Option<BoxRect>)| {
            let place = place?;
            Some(Labelled { handle, label, place: BoxRect { x: place.x + left, y: place.y + top, ..place } })
        };
        Ok(labels.into_iter().zip(seen.boxes).filter_map(label).collect())
    }
}
