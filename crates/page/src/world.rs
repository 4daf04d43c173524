//! Isolated worlds: where the injected script lives, one per document, made when first needed.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_cdp::protocol::{page as cdp, runtime};

use crate::console::exception_text;
use crate::page::Page;
use crate::{Deadline, Error, FrameId, Match, Result, script};

/// An element: the world that knows it, and its id there. Neither is ever used again for anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle {
    /// The world of the element's document.
    pub world: u64,
    /// The script's id of the element.
    pub element: u64,
}

/// The isolated world of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct World {
    /// Ours, unique in this process.
    pub id: u64,
    /// The browser's, unique in one renderer process at a time.
    pub context: i64,
}

const WORLD_NAME: &str = "surehand";

impl World {
    fn new(context: i64) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), context }
    }
}

impl Page {
    /// Calls a function of the injected script in a frame, and types its answer.
    pub(crate) async fn script<T: DeserializeOwned>(
        &self,
        frame: &FrameId,
        function: &str,
        argument: &impl Serialize,
        deadline: &Deadline,
    ) -> Result<T> {
        let expression = format!("surehand.{function}({})", to_json(argument)?);
        self.unless_blocked(deadline, async {
            let world = self.world(frame).await?;
            let answer = self.evaluate_in(frame, world, &expression).await?;
            read_answer(&answer).map_err(|error| in_world(error, world.id))
        })
        .await
    }

    async fn evaluate_in(&self, frame: &FrameId, world: World, expression: &str) -> Result<Box<RawValue>> {
        let Some(session) = self.frame_session(frame) else { return Err(frame_gone()) };
        let call = session.call(&runtime::Evaluate {
            expression: expression.to_owned(),
            context_id: Some(world.context),
            return_by_value: Some(true),
            await_promise: Some(true),
            ..Default::default()
        });
        let answer = call.await.map_err(|error| if error.is_gone() { frame_gone() } else { error.into() })?;
        if let Some(details) = &answer.exception_details {
            return Err(Error::Script { message: exception_text(details) });
        }
        Ok(answer.result.value.unwrap_or_default())
    }

    /// The world of the frame's present document; made and filled with the script when there is none yet.
    pub(crate) async fn world(&self, frame: &FrameId) -> Result<World> {
        let (session, loader) = {
            let state = self.lock();
            let Some(known) = state.frames.get(frame) else { return Err(frame_gone()) };
            if let Some(world) = known.world {
                return Ok(world);
            }
            (known.session.clone(), known.loader_id.clone())
        };
        let made = session.call(&cdp::CreateIsolatedWorld {
            frame_id: frame.to_string(),
            world_name: Some(WORLD_NAME.to_owned()),
            ..Default::default()
        });
        let gone = |error: surehand_cdp::Error| if error.is_gone() { frame_gone() } else { error.into() };
        let context = made.await.map_err(gone)?.execution_context_id;
        let filled = session.call(&runtime::Evaluate {
            expression: script::SOURCE.to_owned(),
            context_id: Some(context),
            ..Default::default()
        });
        if let Some(details) = filled.await.map_err(gone)?.exception_details {
            return Err(Error::Script { message: exception_text(&details) });
        }
        self.keep_world(frame, &loader, context)
    }

    /// Two commands may have made the world at the same time: the browser gave both the same one.
    fn keep_world(&self, frame: &FrameId, loader: &str, context: i64) -> Result<World> {
        let mut state = self.lock();
        match state.frames.get_mut(frame) {
            // Of a tab that was just opened the browser says which document it has after it was asked for the world.
            Some(known) if known.loader_id == loader || loader.is_empty() => match known.world {
                Some(world) if world.context == context => Ok(world),
                _ => Ok(*known.world.insert(World::new(context))),
            },
            _ => Err(frame_gone()),
        }
    }

    pub(crate) fn frame_session(&self, frame: &str) -> Option<surehand_cdp::Session> {
        self.lock().frames.get(frame).map(|frame| frame.session.clone())
    }

    /// The frame whose present document knows this element.
    pub(crate) fn frame_of(&self, handle: Handle) -> Option<FrameId> {
        let state = self.lock();
        let ids = state.frames.ids();
        ids.into_iter().find(|id| {
            state.frames.get(id).and_then(|frame| frame.world).is_some_and(|world| world.id == handle.world)
        })
    }

    /// Does this tab know the element's document?
    pub fn has(&self, handle: Handle) -> bool {
        self.frame_of(handle).is_some()
    }
}

/// The document that a call was made in is not there any more.
fn frame_gone() -> Error {
    Error::NavigatedAway { what: "a command was under way".to_owned() }
}

pub(crate) fn to_json(value: &(impl Serialize + ?Sized)) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::NotJson { why: error.to_string() })
}

/// The script knows its elements, but not which world it is in.
fn in_world(error: Error, world: u64) -> Error {
    match error {
        Error::Ambiguous { what, count, matches } => {
            let matches = matches.into_iter().map(|one| one.in_world(world)).collect();
            Error::Ambiguous { what, count, matches }
        }
        other => other,
    }
}

fn read_answer<T: DeserializeOwned>(answer: &RawValue) -> Result<T> {
    let text = answer.get();
    // The script answers `{"error": …}` or its result; looking at the first bytes avoids parsing a big result twice.
    if text.starts_with(r#"{"error":"#)
        && let Ok(failed) = serde_json::from_str::<Failed>(text)
    {
        return Err(failed.error.into());
    }
    serde_json::from_str(text).map_err(|error| Error::Script {
        message: format!("the injected script answered something unexpected: {error}"),
    })
}

#[derive(Deserialize)]
struct Failed {
    error: ScriptError,
}

/// A failure as the script tells it; which facts are there depends on the kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ScriptError {
    kind: String,
    what: String,
    preview: String,
    why: String,
    reason: String,
    blocker: String,
    seen: String,
    count: usize,
    matches: Vec<Match>,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl From<ScriptError> for Error {
    fn from(e: ScriptError) -> Self {
        let ScriptError {
            kind,
            what,
            preview,
            why,
            reason,
            blocker,
            seen,
            count,
            matches,
            x,
            y,
            width,
            height,
        } = e;
        match kind.as_str() {
            "not-found" => Error::NotFound { what },
            "ambiguous" => Error::Ambiguous { what, count, matches },
            "stale" => Error::Stale { what },
            "bad-selector" => Error::BadSelector { selector: what, reason },
            "not-visible" => Error::NotVisible { preview, why },
            "not-stable" => Error::NotStable { preview, how: why },
            "out-of-view" => Error::OffView { preview },
            "covered" => Error::Covered { preview, blocker, what: "click" },
            "no-pointer" => Error::NoPointer { preview },
            "detached" => Error::Detached { preview },
            "out-of-element" => Error::OutOfElement { preview, x, y, width, height },
            "focus-moved" => Error::FocusMoved { preview, to: what },
            "disabled" => Error::Disabled { preview, why },
            "not-typed" => Error::NotTyped { preview },
            "not-editable" => Error::NotEditable { preview, why },
            "wrong-type" => Error::WrongType { preview, why },
            "no-option" => Error::NoOption { preview, why },
            "bad-value" => Error::BadValue { preview, why },
            "bad-setting" => Error::BadSetting { why },
            "no-storage" => Error::NoStorage { why },
            "timeout" => Error::Timeout { what: seen, after: std::time::Duration::ZERO, log: Vec::new() },
            _ => Error::Script { message: format!("{kind} {why}{reason}") },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn an_error_of_the_script_becomes_a_typed_error() {
        let answer = raw(r#"{"error":{"kind":"covered","preview":"<b>","blocker":"<div id=\"veil\">"}}"#);
        let error = read_answer::<u64>(&answer).unwrap_err();
        assert!(matches!(error, Error::Covered { blocker, .. } if blocker == r#"<div id="veil">"#));
    }

    #[test]
    fn a_result_is_typed() {
        assert_eq!(read_answer::<Vec<u64>>(&raw("[1,2]")).unwrap(), [1, 2]);
    }
}
