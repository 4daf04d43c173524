//! Secrets that an agent may use but not see: a file of them, `${SECRET:NAME}` in arguments, and the way back, by which
//! every value that goes out becomes its placeholder again.
//!
//! No engine and no files here: text in, text out.

mod dotenv;
mod forms;
mod places;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::name;
use forms::{Forms, Found};
pub use places::{ResolveError, SecretPlaces, Writing, misplaced};

/// What a placeholder begins with; it ends with `}`.
const OPENING: &str = "${SECRET:";

/// What placeholders begin with that stand for a value in what went out.
const OPENINGS: [&str; 2] = [OPENING, crate::vault::OPENING];

/// How a placeholder is written in place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// `${SECRET:NAME}`, as tools and playbooks know it.
    Secret,
    /// `${vault:NAME}`, as packs know it.
    Vault,
}

impl Spelling {
    fn placeholder(self, name: &str) -> String {
        let opening = match self {
            Self::Secret => OPENING,
            Self::Vault => crate::vault::OPENING,
        };
        format!("{opening}{name}}}")
    }
}

/// See the module. Cheap to clone. `Debug` shows names only.
#[derive(Clone, Default)]
pub struct Secrets {
    entries: Arc<[Entry]>,
    forms: Arc<Forms>,
    /// Of these also short beginnings are masked.
    wary: Vec<usize>,
}

#[derive(Clone)]
struct Entry {
    /// Where it stands in its file.
    line: usize,
    name: String,
    value: String,
    /// What stands in its place in what goes out.
    shown: String,
}

impl Entry {
    fn new(line: usize, name: String, value: String) -> Self {
        Self { line, shown: placeholder(&name), name, value }
    }
}

/// Why a file of secrets cannot be used. None of these shows the line or a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretsError {
    /// No `=`.
    #[error("line {0}: this is not KEY=value")]
    NotAnAssignment(usize),
    /// A name that is none.
    #[error("line {0}: a name is letters, digits, _, . and -, and may have a #field behind it")]
    BadName(usize),
    /// A quote without its end.
    #[error("line {0}: the quote is not closed")]
    OpenQuote(usize),
    /// Something behind the closing quote.
    #[error("line {0}: only a comment may follow the closing quote")]
    AfterQuote(usize),
    /// Too short to be told from other text.
    #[error("line {0}: the value is shorter than {MIN} characters and could not be masked", MIN = Secrets::SHORTEST)]
    TooShort(usize),
    /// A name that was given before.
    #[error("line {0}: the name was given before")]
    Twice(usize),
    /// More than anybody needs.
    #[error("line {0}: there are more than {MAX} secrets", MAX = Secrets::MOST)]
    TooMany(usize),
    /// The placeholder of a secret would show it.
    #[error("line {0}: the value is part of a placeholder and could not be masked; choose another name")]
    InPlaceholder(usize),
}

impl Secrets {
    /// As many secrets as there may be.
    pub const MOST: usize = 100;
    /// As few characters as a value may have.
    pub const SHORTEST: usize = 4;

    /// Reads `KEY=value` lines: comments with `#`, optional quotes, nothing is interpolated.
    pub fn parse(text: &str) -> Result<Self, SecretsError> {
        Self::build(dotenv::entries(text)?)
    }

    fn build(entries: Vec<Entry>) -> Result<Self, SecretsError> {
        if let Some(more) = entries.get(Self::MOST) {
            return Err(SecretsError::TooMany(more.line));
        }
        let forms = Self::forms(&entries)?;
        for entry in &entries {
            let found = forms.find(&entry.shown, &[]);
            if let Some(shown) = found.iter().find(|found| found.whole) {
                return Err(SecretsError::InPlaceholder(entries[shown.of].line));
            }
        }
        Ok(Self { entries: entries.into(), forms: Arc::new(forms), wary: Vec::new() })
    }

    fn forms(entries: &[Entry]) -> Result<Forms, SecretsError> {
        let is_short = |entry: &Entry| entry.value.chars().count() < Self::SHORTEST;
        if let Some(short) = entries.iter().find(|one| is_short(one) && !name::may_be_short(&one.name)) {
            return Err(SecretsError::TooShort(short.line));
        }
        // What is short and no secret could not be told from other text.
        let masked = entries.iter().enumerate().filter(|(_, entry)| !is_short(entry));
        Ok(Forms::of(masked.map(|(index, entry)| (index, entry.value.as_str()))))
    }

    /// Nobody could choose other names now, so a placeholder that would show a value becomes a word that does not.
    fn settled(mut entries: Vec<Entry>) -> Result<Self, SecretsError> {
        const WORDS: [&str; 3] = ["[secret]", "[***]", "•••"];
        let forms = Self::forms(&entries)?;
        let shows = |text: &str| forms.find(text, &[]).iter().any(|found| found.whole);
        for entry in entries.iter_mut().filter(|entry| shows(&entry.shown)) {
            let word = WORDS.into_iter().find(|word| !shows(word));
            entry.shown = word.unwrap_or_default().to_owned();
        }
        Ok(Self { entries: entries.into(), forms: Arc::new(forms), wary: Vec::new() })
    }

    /// Values that a call put in, to be masked as after [`resolve`](Self::resolve). The same once more changes nothing.
    pub fn for_masking(
        pairs: impl IntoIterator<Item = (String, String)>,
        spelling: Spelling,
    ) -> Result<Self, SecretsError> {
        let mut entries: Vec<Entry> = Vec::new();
        for (name, value) in pairs {
            if !entries.iter().any(|entry| entry.name == name && entry.value == value) {
                let shown = spelling.placeholder(&name);
                entries.push(Entry { shown, ..Entry::new(entries.len() + 1, name, value) });
            }
        }
        let wary = (0..entries.len()).collect();
        Ok(Self { wary, ..Self::settled(entries)? })
    }

    /// The same with one more, which stands before one of the same name.
    pub fn with(&self, name: &str, value: &str) -> Result<Self, SecretsError> {
        let more = Entry::new(self.entries.len() + 1, name.to_owned(), value.to_owned());
        Self::settled(std::iter::once(more).chain(self.entries.iter().cloned()).collect())
    }

    /// The names of all `${SECRET:NAME}` in the arguments of a tool, each once, whether there are such secrets or not.
    pub fn named_in(arguments: &Value) -> Vec<String> {
        places::named(arguments)
    }

    /// Names and values, for the process that runs the tools: what it cuts it must mask before.
    pub fn reveal(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|entry| (entry.name.as_str(), entry.value.as_str()))
    }

    /// What [`reveal`](Self::reveal) gave.
    pub fn revealed(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, SecretsError> {
        let entry = |(index, (name, value))| Entry::new(index + 1, name, value);
        Self::settled(pairs.into_iter().enumerate().map(entry).collect())
    }

    /// These, and of the others those that are new.
    pub fn and(&self, others: &Self) -> Result<Self, SecretsError> {
        let is_new = |entry: &&Entry| {
            self.entries.iter().all(|own| own.name != entry.name || own.value != entry.value)
        };
        Self::build(self.entries.iter().chain(others.entries.iter().filter(is_new)).cloned().collect())
    }

    /// Only those that were put into the arguments from which [`resolve`](Self::resolve) made this.
    pub fn used(&self) -> Result<Self, SecretsError> {
        Self::build(self.wary.iter().filter_map(|index| self.entries.get(*index)).cloned().collect())
    }

    /// What they are called, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Puts values in place of placeholders in the arguments of a tool, at the places for them; anywhere else a
    /// placeholder is an error. What was put in is not looked at again.
    ///
    /// What comes back is to be masked with the result: a field may take a part of a value only, and an error then quotes
    /// what it took.
    pub fn resolve(
        &self,
        tool: &str,
        places: SecretPlaces,
        arguments: &mut Value,
    ) -> Result<Self, ResolveError> {
        let used = places::resolve(self, tool, places, arguments)?;
        let wary = (0..self.entries.len()).filter(|index| used.contains(&self.entries[*index].name));
        Ok(Self { wary: wary.collect(), ..self.clone() })
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.entries.iter().find(|entry| entry.name == name).map(|entry| entry.value.as_str())
    }

    /// The text with a placeholder instead of every value, in whatever form it stands there.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.mask_where(text, |_| true)
    }

    /// The same, but a value that is cut off stays: who wrote only a part of it may be guessing.
    pub fn mask_whole<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.mask_where(text, |found| found.whole)
    }

    fn mask_where<'a>(&self, text: &'a str, counts: impl Fn(&Found) -> bool) -> Cow<'a, str> {
        if self.entries.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut found = self.forms.find(text, &self.wary);
        found.retain(counts);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        // What touches a placeholder is no value: it must not be masked again.
        let placeholders = self.placeholders(text);
        found.retain(|one| {
            let next = placeholders.partition_point(|at| at.end <= one.start);
            placeholders.get(next).is_none_or(|at| one.end <= at.start)
        });
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_by_key(|one| (one.start, Reverse(one.end)));
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        let mut last = None;
        for one in found {
            // Values may overlap: each part that is not covered yet adds its placeholder, so that no rest of one stays.
            let touches = last.is_some() && one.start < copied;
            if touches && (one.end <= copied || last == Some(one.of)) {
                copied = copied.max(one.end);
                continue;
            }
            out.push_str(&text[copied.min(one.start)..one.start]);
            out.push_str(&self.entries[one.of].shown);
            copied = copied.max(one.end);
            last = Some(one.of);
        }
        out.push_str(&text[copied..]);
        Cow::Owned(out)
    }

    /// The same for text that may be JSON: what was JSON stays JSON, also where a number was a secret.
    pub fn mask_document<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let masked = self.mask(text);
        if matches!(masked, Cow::Borrowed(_)) || serde_json::from_str::<Value>(&masked).is_ok() {
            return masked;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(mut value) => {
                self.mask_value(&mut value);
                Cow::Owned(value.to_string())
            }
            Err(_) => masked,
        }
    }

    /// The same for every text, name and number of a value.
    pub fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Number(number) => {
                if let Cow::Owned(masked) = self.mask(&number.to_string()) {
                    *value = Value::String(masked);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.mask_value(value)),
            Value::Object(members) => {
                members.values_mut().for_each(|value| self.mask_value(value));
                if members.keys().any(|name| matches!(self.mask(name), Cow::Owned(_))) {
                    let masked = std::mem::take(members).into_iter();
                    *members = masked
                        .map(|(name, value)| (self.mask(&name).into_owned(), value))
                        .collect::<Map<_, _>>();
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Where placeholders of known secrets stand, in order.
    fn placeholders(&self, text: &str) -> Vec<Range<usize>> {
        let openings = OPENINGS.iter().flat_map(|opening| text.match_indices(opening));
        let known = openings.filter_map(|(at, opening)| {
            // Only names are looked for: without this, many openings and no end would take quadratic time.
            let inside = &text.as_bytes()[at + opening.len()..];
            let is_it = |entry: &&Entry| {
                inside.strip_prefix(entry.name.as_bytes()).is_some_and(|rest| rest.starts_with(b"}"))
            };
            let name = &self.entries.iter().find(is_it)?.name;
            Some(at..at + opening.len() + name.len() + 1)
        });
        let mut known: Vec<Range<usize>> = known.collect();
        known.sort_by_key(|place| place.start);
        known
    }
}

fn placeholder(name: &str) -> String {
    Spelling::Secret.placeholder(name)
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests;
