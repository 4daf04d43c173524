//! The file: `KEY=value`, one a line.

use super::{Entry, Secrets, SecretsError};
use crate::name;

pub(super) fn entries(text: &str) -> Result<Vec<Entry>, SecretsError> {
    let mut entries: Vec<Entry> = Vec::new();
    for (index, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        let number = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = line.split_once('=').ok_or(SecretsError::NotAnAssignment(number))?;
        let name = name.strip_prefix("export ").unwrap_or(name).trim();
        if name::split(name).is_none() {
            return Err(SecretsError::BadName(number));
        }
        if entries.iter().any(|entry| entry.name == name) {
            return Err(SecretsError::Twice(number));
        }
        if entries.len() == Secrets::MOST {
            return Err(SecretsError::TooMany(number));
        }
        let value = unquoted(value.trim_start(), number)?;
        if value.chars().count() < Secrets::SHORTEST && !name::may_be_short(name) {
            return Err(SecretsError::TooShort(number));
        }
        entries.push(Entry::new(number, name.to_owned(), value));
    }
    Ok(entries)
}

/// Single quotes mean the letter; double quotes know `\"`, `\\`, `\n`, `\r` and `\t`; without quotes ` #` ends the value.
fn unquoted(value: &str, line: usize) -> Result<String, SecretsError> {
    if let Some(rest) = value.strip_prefix('\'') {
        let (value, behind) = rest.split_once('\'').ok_or(SecretsError::OpenQuote(line))?;
        return comment_only(behind, line).map(|()| value.to_owned());
    }
    if let Some(rest) = value.strip_prefix('"') {
        return double_quoted(rest, line);
    }
    let comment = value.char_indices().find(|(at, c)| *c == '#' && value[..*at].ends_with([' ', '\t']));
    let comment = if value.starts_with('#') { Some(0) } else { comment.map(|(at, _)| at) };
    Ok(value[..comment.unwrap_or(value.len())].trim_end().to_owned())
}

fn double_quoted(rest: &str, line: usize) -> Result<String, SecretsError> {
    let mut value = String::new();
    let mut characters = rest.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return comment_only(&rest[at + 1..], line).map(|()| value),
            '\\' => match characters.next().map(|(_, escaped)| escaped) {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some(escaped @ ('"' | '\\')) => value.push(escaped),
                Some(other) => value.extend(['\\', other]),
                None => break,
            },
            other => value.push(other),
        }
    }
    Err(SecretsError::OpenQuote(line))
}

fn comment_only(behind: &str, line: usize) -> Result<(), SecretsError> {
    let behind = behind.trim_start();
    if behind.is_empty() || behind.starts_with('#') { Ok(()) } else { Err(SecretsError::AfterQuote(line)) }
}
