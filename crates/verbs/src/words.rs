//! Command lines as words, quoted the way shells do it. No comments and no variables: `#id` is a selector here.

/// Splits a line into words; `None` when a quote is not closed.
pub fn split_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            // Inside single quotes a backslash is a backslash.
            (None | Some('"'), '\\') => word.get_or_insert_default().push(characters.next()?),
            (None, '\'' | '"') => {
                quote = Some(character);
                // An empty pair of quotes is a word, too.
                word.get_or_insert_default();
            }
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (_, other) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Joins words into a line that [`split_words`] and shells read back.
pub fn join_words(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_split_as_shells_do() {
        let split = |line: &str| split_words(line).unwrap();
        assert_eq!(split("click #go"), ["click", "#go"]);
        assert_eq!(split(r#"fill '#a b' "it's" '' x\ y"#), ["fill", "#a b", "it's", "", "x y"]);
        assert_eq!(split("  a\tb  "), ["a", "b"]);
        assert!(split_words("open 'a").is_none());
        assert!(split_words("open \\").is_none());
    }

    proptest! {
        #[test]
        fn what_is_joined_is_split_again(words in proptest::collection::vec("\\PC{0,12}", 0..6)) {
            prop_assert_eq!(split_words(&join_words(&words)), Some(words));
        }
    }
}
