//! What a variable holds: a text, and where its author referred to secrets in it.

use std::fmt;

use super::reference::{Piece, Reference, raw_secrets};

/// See the module.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Value {
    text: String,
    /// Where references to secrets begin, in bytes and in order.
    secrets: Vec<usize>,
}

impl Value {
    pub(super) fn new(text: String, secrets: Vec<usize>) -> Self {
        Self { text, secrets }
    }

    /// A text that came from somewhere else: nothing in it refers to anything.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(text.into(), Vec::new())
    }

    /// A text as it stands in a playbook. Only secrets are referred to in there: variables are put in once.
    pub fn written(text: &str) -> Self {
        let is_escaped = |at: usize| at > 0 && text.as_bytes()[at - 1] == b'$';
        let secrets = raw_secrets(text).map(|(at, _)| at).filter(|at| !is_escaped(*at)).collect();
        Self::new(text.to_owned(), secrets)
    }

    /// All of it, with references as they are written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it refers to a secret.
    pub fn has_secrets(&self) -> bool {
        !self.secrets.is_empty()
    }

    /// Texts and references to secrets, in order.
    pub(super) fn parts(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut from = 0;
        let ends = self.secrets.iter().copied().map(Some).chain([None]);
        ends.flat_map(move |secret| {
            let begin = std::mem::replace(&mut from, self.text.len());
            let end = secret.unwrap_or(self.text.len());
            let reference = self.secret_at(end).map(|name| {
                from = end + "${SECRET:}".len() + name.len();
                Piece::Reference(Reference::Secret(name))
            });
            [Some(Piece::Text(&self.text[begin..end])), reference.filter(|_| secret.is_some())]
        })
        .flatten()
    }

    fn secret_at(&self, at: usize) -> Option<&str> {
        raw_secrets(&self.text[at..]).next().filter(|(place, _)| *place == 0).map(|(_, name)| name)
    }
}

/// It may be a secret.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole_text() {
        use Piece::Text;
        let secret = |name| Piece::Reference(Reference::Secret(name));
        let value = Value::written("a${SECRET:A}${SECRET:B.1}é${x}");
        let parts: Vec<_> = value.parts().collect();
        assert_eq!(parts, [Text("a"), secret("A"), Text(""), secret("B.1"), Text("é${x}")]);
        let plain = Value::plain("a${SECRET:A}");
        assert_eq!(plain.parts().collect::<Vec<_>>(), [Text("a${SECRET:A}")]);
        assert!(!plain.has_secrets() && value.has_secrets());
        assert_eq!(Value::plain("").parts().collect::<Vec<_>>(), [Text("")]);
    }
}
