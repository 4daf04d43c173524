//! Choosing: checkboxes and switches, options of a list, files of a field.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;
use surehand_cdp::protocol::{dom, page as cdp, runtime};

use crate::locate::with_locator;
use crate::page::Page;
use crate::pointer::{Acted, ClickOptions, Gesture};
use crate::{Deadline, Error, FrameId, Handle, Locator, Result};

#[derive(Deserialize)]
struct StateOf {
    value: bool,
}

#[derive(Deserialize)]
struct Chosen {
    id: u64,
    role: String,
    name: String,
    selected: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Receiver {
    id: u64,
    role: String,
    name: String,
    preview: String,
    is_field: bool,
    is_multiple: bool,
}

#[derive(Deserialize)]
struct Held {
    names: Vec<String>,
}

impl Page {
    /// Is an element `visible`, `enabled`, `checked`, `editable` or `focused`? Also says how many match.
    pub async fn state_of(&self, locator: &Locator, what: &str, deadline: &Deadline) -> Result<bool> {
        let frame = match self.only_frame_for(locator)? {
            Some(frame) => frame,
            None => match self.frame_to_read_in(locator, deadline).await? {
                Some((frame, _)) => frame,
                None => self.lock().frames.main().id.clone(),
            },
        };
        let argument = json!({ "locator": locator, "what": what });
        let state: Result<StateOf> = self.script(&frame, "state", &argument, deadline).await;
        Ok(state.map_err(|error| with_locator(error, locator))?.value)
    }

    /// Checks or unchecks a box, radio or switch; does nothing if it is so already, and looks whether it worked.
    pub async fn set_checked(&self, locator: &Locator, wanted: bool, deadline: &Deadline) -> Result<Acted> {
        self.wait_until_attached(locator, deadline).await?;
        if self.state_of(locator, "checked", deadline).await? == wanted {
            // Only a look: what is so already is left alone, but it must be there to be seen.
            return self.point_at(locator, &Gesture::Show, deadline).await;
        }
        let through_label = ClickOptions { through_label: true, ..Default::default() };
        let acted = self.click(locator, &through_label, deadline).await?;
        let changed = acted.navigated.is_some() || acted.dialog.is_some() || acted.closed;
        if changed
            || self
                .state_of(&Locator::handle(acted.handle, &locator.to_string()), "checked", deadline)
                .await?
                == wanted
        {
            return Ok(acted);
        }
        let words = |on: bool| if on { "checked" } else { "unchecked" }.to_owned();
        Err(Error::ValueDiffers {
            preview: locator.to_string(),
            wanted: words(wanted),
            shown: words(!wanted),
        })
    }

    /// Chooses options of a list by value or label. Returns the values that are chosen then.
    pub async fn select(
        &self,
        locator: &Locator,
        values: &[String],
        deadline: &Deadline,
    ) -> Result<(Acted, Vec<String>)> {
        let frame = self.frame_to_act_in(locator, deadline).await?;
        let before = self.navigation_mark();
        let argument = json!({ "locator": locator, "values": values, "timeout": deadline.remaining_ms() });
        let chosen: Result<Chosen> =
            self.script(&frame, "selectOptions", &argument, &deadline.with_grace()).await;
        let chosen = chosen.map_err(|error| with_locator(error, locator))?;
        let acted = self.acted_on(&frame, chosen.id, chosen.role, chosen.name).await?;
        let navigated = self.settle(&before, deadline).await;
        Ok((Acted { navigated, dialog: self.dialog(), ..acted }, chosen.selected))
    }

    /// Gives files to a file field, or to the chooser that an element opens.
    pub async fn upload(&self, locator: &Locator, files: &[PathBuf], deadline: &Deadline) -> Result<Acted> {
        let frame = self.frame_to_act_in(locator, deadline).await?;
        let receiver: Result<Receiver> =
            self.script(&frame, "uploadTarget", &json!({ "locator": locator }), deadline).await;
        let receiver = receiver.map_err(|error| with_locator(error, locator))?;
        if files.len() > 1 && !receiver.is_multiple {
            return Err(Error::WrongType {
                preview: receiver.preview,
                why: "it takes only one file".to_owned(),
            });
        }
        let paths: Vec<String> = files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        if !receiver.is_field {
            return self.upload_through_chooser(locator, paths, deadline).await;
        }
        let object_id = self.object_of(&frame, receiver.id, deadline).await?;
        let give = dom::SetFileInputFiles { files: paths, object_id, ..Default::default() };
        self.unless_blocked(deadline, async {
            let session = self.frame_session(&frame).ok_or(Error::TabClosed)?;
            Ok(session.call(&give).await.map(drop)?)
        })
        .await?;
        self.check_files(&frame, &receiver, files, deadline).await?;
        self.acted_on(&frame, receiver.id, receiver.role, receiver.name).await
    }

    /// The field must hold what it was given, as far as the page left it there.
    async fn check_files(
        &self,
        frame: &FrameId,
        receiver: &Receiver,
        files: &[PathBuf],
        deadline: &Deadline,
    ) -> Result<()> {
        let held: Held = match self
            .script(frame, "uploadedFiles", &json!({ "id": receiver.id }), deadline)
            .await
        {
            Err(Error::NavigatedAway { .. } | Error::Stale { .. } | Error::DialogOpen(_)) => return Ok(()),
            held => held?,
        };
        // Many pages read the files at once and empty the field.
        if held.names.is_empty() || held.names.len() == files.len() {
            return Ok(());
        }
        let wanted = format!("{} files", files.len());
        Err(Error::ValueDiffers { preview: receiver.preview.clone(), wanted, shown: held.names.join(", ") })
    }

    async fn upload_through_chooser(
        &self,
        locator: &Locator,
        files: Vec<String>,
        deadline: &Deadline,
    ) -> Result<Acted> {
        let session = self.session();
        let intercept = |enabled| cdp::SetInterceptFileChooserDialog { enabled, ..Default::default() };
        self.lock().chooser = None;
        session.call(&intercept(true)).await?;
        let clicked = self.click(locator, &ClickOptions::default(), deadline).await;
        let opened = match &clicked {
            Ok(_) => self.until(deadline, "a file chooser to open", |state| state.chooser.clone()).await,
            Err(_) => Err(Error::TabClosed),
        };
        session.post(&intercept(false));
        let acted = clicked?;
        let chooser = opened?;
        if files.len() > 1 && !chooser.is_multiple {
            let why = "its file chooser takes only one file".to_owned();
            return Err(Error::WrongType { preview: locator.to_string(), why });
        }
        let give =
            dom::SetFileInputFiles { files, backend_node_id: Some(chooser.node), ..Default::default() };
        let frame_session = self.frame_session(&chooser.frame).unwrap_or_else(|| session.clone());
        frame_session.call(&give).await?;
        Ok(acted)
    }

    async fn object_of(&self, frame: &FrameId, element: u64, deadline: &Deadline) -> Result<Option<String>> {
        self.unless_blocked(deadline, async {
            let context = self.world(frame).await?.context;
            let session = self.frame_session(frame).ok_or(Error::TabClosed)?;
            let find = runtime::Evaluate {
                expression: format!("surehand.elementOf({element})"),
                context_id: Some(context),
                ..Default::default()
            };
            Ok(session.call(&find).await?.result.object_id)
        })
        .await
    }

    async fn acted_on(&self, frame: &FrameId, element: u64, role: String, name: String) -> Result<Acted> {
        let world = self.lock().frames.get(frame).and_then(|frame| frame.world).map_or(0, |world| world.id);
        let handle = Handle { world, element };
        Ok(Acted { handle, role, name, navigated: None, dialog: self.dialog(), closed: false })
    }
}

/// A file chooser that the page wanted to open.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    pub frame: FrameId,
    pub node: i64,
    pub is_multiple: bool,
}
