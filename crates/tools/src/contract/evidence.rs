//! What contracts are judged by, whoever has it: a tab, or a caller that looked before.

use std::borrow::Cow;

use super::{Since, Unit};

/// What is known, or why it is not.
pub type Known<T> = Result<T, Unknown>;

/// Why something cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unknown {
    /// For a person.
    pub reason: String,
    /// The field of the assertion that is to blame, if it is one: waiting does not help then.
    pub field: Option<&'static str>,
}

impl Unknown {
    /// It cannot be known now.
    pub fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), field: None }
    }

    /// The contract asks for something that there is not.
    pub fn wrong(field: &'static str, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), field: Some(field) }
    }
}

/// The text of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// As a person sees it.
    pub text: String,
    /// How many elements matched, where that is known.
    pub matches: Option<usize>,
}

/// Entries of a log, and whether that is all of them.
#[derive(Debug, Clone)]
pub struct Entries<T> {
    /// Oldest first.
    pub entries: Vec<T>,
    /// How many older ones were dropped.
    pub dropped: u64,
    /// Of this many last milliseconds nothing was dropped.
    pub complete_ms: f64,
}

impl<T> Entries<T> {
    /// Entries that are all there are.
    pub fn all(entries: Vec<T>) -> Self {
        Self { entries, dropped: 0, complete_ms: f64::INFINITY }
    }
}

/// A request.
#[derive(Debug, Clone)]
pub struct Sent {
    /// Where to.
    pub url: String,
    /// What was answered; `None` while there is no answer, or when it failed.
    pub status: Option<i64>,
}

/// A console message or an uncaught exception.
#[derive(Debug, Clone)]
pub struct Said {
    /// `log`, `warning`, `error` …
    pub kind: String,
    /// What it says.
    pub text: String,
    /// An exception that nobody caught?
    pub uncaught: bool,
    /// How old it is, where that is known.
    pub age_ms: Option<f64>,
}

/// A measured number.
#[derive(Debug, Clone)]
pub struct Measured {
    /// In the unit that was asked for.
    pub observed: super::dsl::Observed,
    /// How old it is, where that is known.
    pub age_ms: Option<f64>,
}

/// The reference pictures of a class.
#[derive(Debug, Clone)]
pub struct Exemplar {
    /// The file.
    pub name: String,
    /// Its hash.
    pub hash: u64,
}

/// Where evidence comes from. Every question is asked when it is judged, not before.
pub trait Evidence: Sync {
    /// A text as it may be shown, before it is cut. It is judged as it is.
    fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(text)
    }
    /// The address of the page.
    fn url(&self) -> impl Future<Output = Known<String>> + Send;
    /// The text of the first visible match, else of the first; `None` when nothing matches.
    fn text(&self, selector: &str) -> impl Future<Output = Known<Option<Text>>> + Send;
    /// How many elements match.
    fn count(&self, selector: &str) -> impl Future<Output = Known<u64>> + Send;
    /// Requests.
    fn requests(&self, since: Since) -> impl Future<Output = Known<Entries<Sent>>> + Send;
    /// The dialog that is open, in words; `None` when there is none.
    fn dialog(&self) -> impl Future<Output = Known<Option<String>>> + Send;
    /// Console messages and uncaught exceptions.
    fn console(&self) -> impl Future<Output = Known<Entries<Said>>> + Send;
    /// A measured number, in a unit.
    fn metric(&self, metric: &str, unit: Unit) -> impl Future<Output = Known<Measured>> + Send;
    /// The bytes of a PNG file.
    fn picture(&self) -> impl Future<Output = Known<Vec<u8>>> + Send;
    /// The reference pictures of a class; never empty.
    fn class(&self, class_id: &str) -> impl Future<Output = Known<Vec<Exemplar>>> + Send;
}
