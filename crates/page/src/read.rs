//! Reading: what an element or the page is, and what a script of the user says.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use surehand_cdp::protocol::runtime;

use crate::console::exception_text;
use crate::locate::with_locator;
use crate::page::Page;
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

/// The result of a user's script.
#[derive(Debug)]
pub struct Evaluated {
    /// As JSON; `undefined` is null.
    pub result: Box<RawValue>,
    /// Was it `undefined`?
    pub is_undefined: bool,
}

/// A page that runs its scripts answers a trivial one at once.
const PROBE_TIME: std::time::Duration = std::time::Duration::from_millis(500);

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
        let Ok(mut rect) = serde_json::from_str::<BoxRect>(reading.value.get()) else { return Ok(()) };
        let corner = self.point_in_page(frame, (rect.x, rect.y), deadline).await?;
        (rect.x, rect.y) = corner;
        let text = crate::world::to_json(&rect)?;
        reading.value = RawValue::from_string(text).unwrap_or_default();
        Ok(())
    }

    /// The title of the main frame's document.
    pub async fn title(&self, deadline: &Deadline) -> Result<String> {
        let title = self.evaluate("document.title", deadline).await?;
        Ok(serde_json::from_str(title.result.get()).unwrap_or_default())
    }

    /// Runs a script of the user in the page's own world, in the frame that was chosen, and waits for its promise.
    pub async fn evaluate_in_scope(&self, expression: &str, deadline: &Deadline) -> Result<Evaluated> {
        let chosen = self.frame_in_scope()?;
        self.evaluate_in_frame(&chosen, expression, deadline).await
    }

    /// The same in the main frame.
    pub async fn evaluate(&self, expression: &str, deadline: &Deadline) -> Result<Evaluated> {
        let main = self.lock().frames.main().id.clone();
        self.evaluate_in_frame(&main, expression, deadline).await
    }

    async fn evaluate_in_frame(
        &self,
        frame: &FrameId,
        expression: &str,
        deadline: &Deadline,
    ) -> Result<Evaluated> {
        let evaluated = self.unless_blocked(deadline, self.evaluate_now(frame, expression)).await;
        match evaluated {
            Err(Error::Unresponsive { .. }) if self.answers().await => {
                Err(deadline.timeout("the script's promise to settle"))
            }
            other => other,
        }
    }

    /// Does the page still run its scripts?
    async fn answers(&self) -> bool {
        let probe = runtime::Evaluate { expression: "0".to_owned(), ..Default::default() };
        matches!(tokio::time::timeout(PROBE_TIME, self.session().call(&probe)).await, Ok(Ok(_)))
    }

    /// The world of a frame's own scripts: none where it is the one that the session speaks to anyway.
    fn page_world(&self, frame: &FrameId) -> Result<(surehand_cdp::Session, Option<i64>)> {
        let state = self.lock();
        let known = state.frames.get(frame).ok_or(Error::FrameGone)?;
        let parent = known.parent.as_ref().and_then(|parent| state.frames.get(parent));
        let is_root = parent.is_none_or(|parent| parent.session.id() != known.session.id());
        Ok((known.session.clone(), known.page_context.filter(|_| !is_root)))
    }

    async fn evaluate_now(&self, frame: &FrameId, expression: &str) -> Result<Evaluated> {
        let (session, context_id) = self.page_world(frame)?;
        let mut script = runtime::Evaluate {
            expression: expression.to_owned(),
            return_by_value: Some(true),
            await_promise: Some(true),
            user_gesture: Some(true),
            context_id,
            ..Default::default()
        };
        let mut answer = session.call(&script).await.map_err(explain)?;
        if answer.exception_details.as_ref().is_some_and(wants_console_rules) {
            script.repl_mode = Some(true);
            answer = session.call(&script).await.map_err(explain)?;
        }
        if let Some(details) = &answer.exception_details {
            return Err(Error::Script { message: exception_text(details) });
        }
        let is_undefined = answer.result.r#type == "undefined";
        Ok(Evaluated { result: json_of(answer.result), is_undefined })
    }
}

/// Was the script not even started, because it uses `await` at the top level as only consoles allow? (They do not await
/// a promise that is only the last value, so their rules are not the first choice.)
fn wants_console_rules(details: &runtime::ExceptionDetails) -> bool {
    exception_text(details).starts_with("SyntaxError: await is only valid")
}

/// JSON has no NaN and no bigints: they are given as the strings that JavaScript prints.
fn json_of(object: runtime::RemoteObject) -> Box<RawValue> {
    if let Some(special) = object.unserializable_value {
        let text = serde_json::to_string(&special).unwrap_or_default();
        return RawValue::from_string(text).unwrap_or_default();
    }
    object.value.unwrap_or_default()
}

fn explain(error: surehand_cdp::Error) -> Error {
    match &error {
        surehand_cdp::Error::Refused { message, .. } if message.contains("reference chain is too long") => {
            Error::NotJson { why: "it refers to itself or is nested too deeply".to_owned() }
        }
        surehand_cdp::Error::Refused { message, .. } if message.contains("returned by value") => {
            Error::NotJson { why: "it holds something that JSON has no word for".to_owned() }
        }
        _ if error.is_gone() => Error::NavigatedAway { what: "the script ran".to_owned() },
        _ => error.into(),
    }
}

fn zero() -> Box<RawValue> {
    RawValue::from_string("0".to_owned()).unwrap_or_default()
}
