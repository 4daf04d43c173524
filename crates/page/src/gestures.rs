//! Gestures beside the click: hover, drag, scrolling, and the bare mouse.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use surehand_cdp::protocol::input;

use crate::page::Page;
use crate::pointer::{Acted, Button, ClickOptions, Gesture, would_get};
use crate::{Deadline, Error, FrameId, Locator, Result};

/// Where the pointer is and what is held down.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hands {
    pub at: (f64, f64),
    pub buttons: i64,
    pub modifiers: i64,
}

#[derive(Deserialize)]
struct DragBegan {
    started: bool,
}

#[derive(Deserialize)]
struct Dropped {
    taken: bool,
}

/// An element, and where in the page it can be met.
pub(crate) struct Met {
    pub frame: FrameId,
    pub at: (f64, f64),
    preview: String,
}

#[derive(Deserialize)]
struct Scrolled {
    moved: bool,
}

/// How often a page hears of what is held over it: browsers tell it about as often.
const DRAG_BEAT: Duration = Duration::from_millis(50);

impl Page {
    /// Moves the pointer over an element.
    pub async fn hover(
        &self,
        locator: &Locator,
        options: &ClickOptions,
        deadline: &Deadline,
    ) -> Result<Acted> {
        self.point_at(locator, &Gesture::Hover(options.clone()), deadline).await
    }

    /// Drags an element onto another: with the page's own drag and drop where it has one, else with the mouse.
    pub async fn drag(&self, from: &Locator, to: &Locator, deadline: &Deadline) -> Result<Acted> {
        let session = self.session();
        let intercept = |enabled| input::SetInterceptDrags { enabled };
        session.call(&intercept(true)).await?;
        let dragged = self.drag_intercepted(from, to, deadline).await;
        session.post(&intercept(false));
        dragged
    }

    async fn drag_intercepted(&self, from: &Locator, to: &Locator, deadline: &Deadline) -> Result<Acted> {
        self.lock().drag = None;
        let source = self.hover(from, &ClickOptions::default(), deadline).await?;
        let frame = self.frame_of(source.handle).ok_or_else(|| Error::Stale { what: from.to_string() })?;
        let before = self.mark();
        let _: IgnoredAny = self.script(&frame, "dragWatch", &json!({}), deadline).await?;
        let start = self.lock().hands.at;
        self.mouse_button("mousePressed", Button::Left, deadline).await?;
        let dropped = self.carry(&frame, start, to, deadline).await;
        if dropped.is_err() {
            self.give_up_drag(start, &deadline.with_grace()).await;
        }
        dropped?;
        Ok(Acted { after: self.settle(&before, deadline).await, ..source })
    }

    /// After a drag that came to nothing: the page hears its end, and nothing stays held down.
    async fn give_up_drag(&self, start: (f64, f64), deadline: &Deadline) {
        let begun = self.lock().drag.take();
        if let Some(data) = begun {
            // What went wrong before is what is told.
            let _ = self.drag_event("dragCancel", start, &data, deadline).await;
        }
        let _ = self.mouse_button("mouseReleased", Button::Left, deadline).await;
    }

    async fn drag_event(
        &self,
        kind: &str,
        (x, y): (f64, f64),
        data: &Value,
        deadline: &Deadline,
    ) -> Result<()> {
        let modifiers = self.lock().hands.modifiers;
        let event = json!({ "type": kind, "x": x, "y": y, "data": data, "modifiers": modifiers });
        let sent = self.session().call_raw::<IgnoredAny>("Input.dispatchDragEvent", &event);
        self.unless_blocked(deadline, async { Ok(sent.await.map(drop)?) }).await
    }

    /// With the button down: to the target, and let go there.
    async fn carry(
        &self,
        frame: &FrameId,
        start: (f64, f64),
        to: &Locator,
        deadline: &Deadline,
    ) -> Result<()> {
        // A drag begins only after some pixels.
        self.mouse_to(start.0 + 6.0, start.1 + 6.0, deadline).await?;
        let began: DragBegan = self.script(frame, "dragBegan", &json!({}), deadline).await?;
        if began.started {
            let data = self.until(deadline, "the drag to begin", |state| state.drag.clone()).await?;
            return self.drop_on(to, &data, deadline).await;
        }
        let (x, y) = self.point_of(to, deadline).await?.at;
        let middle = ((start.0 + x) / 2.0, (start.1 + y) / 2.0);
        self.mouse_to(middle.0, middle.1, deadline).await?;
        self.mouse_to(x, y, deadline).await?;
        self.mouse_button("mouseReleased", Button::Left, deadline).await
    }

    /// The page's own drag and drop: it decides whether the target takes what is dragged.
    async fn drop_on(&self, to: &Locator, data: &Value, deadline: &Deadline) -> Result<()> {
        let Met { frame, at, preview } = self.point_of(to, deadline).await?;
        let _: IgnoredAny = self.script(&frame, "dropWatch", &json!({}), deadline).await?;
        match self.offer_and_drop(&frame, at, data, deadline).await {
            // Who asks something when it gets what is dragged has taken it.
            Err(Error::DialogOpen(_)) => {}
            sent => sent?,
        }
        {
            // Taken or not, the drop has ended the drag.
            let mut state = self.lock();
            state.hands.buttons = 0;
            state.drag = None;
        }
        match self.script::<Dropped>(&frame, "dropTaken", &json!({}), &deadline.with_grace()).await {
            Ok(Dropped { taken: false }) => Err(Error::NotDropped { preview }),
            // A drop that leads away or asks something was taken.
            Ok(_) | Err(Error::NavigatedAway { .. } | Error::DialogOpen(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Holds what is dragged over the target until it is welcome there, as a hand does, and lets go.
    async fn offer_and_drop(
        &self,
        frame: &FrameId,
        at: (f64, f64),
        data: &Value,
        deadline: &Deadline,
    ) -> Result<()> {
        self.drag_event("dragEnter", at, data, deadline).await?;
        loop {
            self.drag_event("dragOver", at, data, &deadline.with_grace()).await?;
            let welcome =
                self.script::<Dropped>(frame, "dropWelcome", &json!({}), &deadline.with_grace()).await?;
            if welcome.taken || deadline.passed() {
                break;
            }
            tokio::time::sleep(DRAG_BEAT.min(deadline.remaining())).await;
        }
        self.drag_event("drop", at, data, &deadline.with_grace()).await
    }

    /// Where an element can be met, once it can, without moving there.
    pub(crate) async fn point_of(&self, locator: &Locator, deadline: &Deadline) -> Result<Met> {
        let argument = |timeout: u64| {
            json!({
                "need": ["visible", "stable", "events"], "timeout": timeout, "retarget": "none",
                "scroll": "auto",
            })
        };
        let met = async {
            let (frame, target): (_, crate::pointer::Prepared) =
                self.script_at(locator, "prepare", argument, deadline).await?;
            let at = self.point_through_frames(&frame, target.spot, 0, false, deadline).await?;
            Ok(Met { frame, at, preview: target.preview })
        };
        met.await.map_err(|error| would_get("pointer", error))
    }

    /// Moves the pointer to a point of the page, which must be in view.
    pub async fn mouse_to_point(&self, x: f64, y: f64, deadline: &Deadline) -> Result<()> {
        let view = self.layout(deadline).await?.css_visual_viewport;
        let (width, height) = (view.client_width, view.client_height);
        // Zoomed in, only a part of the page's own viewport is in view, and the pointer is told from its corner.
        let (left, top) = (x - view.offset_x, y - view.offset_y);
        if !(0.0..width).contains(&left) || !(0.0..height).contains(&top) {
            return Err(Error::OutOfView { x, y, width, height });
        }
        self.mouse_to(left, top, deadline).await
    }

    /// Moves the pointer.
    pub(crate) async fn mouse_to(&self, x: f64, y: f64, deadline: &Deadline) -> Result<()> {
        let hands = {
            let mut state = self.lock();
            state.hands.at = (x, y);
            state.hands
        };
        let button = if hands.buttons & 1 != 0 { "left" } else { "none" };
        self.mouse_event(&mouse("mouseMoved", button, 0, hands), deadline).await
    }

    /// Presses (`mousePressed`) or lets go (`mouseReleased`) a button where the pointer is.
    pub async fn mouse_button(&self, kind: &str, button: Button, deadline: &Deadline) -> Result<()> {
        let hands = {
            let mut state = self.lock();
            if kind == "mousePressed" {
                state.hands.buttons |= button.bit();
            } else {
                state.hands.buttons &= !button.bit();
            }
            state.hands
        };
        self.mouse_event(&mouse(kind, button.name(), 1, hands), deadline).await
    }

    /// Turns the wheel where the pointer is.
    pub async fn mouse_wheel(&self, dx: f64, dy: f64, deadline: &Deadline) -> Result<()> {
        let hands = self.lock().hands;
        let event = input::DispatchMouseEvent {
            delta_x: Some(dx),
            delta_y: Some(dy),
            ..mouse("mouseWheel", "none", 0, hands)
        };
        self.mouse_event(&event, deadline).await
    }

    async fn mouse_event(&self, event: &input::DispatchMouseEvent, deadline: &Deadline) -> Result<()> {
        let sent =
            self.unless_blocked(deadline, async { Ok(self.session().call(event).await.map(drop)?) }).await;
        match sent {
            // The event did what it should: the dialog is its effect.
            Err(Error::DialogOpen(_)) => Ok(()),
            other => other,
        }
    }

    /// Scrolls the page or an element by some pixels; false if it was at its end already.
    pub async fn scroll(
        &self,
        locator: Option<&Locator>,
        by: (f64, f64),
        deadline: &Deadline,
    ) -> Result<bool> {
        let argument = json!({ "x": by.0, "y": by.1 });
        let scrolled: Scrolled = match locator {
            Some(locator) => self.script_at(locator, "scrollBy", |_| argument.clone(), deadline).await?.1,
            None => {
                let frame = self.frames_to_search()?.into_iter().next().ok_or(Error::FrameGone)?;
                self.script(&frame, "scrollBy", &argument, deadline).await?
            }
        };
        Ok(scrolled.moved)
    }

    /// Scrolls until an element is in view.
    pub async fn scroll_into_view(&self, locator: &Locator, deadline: &Deadline) -> Result<Acted> {
        self.point_at(locator, &Gesture::Show, deadline).await
    }
}

fn mouse(kind: &str, button: &str, click_count: i64, hands: Hands) -> input::DispatchMouseEvent {
    input::DispatchMouseEvent {
        r#type: kind.to_owned(),
        x: hands.at.0,
        y: hands.at.1,
        button: Some(button.to_owned()),
        buttons: Some(hands.buttons),
        click_count: Some(click_count),
        modifiers: Some(hands.modifiers),
        force: (hands.buttons != 0).then_some(0.5),
        ..Default::default()
    }
}
