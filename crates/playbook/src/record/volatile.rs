//! What will be another one next time: times, and the names that programs give to things. An assertion that asks for it
//! fails at its first replay.

use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

/// Times in the ways in which pages write them, and long numbers: nobody counts so far, they are names or times, too.
static TIMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const DAY: &str = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\.?,?\s+)?";
    const MONTH: &str = r"(?i:Jan|Feb|Mar|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)[a-z]*\.?";
    let ways = [
        r"\d{4}-\d{2}-\d{2}(?:[T _]\d{2}[:.-]?\d{2}(?:[:.-]?\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
            .to_owned(),
        r"\d{1,2}[./]\d{1,2}[./]\d{4}".to_owned(),
        format!(r"{DAY}\d{{1,2}}\.?\s+{MONTH}\s+\d{{4}}"),
        format!(r"{DAY}{MONTH}\s+\d{{1,2}},?\s+\d{{4}}"),
        r"\d{4}年\d{1,2}月\d{1,2}日".to_owned(),
        r"\d+(?:[.,]\d+)?\s?(?:ms|s|sec|secs|seconds?)\b".to_owned(),
        r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\b\.?)?".to_owned(),
        r"\d+\s+(?:second|minute|hour|day|week|month|year)s?\s+ago".to_owned(),
        r"\d{5,}".to_owned(),
    ];
    Regex::new(&ways.join("|")).ok()
});

/// A shorter word may look like anything.
const SHORTEST_NAME: usize = 8;

/// So many letters say something about a text.
const LEAST_LETTERS: usize = 3;

/// A pattern of a path in which only that counts which stays; `None` if nothing does.
pub(super) fn path_pattern(path: &str) -> Option<String> {
    let segments: Vec<String> = path.split('/').map(segment_pattern).collect();
    let says_something = segments.iter().any(|segment| !segment.is_empty() && segment != ANY);
    says_something.then(|| segments.join("/"))
}

const ANY: &str = "[^/]+";

fn segment_pattern(segment: &str) -> String {
    if has_made_name(segment) {
        return ANY.to_owned();
    }
    let mut pattern = String::new();
    let mut copied = 0;
    for at in times_in(segment) {
        pattern.push_str(&escaped(&segment[copied..at.start]));
        pattern.push_str(ANY);
        copied = at.end;
    }
    pattern + &escaped(&segment[copied..])
}

/// The longest part of a text that stays; empty if there is none worth a look.
pub(super) fn lasting_part(text: &str) -> &str {
    let mut gone: Vec<Range<usize>> = times_in(text).chain(made_names_in(text)).collect();
    if gone.is_empty() {
        return text;
    }
    gone.sort_by_key(|range| range.start);
    let mut parts = Vec::new();
    let mut from = 0;
    for range in gone {
        parts.push(&text[from..range.start.max(from)]);
        from = from.max(range.end);
    }
    parts.push(&text[from..]);
    let letters = |part: &&str| part.chars().filter(|c| c.is_alphabetic()).count();
    let longest = parts.into_iter().map(str::trim).max_by_key(letters);
    longest.filter(|part| letters(part) >= LEAST_LETTERS).unwrap_or_default()
}

fn times_in(text: &str) -> impl Iterator<Item = Range<usize>> {
    TIMES.iter().flat_map(move |times| times.find_iter(text)).map(|found| found.range())
}

/// UUIDs, hashes, ULIDs and the like have dashes and underscores in them, or none.
fn has_made_name(segment: &str) -> bool {
    made_names_in(segment).next().is_some()
}

fn made_names_in(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let words = text.split(move |c: char| !is_part(c));
    words.filter(|word| word.split(['-', '_', '.']).any(is_made)).map(|word| {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        start..start + word.len()
    })
}

/// Is a word one that no person made up: hexadecimal digits, or letters and digits that change all the time?
fn is_made(word: &str) -> bool {
    let has_both =
        word.contains(|c: char| c.is_ascii_digit()) && word.contains(|c: char| c.is_ascii_alphabetic());
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let kinds: Vec<bool> = word.bytes().map(|byte| byte.is_ascii_digit()).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    word.len() >= SHORTEST_NAME && has_both && (is_hex || changes >= 3)
}

/// As a regular expression that means itself. A person reads it: only what must be is escaped, and no dash.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if "\\.+*?()|[]{}^$".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_asked_for_without_what_changes() {
        for (path, pattern) in [
            ("/a.b/welcome", r"/a\.b/welcome"),
            ("/orders/1763300000123/edit", "/orders/[^/]+/edit"),
            ("/orders/42", "/orders/42"),
            ("/blog/2024/hello-world", "/blog/2024/hello-world"),
            ("/o/123e4567-e89b-12d3-a456-426614174000", "/o/[^/]+"),
            ("/commit/9f3cab12", "/commit/[^/]+"),
            ("/run/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/run/[^/]+"),
            ("/run/V1StGXR8_Z5jdHi6B-myT", "/run/[^/]+"),
            ("/day/2026-11-16", "/day/[^/]+"),
            ("/order-100234/", "/order-[^/]+/"),
        ] {
            assert_eq!(path_pattern(path).as_deref(), Some(pattern), "{path}");
        }
        for path in ["/1763300000123", "/9f3cab12/2026-11-16T10:00:00Z", "/"] {
            assert_eq!(path_pattern(path), None, "{path}");
        }
    }

    #[test]
    fn texts_are_cut_where_they_change() {
        for (text, part) in [
            ("Welcome, Ada", "Welcome, Ada"),
            ("3 items, 12.50 €", "3 items, 12.50 €"),
            ("Order 1763300000123 was placed", "was placed"),
            ("Saved at 18:05:36", "Saved at"),
            ("Saved on Nov 16, 2026 by Ada", "Saved on"),
            ("16. November 2026", ""),
            ("Id: 123e4567-e89b-12d3-a456-426614174000", ""),
            ("Session 9f3cab12 is open", "Session"),
            ("2 minutes ago", ""),
            ("Updated Mon Nov 16 2026 by Ada", "Updated"),
            ("Sent Monday, 16 November 2026 from Rome", "from Rome"),
            ("16 nov. 2026 livré", "livré"),
            ("2026年11月16日 注文完了", "注文完了"),
            ("Loaded in 655 ms", "Loaded in"),
            ("Took 0.42 s", "Took"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc welcome", "welcome"),
            ("11/16/2026, 6:05 PM", ""),
        ] {
            assert_eq!(lasting_part(text), part, "{text}");
        }
    }
}
