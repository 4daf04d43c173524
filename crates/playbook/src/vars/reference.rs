//! References in texts: `${name}`, `${SECRET:NAME}`, and `$$` for a `$`, which only means that before a brace: of the dollar
//! signs before a `{`, each pair is one that is meant, and one that is left over begins a reference.

/// What a reference is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reference<'t> {
    /// A variable, by its name.
    Variable(&'t str),
    /// A secret, by its name without `SECRET:`.
    Secret(&'t str),
}

impl<'t> Reference<'t> {
    /// From what is between the braces.
    fn of(inside: &'t str) -> Option<Self> {
        let secret = inside.strip_prefix("SECRET:").filter(|name| is_secret_name(name));
        secret.map(Self::Secret).or_else(|| is_identifier(inside).then_some(Self::Variable(inside)))
    }

    /// The name as variables have it: `SECRET:NAME` for a secret.
    pub fn key(&self) -> String {
        match self {
            Self::Variable(name) => (*name).to_owned(),
            Self::Secret(name) => format!("SECRET:{name}"),
        }
    }
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Means itself.
    Text(&'t str),
    /// `$$` before a brace, which means `$`.
    Escape,
    /// Means something else.
    Reference(Reference<'t>),
}

/// The parts of a text, in order.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    // Of dollar signs in a row: they are counted once.
    let mut pairs = 0;
    std::iter::from_fn(move || {
        if pairs == 0 {
            pairs = escapes(rest);
        }
        let (piece, length) = if pairs > 0 { (Piece::Escape, 2) } else { first(rest)? };
        pairs = pairs.saturating_sub(1);
        rest = &rest[length..];
        Some(piece)
    })
}

/// The references of a text, in order.
pub fn references(text: &str) -> impl Iterator<Item = Reference<'_>> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Reference(reference) => Some(reference),
        Piece::Text(_) | Piece::Escape => None,
    })
}

/// The first part and how long it is written.
fn first(text: &str) -> Option<(Piece<'_>, usize)> {
    if text.is_empty() {
        return None;
    }
    if let Some((reference, length)) = leading_reference(text) {
        return Some((Piece::Reference(reference), length));
    }
    // The next place where something else than plain text may begin; the first character is plain in any case.
    let bytes = text.as_bytes();
    let own = bytes.iter().take_while(|byte| **byte == b'$').count().max(1);
    let begins = |at: usize| bytes[at] == b'$' && matches!(bytes.get(at + 1), Some(b'$' | b'{'));
    let end = (own..bytes.len()).find(|at| begins(*at)).unwrap_or(bytes.len());
    Some((Piece::Text(&text[..end]), end))
}

/// How many pairs of dollar signs a text begins with, if a brace follows them.
fn escapes(text: &str) -> usize {
    let dollars = text.bytes().take_while(|byte| *byte == b'$').count();
    if text.as_bytes().get(dollars) == Some(&b'{') { dollars / 2 } else { 0 }
}

fn leading_reference(text: &str) -> Option<(Reference<'_>, usize)> {
    let inside = text.strip_prefix("${")?;
    // Only names are looked through for the end: without this, many openings and no end would take quadratic time.
    let end = inside.bytes().position(|byte| !is_name_byte(byte))?;
    let reference = inside[end..].starts_with('}').then(|| Reference::of(&inside[..end]))??;
    Some((reference, end + 3))
}

/// Every reference to a secret that a reader without escapes sees, with its place in bytes.
pub(super) fn raw_secrets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("${SECRET:").filter_map(|(at, _)| match leading_reference(&text[at..]) {
        Some((Reference::Secret(name), _)) => Some((at, name)),
        _ => None,
    })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-' | b'#')
}

/// `NAME`, or `NAME#field` for a field of a credential.
fn is_secret_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| is_name_byte(byte) && !b":#".contains(&byte))
    };
    let (name, field) = name.split_once('#').unwrap_or((name, "-"));
    is_part(name) && is_part(field)
}

fn is_identifier(name: &str) -> bool {
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'))
}

/// Whether a reference can be to a variable of this name, which is no secret.
pub fn is_variable_name(name: &str) -> bool {
    matches!(Reference::of(name), Some(Reference::Variable(_))) && !name.starts_with("SECRET:")
}

/// Whether a reference can be to this name.
pub(crate) fn is_name(name: &str) -> bool {
    Reference::of(name).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> Vec<Piece<'_>> {
        pieces(text).collect()
    }

    #[test]
    fn references_are_found() {
        use Piece::{Escape, Reference as Ref, Text};
        use Reference::{Secret, Variable};
        assert_eq!(all("${a}/x${b_1:c}"), [Ref(Variable("a")), Text("/x"), Ref(Variable("b_1:c"))]);
        assert_eq!(all("${SECRET:A.b-1}"), [Ref(Secret("A.b-1"))]);
        assert_eq!(all("$${a}"), [Escape, Text("{a}")]);
        assert_eq!(all("$$${a}"), [Escape, Ref(Variable("a"))]);
        assert_eq!(all("$$$${a}"), [Escape, Escape, Text("{a}")]);
        assert_eq!(all("x$$${a b}"), [Text("x"), Escape, Text("${a b}")]);
        assert_eq!(all("$$ $$a$${"), [Text("$$ "), Text("$$a"), Escape, Text("{")]);
        assert_eq!(all("${SECRET:shop.1#user-name}"), [Ref(Secret("shop.1#user-name"))]);
        for literal in ["${a#b}", "${SECRET:A#}", "${SECRET:#b}", "${SECRET:A#b#c}"] {
            assert_eq!(references(literal).count(), 0, "{literal}");
        }
        assert_eq!(all("a$b"), [Text("a$b")]);
        for literal in ["$", "$$", "${", "${}", "${1}", "${a b}", "${a-b}", "${ä}", "${SECRET:}"] {
            assert_eq!(references(literal).count(), usize::from(literal == "${SECRET:}"), "{literal}");
        }
        assert_eq!(all("${${a}}"), [Text("${"), Ref(Variable("a")), Text("}")]);
        // By the rule for variables this is one, and there is never one of this name.
        assert_eq!(all("${SECRET:}"), [Ref(Variable("SECRET:"))]);
    }

    #[test]
    fn names_of_variables_are_told_from_others() {
        assert!(is_variable_name("a") && is_variable_name("_a1:b"));
        assert!(!is_variable_name("SECRET:A") && !is_variable_name("") && !is_variable_name("a-b"));
        assert!(is_name("SECRET:A-b") && !is_name("a-b"));
    }

    #[test]
    fn many_openings_take_no_quadratic_time() {
        let effort = surehand_testkit::Effort::begin();
        assert_eq!(references(&"${".repeat(500_000)).count(), 0);
        assert_eq!(references(&"${a".repeat(300_000)).count(), 0);
        assert_eq!(pieces(&format!("{}{{a}}", "$".repeat(500_000))).count(), 250_001);
        assert_eq!(pieces(&"$".repeat(500_000)).count(), 1);
        assert!(effort.spent().as_secs() < 5, "{:?}", effort.spent());
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole_text(text in "[${}a:S]{0,20}|\\PC{0,20}") {
            let again: String = pieces(&text)
                .map(|piece| match piece {
                    Piece::Text(text) => text.to_owned(),
                    Piece::Escape => "$$".to_owned(),
                    Piece::Reference(reference) => format!("${{{}}}", reference.key()),
                })
                .collect();
            prop_assert_eq!(again, text);
        }
    }
}
