//! What a verb is, and what is checked once for all of them.

use surehand_guard::SecretPlaces;
use surehand_session::Fault;

use crate::{Context, Flaw, Report};

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

/// What a client may want to know before it lets a model do something unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Changes nothing, here or in the page.
    pub read_only: bool,
    /// May destroy, overwrite or send something.
    pub destructive: bool,
    /// Twice is like once.
    pub idempotent: bool,
}

impl Hints {
    /// Looks only.
    pub const READS: Self = Self { read_only: true, destructive: false, idempotent: true };
    /// Acts on the page, or may: nobody knows what a button or a script does.
    pub const ACTS: Self = Self { read_only: false, destructive: true, idempotent: false };
    /// Leads to another page, or makes something new.
    pub const NAVIGATES: Self = Self { read_only: false, destructive: false, idempotent: false };
    /// Puts something into a state in which nothing is lost.
    pub const SETS: Self = Self { read_only: false, destructive: false, idempotent: true };
    /// Writes over, takes away or forgets something, once and for all.
    pub const REPLACES: Self = Self { read_only: false, destructive: true, idempotent: true };

    /// What follows from what a verb does to the world, where its file says nothing else.
    pub const fn of(effect: Effect) -> Self {
        match effect {
            Effect::Reads => Self::READS,
            Effect::Navigates => Self::NAVIGATES,
            // What manages may close, load or run anything.
            Effect::Acts | Effect::Manages => Self::ACTS,
        }
    }
}

/// One verb: its arguments are the type itself.
pub trait Verb: Sized {
    /// What it does to the world.
    const EFFECT: Effect;
    /// What a client is told about that, of the most that its arguments can ask for.
    const HINTS: Hints = Hints::of(Self::EFFECT);
    /// Can it not be done while a dialog is open in the tab?
    const BLOCKED_BY_DIALOG: bool = !matches!(Self::EFFECT, Effect::Manages);
    /// Is it written into the journal of the session? What only runs other verbs is not: those are.
    const NOTED: bool = true;
    /// Is what it returned kept there, too? What only looks returns much that nobody needs later.
    const RESULT_NOTED: bool = !matches!(Self::EFFECT, Effect::Reads);
    /// Where secrets may stand in its arguments.
    const SECRETS: SecretPlaces = &[];
    /// Where in its arguments paths of the caller's files stand, as JSON pointers: the journal has them as absolute ones.
    const PATHS: &'static [&'static str] = &[];
    /// What it returns.
    type Output: Report + 'static;
    /// Does it.
    fn run(self, cx: &Context) -> impl Future<Output = Result<Self::Output, Fault>> + Send;

    /// What is wrong with arguments of the right shape, and can be known before they are used. Selectors are looked at
    /// for all verbs.
    fn flaws(&self) -> Vec<Flaw> {
        Vec::new()
    }

    /// Is it a step of a recording? What only looks is done again by nobody.
    fn is_step(&self) -> bool {
        !matches!(Self::EFFECT, Effect::Reads)
    }

    /// Does it want what stands on standard input? A front that has one then calls [`Verb::take_stdin`].
    fn wants_stdin(&self) -> bool {
        false
    }

    /// Takes what stood on standard input.
    fn take_stdin(&mut self, _text: String) {}
}
