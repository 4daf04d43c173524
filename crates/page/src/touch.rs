//! Fingers: tap and swipe, with real touch events.

use surehand_cdp::protocol::input;

use crate::page::Page;
use crate::pointer::{Acted, ClickOptions, Gesture};
use crate::{Deadline, Error, Locator, Result};

/// Pixels between two moves of a finger: few enough that pages see a movement, not a jump.
const STEP: f64 = 20.0;

impl Page {
    /// Taps an element with a finger, once it can be tapped.
    pub async fn tap(&self, locator: &Locator, options: &ClickOptions, deadline: &Deadline) -> Result<Acted> {
        self.point_at(locator, &Gesture::Tap(options.clone()), deadline).await
    }

    /// Moves a finger over the page, from the middle of an element or of what is in view.
    pub async fn swipe(&self, from: Option<&Locator>, by: (f64, f64), deadline: &Deadline) -> Result<()> {
        let (width, height) = self.view_size(deadline).await?;
        let start = match from {
            Some(locator) => self.point_of(locator, deadline).await?.at,
            None => (width / 2.0, height / 2.0),
        };
        // A finger cannot leave the screen.
        let end = ((start.0 + by.0).clamp(1.0, width - 1.0), (start.1 + by.1).clamp(1.0, height - 1.0));
        let (dx, dy) = (end.0 - start.0, end.1 - start.1);
        let steps = (dx.hypot(dy) / STEP).ceil().max(1.0);
        self.finger("touchStart", Some(start), 0, deadline).await?;
        let mut at = 1.0;
        while at <= steps {
            let point = (start.0 + dx * at / steps, start.1 + dy * at / steps);
            self.finger("touchMove", Some(point), 0, deadline).await?;
            at += 1.0;
        }
        self.finger("touchEnd", None, 0, deadline).await
    }

    /// A finger comes down at a point of the page and goes up again.
    pub(crate) async fn touch(&self, at: (f64, f64), modifiers: i64, deadline: &Deadline) -> Result<()> {
        let modifiers = modifiers | self.lock().hands.modifiers;
        self.finger("touchStart", Some(at), modifiers, deadline).await?;
        self.finger("touchEnd", None, modifiers, deadline).await
    }

    async fn finger(
        &self,
        kind: &str,
        at: Option<(f64, f64)>,
        modifiers: i64,
        deadline: &Deadline,
    ) -> Result<()> {
        let point = |(x, y)| input::TouchPoint { x, y, ..Default::default() };
        let event = input::DispatchTouchEvent {
            r#type: kind.to_owned(),
            touch_points: at.map(point).into_iter().collect(),
            modifiers: Some(modifiers),
            ..Default::default()
        };
        let sent = async { Ok(self.session().call(&event).await.map(drop)?) };
        match self.unless_blocked(deadline, sent).await {
            // The touch did what it should: the dialog is its effect.
            Err(Error::DialogOpen(_)) => Ok(()),
            other => other,
        }
    }
}
