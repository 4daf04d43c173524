//! Gestures beside the click: hover, drag, scrolling, and the bare mouse.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use surehand_cdp::protocol::input;

use crate::locate::with_locator;
use crate::page::Page;
use crate::pointer::{Acted, Button, Gesture};
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
struct Scrolled {
    moved: bool,
}

impl Page {
    /// Moves the pointer over an element.
    pub async fn hover(&self, locator: &Locator, deadline: &Deadline) -> Result<Acted> {
        self.point_at(locator, &Gesture::Hover, deadline).await
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
        let source = self.hover(from, deadline).await?;
        let frame = self.frame_of(source.handle).ok_or_else(|| Error::Stale { what: from.to_string() })?;
        let before = self.navigation_mark();
        let _: IgnoredAny = self.script(&frame, "dragWatch", &json!({}), deadline).await?;
        let start = self.lock().hands.at;
        self.mouse_button("mousePressed", Button::Left, deadline).await?;
        let dropped = self.carry(&frame, start, to, deadline).await;
        if dropped.is_err() {
            // Nothing may stay held down.
            let _ = self.mouse_button("mouseReleased", Button::Left, deadline).await;
        }
        dropped?;
        let navigated = self.settle(&before, deadline).await;
        Ok(Acted { navigated, dialog: self.dialog(), ..source })
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
            let (x, y) = self.point_of(to, deadline).await?;
            for kind in ["dragEnter", "dragOver", "drop"] {
                let event = json!({ "type": kind, "x": x, "y": y, "data": data, "modifiers": self.lock().hands.modifiers });
                self.session().call_raw::<IgnoredAny>("Input.dispatchDragEvent", &event).await?;
            }
            self.lock().hands.buttons = 0;
            return Ok(());
        }
        let (x, y) = self.point_of(to, deadline).await?;
        let middle = ((start.0 + x) / 2.0, (start.1 + y) / 2.0);
        self.mouse_to(middle.0, middle.1, deadline).await?;
        self.mouse_to(x, y, deadline).await?;
        self.mouse_button("mouseReleased", Button::Left, deadline).await
    }

    /// Where an element can be met, without moving there.
    async fn point_of(&self, locator: &Locator, deadline: &Deadline) -> Result<(f64, f64)> {
        let frame = self.frame_to_act_in(locator, deadline).await?;
        let argument = json!({
            "locator": locator, "need": ["visible"], "timeout": deadline.remaining_ms(), "retarget": "none",
            "scroll": "auto",
        });
        let target: crate::pointer::Prepared = self
            .script(&frame, "prepare", &argument, &deadline.with_grace())
            .await
            .map_err(|error| with_locator(error, locator))?;
        self.point_in_page(&frame, (target.x, target.y), deadline).await
    }

    /// Moves the pointer to a point of the page.
    pub async fn mouse_to(&self, x: f64, y: f64, deadline: &Deadline) -> Result<()> {
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
        let frame = match locator {
            Some(locator) => self.frame_to_act_in(locator, deadline).await?,
            None => self.frames_to_search()?.into_iter().next().ok_or(Error::FrameGone)?,
        };
        let argument = json!({ "locator": locator, "x": by.0, "y": by.1 });
        let scrolled: Result<Scrolled> = self.script(&frame, "scrollBy", &argument, deadline).await;
        match (scrolled, locator) {
            (Err(error), Some(locator)) => Err(with_locator(error, locator)),
            (scrolled, _) => Ok(scrolled?.moved),
        }
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
