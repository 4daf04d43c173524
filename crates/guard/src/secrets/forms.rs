//! Finding a value in a text in any form in which it may stand there: plain, escaped for JSON or JavaScript to any depth,
//! for HTML, for addresses, as base64 at any alignment, and cut off with an ellipsis.
//!
//! Each character may stand in another form, so there is no list of spellings that one could miss: a value is followed
//! through the text character by character, with all places where its next character may begin.

/// A value, found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub start: usize,
    pub end: usize,
    /// Which value.
    pub of: usize,
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
}

/// Does the digit before or behind also carry bits of the value?
#[derive(Clone, Copy)]
struct Edges {
    before: bool,
    behind: bool,
}

/// A value that was cut off is known by as many characters.
const LEAST_CUT: usize = 4;

/// More backslashes than this are no escape.
const MOST_BACKSLASHES: usize = 64;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Default for Forms {
    fn default() -> Self {
        Self::of(std::iter::empty())
    }
}

impl Forms {
    pub fn of<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let mut patterns = Vec::new();
        for (of, value) in values.enumerate() {
            patterns.push(Pattern { of, characters: value.chars().collect(), base64: None });
            patterns.extend((0..3).map(|shift| in_base64(of, value.as_bytes(), shift)));
        }
        let mut by_first = vec![Vec::new(); 256];
        for (index, pattern) in patterns.iter().enumerate() {
            for byte in first_bytes(pattern) {
                let list: &mut Vec<usize> = &mut by_first[usize::from(byte)];
                if list.last() != Some(&index) {
                    list.push(index);
                }
            }
        }
        Self { patterns, by_first }
    }

    /// All values, in the order in which they begin; they may overlap.
    pub fn find(&self, text: &str) -> Vec<Found> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        let mut scratch = Scratch::default();
        for (start, byte) in bytes.iter().enumerate() {
            // A page may be full of backslashes: where nothing but them can begin, nothing else is tried.
            let only_backslashes = *byte == b'\\' && is_long_run(&bytes[start..]);
            for index in &self.by_first[usize::from(*byte)] {
                let pattern = &self.patterns[*index];
                if only_backslashes && pattern.characters.first() != Some(&'\\') {
                    continue;
                }
                if let Some(end) = pattern.follow(bytes, start, &mut scratch) {
                    let (start, end) = pattern.with_edges(bytes, start, end);
                    found.push(Found { start, end, of: pattern.of });
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
    /// Where the value that begins here ends.
    fn follow(&self, text: &[u8], start: usize, scratch: &mut Scratch) -> Option<usize> {
        let Scratch { here, next } = scratch;
        here.clear();
        here.push(start);
        let mut cut = None;
        for (count, character) in self.characters.iter().enumerate() {
            if count >= LEAST_CUT {
                cut = here.iter().copied().filter(|at| is_ellipsis(text, *at)).max().or(cut);
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
                return cut;
            }
        }
        here.last().copied()
    }

    fn with_edges(&self, text: &[u8], start: usize, end: usize) -> (usize, usize) {
        let Some(edges) = self.base64 else { return (start, end) };
        let is_digit = |at: usize| text.get(at).is_some_and(|byte| is_digit(*byte));
        let escaped = |at: usize| at > 0 && text[at - 1] == b'\\';
        let before = edges.before && start > 0 && is_digit(start - 1) && !escaped(start - 1);
        let mut end = end + usize::from(edges.behind && is_digit(end));
        let padding = text[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        end += padding;
        (start - usize::from(before), end)
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The digits that depend on nothing but the value, when it begins `shift` bytes into a group of three.
fn in_base64(of: usize, value: &[u8], shift: usize) -> Pattern {
    let bits = value.len() * 8;
    let offset = shift * 8;
    let first = offset.div_ceil(6);
    let last = (offset + bits) / 6;
    let bit = |at: usize| (value[at / 8] >> (7 - at % 8)) & 1;
    let digit = |group: usize| {
        let number = (0..6).fold(0, |number, at| number << 1 | bit(group * 6 + at - offset));
        char::from(DIGITS[usize::from(number)])
    };
    let edges = Edges { before: !offset.is_multiple_of(6), behind: !(offset + bits).is_multiple_of(6) };
    Pattern { of, characters: (first..last).map(digit).collect(), base64: Some(edges) }
}

/// What a value may begin with.
fn first_bytes(pattern: &Pattern) -> Vec<u8> {
    let Some(first) = pattern.characters.first() else { return Vec::new() };
    let literal = first.encode_utf8(&mut [0; 4]).as_bytes()[0];
    if pattern.base64.is_some() && first.is_ascii_alphanumeric() {
        return vec![literal];
    }
    let mut bytes = vec![literal, b'%', b'&', b'\\'];
    match first {
        ' ' => bytes.push(b'+'),
        '+' => bytes.push(b'-'),
        '/' => bytes.push(b'_'),
        _ => {}
    }
    bytes
}

/// Adds where a character ends that begins here, in each of its forms.
fn ends(text: &[u8], at: usize, character: char, base64: bool, out: &mut Vec<usize>) {
    let Some(byte) = text.get(at).copied() else { return };
    let mut buffer = [0; 4];
    let utf8 = character.encode_utf8(&mut buffer).as_bytes();
    if text[at..].starts_with(utf8) {
        out.push(at + utf8.len());
    }
    match byte {
        b'+' if character == ' ' => out.push(at + 1),
        b'-' if base64 && character == '+' => out.push(at + 1),
        b'_' if base64 && character == '/' => out.push(at + 1),
        b'%' => percent_encoded(text, at, utf8, out),
        b'&' => html_escaped(text, at, character, out),
        b'\\' => backslashed(text, at, character, out),
        _ => {}
    }
}

/// `%C3%a9`, also encoded again and again: `%25C3`.
fn percent_encoded(text: &[u8], mut at: usize, utf8: &[u8], out: &mut Vec<usize>) {
    for byte in utf8 {
        if text.get(at) != Some(&b'%') {
            return;
        }
        at += 1;
        while hexadecimal(text, at, 2) != Some(u32::from(*byte)) {
            if !text[at..].starts_with(b"25") {
                return;
            }
            at += 2;
        }
        at += 2;
    }
    out.push(at);
    // A `%` that was encoded again is `%2525`: how often it was is not known here.
    while utf8 == b"%" && text[at..].starts_with(b"25") {
        at += 2;
        out.push(at);
    }
}

/// `&lt;`, `&#39;`, `&#x27;`, also escaped again: `&amp;lt;`.
fn html_escaped(text: &[u8], at: usize, character: char, out: &mut Vec<usize>) {
    let mut at = at + 1;
    loop {
        let rest = &text[at..];
        let Some(length) = rest.iter().take(12).position(|byte| *byte == b';') else { return };
        if entity(&rest[..length]) == Some(character) {
            out.push(at + length + 1);
        }
        if &rest[..length] != b"amp" {
            return;
        }
        at += length + 1;
    }
}

fn entity(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    let code = match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        "nbsp" => return Some('\u{a0}'),
        _ => name.strip_prefix('#')?,
    };
    let code = match code.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => code.parse(),
    };
    char::from_u32(code.ok()?)
}

/// `\"`, `\n`, `\u00e9`, `\u{e9}`, `\xe9`, with any number of backslashes: each time something is quoted again they double.
fn backslashed(text: &[u8], at: usize, character: char, out: &mut Vec<usize>) {
    let run = text[at..].iter().take(MOST_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
    let after = at + run;
    if character == '\\' {
        out.extend((2..=run).map(|count| at + count));
    }
    let Some(byte) = text.get(after).copied() else { return };
    let letter = match character {
        '\n' => Some(b'n'),
        '\r' => Some(b'r'),
        '\t' => Some(b't'),
        '\u{8}' => Some(b'b'),
        '\u{c}' => Some(b'f'),
        '\0' => Some(b'0'),
        other if other.is_ascii_punctuation() => u8::try_from(other).ok(),
        _ => None,
    };
    if letter == Some(byte) && character != '\\' {
        out.push(after + 1);
    }
    match byte {
        b'u' => out.extend(unicode_escape(text, after + 1, character)),
        b'x' if hexadecimal(text, after + 1, 2) == Some(u32::from(character)) => out.push(after + 3),
        _ => {}
    }
}

/// What follows `\u`: four digits, eight for a surrogate pair, or any number in braces.
fn unicode_escape(text: &[u8], at: usize, character: char) -> Option<usize> {
    if text.get(at) == Some(&b'{') {
        let length = text[at + 1..].iter().take(7).position(|byte| *byte == b'}')?;
        let fits = hexadecimal(text, at + 1, length)? == u32::from(character);
        return fits.then_some(at + length + 2);
    }
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units);
    if hexadecimal(text, at, 4)? != u32::from(units[0]) {
        return None;
    }
    let Some(low) = units.get(1) else { return Some(at + 4) };
    let run = text[at + 4..].iter().take(MOST_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
    let second = at + 4 + run;
    let fits =
        run > 0 && text.get(second) == Some(&b'u') && hexadecimal(text, second + 1, 4)? == u32::from(*low);
    fits.then_some(second + 5)
}

fn hexadecimal(text: &[u8], at: usize, length: usize) -> Option<u32> {
    let digits = text.get(at..at + length)?;
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}

/// Base64 is often broken into lines, and those may be escaped.
fn after_line_break(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    loop {
        let run = text[end..].iter().take(MOST_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
        match text.get(end + run) {
            Some(b'\r' | b'\n') if run == 0 => end += 1,
            Some(b'r' | b'n') if run > 0 => end += run + 1,
            _ => break,
        }
    }
    (end > at).then_some(end)
}

fn is_ellipsis(text: &[u8], at: usize) -> bool {
    let rest = &text[at.min(text.len())..];
    ["…", "...", "\\u2026"].iter().any(|dots| rest.starts_with(dots.as_bytes()))
}
