//! Where in the arguments of a tool a secret belongs, and how it is written there.

use serde_json::Value;

use super::{OPENING, Secrets, placeholder};

/// How a value is written at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// As it is.
    Plain,
    /// Inside a string of JavaScript, of any kind of quotes.
    JavaScript,
    /// As one word of a sentence.
    Sentence,
}

/// Where secrets belong in the arguments of a tool, as the tool itself says: the path of the argument (`*` any member, `**`
/// any depth; items of a list have the path of the list), and how they are written there.
pub type SecretPlaces = &'static [(&'static [&'static str], Writing)];

/// Why a placeholder was not replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// No secret of that name.
    #[error("there is no secret {name:?}")]
    Missing {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// Not at a place for secrets.
    #[error("the argument {argument} takes no secret, so {} is not put in there", placeholder(.name))]
    Misplaced {
        /// The argument, with the tool.
        argument: String,
        /// The secret that was to go there.
        name: String,
    },
    /// The value would not stay one word of a sentence.
    #[error("the secret {name} cannot be said in a sentence: it has quotes in it, or blanks at its ends")]
    Unspeakable {
        /// The secret.
        name: String,
    },
}

/// Every placeholder that stands where its tool takes none: a JSON pointer to it, and the name of the secret. Whether there
/// is such a secret does not matter.
pub fn misplaced(places: SecretPlaces, arguments: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // Mostly there are none, and looking for their places costs.
    if has_any(arguments) {
        look(places, arguments, &mut Vec::new(), "", &mut found);
    }
    found
}

fn has_any(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(OPENING),
        Value::Array(values) => values.iter().any(has_any),
        Value::Object(members) => {
            members.iter().any(|(name, value)| name.contains(OPENING) || has_any(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn look(
    places: SecretPlaces,
    value: &Value,
    path: &mut Vec<String>,
    at: &str,
    found: &mut Vec<(String, String)>,
) {
    match value {
        Value::String(text) => {
            if let Some(place) = next(text).filter(|_| writing_at(places, path).is_none()) {
                found.push((at.to_owned(), place.name.to_owned()));
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                look(places, value, path, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                if let Some(place) = next(name) {
                    found.push((at.clone(), place.name.to_owned()));
                }
                path.push(name.clone());
                look(places, value, path, &at, found);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Says which secrets were put in.
pub(super) fn resolve(
    secrets: &Secrets,
    tool: &str,
    places: SecretPlaces,
    arguments: &mut Value,
) -> Result<Vec<String>, ResolveError> {
    let mut resolver = Resolver { secrets, tool, places, used: Vec::new() };
    resolver.visit(arguments, &mut Vec::new())?;
    Ok(resolver.used)
}

/// The names of all placeholders, each once.
pub(super) fn named(value: &Value) -> Vec<String> {
    fn visit(value: &Value, names: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                let mut rest = text.as_str();
                while let Some(Place { name, after, .. }) = next(rest) {
                    if !names.iter().any(|known| known == name) {
                        names.push(name.to_owned());
                    }
                    rest = after;
                }
            }
            Value::Array(values) => values.iter().for_each(|value| visit(value, names)),
            Value::Object(members) => members.values().for_each(|value| visit(value, names)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut names = Vec::new();
    visit(value, &mut names);
    names
}

fn writing_at(places: SecretPlaces, path: &[String]) -> Option<Writing> {
    places.iter().find(|(pattern, _)| fits(pattern, path)).map(|(_, writing)| *writing)
}

struct Resolver<'a> {
    secrets: &'a Secrets,
    tool: &'a str,
    places: SecretPlaces,
    used: Vec<String>,
}

impl Resolver<'_> {
    fn visit(&mut self, value: &mut Value, path: &mut Vec<String>) -> Result<(), ResolveError> {
        match value {
            Value::String(text) => {
                if text.contains(OPENING) {
                    *text = self.written(text, path)?;
                }
                Ok(())
            }
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.visit(value, path)),
            Value::Object(members) => {
                for (name, value) in members {
                    if let Some(secret) = next(name).map(|place| place.name) {
                        return Err(self.misplaced(path, secret));
                    }
                    path.push(name.clone());
                    self.visit(value, path)?;
                    path.pop();
                }
                Ok(())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn written(&mut self, text: &str, path: &[String]) -> Result<String, ResolveError> {
        let writing = writing_at(self.places, path);
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(Place { before, name, mut after }) = next(rest) {
            let Some(writing) = writing else { return Err(self.misplaced(path, name)) };
            let value = self.secrets.value(name).ok_or_else(|| self.missing(name))?;
            self.used.push(name.to_owned());
            out.push_str(before);
            match writing {
                Writing::Plain => out.push_str(value),
                Writing::JavaScript => value.chars().for_each(|c| push_javascript(&mut out, c)),
                Writing::Sentence => after = say(&mut out, name, value, after)?,
            }
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    fn missing(&self, name: &str) -> ResolveError {
        let known = self.secrets.names().map(str::to_owned).collect();
        ResolveError::Missing { name: name.to_owned(), known }
    }

    fn misplaced(&self, path: &[String], name: &str) -> ResolveError {
        let argument = std::iter::once(self.tool).chain(path.iter().map(String::as_str)).collect::<Vec<_>>();
        ResolveError::Misplaced { argument: argument.join("."), name: name.to_owned() }
    }
}

struct Place<'a> {
    before: &'a str,
    name: &'a str,
    after: &'a str,
}

/// The next placeholder.
fn next(text: &str) -> Option<Place<'_>> {
    let (before, rest) = text.split_once(OPENING)?;
    let (name, after) = rest.split_once('}')?;
    Some(Place { before, name, after })
}

fn fits(pattern: &[&str], path: &[String]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => (0..=path.len()).any(|skip| fits(rest, &path[skip..])),
        (Some((part, rest)), Some((name, path))) => (*part == "*" || part == name) && fits(rest, path),
        _ => false,
    }
}

/// So that it means the same between `"`, `'` and backticks.
fn push_javascript(out: &mut String, character: char) {
    match character {
        '\\' | '"' | '\'' | '`' | '$' => out.extend(['\\', character]),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\u{2028}' => out.push_str("\\u2028"),
        '\u{2029}' => out.push_str("\\u2029"),
        other => out.push(other),
    }
}

/// In quotes, so that no word of it is taken for one of the sentence. Says what follows.
fn say<'a>(out: &mut String, name: &str, value: &str, after: &'a str) -> Result<&'a str, ResolveError> {
    const QUOTES: [(char, char); 3] = [('"', '"'), ('\'', '\''), ('“', '”')];
    if value.contains(['"', '“', '”']) || value.trim() != value || value.contains(char::is_control) {
        return Err(ResolveError::Unspeakable { name: name.to_owned() });
    }
    let quoted = QUOTES.iter().find(|(open, close)| out.ends_with(*open) && after.starts_with(*close));
    if let Some((_, close)) = quoted {
        out.pop();
        out.extend(['"']);
        out.push_str(value);
        out.push('"');
        return Ok(&after[close.len_utf8()..]);
    }
    let alone = !out.ends_with(|c: char| !c.is_whitespace())
        && !after.starts_with(|c: char| !c.is_whitespace() && !matches!(c, ',' | ';' | '.' | '!'));
    if alone {
        out.extend(['"']);
        out.push_str(value);
        out.push('"');
    } else {
        out.push_str(value);
    }
    Ok(after)
}
