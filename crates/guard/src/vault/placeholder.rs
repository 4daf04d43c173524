//! `${vault:NAME}` and `${vault:NAME#field}` in a text.
//!
//! Names and fields are `[A-Za-z0-9_.-]+`, at most 128 long. A `${vault:` that does not go on like this is an error: it would
//! be typed into a page. There is no escape for it. What was put in is not looked at again.

use std::fmt;
use std::str::FromStr;

use super::{SecretText, VaultError};
use crate::name;

/// What a placeholder begins with; it ends with `}`.
pub(crate) const OPENING: &str = "${vault:";

/// A credential, or one field of it: `NAME` or `NAME#field`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// The credential.
    pub name: String,
    /// The field.
    pub field: Option<String>,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{}#{field}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl FromStr for Reference {
    type Err = VaultError;

    fn from_str(text: &str) -> Result<Self, VaultError> {
        let (name, field) = name::split(text).ok_or(VaultError::BadName)?;
        Ok(Self { name: name.to_owned(), field: field.map(str::to_owned) })
    }
}

/// A `${vault:` that is no placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the ${{vault: at byte {at} is no placeholder; write ${{vault:NAME}} or ${{vault:NAME#field}}, with names of letters, digits, _, . and -"
)]
pub struct Malformed {
    /// Where it begins.
    pub at: usize,
}

/// Why a text was not filled in.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubstituteError<E> {
    /// Before anything was asked for.
    #[error(transparent)]
    Malformed(Malformed),
    /// What the resolver said.
    #[error(transparent)]
    Resolve(E),
}

enum Piece<'t> {
    Text(&'t str),
    Reference(Reference),
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Malformed> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPENING) {
        let at = text.len() - rest.len() + before.len();
        // Looks no further than a name can go: many openings without an end must not take quadratic time.
        let in_reference = |byte: u8| name::is_name_byte(byte) || byte == b'#';
        let longest = behind.len().min(2 * name::LONGEST + 2);
        let end = behind.as_bytes()[..longest].iter().position(|byte| !in_reference(*byte));
        let end = end.filter(|end| behind.as_bytes()[*end] == b'}').ok_or(Malformed { at })?;
        pieces.push(Piece::Text(before));
        pieces.push(Piece::Reference(behind[..end].parse().map_err(|_| Malformed { at })?));
        rest = &behind[end + 1..];
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

/// The placeholders of a text, in order, each once.
pub fn placeholders(text: &str) -> Result<Vec<Reference>, Malformed> {
    let mut found = Vec::new();
    for piece in pieces(text)? {
        if let Piece::Reference(reference) = piece
            && !found.contains(&reference)
        {
            found.push(reference);
        }
    }
    Ok(found)
}

/// The text with what `resolve` says in place of each placeholder; it is asked once for each that is different, in order,
/// and not at all if one is malformed.
pub fn substitute<E>(
    text: &str,
    mut resolve: impl FnMut(&Reference) -> Result<SecretText, E>,
) -> Result<SecretText, SubstituteError<E>> {
    let pieces = pieces(text).map_err(SubstituteError::Malformed)?;
    let mut known: Vec<(Reference, SecretText)> = Vec::new();
    for piece in &pieces {
        if let Piece::Reference(reference) = piece
            && !known.iter().any(|(one, _)| one == reference)
        {
            known.push((reference.clone(), resolve(reference).map_err(SubstituteError::Resolve)?));
        }
    }
    let written = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => (*text).to_owned(),
        Piece::Reference(reference) => {
            let value = known.iter().find(|(one, _)| one == reference);
            value.map(|(_, value)| value.reveal().to_owned()).unwrap_or_default()
        }
    };
    // As long as it will be from the beginning: a text that grows leaves copies behind.
    let parts: Vec<SecretText> = pieces.iter().map(|piece| SecretText::new(written(piece))).collect();
    let mut out = String::with_capacity(parts.iter().map(|part| part.reveal().len()).sum());
    parts.iter().for_each(|part| out.push_str(part.reveal()));
    Ok(SecretText::new(out))
}
