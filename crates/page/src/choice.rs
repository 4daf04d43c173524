//! Choosing: checkboxes and switches, options of a list, files of a field.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;
use surehand_cdp::Session;
use surehand_cdp::protocol::{dom, page as cdp, runtime};

use crate::locate::with_locator;
use crate::page::Page;
use crate::pointer::{Acted, ClickOptions, Gesture};
use crate::{Aftermath, Deadline, Error, FrameId, Handle, Locator, Result};

#[derive(Deserialize)]
struct Selected {
    selected: Vec<String>,
}

#[derive(Deserialize)]
struct FieldKind {
    kind: String,
}

#[derive(Deserialize)]
struct Toggle {
    preview: String,
}

#[derive(Deserialize)]
struct StateOf {
    value: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chosen {
    id: u64,
    role: String,
    name: String,
    preview: String,
    is_changed: bool,
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
    takes_folders: bool,
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
    pub async fn set_checked(
        &self,
        locator: &Locator,
        wanted: bool,
        options: &ClickOptions,
        deadline: &Deadline,
    ) -> Result<Acted> {
        self.wait_until_attached(locator, deadline).await?;
        if self.state_of(locator, "checked", deadline).await? == wanted {
            // Only a look: what is so already is left alone, but it must be there to be seen.
            return self.point_at(locator, &Gesture::ShowControl, deadline).await;
        }
        let (_, toggle): (_, Toggle) =
            self.script_at(locator, "toggle", |_| json!({ "wanted": wanted }), deadline).await?;
        let options = ClickOptions { through_label: true, ..options.clone() };
        let mut acted = self.click(locator, &options, deadline).await?;
        // What counts here is the state: some boxes change at the press already.
        acted.after.unclicked = false;
        let decided = options.trial || acted.after.moved_on();
        if decided || self.becomes_checked(locator, &acted, wanted, deadline).await? {
            return Ok(acted);
        }
        let wanted = if wanted { "checked" } else { "unchecked" };
        Err(Error::NotChanged { preview: toggle.preview, wanted })
    }

    /// Whether the box shows what is wanted, at once or later: a page may ask its server first. It may also have put a new one
    /// in its place.
    async fn becomes_checked(
        &self,
        locator: &Locator,
        acted: &Acted,
        wanted: bool,
        deadline: &Deadline,
    ) -> Result<bool> {
        let state = async |locator: &Locator| {
            let argument = |left: u64| json!({ "what": "checked", "wanted": wanted, "timeout": left });
            self.script_at::<StateOf>(locator, "stateBecomes", argument, deadline).await
        };
        let clicked = Locator::handle(acted.handle, &locator.to_string());
        let answer = match state(&clicked).await {
            Err(Error::Stale { .. }) if locator.as_handle().is_none() => state(locator).await,
            answer => answer,
        };
        Ok(answer?.1.value == wanted)
    }

    /// How something is entered in a field: `fill`, `check`, `select` or `upload`.
    pub async fn field_kind(&self, locator: &Locator, deadline: &Deadline) -> Result<String> {
        let (_, field): (_, FieldKind) =
            self.script_at(locator, "fieldKind", |_| json!({}), deadline).await?;
        Ok(field.kind)
    }

    /// Chooses options of a list by value or label. Returns the values that are chosen then.
    pub async fn select(
        &self,
        locator: &Locator,
        values: &[String],
        deadline: &Deadline,
    ) -> Result<(Acted, Vec<String>)> {
        let before = self.mark();
        let argument = |timeout: u64| json!({ "values": values, "timeout": timeout });
        let (frame, chosen): (_, Chosen) =
            self.script_at(locator, "selectOptions", argument, deadline).await?;
        if chosen.is_changed {
            self.announce(&frame, chosen.id, deadline).await?;
        }
        let acted = self.acted_on(&frame, chosen.id, &chosen.role, &chosen.name);
        let acted = Acted { after: self.settle(&before, deadline).await, ..acted };
        if !acted.after.moved_on() {
            self.check_selected(&frame, chosen.id, &chosen.preview, &chosen.selected, deadline).await?;
        }
        Ok((acted, chosen.selected))
    }

    /// The page may choose otherwise when it hears of it; a list that it took away has nothing to say.
    async fn check_selected(
        &self,
        frame: &FrameId,
        id: u64,
        preview: &str,
        wanted: &[String],
        deadline: &Deadline,
    ) -> Result<()> {
        let argument = json!({ "id": id });
        let now = self.script::<Selected>(frame, "selectedValues", &argument, &deadline.with_grace()).await;
        match now {
            Ok(Selected { selected }) if selected != wanted => Err(Error::ValueDiffers {
                preview: preview.to_owned(),
                wanted: wanted.join(", "),
                shown: selected.join(", "),
            }),
            Ok(_) | Err(Error::Stale { .. } | Error::NavigatedAway { .. } | Error::DialogOpen(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Gives files to a file field, or to the chooser that an element opens.
    pub async fn upload(&self, locator: &Locator, files: &[PathBuf], deadline: &Deadline) -> Result<Acted> {
        let argument = |_| json!({});
        let (frame, receiver): (_, Receiver) =
            self.script_at(locator, "uploadTarget", argument, deadline).await?;
        if files.len() > 1 && !receiver.is_multiple {
            return Err(Error::TooManyFiles { preview: receiver.preview, given: files.len() });
        }
        // The browser would give the page an empty file of that name.
        if !receiver.takes_folders && files.iter().any(|file| file.is_dir()) {
            let why = "it takes files, no folders".to_owned();
            return Err(Error::WrongType { preview: receiver.preview, why });
        }
        let paths: Vec<String> = files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        if !receiver.is_field {
            return self.upload_through_chooser(locator, &frame, &receiver.preview, paths, deadline).await;
        }
        let object_id = self.object_of(&frame, receiver.id, deadline).await?;
        let give = dom::SetFileInputFiles { files: paths, object_id, ..Default::default() };
        let session = self.frame_session(&frame).ok_or(Error::TabClosed)?;
        let acted = self.acted_on(&frame, receiver.id, &receiver.role, &receiver.name);
        let before = self.mark();
        self.give_files(&session, &give, deadline).await?;
        self.check_files(&frame, &receiver, files, deadline).await?;
        Ok(Acted { after: self.settle(&before, deadline).await, ..acted })
    }

    /// Gives files to a field, and the page the time to set going what it does with them.
    async fn give_files(
        &self,
        session: &Session,
        give: &dom::SetFileInputFiles,
        deadline: &Deadline,
    ) -> Result<()> {
        let given = async { Ok(session.call(give).await.map(drop)?) };
        match self.unless_blocked(deadline, given).await {
            Ok(()) => self.let_page_react(deadline).await,
            // The page has the files: the dialog is its answer.
            Err(Error::DialogOpen(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
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
        // Many pages read the files at once and empty the field; a folder is as many files as it holds.
        if held.names.is_empty() || held.names.len() >= files.len() {
            return Ok(());
        }
        let wanted = format!("{} files", files.len());
        Err(Error::ValueDiffers { preview: receiver.preview.clone(), wanted, shown: held.names.join(", ") })
    }

    async fn upload_through_chooser(
        &self,
        locator: &Locator,
        frame: &FrameId,
        preview: &str,
        files: Vec<String>,
        deadline: &Deadline,
    ) -> Result<Acted> {
        let before = self.mark();
        let caught = self.catch_choosers(frame, deadline).await?;
        let acted = self.click(locator, &ClickOptions::default(), deadline).await?;
        let what = format!("a file chooser to open after the click on {preview}");
        let chooser = self.until(deadline, what, |state| state.chooser.clone()).await?;
        drop(caught);
        if files.len() > 1 && !chooser.is_multiple {
            return Err(Error::TooManyFiles { preview: preview.to_owned(), given: files.len() });
        }
        let give =
            dom::SetFileInputFiles { files, backend_node_id: Some(chooser.node), ..Default::default() };
        let session = self.frame_session(&chooser.frame).unwrap_or_else(|| self.session().clone());
        self.give_files(&session, &give, deadline).await?;
        Ok(Acted { after: self.settle(&before, deadline).await, ..acted })
    }

    /// Choosers that the page or this frame opens are told instead of shown, until what is returned is dropped. A frame of
    /// another process tells of its own; a click in it may also make the page around it open one.
    async fn catch_choosers(&self, frame: &FrameId, deadline: &Deadline) -> Result<CaughtChoosers> {
        let mut sessions = vec![self.session().clone()];
        sessions.extend(self.frame_session(frame).filter(|session| session.id() != self.session().id()));
        self.lock().chooser = None;
        let caught = CaughtChoosers(sessions);
        self.unless_blocked(deadline, async {
            for session in &caught.0 {
                session.call(&intercept_choosers(true)).await?;
            }
            Ok(())
        })
        .await?;
        Ok(caught)
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

    /// Something that was done without the mouse; what followed is not known yet.
    fn acted_on(&self, frame: &FrameId, element: u64, role: &str, name: &str) -> Acted {
        let world = self.lock().frames.get(frame).and_then(|frame| frame.world).map_or(0, |world| world.id);
        let handle = Handle { world, element };
        Acted { handle, role: role.to_owned(), name: name.to_owned(), at: None, after: Aftermath::default() }
    }
}

/// Sessions whose choosers are caught. Dropped also when the command is cancelled: a person must get their choosers back.
struct CaughtChoosers(Vec<Session>);

impl Drop for CaughtChoosers {
    fn drop(&mut self) {
        for session in &self.0 {
            session.post(&intercept_choosers(false));
        }
    }
}

fn intercept_choosers(enabled: bool) -> cdp::SetInterceptFileChooserDialog {
    cdp::SetInterceptFileChooserDialog { enabled, ..Default::default() }
}

/// A file chooser that the page wanted to open.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    pub frame: FrameId,
    pub node: i64,
    pub is_multiple: bool,
}
