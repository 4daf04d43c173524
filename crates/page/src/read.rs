//! Reading: what an element is.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use crate::locate::with_locator;
use crate::page::Page;
use crate::pointer::Cut;
use crate::{Deadline, Error, FrameId, Locator, Result};

/// What was read of an element, and how many elements matched.
#[derive(Debug, Deserialize)]
pub struct Reading {
    /// The value: text, number, box or null.
    #[serde(default)]
    pub value: Box<RawValue>,
    /// How many elements the locator matches.
    #[serde(default)]
    pub count: usize,
}

impl Reading {
    /// The value as a string; null is empty.
    pub fn text(&self) -> String {
        serde_json::from_str::<Option<String>>(self.value.get()).ok().flatten().unwrap_or_default()
    }
}

/// A box in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BoxRect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// Between two looks while one document goes and the next comes.
const NEXT_DOCUMENT: std::time::Duration = std::time::Duration::from_millis(50);

impl Page {
    /// Reads `what` (`text`, `html`, `value`, `attr`, `box`, `count`) of the first visible match, else of the first,
    /// waiting for one to appear (except for `count`).
    pub async fn read(
        &self,
        locator: &Locator,
        what: &str,
        attribute: Option<&str>,
        deadline: &Deadline,
    ) -> Result<Reading> {
        let locator =
            &*if what == "count" { Cow::Borrowed(locator) } else { self.pinned(locator, deadline).await? };
        let argument = json!({ "locator": locator, "what": what, "name": attribute });
        loop {
            match self.read_now(locator, what, &argument, deadline).await {
                Err(Error::NotFound { .. } | Error::NavigatedAway { .. }) if !deadline.passed() => {
                    self.wait_until_attached(locator, deadline).await?;
                }
                other => return other.map_err(|error| with_locator(error, locator)),
            }
        }
    }

    /// The same of what is on the page now, without waiting for it: `None` where nothing matches. A document that is going
    /// away is asked again as soon as the next one is there.
    pub async fn read_if_present(
        &self,
        locator: &Locator,
        what: &str,
        deadline: &Deadline,
    ) -> Result<Option<Reading>> {
        loop {
            match self.read_present(locator, what, deadline).await {
                Err(Error::NotFound { .. }) => return Ok(None),
                Err(Error::NavigatedAway { .. }) if !deadline.passed() => {
                    tokio::time::sleep(NEXT_DOCUMENT.min(deadline.remaining())).await;
                }
                Err(error) => return Err(with_locator(error, locator)),
                Ok(reading) => return Ok(reading),
            }
        }
    }

    /// Can these be looked for at all? The first that cannot: its number, and why.
    pub async fn check_locators(
        &self,
        locators: &[Locator],
        deadline: &Deadline,
    ) -> Result<Option<(usize, Error)>> {
        let main = self.lock().frames.main().id.clone();
        let argument = json!({ "locators": locators });
        let reasons: Vec<Option<String>> = loop {
            match self.script(&main, "checkLocators", &argument, deadline).await {
                Err(Error::NavigatedAway { .. }) if !deadline.passed() => {
                    tokio::time::sleep(NEXT_DOCUMENT.min(deadline.remaining())).await;
                }
                answer => break answer?,
            }
        };
        let wrong = reasons.into_iter().zip(locators).enumerate();
        Ok(wrong.into_iter().find_map(|(number, (reason, locator))| {
            Some((number, Error::BadSelector { selector: locator.to_string(), reason: reason? }))
        }))
    }

    /// What is shown of the page, one text for each frame, with what stands in shadow roots. A frame that goes meanwhile
    /// shows nothing.
    pub async fn shown_texts(&self, deadline: &Deadline) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        for frame in self.frames_to_search()? {
            match self.script(&frame, "shownText", &json!({}), deadline).await {
                Err(Error::NavigatedAway { .. } | Error::FrameGone) => {}
                text => texts.push(text?),
            }
        }
        Ok(texts)
    }

    /// The content of the main frame's document as Markdown.
    pub async fn markdown(&self, deadline: &Deadline) -> Result<String> {
        let main = self.lock().frames.main().id.clone();
        self.script(&main, "markdown", &json!({}), deadline).await
    }

    async fn read_present(
        &self,
        locator: &Locator,
        what: &str,
        deadline: &Deadline,
    ) -> Result<Option<Reading>> {
        let pinned = match what {
            "count" => Cow::Borrowed(locator),
            _ => match self.pinned_if_present(locator, deadline).await? {
                Some(pinned) => pinned,
                None => return Ok(None),
            },
        };
        let argument = json!({ "locator": &*pinned, "what": what });
        self.read_now(&pinned, what, &argument, deadline).await.map(Some)
    }

    async fn read_now(
        &self,
        locator: &Locator,
        what: &str,
        argument: &serde_json::Value,
        deadline: &Deadline,
    ) -> Result<Reading> {
        let (frame, total) = match self.only_frame_for(locator)? {
            Some(frame) => (frame, None),
            None => match self.frame_to_read_in(locator, deadline).await? {
                Some((frame, total)) => (frame, Some(total)),
                None if what == "count" => return Ok(Reading { value: zero(), count: 0 }),
                None => return Err(Error::NotFound { what: locator.to_string() }),
            },
        };
        let mut reading: Reading = self.script(&frame, "read", argument, deadline).await?;
        if let Some(total) = total {
            reading.count = total;
            if what == "count" {
                reading.value = RawValue::from_string(total.to_string()).unwrap_or_default();
            }
        }
        if what == "box" {
            self.box_to_top(&frame, &mut reading, deadline).await?;
        }
        Ok(reading)
    }

    /// A box is measured in its own frame; a person sees it in the page.
    async fn box_to_top(&self, frame: &FrameId, reading: &mut Reading, deadline: &Deadline) -> Result<()> {
        let Ok(rect) = serde_json::from_str::<BoxRect>(reading.value.get()) else { return Ok(()) };
        let seen = self.boxes_in_page(frame, vec![Some(rect)], Cut::Nothing, deadline).await?;
        let text = crate::world::to_json(&seen.first().copied().flatten().unwrap_or(rect))?;
        reading.value = RawValue::from_string(text).unwrap_or_default();
        Ok(())
    }
}

fn zero() -> Box<RawValue> {
    RawValue::from_string("0".to_owned()).unwrap_or_default()
}
