//! Makes harmless what a page said, before it is shown to a person.

/// The text with every character that would act instead of being read written as `\u{…}`: control characters
/// (a terminal obeys them), marks that change the direction of writing (they make text look like other text), and
/// what XML cannot hold. New lines and tabs stay; other line ends become new lines.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' | '\u{2028}' | '\u{2029}' => shown.push('\n'),
            '\n' | '\t' => shown.push(character),
            acting if acts(acting) => shown.extend(acting.escape_unicode()),
            plain => shown.push(plain),
        }
    }
    shown
}

/// The same on one line: white space of any length becomes one blank.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in visible(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The first `most` characters, and a sign that there were more.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn acts(character: char) -> bool {
    let turns_direction = matches!(
        character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let is_no_character = matches!(character, '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    character.is_control() || turns_direction || is_no_character
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_shown() {
        assert_eq!(visible("\u{1b}[31mred\u{7}"), r"\u{1b}[31mred\u{7}");
        assert_eq!(visible("abc\u{202e}fdp.exe"), r"abc\u{202e}fdp.exe");
        assert_eq!(visible("\u{0}\u{9b}\u{ffff}"), r"\u{0}\u{9b}\u{ffff}");
    }

    #[test]
    fn what_is_read_stays() {
        assert_eq!(visible("Grüße, 世界 שלום\n\tok"), "Grüße, 世界 שלום\n\tok");
        assert_eq!(visible("a\r\nb\rc\u{2028}d"), "a\nb\nc\nd");
    }

    #[test]
    fn one_line_has_no_line_ends() {
        assert_eq!(one_line("  a\r\n\t b\u{2029}c "), "a b c");
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöü", 2), "äö…");
    }
}
