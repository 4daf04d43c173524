//! The text of a playbook file, and places in it.
//!
//! Reading is bounded: a file that is too large is refused before it is in memory. What the text means is not known here;
//! only the name says whether it is YAML or JSON.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::problem::{Picture, Problem};

/// Larger files are no playbooks.
pub const LARGEST: u64 = 16 * 1024 * 1024;

/// A place in a text. Both numbers start at 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in it.
    pub column: u32,
}

impl Position {
    /// Where every file begins.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `.yaml` and `.yml`.
    Yaml,
    /// `.json`.
    Json,
}

impl Format {
    /// Only the extension decides.
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    path: PathBuf,
    format: Format,
    text: String,
    /// Where each line begins, in bytes.
    lines: Vec<usize>,
    /// How many characters are before each block of [`BLOCK`] bytes. Without this, a thousand problems on a line of some
    /// megabytes would count its characters a thousand times.
    counts: OnceLock<Vec<usize>>,
}

/// See [`Source::counts`].
const BLOCK: usize = 1024;

impl Source {
    /// Reads a file; its name in messages is the path as it was given.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let refuse = |message: String| Problem::of_file(path.display().to_string(), message);
        // The format comes first: the contents of some other file are of no interest.
        format_of(path)?;
        // fs_err names the file in its errors, and the problem does so already: the kind is enough.
        let plain = |error: std::io::Error| refuse(unreadable(error.kind()));
        // Before it is opened: that alone waits for ever for a pipe that nobody writes to.
        let facts = fs_err::metadata(path).map_err(plain)?;
        if facts.is_dir() {
            return Err(refuse("this is a directory, not a file".to_owned()));
        }
        if !facts.is_file() {
            return Err(refuse("this is no regular file, and nothing else is read".to_owned()));
        }
        if facts.len() > LARGEST {
            return Err(too_large(path.display().to_string()));
        }
        let file = fs_err::File::open(path).map_err(plain)?;
        let mut bytes = Vec::new();
        // It may grow meanwhile.
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(plain)?;
        Self::from_bytes(path, bytes)
    }

    /// What a file of this path holds.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, Problem> {
        let format = format_of(path)?;
        let name = path.display().to_string();
        if bytes.len() as u64 > LARGEST {
            return Err(too_large(name));
        }
        let text = String::from_utf8(bytes).map_err(|error| not_utf8(&name, &error))?;
        // A byte order mark is no part of the text.
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let lines = std::iter::once(0).chain(line_ends(&text, format)).collect();
        Ok(Self { name, path: path.to_owned(), format, text, lines, counts: OnceLock::new() })
    }

    /// The path as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it is written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Something that is wrong with this file, at a place in it.
    pub fn problem(&self, at: Position, message: impl Into<String>) -> Problem {
        let picture = self.line(at.line).map(|line| {
            let column = (at.column as usize).saturating_sub(1);
            let first = column.saturating_sub(Picture::LEFT);
            let start = self.offset(Position { line: at.line, column: count(first + 1) });
            let begin = start.map_or(line.len(), |start| start - self.line_start(at.line).unwrap_or(start));
            Box::new(Picture::of(line.get(begin..).unwrap_or_default(), first, at))
        });
        Problem { file: self.name.clone(), at: Some(at), message: message.into(), picture, notes: Vec::new() }
    }

    /// A line without its end.
    pub(crate) fn line(&self, number: u32) -> Option<&str> {
        let index = (number as usize).checked_sub(1)?;
        let start = *self.lines.get(index)?;
        let end = self.lines.get(index + 1).copied().unwrap_or(self.text.len());
        Some(self.text.get(start..end)?.trim_end_matches(['\n', '\r']))
    }

    /// The place of a byte.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.characters_before(offset) - self.characters_before(start);
        Position { line: count(line), column: count(column + 1) }
    }

    fn line_start(&self, number: u32) -> Option<usize> {
        self.lines.get((number as usize).checked_sub(1)?).copied()
    }

    /// The byte at a place; the end of its line if that is shorter.
    fn offset(&self, at: Position) -> Option<usize> {
        let start = self.line_start(at.line)?;
        let end = start + self.line(at.line)?.len();
        let wanted = self.characters_before(start) + (at.column as usize).saturating_sub(1);
        let counts = self.counts();
        let block = counts.partition_point(|before| *before <= wanted).saturating_sub(1);
        let mut offset = (block * BLOCK).max(start);
        let mut before = if offset == start { self.characters_before(start) } else { counts[block] };
        while offset < end {
            let is_first = (self.text.as_bytes()[offset] & 0xC0) != 0x80;
            if is_first && before == wanted {
                break;
            }
            before += usize::from(is_first);
            offset += 1;
        }
        Some(offset.min(end))
    }

    fn counts(&self) -> &[usize] {
        self.counts.get_or_init(|| {
            let mut before = 0;
            let blocks = self.text.as_bytes().chunks(BLOCK).map(|block| {
                let here = before;
                before += characters(block);
                here
            });
            blocks.collect()
        })
    }

    /// How many characters begin before a byte.
    fn characters_before(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        let block = offset / BLOCK;
        match self.counts().get(block) {
            Some(before) => {
                before + characters(self.text.as_bytes().get(block * BLOCK..offset).unwrap_or_default())
            }
            // The end of a text that ends with a block.
            None => block.checked_sub(1).map_or(0, |last| {
                self.counts()[last] + characters(&self.text.as_bytes()[last * BLOCK..offset])
            }),
        }
    }

    /// The place of a column that was counted in bytes, as serde_json does.
    pub(crate) fn position_of_byte_column(&self, line: usize, column: usize) -> Position {
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        self.position(start + column.saturating_sub(1))
    }

    /// Where a text is first seen at or after a place, if that is not further away than some bytes.
    pub(crate) fn find(&self, from: Position, text: &str, within: usize) -> Option<Position> {
        let begin = self.offset(from)?;
        let mut end = begin.saturating_add(within).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let found = self.text.get(begin..end)?.find(text)?;
        Some(self.position(begin + found))
    }
}

fn format_of(path: &Path) -> Result<Format, Problem> {
    Format::of(path).ok_or_else(|| {
        Problem::of_file(
            path.display().to_string(),
            "a playbook is a .yaml, .yml or .json file, and the name says neither",
        )
    })
}

/// Where lines end. In YAML a carriage return alone ends one, too.
fn line_ends(text: &str, format: Format) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_end = move |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => format == Format::Yaml && bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..bytes.len()).filter(is_end).map(|at| at + 1)
}

fn unreadable(kind: std::io::ErrorKind) -> String {
    match kind {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        other => format!("the file cannot be read: {other}"),
    }
}

fn too_large(name: String) -> Problem {
    let message = format!("the file is larger than {} MiB", LARGEST / 1024 / 1024);
    Problem { at: Some(Position::START), ..Problem::of_file(name, message) }
}

fn not_utf8(name: &str, error: &std::string::FromUtf8Error) -> Problem {
    let good = error.utf8_error().valid_up_to();
    let before = error.as_bytes().get(..good).unwrap_or_default();
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = characters(&before[line_start..]) + 1;
    let mut problem = Problem::of_file(
        name.to_owned(),
        format!("the file is not UTF-8: byte {good} is not part of a character"),
    );
    let at = Position { line: count(line), column: count(column) };
    problem.at = Some(at);
    // What cannot be read is shown as such; nothing before it changes its place by that.
    let rest = error.as_bytes().get(line_start..).unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let shown: String = String::from_utf8_lossy(line).trim_end_matches('\r').to_owned();
    let first = (column - 1).saturating_sub(Picture::LEFT);
    let begin = shown.char_indices().nth(first).map_or(shown.len(), |(begin, _)| begin);
    problem.picture = Some(Box::new(Picture::of(&shown[begin..], first, at)));
    problem
}

/// How many characters begin in these bytes of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &str, bytes: &[u8]) -> String {
        Source::from_bytes(Path::new(path), bytes.to_vec()).unwrap_err().to_string()
    }

    #[test]
    fn only_the_extension_decides() {
        let format = |path: &str| Source::from_bytes(Path::new(path), vec![]).map(|source| source.format());
        assert_eq!(format("a.yaml").unwrap(), Format::Yaml);
        assert_eq!(format("a.YML").unwrap(), Format::Yaml);
        assert_eq!(format("a.playbook.json").unwrap(), Format::Json);
        assert_eq!(
            refused("a.txt", b""),
            "a.txt: a playbook is a .yaml, .yml or .json file, and the name says neither"
        );
        assert!(format("yaml").is_err());
    }

    #[test]
    fn the_first_bad_byte_is_found() {
        assert_eq!(
            refused("a.yaml", b"name: \xc3\xa9\nsteps: \xff\n"),
            "a.yaml:2:8: the file is not UTF-8: byte 16 is not part of a character\n  2 | steps: \u{fffd}\n    |        ^"
        );
    }

    #[test]
    fn large_files_are_refused_without_being_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("big.yaml");
        let file = fs_err::File::create(&path).unwrap();
        // Sparse: it takes no room on the disk.
        file.set_len(100 * 1024 * 1024).unwrap();
        let problem = Source::read(&path).unwrap_err();
        assert_eq!(problem.message, "the file is larger than 16 MiB");
        let told = refused("a.yaml", &vec![b' '; LARGEST as usize + 1]);
        assert_eq!(told, "a.yaml:1:1: the file is larger than 16 MiB");
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket.yaml");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(Source::read(&path).unwrap_err().message.contains("no regular file"));
        // Opening this would wait until somebody writes.
        let path = directory.path().join("pipe.yaml");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(Source::read(&path).unwrap_err().message.contains("no regular file"));
        let path = directory.path().join("null.yaml");
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        assert!(Source::read(&path).unwrap_err().message.contains("no regular file"));
    }

    #[test]
    fn places_on_long_lines_are_exact_and_cheap() {
        let line = "äb日".repeat(400_000);
        let source = Source::from_bytes(Path::new("a.yaml"), format!("x\n{line}\ny").into()).unwrap();
        let effort = surehand_testkit::Effort::begin();
        for number in 0..2_000_u32 {
            let at = Position { line: 2, column: 1 + 599 * number };
            let offset = source.offset(at).unwrap();
            assert!(source.text().is_char_boundary(offset));
            assert_eq!(source.position(offset), at);
            let wanted = ['ä', 'b', '日'][(599 * number as usize) % 3];
            assert_eq!(source.text()[offset..].chars().next(), Some(wanted));
            source.problem(at, "x");
        }
        assert!(effort.spent().as_secs() < 3, "{:?}", effort.spent());
        assert_eq!(source.offset(Position { line: 2, column: u32::MAX }), Some(2 + line.len()));
        let block = Source::from_bytes(Path::new("a.yaml"), vec![b'x'; BLOCK]).unwrap();
        assert_eq!(block.position(BLOCK), Position { line: 1, column: BLOCK as u32 + 1 });
    }

    #[test]
    fn files_that_cannot_be_read_are_named_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none.yaml");
        let text = Source::read(&path).unwrap_err().to_string();
        assert_eq!(text.matches("none.yaml").count(), 1, "{text}");
        fs_err::create_dir_all(&path).unwrap();
        assert!(Source::read(&path).unwrap_err().to_string().contains("directory"));
    }

    #[test]
    fn places_count_characters() {
        let source = Source::from_bytes(Path::new("a.yaml"), "\u{feff}ä: ö\r\nb: x\n".into()).unwrap();
        assert_eq!(source.line(1), Some("ä: ö"));
        assert_eq!(source.line(3), Some(""));
        assert_eq!(source.line(4), None);
        let at = source.text().find('x').unwrap();
        assert_eq!(source.position(at), Position { line: 2, column: 4 });
        assert_eq!(source.position(4), Position { line: 1, column: 4 });
        assert_eq!(source.position(9999), source.position(source.text().len()));
        assert_eq!(source.find(Position::START, "x", 100), Some(Position { line: 2, column: 4 }));
        assert_eq!(source.find(Position::START, "x", 3), None);
    }

    #[test]
    fn a_carriage_return_alone_ends_a_line_of_yaml_only() {
        let source = |name: &str| Source::from_bytes(Path::new(name), "a: 1\rb: 2\r\nc".into()).unwrap();
        let (yaml, json) = (source("a.yaml"), source("a.json"));
        assert_eq!([yaml.line(2), yaml.line(3), yaml.line(4)], [Some("b: 2"), Some("c"), None]);
        assert_eq!([json.line(1), json.line(2), json.line(3)], [Some("a: 1\rb: 2"), Some("c"), None]);
        assert_eq!(yaml.position(5), Position { line: 2, column: 1 });
    }
}
