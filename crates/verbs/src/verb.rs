//! What a verb is, and what is checked once for all of them.

use surehand_session::Fault;

use crate::{Context, Report};

/// What a verb does to the world; policies and fronts decide by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Looks only.
    Reads,
    /// Acts on the page.
    Acts,
    /// Leads to another page.
    Navigates,
    /// Manages sessions, tabs, settings.
    Manages,
}

/// One verb: its arguments are the type itself.
pub trait Verb: Sized {
    /// What it does to the world.
    const EFFECT: Effect;
    /// Can it not be done while a dialog is open in the tab?
    const BLOCKED_BY_DIALOG: bool = !matches!(Self::EFFECT, Effect::Manages);
    /// What it returns.
    type Output: Report + 'static;
    /// Does it.
    fn run(self, cx: &Context) -> impl Future<Output = Result<Self::Output, Fault>> + Send;

    /// Does it want what stands on standard input? A front that has one then calls [`Verb::take_stdin`].
    fn wants_stdin(&self) -> bool {
        false
    }

    /// Takes what stood on standard input.
    fn take_stdin(&mut self, _text: String) {}
}
