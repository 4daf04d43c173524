//! The pointer: where to put it, what is under it, and whether the press arrived where it should.
//!
//! One attempt: the script waits for the element's states, scrolls and finds a point that hits it → every ancestor
//! frame checks that the point also hits the frame → the pointer moves there → the script looks again (moving may
//! have changed the page) → press and release → a listener armed by the script has checked the first real event.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use surehand_cdp::protocol::{dom, input};

use crate::aftermath::Mark;
use crate::locate::{may_come, with_locator};
use crate::page::Page;
use crate::{Aftermath, BoxRect, Deadline, Error, FrameId, Handle, Locator, Result};

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
    /// Touch and let go, with a finger. Button and count mean nothing here.
    Tap(ClickOptions),
    /// Only move there. Only its position, modifiers, force and trial count.
    Hover(ClickOptions),
    /// Only bring it into view.
    Show,
    /// The same with the control that a label stands for.
    ShowControl,
}

impl Gesture {
    /// What the element must be.
    fn needs(&self) -> &'static [&'static str] {
        match self {
            Gesture::Click(_) | Gesture::Tap(_) | Gesture::Hover(_) if self.is_forced() => &[],
            Gesture::Click(_) | Gesture::Tap(_) => &["visible", "stable", "events", "enabled"],
            Gesture::Hover(_) => &["visible", "stable", "events"],
            Gesture::Show | Gesture::ShowControl => &["stable"],
        }
    }

    fn options(&self) -> Option<&ClickOptions> {
        match self {
            Gesture::Click(options) | Gesture::Tap(options) | Gesture::Hover(options) => Some(options),
            Gesture::Show | Gesture::ShowControl => None,
        }
    }

    fn is_forced(&self) -> bool {
        self.options().is_some_and(|options| options.force)
    }

    fn is_trial(&self) -> bool {
        self.options().is_some_and(|options| options.trial)
    }

    fn uses_mouse(&self) -> bool {
        matches!(self, Gesture::Click(_) | Gesture::Hover(_))
    }

    fn presses(&self) -> bool {
        matches!(self, Gesture::Click(_) | Gesture::Tap(_)) && !self.is_trial()
    }

    /// What something in the way would get instead.
    fn effect(&self) -> &'static str {
        match self {
            Gesture::Click(_) => "click",
            Gesture::Tap(_) => "tap",
            Gesture::Hover(_) | Gesture::Show | Gesture::ShowControl => "pointer",
        }
    }

    /// Whom a label stands for.
    fn retarget(&self) -> &'static str {
        match self {
            Gesture::ShowControl => "label",
            Gesture::Click(options) if options.through_label => "label",
            Gesture::Click(_) | Gesture::Tap(_) => "click",
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
    /// Where in the page the mouse went; `None` where it stayed out of it.
    pub at: Option<(f64, f64)>,
    /// What followed.
    pub after: Aftermath,
}

/// A point of a frame, and how far what is in view is from where that frame's coordinates begin.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spot {
    pub x: f64,
    pub y: f64,
    /// Only on a phone, or zoomed in, and only in the main frame.
    #[serde(default)]
    shift_x: f64,
    #[serde(default)]
    shift_y: f64,
}

impl Spot {
    /// Where the pointer is sent for it, if this is a point of the main frame.
    fn in_view(self) -> (f64, f64) {
        (self.x - self.shift_x, self.y - self.shift_y)
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Prepared {
    pub id: u64,
    #[serde(flatten)]
    pub spot: Spot,
    #[serde(default)]
    pub role: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub preview: String,
    /// Is it a link that is followed into a file?
    #[serde(default)]
    pub downloads: bool,
}

#[derive(Debug, Deserialize)]
struct Guarded {
    seen: u64,
    hit: bool,
    #[serde(default)]
    blocker: Option<String>,
    /// Is the page closing its own tab?
    #[serde(default)]
    closing: bool,
    /// Did the target slide away between press and release?
    #[serde(default)]
    missed: bool,
    /// Was it pressed without a click?
    #[serde(default)]
    unclicked: bool,
}

/// How a press that arrived ended.
#[derive(Debug, Clone, Copy, Default)]
struct Pressed {
    /// The page then closed its tab.
    closing: bool,
    /// No click came of it.
    unclicked: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Boxes {
    pub boxes: Vec<Option<BoxRect>>,
}

/// What is left of a box that is looked at from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Everything.
    Nothing,
    /// What the elements around it do not cut off.
    Holders,
    /// What of that is in view.
    View,
}

impl Cut {
    pub fn name(self) -> &'static str {
        match self {
            Cut::Nothing => "nothing",
            Cut::Holders => "holders",
            Cut::View => "view",
        }
    }
}

/// Pauses between attempts; the last one repeats until the deadline.
const RETRY_PAUSES: [u64; 5] = [0, 20, 100, 100, 500];

/// A tab that its page closes is gone soon.
const CLOSING: Duration = Duration::from_secs(1);

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
        let locator = &*self.pinned(locator, deadline).await?;
        let mut attempt = 0;
        let mut missed = false;
        let mut before = None;
        loop {
            let failure = match self.frame_to_act_in(locator, deadline).await {
                Ok(frame) => match self.try_gesture(&frame, locator, gesture, attempt, deadline).await {
                    Ok(acted) => return Ok(acted),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            let failure = would_get(gesture.effect(), with_locator(failure, locator));
            let failure = match (failure, before.take()) {
                // The deadline cut the last attempt short: what stood in the way before it is the reason.
                (Error::Unresponsive { .. }, Some(reason)) => return Err(reason),
                (failure, _) => failure,
            };
            let stale = locator.as_handle().is_some_and(|handle| !self.has(handle));
            match failure {
                Error::NavigatedAway { .. } if stale => {
                    return Err(Error::Stale { what: locator.to_string() });
                }
                // Pressed a second time, but not for ever: a page may mean to run away.
                Error::Missed { .. } if missed => return Err(failure),
                Error::Missed { .. } if !deadline.passed() => missed = true,
                Error::Covered { .. } | Error::OffView { .. } | Error::NavigatedAway { .. }
                    if !deadline.passed() && !gesture.is_forced() =>
                {
                    deadline.note(&failure);
                }
                // Replaced between the look and the press: its successor is meant.
                Error::Stale { .. } if may_come(locator, deadline) => deadline.note(&failure),
                Error::NotFound { .. } if may_come(locator, deadline) => {
                    self.wait_for_match(locator, deadline).await?;
                    continue;
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
        let position = gesture.options().and_then(|options| options.position);
        let argument = json!({
            "locator": locator,
            "need": gesture.needs(),
            "timeout": deadline.remaining_ms(),
            "retarget": gesture.retarget(),
            "scroll": "auto",
            "position": position.map(|(x, y)| json!({ "x": x, "y": y })),
            "guard": gesture.presses(),
            "force": gesture.is_forced(),
            "inView": gesture.is_forced() || matches!(gesture, Gesture::Show),
            "attempt": attempt,
        });
        let target: Prepared = self.script(frame, "prepare", &argument, &deadline.with_grace()).await?;
        let world = self.world(frame).await?;
        let mut before = self.mark();
        before.download_asked = target.downloads;
        let sent = self.send_gesture(frame, &target, gesture, attempt, deadline).await;
        let mut acted = Acted {
            handle: Handle { world: world.id, element: target.id },
            role: target.role.clone(),
            name: target.name.clone(),
            at: gesture.uses_mouse().then(|| self.lock().hands.at),
            after: Aftermath::default(),
        };
        let pressed = match sent {
            Ok(()) if gesture.presses() => {
                let pressed = self.confirm(frame, &target, &before, deadline).await?;
                if pressed.closing {
                    let _ = self.wait_closed(&deadline.at_most(CLOSING)).await;
                    acted.after.closed = true;
                    return Ok(acted);
                }
                pressed
            }
            Ok(()) => return Ok(acted),
            Err(Error::DialogOpen(dialog)) => {
                acted.after.dialog = Some(dialog);
                return Ok(acted);
            }
            Err(Error::TabClosed) => {
                acted.after.closed = true;
                return Ok(acted);
            }
            // A page that is stuck hears nothing; its guard ends by itself.
            Err(error @ Error::Unresponsive { .. }) => return Err(error),
            Err(error) => {
                self.disarm(frame, target.id, deadline).await;
                return Err(error);
            }
        };
        acted.after = self.settle(&before, deadline).await;
        // After a touch the browser may take its time with the click.
        acted.after.unclicked = pressed.unclicked && gesture.uses_mouse();
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
        let Some(options) = gesture.options() else {
            // Whatever covers it: that is still in view.
            return self.point_through_frames(frame, target.spot, attempt, true, deadline).await.map(drop);
        };
        let (x, y) = self.point_through_frames(frame, target.spot, attempt, options.force, deadline).await?;
        if options.trial {
            // Even a pointer that only moves would open menus.
            return Ok(());
        }
        if matches!(gesture, Gesture::Tap(_)) {
            return self.touch((x, y), options.modifiers, deadline).await;
        }
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
            let in_frame = self.lock().frames.get(frame).is_some_and(|frame| frame.parent.is_some());
            let Spot { x, y, .. } = target.spot;
            let look = json!({ "id": target.id, "x": x, "y": y, "inFrame": in_frame });
            let _: IgnoredAny = self.script(frame, "recheck", &look, &deadline.with_grace()).await?;
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

    /// Did the press arrive at the target? Tells what came of it.
    async fn confirm(
        &self,
        frame: &FrameId,
        target: &Prepared,
        before: &Mark,
        deadline: &Deadline,
    ) -> Result<Pressed> {
        let argument = json!({ "id": target.id, "x": target.spot.x, "y": target.spot.y });
        let grace = deadline.with_grace();
        let ended = tokio::select! {
            biased;
            ended = self.script::<Guarded>(frame, "guardEnd", &argument, &grace) => ended,
            // A page that is on its way to another one may not run its scripts any more.
            () = self.leaving(before) => return Ok(Pressed::default()),
        };
        let preview = || target.preview.clone();
        let covered = |blocker| Err(Error::Covered { preview: preview(), blocker, what: "click" });
        match ended {
            Ok(Guarded { hit: false, blocker: Some(blocker), .. }) => covered(blocker),
            Ok(Guarded { seen, hit: false, .. }) if seen > 0 => covered("something else".to_owned()),
            Ok(Guarded { missed: true, .. }) => Err(Error::Missed { preview: preview() }),
            // A press that leads away takes the listener with it; one that opens a dialog leaves it for later.
            Err(Error::NavigatedAway { .. } | Error::DialogOpen(_)) => Ok(Pressed::default()),
            Err(Error::TabClosed) => Ok(Pressed { closing: true, ..Pressed::default() }),
            Ok(Guarded { closing, unclicked, .. }) => Ok(Pressed { closing, unclicked }),
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

    /// A point in a frame, as the point where the pointer is sent, while every frame on the way up agrees that it is in view
    /// there and, unless forced, that nothing covers it.
    pub(crate) async fn point_through_frames(
        &self,
        frame: &FrameId,
        spot: Spot,
        attempt: usize,
        force: bool,
        deadline: &Deadline,
    ) -> Result<(f64, f64)> {
        let (mut frame, mut spot) = (frame.clone(), spot);
        while let Some((parent, owner)) = self.frame_owner(&frame, deadline).await? {
            let step =
                json!({ "id": owner.element, "x": spot.x, "y": spot.y, "attempt": attempt, "force": force });
            spot = self.script(&parent, "frameStep", &step, &deadline.with_grace()).await?;
            frame = parent;
        }
        Ok(spot.in_view())
    }

    /// Boxes in a frame, as boxes in the page; `None` for those of which the frames on the way up show nothing.
    pub(crate) async fn boxes_in_page(
        &self,
        frame: &FrameId,
        boxes: Vec<Option<BoxRect>>,
        cut: Cut,
        deadline: &Deadline,
    ) -> Result<Vec<Option<BoxRect>>> {
        let (mut frame, mut boxes) = (frame.clone(), Boxes { boxes });
        while let Some((parent, owner)) = self.frame_owner(&frame, deadline).await? {
            let step = json!({ "id": owner.element, "boxes": boxes.boxes, "cut": cut.name() });
            boxes = self.script(&parent, "boxesThroughFrame", &step, &deadline.with_grace()).await?;
            frame = parent;
        }
        Ok(boxes.boxes)
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
        let handle = self.handle_of_node(&session, world, owner.backend_node_id).await?;
        if let Some(frame) = self.lock().frames.get_mut(frame) {
            frame.owner = Some(handle);
        }
        Ok(handle)
    }
}

/// The script that finds something in the way does not know what is about to be done.
pub(crate) fn would_get(what: &'static str, error: Error) -> Error {
    match error {
        Error::Covered { preview, blocker, .. } => Error::Covered { preview, blocker, what },
        other => other,
    }
}
