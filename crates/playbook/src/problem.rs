//! Something that is wrong with a playbook, and how people see it: the place, a sentence, the line with a mark under it.
//!
//! Problems are data until they are shown. The values of variables are in none of them.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::source::Position;

/// More than this nobody reads, and each costs memory.
const MOST: usize = 1_000;

/// So much of a long line is shown.
const WIDEST: usize = 100;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as its path was given.
    pub file: String,
    /// Where in it, when that is known.
    pub at: Option<Position>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The line it is about.
    pub picture: Option<Box<Picture>>,
    /// What else helps.
    pub notes: Vec<String>,
}

impl Problem {
    /// A problem of a file as a whole.
    pub fn of_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), at: None, message: message.into(), picture: None, notes: Vec::new() }
    }

    /// Adds what else helps.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", harmless(&self.file))?;
        if let Some(at) = self.at {
            write!(f, ":{at}")?;
        }
        write!(f, ": {}", harmless(&self.message))?;
        if let Some(picture) = &self.picture {
            write!(f, "\n{picture}")?;
        }
        for note in &self.notes {
            write!(f, "\n  note: {}", harmless(note))?;
        }
        Ok(())
    }
}

/// A line of a file and the place in it that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    number: u32,
    text: String,
    /// How many cells of a terminal are before the mark.
    indent: usize,
}

impl Picture {
    /// So much of a long line is shown left of the mark.
    pub(crate) const LEFT: usize = 60;

    /// Of a line from its character `first` on, which is at most so far left of the place.
    pub(crate) fn of(line: &str, first: usize, at: Position) -> Self {
        let column = (at.column as usize).saturating_sub(1);
        let mut rest = line.chars();
        let shown: String = rest.by_ref().take(WIDEST).map(visible).collect();
        let (before, after) = (first > 0, rest.next().is_some());
        let indent = shown.chars().take(column - first).map(cells).sum::<usize>() + usize::from(before);
        let text = format!("{}{shown}{}", ellipsis(before), ellipsis(after));
        Self { number: at.line, text: text.trim_end().to_owned(), indent }
    }
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "  {number} | {}", self.text)?;
        write!(f, "  {margin} | {}^", " ".repeat(self.indent))
    }
}

fn ellipsis(cut: bool) -> &'static str {
    if cut { "…" } else { "" }
}

/// A tab is as wide as a terminal likes, and other control characters may do anything.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        other if is_harmful(other) => '\u{fffd}',
        other => other,
    }
}

/// Texts of others do not steer the terminal.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c != '\n' && is_harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// Control characters, and those that change the direction of what follows.
fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// How wide a terminal draws a character. The blocks that people write in are enough for a mark under a line.
fn cells(character: char) -> usize {
    match character as u32 {
        0x0300..=0x036F | 0x200B..=0x200F | 0x20D0..=0x20FF | 0xFE00..=0xFE0F | 0xFEFF => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE4F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// Everything that is wrong, in the order of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    left_out: usize,
    /// Were there so many that nobody went on looking?
    is_cut: bool,
    /// Places of which everything is said.
    settled: HashSet<(String, Position)>,
}

impl Problems {
    /// Adds one; of very many only the number is kept.
    pub fn push(&mut self, problem: Problem) {
        if self.is_settled(&problem) {
            return;
        }
        self.push_with(|| problem);
    }

    /// Adds one that is made only if it is kept: its picture may cost, as may what it suggests.
    pub(crate) fn push_with(&mut self, problem: impl FnOnce() -> Problem) {
        if self.is_full() {
            self.left_out += 1;
        } else {
            self.list.push(problem());
        }
    }

    /// Adds one that says everything about its place: what else would be said of it only follows from this.
    pub(crate) fn settle(&mut self, problem: Problem) {
        let place = problem.at.map(|at| (problem.file.clone(), at));
        self.push(problem);
        self.settled.extend(place);
    }

    fn is_settled(&self, problem: &Problem) -> bool {
        let is_at = |at| self.settled.contains(&(problem.file.clone(), at));
        !self.settled.is_empty() && problem.at.is_some_and(is_at)
    }

    /// Counts one of which nothing else is kept.
    pub(crate) fn count(&mut self) {
        self.left_out += 1;
    }

    /// There may be more: nobody went on looking.
    pub(crate) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// Whether further ones are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// Adds others.
    pub fn extend(&mut self, others: Self) {
        others.list.into_iter().for_each(|problem| self.push(problem));
        self.left_out += others.left_out;
        self.is_cut |= others.is_cut;
        self.settled.extend(others.settled);
    }

    /// Puts those of each file in the order of the file: first one file, then those that it uses as they were found.
    pub fn sort(&mut self, first: &str) {
        let mut files = HashMap::from([(first.to_owned(), 0)]);
        for problem in &self.list {
            let next = files.len();
            files.entry(problem.file.clone()).or_insert(next);
        }
        self.list.sort_by_key(|problem| (files.get(&problem.file).copied(), problem.at));
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len() + self.left_out
    }

    /// Those that were kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.list.iter()
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self { list: vec![problem], ..Self::default() }
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        match (self.left_out, self.is_cut) {
            (0, false) => Ok(()),
            (0, true) => write!(f, "\nand perhaps more"),
            (number, false) => write!(f, "\nand {number} more"),
            (number, true) => write!(f, "\nand {number} more, or still more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::source::Source;

    fn shown(text: &str, line: u32, column: u32) -> String {
        let source = Source::from_bytes(Path::new("a/b.yaml"), text.into()).unwrap();
        source.problem(Position { line, column }, "something is wrong").note("do this").to_string()
    }

    #[test]
    fn the_line_is_shown_with_a_mark_under_it() {
        assert_eq!(
            shown("steps:\n  - clik: a\n", 2, 5),
            "a/b.yaml:2:5: something is wrong\n  2 |   - clik: a\n    |     ^\n  note: do this"
        );
    }

    #[test]
    fn tabs_and_wide_characters_keep_the_mark_in_place() {
        assert_eq!(
            shown("\t日本: x", 1, 6),
            "a/b.yaml:1:6: something is wrong\n  1 |  日本: x\n    |        ^\n  note: do this"
        );
        assert!(shown("e\u{301}: \u{1b}[31m", 1, 5).contains("| e\u{301}: \u{fffd}[31m\n    |    ^"));
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let line = format!("{}X{}", "a".repeat(5_000), "b".repeat(5_000));
        let text = shown(&line, 1, 5_001);
        let mut lines = text.lines().skip(1);
        let (source, mark) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(source.chars().count() < 120, "{source}");
        assert!(source.contains("| …aaa") && source.ends_with("b…"), "{source}");
        let column = mark.chars().count() - 1;
        assert_eq!(source.chars().nth(column), Some('X'));
    }

    #[test]
    fn places_outside_of_the_text_are_shown_as_well_as_possible() {
        assert_eq!(shown("a", 9, 1), "a/b.yaml:9:1: something is wrong\n  note: do this");
        assert!(shown("a", 1, 99).starts_with("a/b.yaml:1:99: something is wrong\n"));
    }

    #[test]
    fn of_very_many_only_the_number_is_kept() {
        let mut problems = Problems::default();
        for _ in 0..MOST + 5 {
            problems.push(Problem::of_file("a.yaml", "no"));
        }
        problems.push_with(|| panic!("nobody sees it"));
        assert_eq!(problems.len(), MOST + 6);
        assert!(problems.to_string().ends_with("a.yaml: no\nand 6 more"));
    }
}
