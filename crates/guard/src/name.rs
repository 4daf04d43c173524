//! What secrets are called: the same in a file, in the vault, in `${SECRET:NAME}` and in `${vault:NAME}`.

/// As long as a name may be.
pub(crate) const LONGEST: usize = 128;

/// `[A-Za-z0-9_.-]+`, but not what means another place in an address.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_name_byte) && !matches!(text, "." | "..")
}

pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Fields that say who somebody is, which is no secret: these may be as short as names of people are.
const PUBLIC: [&str; 3] = ["username", "user", "email"];

/// Whether a value of this name, `NAME#field`, may be too short to be masked.
pub(crate) fn may_be_short(reference: &str) -> bool {
    reference.split_once('#').is_some_and(|(_, field)| is_public(field))
}

pub(crate) fn is_public(field: &str) -> bool {
    PUBLIC.contains(&field)
}

/// `NAME` or `NAME#field`, in its parts.
pub(crate) fn split(text: &str) -> Option<(&str, Option<&str>)> {
    let (name, field) = match text.split_once('#') {
        Some((name, field)) => (name, Some(field)),
        None => (text, None),
    };
    (is_name(name) && field.is_none_or(is_name)).then_some((name, field))
}
