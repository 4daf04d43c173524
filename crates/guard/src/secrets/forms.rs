//! Finding a value in a text in any form in which it may stand there: plain, escaped for JSON or JavaScript to any depth,
//! for HTML, for addresses, in hexadecimal digits, as base64 at any alignment, also of what was encoded before, and cut off.
//!
//! Each character may stand in another form, so there is no list of spellings that one could miss: a value is followed
//! through the text character by character, with all places where its next character may begin.

mod characters;
mod spellings;

use characters::{MOST_BACKSLASHES, after_line_break, ends, is_ellipsis};

/// A value, found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub start: usize,
    pub end: usize,
    /// Which value.
    pub of: usize,
    /// All of it, or cut off?
    pub whole: bool,
}

/// See the module.
#[derive(Clone)]
pub(super) struct Forms {
    patterns: Vec<Pattern>,
    /// For each byte the patterns that may begin with it.
    by_first: Vec<Vec<usize>>,
}

#[derive(Clone)]
struct Pattern {
    of: usize,
    characters: Vec<char>,
    base64: Option<Edges>,
    /// Cut off without an ellipsis it is known by as many characters.
    least_bare: usize,
}

/// How many digits before and behind also carry bits of the value.
#[derive(Clone, Copy)]
struct Edges {
    before: usize,
    behind: usize,
}

impl Edges {
    /// Digits that share no bits with their neighbours.
    const NONE: Self = Self { before: 0, behind: 0 };
}

/// A value that was cut off with an ellipsis is known by as many characters.
const LEAST_CUT: usize = 4;

/// One that was cut off without a sign needs as many, and three quarters of it: `password` is not the beginning of a secret.
const LEAST_BARE: usize = 8;

impl Default for Forms {
    fn default() -> Self {
        Self::of(std::iter::empty::<(usize, &str)>())
    }
}

impl Forms {
    /// Of these values, each with its number.
    pub fn of<'a>(values: impl Iterator<Item = (usize, &'a str)>) -> Self {
        let patterns: Vec<Pattern> = values.flat_map(|(of, value)| spellings::patterns(of, value)).collect();
        let mut by_first = vec![Vec::new(); 256];
        for (index, pattern) in patterns.iter().enumerate() {
            for byte in pattern.first_bytes() {
                let list: &mut Vec<usize> = &mut by_first[usize::from(byte)];
                if list.last() != Some(&index) {
                    list.push(index);
                }
            }
        }
        Self { patterns, by_first }
    }

    /// All values, in the order in which they begin; they may overlap. Of those in `wary` a short beginning counts, too, where
    /// a quotation ends behind it.
    pub fn find(&self, text: &str, wary: &[usize]) -> Vec<Found> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        let mut scratch = Scratch::default();
        for (start, byte) in bytes.iter().enumerate() {
            // A page may be full of backslashes: where nothing but them can begin, nothing else is tried.
            let only_backslashes = *byte == b'\\' && is_long_run(&bytes[start..]);
            for index in &self.by_first[usize::from(*byte)] {
                let pattern = &self.patterns[*index];
                let hopeless = only_backslashes && pattern.characters.first() != Some(&'\\');
                if hopeless || !pattern.may_go_on(bytes, start) {
                    continue;
                }
                let wary = wary.contains(&pattern.of);
                if let Some((end, whole)) = pattern.follow(bytes, start, wary, &mut scratch) {
                    let (start, end) = pattern.with_edges(bytes, start, end);
                    found.push(Found { start, end, of: pattern.of, whole });
                }
            }
        }
        found
    }
}

fn is_long_run(text: &[u8]) -> bool {
    text.get(..=MOST_BACKSLASHES).is_some_and(|run| run.iter().all(|byte| *byte == b'\\'))
}

#[derive(Default)]
struct Scratch {
    here: Vec<usize>,
    next: Vec<usize>,
}

impl Pattern {
    fn new(of: usize, characters: Vec<char>, base64: Option<Edges>) -> Self {
        let least_bare = LEAST_BARE.max((characters.len() * 3).div_ceil(4));
        Self { of, characters, base64, least_bare }
    }

    /// What it may begin with.
    fn first_bytes(&self) -> Vec<u8> {
        let Some(first) = self.characters.first() else { return Vec::new() };
        let literal = first.encode_utf8(&mut [0; 4]).as_bytes()[0];
        if self.base64.is_some() && first.is_ascii_alphanumeric() {
            return vec![literal];
        }
        let mut bytes = vec![literal, b'%', b'&', b'\\'];
        match first {
            ' ' => bytes.extend([b'+', 0xc2]),
            '+' => bytes.push(b'-'),
            '/' => bytes.push(b'_'),
            _ => {}
        }
        bytes
    }

    /// Digits are many and rarely escaped: a look at the next byte spares most of the work.
    fn may_go_on(&self, text: &[u8], start: usize) -> bool {
        let [first, second, ..] = self.characters.as_slice() else { return true };
        let plain = self.base64.is_some() && first.is_ascii_alphanumeric() && second.is_ascii_alphanumeric();
        let next = text.get(start + 1).copied();
        !plain || next.is_some_and(|next| char::from(next) == *second || b"%&\\\r\n".contains(&next))
    }

    /// Where the value that begins here ends, and whether that is all of it.
    fn follow(&self, text: &[u8], start: usize, wary: bool, scratch: &mut Scratch) -> Option<(usize, bool)> {
        let Scratch { here, next } = scratch;
        here.clear();
        here.push(start);
        let mut cut = None;
        for (count, character) in self.characters.iter().enumerate() {
            if count >= LEAST_CUT {
                let is_end = |at: &usize| {
                    is_ellipsis(text, *at)
                        || count >= self.least_bare && is_bare_end(text, *at)
                        || wary && is_quote_end(text, *at)
                };
                cut = here.iter().copied().filter(is_end).max().or(cut);
            }
            next.clear();
            for at in here.iter().copied() {
                ends(text, at, *character, self.base64.is_some(), next);
                if self.base64.is_some()
                    && count > 0
                    && let Some(at) = after_line_break(text, at)
                {
                    ends(text, at, *character, true, next);
                }
            }
            next.sort_unstable();
            next.dedup();
            std::mem::swap(here, next);
            if here.is_empty() {
                return cut.map(|end| (end, false));
            }
        }
        here.last().map(|end| (*end, true))
    }

    fn with_edges(&self, text: &[u8], start: usize, end: usize) -> (usize, usize) {
        let Some(edges) = self.base64 else { return (start, end) };
        let escaped = |at: usize| at > 0 && text[at - 1] == b'\\';
        let before = (1..=edges.before)
            .take_while(|back| start >= *back && is_digit(text[start - back]) && !escaped(start - back))
            .count();
        let behind = text[end..].iter().take(edges.behind).take_while(|byte| is_digit(**byte)).count();
        let end = end + behind;
        let padding = text[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        (start - before, end + padding)
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Nothing follows that could be more of the same word. A placeholder is no end: it was put there by us.
fn is_bare_end(text: &[u8], at: usize) -> bool {
    let rest = &text[at.min(text.len())..];
    let next = rest[..rest.len().min(4)].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    !next.is_some_and(char::is_alphanumeric)
        && !super::OPENINGS.iter().any(|opening| rest.starts_with(opening.as_bytes()))
}

/// The text or a quotation ends here.
fn is_quote_end(text: &[u8], at: usize) -> bool {
    const QUOTES: [&str; 8] = ["\"", "'", "`", "\\\"", "”", "’", "»", "&quot;"];
    let rest = &text[at.min(text.len())..];
    rest.is_empty() || QUOTES.iter().any(|quote| rest.starts_with(quote.as_bytes()))
}
