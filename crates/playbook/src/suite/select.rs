//! Which tests run here, and how often.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A playbook to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// The file.
    pub file: PathBuf,
    /// Which time, from 1.
    pub repeat: u32,
}

/// A part of all tests: `2/3` is the second of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

/// Not `NUMBER/OF`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a shard is written like 1/3: which one, and of how many")]
pub struct BadShard;

impl FromStr for Shard {
    type Err = BadShard;

    fn from_str(text: &str) -> Result<Self, BadShard> {
        let (number, of) = text.split_once('/').ok_or(BadShard)?;
        let read = |text: &str| text.parse::<usize>().map_err(|_| BadShard);
        let (number, of) = (read(number)?, read(of)?);
        if number == 0 || number > of { Err(BadShard) } else { Ok(Self { number, of }) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The tests of these files: those of the shard, each so many times. Every shard has its turn, so that all are of the
/// same size.
pub fn select(files: Vec<PathBuf>, shard: Option<Shard>, repeat_each: u32) -> Vec<Test> {
    let is_mine = |number: usize| shard.is_none_or(|shard| number % shard.of == shard.number - 1);
    let mine = files.into_iter().enumerate().filter(|(number, _)| is_mine(*number));
    mine.flat_map(|(_, file)| (1..=repeat_each.max(1)).map(move |repeat| Test { file: file.clone(), repeat }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(count: usize) -> Vec<PathBuf> {
        (0..count).map(|number| PathBuf::from(format!("{number}"))).collect()
    }

    #[test]
    fn shards_are_all_tests_and_none_twice() {
        let mut seen: Vec<_> = ["1/3", "2/3", "3/3"]
            .iter()
            .flat_map(|shard| select(files(10), Some(shard.parse().unwrap()), 1))
            .map(|test| test.file)
            .collect();
        seen.sort();
        assert_eq!(seen, files(10));
    }

    #[test]
    fn tests_are_repeated() {
        let tests = select(files(2), None, 3);
        let repeats: Vec<u32> = tests.iter().map(|test| test.repeat).collect();
        assert_eq!(repeats, [1, 2, 3, 1, 2, 3]);
    }

    #[test]
    fn other_shards_are_refused() {
        for text in ["", "1", "0/3", "4/3", "a/b", "1/0", "1/3/5", "-1/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
    }
}
