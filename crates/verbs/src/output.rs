//! What a verb returns: text for people, JSON for programs.

use serde::Serialize;
use serde_json::value::RawValue;

/// A result. `Serialize` is its JSON; text is written here.
pub trait Report: Serialize + Send {
    /// For people; without a newline at the end.
    fn text(&self) -> String;

    /// An aside for people, such as how many other elements matched. Not part of the result.
    fn note(&self) -> Option<String> {
        None
    }

    /// Is this the report of a failure? Then it comes with the exit code of one.
    fn failed(&self) -> bool {
        false
    }
}

/// A [`Report`] whose type is forgotten.
pub trait Output: Send {
    /// For people.
    fn text(&self) -> String;
    /// An aside for people.
    fn note(&self) -> Option<String>;
    /// Is this the report of a failure?
    fn failed(&self) -> bool;
    /// For programs.
    fn json(&self) -> serde_json::Result<Box<RawValue>>;
}

impl<T: Report> Output for T {
    fn text(&self) -> String {
        Report::text(self)
    }

    fn note(&self) -> Option<String> {
        Report::note(self)
    }

    fn failed(&self) -> bool {
        Report::failed(self)
    }

    fn json(&self) -> serde_json::Result<Box<RawValue>> {
        serde_json::value::to_raw_value(self)
    }
}

/// `s` for all numbers but one.
pub(crate) fn plural(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
