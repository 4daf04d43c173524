//! Entering text: `fill` replaces what a field holds and reads it back; `type` adds to it, key by key.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use surehand_cdp::protocol::input;
use surehand_guard::redact::names_a_secret;

use crate::aftermath::Mark;
use crate::keys::{self, KeyChord};
use crate::locate::{may_come, with_locator};
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
    /// What the value is called if it must not be written down: it is secret, or the field is called something like it.
    pub private: Option<String>,
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
    /// What the field is called besides its name.
    #[serde(default)]
    called: Vec<String>,
}

impl Started {
    /// What the value is called if it must not be written down. Text that the page shows may be a secret all the same.
    fn private(&self) -> Option<String> {
        let mut names = std::iter::once(&self.name).chain(&self.called);
        let telling = names.find(|name| names_a_secret(name));
        telling.or(self.secret.then_some(&self.name)).cloned()
    }
}

/// What came of typing.
#[derive(Debug)]
pub struct Typed {
    /// The field, and what followed.
    pub acted: Acted,
    /// What the field shows then, if it is still there. Typing promises keys, not what a page makes of them.
    pub shown: Option<String>,
    /// Is the text in there? A field that puts signs between the characters, or changes their case, has it all the same.
    pub holds: Option<bool>,
    /// Is it one of those whose content is not shown?
    pub secret: bool,
    /// See [`Filled::private`].
    pub private: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Shown {
    /// `None` where the page took the field away after the last key.
    value: Option<String>,
    #[serde(default)]
    holds: Option<bool>,
}

/// Where the focus of a document is.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Focused {
    field: Option<Started>,
    in_frame: bool,
}

#[derive(Debug, Deserialize)]
struct ReadBack {
    value: String,
    same: bool,
}

/// What a page gets at least to show what was typed.
const REACTION: Duration = Duration::from_millis(500);

/// Stands for a value that must not be shown, and does not tell its length.
const HIDDEN: &str = "••••••";

impl Page {
    /// Replaces the value of a field, and checks that it took it.
    pub async fn fill(&self, locator: &Locator, value: &str, deadline: &Deadline) -> Result<Filled> {
        let argument = |timeout: u64| json!({ "value": value, "timeout": timeout });
        let (frame, field) = self.start_entry(locator, "fillStart", argument, deadline).await?;
        let before = self.mark();
        match field.mode.as_str() {
            "insert" => unless_asked(self.insert_text(value, deadline).await)?,
            "delete" => unless_asked(self.press_chord(&KeyChord::delete(), deadline).await)?,
            "announce" => unless_asked(self.announce(&frame, field.id, deadline).await)?,
            _ => {}
        }
        match self.check_value(&frame, &field, value, &before, deadline).await {
            // A page may draw its fields anew with every change: what counts is what stands there now.
            Err(Error::Detached { .. }) if locator.as_handle().is_none() => {
                self.check_replacement(locator, &field, value, deadline).await?;
            }
            checked => checked?,
        }
        let (secret, private) = (field.secret, field.private());
        let acted = self.entered(&frame, field, &before, deadline).await?;
        Ok(Filled { acted, secret, private })
    }

    /// Puts the focus on an element.
    pub async fn focus(&self, locator: &Locator, deadline: &Deadline) -> Result<Acted> {
        let argument = |timeout: u64| json!({ "timeout": timeout });
        let (frame, field) = self.start_entry(locator, "focus", argument, deadline).await?;
        let before = self.mark();
        self.entered(&frame, field, &before, deadline).await
    }

    /// Types into a field with real keys, after what is there, with a pause between two characters.
    pub async fn type_into(
        &self,
        locator: &Locator,
        text: &str,
        delay: Duration,
        deadline: &Deadline,
    ) -> Result<Typed> {
        let argument = |timeout: u64| json!({ "timeout": timeout });
        let (frame, field) = self.start_entry(locator, "typeStart", argument, deadline).await?;
        let before = self.mark();
        unless_asked(self.type_text(text, delay, deadline).await)?;
        // However long the typing took, the page gets the time to show it.
        let deadline = &deadline.at_least(REACTION);
        self.let_page_react(deadline).await;
        let (secret, private) = (field.secret, field.private());
        let mut acted = self.entered(&frame, field, &before, deadline).await?;
        let after = &acted.after;
        if after.dialog.is_some() || after.navigating.is_some() || after.closed {
            return Ok(Typed { acted, shown: None, holds: None, secret, private });
        }
        let shown = match self.end_typing(&frame, text, deadline).await {
            Ok(shown) => shown,
            // The page goes elsewhere or asks something: that is its answer to the last key.
            Err(Error::NavigatedAway { .. } | Error::TabClosed) => Shown::default(),
            Err(Error::DialogOpen(dialog)) => {
                acted.after.dialog = Some(dialog);
                Shown::default()
            }
            Err(error) => return Err(error),
        };
        Ok(Typed { acted, shown: shown.value, holds: shown.holds, secret, private })
    }

    /// Types into the field that has the focus; `None` where no field has it.
    pub async fn type_into_focused(
        &self,
        text: &str,
        delay: Duration,
        deadline: &Deadline,
    ) -> Result<Option<Typed>> {
        let Some((frame, field)) = self.focused_field(deadline).await? else { return Ok(None) };
        let world = self.lock().frames.get(&frame).and_then(|frame| frame.world).map_or(0, |world| world.id);
        let locator = Locator::handle(Handle { world, element: field.id }, &field.preview);
        self.type_into(&locator, text, delay, deadline).await.map(Some)
    }

    /// What is entered where the focus is, if it must not be written down: see [`Filled::private`]. A page that cannot say
    /// has no such field in use.
    pub async fn private_focus(&self, deadline: &Deadline) -> Option<String> {
        self.focused_field(deadline).await.ok().flatten().and_then(|(_, field)| field.private())
    }

    /// The main document says whether the focus is in one of its frames; only then they are asked.
    async fn focused_field(&self, deadline: &Deadline) -> Result<Option<(FrameId, Started)>> {
        let frames = self.lock().frames.ids();
        for frame in frames {
            let focused: Focused = match self.script(&frame, "focusedField", &json!({}), deadline).await {
                Err(Error::NavigatedAway { .. } | Error::FrameGone) => continue,
                other => other?,
            };
            match focused {
                Focused { field: Some(field), .. } => return Ok(Some((frame, field))),
                Focused { in_frame: true, .. } => {}
                _ if frame == self.lock().frames.main().id => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Did every key arrive at the field, and did something come of them?
    async fn end_typing(&self, frame: &FrameId, text: &str, deadline: &Deadline) -> Result<Shown> {
        let leads_on = |character: char| matches!(character, '\t' | '\n' | '\r');
        let argument = json!({
            "text": text,
            "keys": text.chars().filter(|character| keys::for_character(*character).is_some()).count(),
            "leads": text.contains(leads_on),
            "types": text.chars().any(|character| !leads_on(character)),
            "timeout": deadline.remaining_ms(),
        });
        self.script(frame, "typeEnd", &argument, &deadline.with_grace()).await
    }

    /// Waits until the field can be edited and puts the caret into it.
    async fn start_entry(
        &self,
        locator: &Locator,
        function: &str,
        argument: impl Fn(u64) -> serde_json::Value,
        deadline: &Deadline,
    ) -> Result<(FrameId, Started)> {
        let locator = &*self.pinned(locator, deadline).await?;
        loop {
            let frame = self.frame_to_act_in(locator, deadline).await?;
            let mut argument = argument(deadline.remaining_ms());
            argument["locator"] = json!(locator);
            let started = self.script::<Started>(&frame, function, &argument, &deadline.with_grace()).await;
            match started {
                Ok(field) => return Ok((frame, field)),
                Err(Error::NavigatedAway { .. }) if may_come(locator, deadline) => {}
                Err(Error::NotFound { .. }) if may_come(locator, deadline) => {
                    self.wait_for_match(locator, deadline).await?;
                }
                Err(Error::NavigatedAway { .. }) if locator.as_handle().is_some() => {
                    return Err(Error::Stale { what: locator.to_string() });
                }
                Err(error) => return Err(with_locator(error, locator)),
            }
        }
    }

    /// Tells the page that a field was set; what it does then is its own affair.
    pub(crate) async fn announce(&self, frame: &FrameId, element: u64, deadline: &Deadline) -> Result<()> {
        let told = self.script::<IgnoredAny>(frame, "announce", &json!({ "id": element }), deadline).await;
        match told {
            Ok(_) | Err(Error::DialogOpen(_) | Error::NavigatedAway { .. }) => Ok(()),
            Err(error) => Err(error),
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
        before: &Mark,
        deadline: &Deadline,
    ) -> Result<()> {
        let argument = json!({ "id": field.id, "value": value });
        let shown = match self.script::<ReadBack>(frame, "fillCheck", &argument, deadline).await {
            Ok(ReadBack { same: true, .. }) => return Ok(()),
            Ok(read) => read.value,
            Err(Error::NavigatedAway { .. } | Error::DialogOpen(_)) => return Ok(()),
            Err(Error::Stale { .. }) if before.has_moved(&self.lock()) => return Ok(()),
            Err(Error::Stale { .. }) => return Err(Error::Detached { preview: field.preview.clone() }),
            Err(error) => return Err(error),
        };
        let hide = |text: &str| if field.secret { HIDDEN.to_owned() } else { text.to_owned() };
        Err(Error::ValueDiffers { preview: field.preview.clone(), wanted: hide(value), shown: hide(&shown) })
    }

    async fn check_replacement(
        &self,
        locator: &Locator,
        field: &Started,
        value: &str,
        deadline: &Deadline,
    ) -> Result<()> {
        let shown = self.read(locator, "value", None, deadline).await?.text();
        if shown == value {
            return Ok(());
        }
        let hide = |text: &str| if field.secret { HIDDEN.to_owned() } else { text.to_owned() };
        Err(Error::ValueDiffers { preview: field.preview.clone(), wanted: hide(value), shown: hide(&shown) })
    }

    async fn entered(
        &self,
        frame: &FrameId,
        field: Started,
        before: &Mark,
        deadline: &Deadline,
    ) -> Result<Acted> {
        let after = self.settle(before, deadline).await;
        let world = if after.navigated.is_some() || after.failed.is_some() {
            None
        } else {
            self.lock().frames.get(frame).and_then(|f| f.world)
        };
        Ok(Acted {
            handle: Handle { world: world.map_or(0, |world| world.id), element: field.id },
            role: field.role,
            name: field.name,
            at: None,
            after,
        })
    }
}

/// A dialog that entering a text opened is an effect of it, no failure.
fn unless_asked(entered: Result<()>) -> Result<()> {
    match entered {
        Err(Error::DialogOpen(_)) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private(field: serde_json::Value) -> Option<String> {
        serde_json::from_value::<Started>(field).unwrap().private()
    }

    #[test]
    fn a_field_is_private_by_its_kind_or_by_what_it_is_called() {
        assert_eq!(private(json!({ "id": 1, "name": "E-mail", "called": ["mail"] })), None);
        assert_eq!(private(json!({ "id": 1, "name": "Code", "secret": true })).as_deref(), Some("Code"));
        assert_eq!(private(json!({ "id": 1, "secret": true })).as_deref(), Some(""));
        assert_eq!(private(json!({ "id": 1, "name": "API key" })).as_deref(), Some("API key"));
        let told =
            private(json!({ "id": 1, "name": "Enter it here", "called": ["field-1", "client_secret"] }));
        assert_eq!(told.as_deref(), Some("client_secret"));
    }
}
