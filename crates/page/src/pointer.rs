//! The pointer: where to put it, what is under it, and whether the press arrived where it should.
//!
//! One attempt: the script waits for the element's states, scrolls and finds a point that hits it → every ancestor
//! frame checks that the point also hits the frame → the pointer moves there → the script looks again (moving may
//! have changed the page) → press and release → a listener armed by the script has checked the first real event.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use surehand_cdp::protocol::{dom, input, runtime};

use crate::locate::with_locator;
use crate::page::Page;
use crate::{Deadline, Dialog, Error, FrameId, Handle, Locator, Result};

/// A button of the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Button {
    /// The usual one.
    #[default]
    Left,
    /// Opens context menus.
    Right,
    /// Opens links in new tabs.
    Middle,
}

impl Button {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Button::Left => "left",
            Button::Right => "right",
            Button::Middle => "middle",
        }
    }

    /// Its bit in `buttons`.
    pub(crate) fn bit(self) -> i64 {
        match self {
            Button::Left => 1,
            Button::Right => 2,
            Button::Middle => 4,
        }
    }
}

/// What is done with the pointer at an element.
#[derive(Debug, Clone)]
pub(crate) enum Gesture {
    /// Press and release.
    Click(ClickOptions),
    /// Only move there.
    Hover,
    /// Only bring it into view.
    Show,
}

impl Gesture {
    /// What the element must be.
    fn needs(&self) -> &'static [&'static str] {
        match self {
            Gesture::Click(options) if options.force => &[],
            Gesture::Click(_) => &["visible", "stable", "events", "enabled"],
            Gesture::Hover => &["visible", "stable", "events"],
            Gesture::Show => &["stable"],
        }
    }

    fn presses(&self) -> bool {
        matches!(self, Gesture::Click(options) if !options.trial)
    }

    /// Whom a label stands for.
    fn retarget(&self) -> &'static str {
        match self {
            Gesture::Click(options) if options.through_label => "label",
            Gesture::Click(_) => "click",
            _ => "none",
        }
    }
}

/// How to click.
#[derive(Debug, Clone, Default)]
pub struct ClickOptions {
    /// With which button.
    pub button: Button,
    /// How many times: 2 is a double click. Zero counts as one.
    pub count: u8,
    /// Modifier keys to hold: the protocol's bits.
    pub modifiers: i64,
    /// Where in the element, from its top left corner; `None` for its middle.
    pub position: Option<(f64, f64)>,
    /// Without waiting for the element to be ready.
    pub force: bool,
    /// Only wait until it could be clicked.
    pub trial: bool,
    /// A label stands for its control.
    pub through_label: bool,
}

/// What an action hit and what followed.
#[derive(Debug, Clone)]
pub struct Acted {
    /// The element.
    pub handle: Handle,
    /// Its role.
    pub role: String,
    /// Its accessible name.
    pub name: String,
    /// The new address, if the action led to one.
    pub navigated: Option<String>,
    /// A dialog that the action opened and that waits for an answer.
    pub dialog: Option<Dialog>,
    /// Did the tab close?
    pub closed: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Prepared {
    pub id: u64,
    pub x: f64,
    pub y: f64,
    #[serde(default)]
    pub role: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub preview: String,
}

#[derive(Debug, Deserialize)]
struct Guarded {
    seen: u64,
    hit: bool,
    #[serde(default)]
    blocker: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

/// Pauses between attempts; the last one repeats until the deadline.
const RETRY_PAUSES: [u64; 5] = [0, 20, 100, 100, 500];

impl Page {
    /// Clicks an element, once it can be clicked.
    pub async fn click(
        &self,
        locator: &Locator,
        options: &ClickOptions,
        deadline: &Deadline,
    ) -> Result<Acted> {
        self.point_at(locator, &Gesture::Click(options.clone()), deadline).await
    }

    /// Does something with the pointer at an element, once it is ready for that.
    pub(crate) async fn point_at(
        &self,
        locator: &Locator,
        gesture: &Gesture,
        deadline: &Deadline,
    ) -> Result<Acted> {
        let mut attempt = 0;
        let mut before = None;
        loop {
            let failure = match self.frame_to_act_in(locator, deadline).await {
                Ok(frame) => match self.try_gesture(&frame, locator, gesture, attempt, deadline).await {
                    Ok(acted) => return Ok(acted),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            let failure = match (with_locator(failure, locator), before.take()) {
                // The deadline cut the last attempt short: what stood in the way before it is the reason.
                (Error::Unresponsive { .. }, Some(reason)) => return Err(reason),
                (failure, _) => failure,
            };
            let stale = locator.as_handle().is_some_and(|handle| !self.has(handle));
            match failure {
                Error::NavigatedAway { .. } if stale => {
                    return Err(Error::Stale { what: locator.to_string() });
                }
                Error::Covered { .. } | Error::NavigatedAway { .. } if !deadline.passed() => {
                    deadline.note(&failure);
                }
                _ => return Err(failure),
            }
            before = Some(failure);
            self.pause(attempt, deadline).await;
            attempt += 1;
        }
    }

    /// Waits a little before another attempt, never past the deadline.
    async fn pause(&self, attempt: usize, deadline: &Deadline) {
        let pause = RETRY_PAUSES.get(attempt).or(RETRY_PAUSES.last()).copied().unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(pause).min(deadline.remaining())).await;
    }

    async fn try_gesture(
        &self,
        frame: &FrameId,
        locator: &Locator,
        gesture: &Gesture,
        attempt: usize,
        deadline: &Deadline,
    ) -> Result<Acted> {
        let position = match gesture {
            Gesture::Click(ClickOptions { position: Some((x, y)), .. }) => json!({ "x": x, "y": y }),
            _ => json!(null),
        };
        let argument = json!({
            "locator": locator,
            "need": gesture.needs(),
            "timeout": deadline.remaining_ms(),
            "retarget": gesture.retarget(),
            "scroll": "auto",
            "position": position,
            "guard": gesture.presses(),
            "attempt": attempt,
        });
        let target: Prepared = self.script(frame, "prepare", &argument, &deadline.with_grace()).await?;
        let world = self.world(frame).await?;
        let before = self.navigation_mark();
        let sent = self.send_gesture(frame, &target, gesture, attempt, deadline).await;
        let mut acted = Acted {
            handle: Handle { world: world.id, element: target.id },
            role: target.role,
            name: target.name,
            navigated: None,
            dialog: None,
            closed: false,
        };
        match sent {
            Ok(()) if gesture.presses() => self.confirm(frame, target.id, &target.preview, deadline).await?,
            Ok(()) => return Ok(acted),
            Err(Error::DialogOpen(dialog)) => {
                acted.dialog = Some(dialog);
                return Ok(acted);
            }
            Err(Error::TabClosed) => {
                acted.closed = true;
                return Ok(acted);
            }
            Err(error) => {
                self.disarm(frame, target.id, deadline).await;
                return Err(error);
            }
        }
        acted.navigated = self.settle(&before, deadline).await;
        acted.dialog = self.dialog();
        Ok(acted)
    }

    /// Moves the pointer to the target, looks again, presses and releases.
    async fn send_gesture(
        &self,
        frame: &FrameId,
        target: &Prepared,
        gesture: &Gesture,
        attempt: usize,
        deadline: &Deadline,
    ) -> Result<()> {
        if matches!(gesture, Gesture::Show) {
            return Ok(());
        }
        let default = ClickOptions::default();
        let options = if let Gesture::Click(options) = gesture { options } else { &default };
        let (x, y) = self.point_through_frames(frame, (target.x, target.y), attempt, deadline).await?;
        let modifiers = {
            let mut state = self.lock();
            state.hands.at = (x, y);
            state.hands.modifiers | options.modifiers
        };
        let event = |kind: &str, buttons: i64, count: i64| input::DispatchMouseEvent {
            r#type: kind.to_owned(),
            x,
            y,
            button: Some(if kind == "mouseMoved" { "none" } else { options.button.name() }.to_owned()),
            buttons: Some(buttons),
            click_count: Some(count),
            modifiers: Some(modifiers),
            // What a mouse reports while a button is down; without it the page would see a pen that does not touch.
            force: (buttons != 0).then_some(0.5),
            ..Default::default()
        };
        let session = self.session();
        let bit = options.button.bit();
        self.unless_blocked(deadline, async { Ok(session.call(&event("mouseMoved", 0, 0)).await?) }).await?;
        if !options.force {
            let look = json!({ "id": target.id, "x": target.x, "y": target.y });
            let _: IgnoredAny = self.script(frame, "recheck", &look, deadline).await?;
        }
        if !gesture.presses() {
            return Ok(());
        }
        self.unless_blocked(deadline, async {
            // Sent together: the browser keeps their order, and nothing can come between them.
            let calls: Vec<_> = (1..=i64::from(options.count.max(1)))
                .flat_map(|count| [event("mousePressed", bit, count), event("mouseReleased", 0, count)])
                .map(|event| session.call(&event))
                .collect();
            for call in calls {
                call.await?;
            }
            Ok(())
        })
        .await
    }

    /// Did the press arrive at the target?
    async fn confirm(&self, frame: &FrameId, id: u64, preview: &str, deadline: &Deadline) -> Result<()> {
        let ended =
            self.script::<Guarded>(frame, "guardEnd", &json!({ "id": id }), &deadline.with_grace()).await;
        match ended {
            Ok(Guarded { seen, hit: false, blocker }) if seen > 0 => Err(Error::Covered {
                preview: preview.to_owned(),
                blocker: blocker.unwrap_or_else(|| "something else".to_owned()),
            }),
            // A press that leads away takes the listener with it; one that opens a dialog leaves it for later.
            Ok(_) | Err(Error::NavigatedAway { .. } | Error::DialogOpen(_) | Error::TabClosed) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn disarm(&self, frame: &FrameId, id: u64, deadline: &Deadline) {
        let ended =
            self.script::<IgnoredAny>(frame, "guardEnd", &json!({ "id": id }), &deadline.with_grace()).await;
        if let Err(error) = ended {
            tracing::debug!("the guard went with its page: {error}");
        }
    }

    /// A point in a frame, as a point in the page, while every frame on the way up agrees that nothing covers it.
    async fn point_through_frames(
        &self,
        frame: &FrameId,
        point: (f64, f64),
        attempt: usize,
        deadline: &Deadline,
    ) -> Result<(f64, f64)> {
        let step = |id: u64, (x, y): (f64, f64)| json!({ "id": id, "x": x, "y": y, "attempt": attempt, "scroll": true });
        self.climb(frame, point, step, deadline).await
    }

    /// The same without a look at what covers it.
    pub(crate) async fn point_in_page(
        &self,
        frame: &FrameId,
        point: (f64, f64),
        deadline: &Deadline,
    ) -> Result<(f64, f64)> {
        let step = |id: u64, (x, y): (f64, f64)| json!({ "id": id, "x": x, "y": y, "check": false });
        self.climb(frame, point, step, deadline).await
    }

    async fn climb(
        &self,
        frame: &FrameId,
        point: (f64, f64),
        step: impl Fn(u64, (f64, f64)) -> serde_json::Value,
        deadline: &Deadline,
    ) -> Result<(f64, f64)> {
        let (mut frame, mut point) = (frame.clone(), point);
        while let Some((parent, owner)) = self.frame_owner(&frame, deadline).await? {
            let next: Point =
                self.script(&parent, "frameStep", &step(owner.element, point), deadline).await?;
            point = (next.x, next.y);
            frame = parent;
        }
        Ok(point)
    }

    /// The parent frame and the `<iframe>` element in it; `None` for the main frame.
    pub(crate) async fn frame_owner(
        &self,
        frame: &FrameId,
        deadline: &Deadline,
    ) -> Result<Option<(FrameId, Handle)>> {
        let parent = self.lock().frames.get(frame).and_then(|frame| frame.parent.clone());
        let Some(parent) = parent else { return Ok(None) };
        let handle = self.unless_blocked(deadline, self.learn_owner(frame, &parent)).await?;
        Ok(Some((parent, handle)))
    }

    async fn learn_owner(&self, frame: &FrameId, parent: &FrameId) -> Result<Handle> {
        let world = self.world(parent).await?;
        let known = self.lock().frames.get(frame).and_then(|frame| frame.owner);
        if let Some(owner) = known.filter(|owner| owner.world == world.id) {
            return Ok(owner);
        }
        let gone = || Error::NavigatedAway { what: "a frame was looked up".to_owned() };
        let session = self.frame_session(parent).ok_or_else(gone)?;
        let owner = session.call(&dom::GetFrameOwner { frame_id: frame.to_string() }).await?;
        let resolve = dom::ResolveNode {
            backend_node_id: Some(owner.backend_node_id),
            execution_context_id: Some(world.context),
            ..Default::default()
        };
        let object = session.call(&resolve).await?.object;
        let id_of = runtime::CallFunctionOn {
            function_declaration: "function(){ return surehand.idOfElement(this) }".to_owned(),
            object_id: object.object_id,
            return_by_value: Some(true),
            ..Default::default()
        };
        let answer = session.call(&id_of).await?.result.value.unwrap_or_default();
        let element = serde_json::from_str(answer.get()).map_err(|_| gone())?;
        let handle = Handle { world: world.id, element };
        if let Some(frame) = self.lock().frames.get_mut(frame) {
            frame.owner = Some(handle);
        }
        Ok(handle)
    }
}
