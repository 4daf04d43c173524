//! Entering text: `fill` replaces what a field holds and reads it back; `type` adds to it, key by key.

use serde::Deserialize;
use serde_json::json;
use surehand_cdp::protocol::input;

use crate::keys::KeyChord;
use crate::locate::with_locator;
use crate::page::Page;
use crate::pointer::Acted;
use crate::{Deadline, Error, FrameId, Handle, Locator, Result};

/// What was filled in where.
#[derive(Debug, Clone)]
pub struct Filled {
    /// The field, and what followed.
    pub acted: Acted,
    /// Is it a field whose value must not be shown?
    pub secret: bool,
}

#[derive(Debug, Deserialize)]
struct Started {
    id: u64,
    #[serde(default)]
    mode: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    preview: String,
    #[serde(default)]
    secret: bool,
}

#[derive(Debug, Deserialize)]
struct ReadBack {
    value: String,
    same: bool,
}

/// Stands for a value that must not be shown, and does not tell its length.
const HIDDEN: &str = "••••••";

impl Page {
    /// Replaces the value of a field, and checks that it took it.
    pub async fn fill(&self, locator: &Locator, value: &str, deadline: &Deadline) -> Result<Filled> {
        let argument = |timeout: u64| json!({ "locator": locator, "value": value, "timeout": timeout });
        let (frame, field) = self.start_entry(locator, "fillStart", argument, deadline).await?;
        let before = self.navigation_mark();
        match field.mode.as_str() {
            "insert" => self.insert_text(value, deadline).await?,
            "delete" => self.press_chord(&KeyChord::delete(), deadline).await?,
            _ => {}
        }
        self.check_value(&frame, &field, value, deadline).await?;
        let secret = field.secret;
        let acted = self.entered(&frame, field, &before, deadline).await?;
        Ok(Filled { acted, secret })
    }

    /// Puts the focus on an element.
    pub async fn focus(&self, locator: &Locator, deadline: &Deadline) -> Result<Acted> {
        let argument = |timeout: u64| json!({ "locator": locator, "timeout": timeout });
        let (frame, field) = self.start_entry(locator, "focus", argument, deadline).await?;
        let before = self.navigation_mark();
        self.entered(&frame, field, &before, deadline).await
    }

    /// Types into a field with real keys, after what is there.
    pub async fn type_into(&self, locator: &Locator, text: &str, deadline: &Deadline) -> Result<Acted> {
        let argument = |timeout: u64| json!({ "locator": locator, "timeout": timeout });
        let (frame, field) = self.start_entry(locator, "typeStart", argument, deadline).await?;
        let before = self.navigation_mark();
        match self.type_text(text, deadline).await {
            Ok(()) => self.let_page_react(deadline).await,
            Err(Error::DialogOpen(_)) => {}
            Err(error) => return Err(error),
        }
        self.entered(&frame, field, &before, deadline).await
    }

    /// Waits until the field can be edited and puts the caret into it.
    async fn start_entry(
        &self,
        locator: &Locator,
        function: &str,
        argument: impl Fn(u64) -> serde_json::Value,
        deadline: &Deadline,
    ) -> Result<(FrameId, Started)> {
        loop {
            let frame = self.frame_to_act_in(locator, deadline).await?;
            let argument = argument(deadline.remaining_ms());
            let started = self.script::<Started>(&frame, function, &argument, &deadline.with_grace()).await;
            match started {
                Ok(field) => return Ok((frame, field)),
                Err(Error::NavigatedAway { .. }) if locator.as_handle().is_none() && !deadline.passed() => {}
                Err(Error::NavigatedAway { .. }) if locator.as_handle().is_some() => {
                    return Err(Error::Stale { what: locator.to_string() });
                }
                Err(error) => return Err(with_locator(error, locator)),
            }
        }
    }

    pub(crate) async fn insert_text(&self, text: &str, deadline: &Deadline) -> Result<()> {
        let insert = input::InsertText { text: text.to_owned() };
        self.unless_blocked(deadline, async { Ok(self.session().call(&insert).await.map(drop)?) }).await
    }

    /// What was entered must be what the field shows; a page that led away or asks something has taken it.
    async fn check_value(
        &self,
        frame: &FrameId,
        field: &Started,
        value: &str,
        deadline: &Deadline,
    ) -> Result<()> {
        let argument = json!({ "id": field.id, "value": value });
        let shown = match self.script::<ReadBack>(frame, "fillCheck", &argument, deadline).await {
            Ok(ReadBack { same: true, .. }) => return Ok(()),
            Ok(read) => read.value,
            Err(Error::NavigatedAway { .. } | Error::DialogOpen(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let hide = |text: &str| if field.secret { HIDDEN.to_owned() } else { text.to_owned() };
        Err(Error::ValueDiffers { preview: field.preview.clone(), wanted: hide(value), shown: hide(&shown) })
    }

    async fn entered(
        &self,
        frame: &FrameId,
        field: Started,
        before: &crate::state::Navigation,
        deadline: &Deadline,
    ) -> Result<Acted> {
        let navigated = self.settle(before, deadline).await;
        let world =
            if navigated.is_some() { None } else { self.lock().frames.get(frame).and_then(|f| f.world) };
        Ok(Acted {
            handle: Handle { world: world.map_or(0, |world| world.id), element: field.id },
            role: field.role,
            name: field.name,
            navigated,
            dialog: self.dialog(),
            closed: false,
        })
    }
}
