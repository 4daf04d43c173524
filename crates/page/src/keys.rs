//! The keys of a US keyboard: names, codes and the text they make.

use crate::key_names::{INTERNATIONAL, NAMED, NUMBER_PAD, WITHOUT_CODE};
use crate::{Error, Result};

/// The protocol's modifier bits.
pub(crate) const ALT: i64 = 1;
pub(crate) const CONTROL: i64 = 2;
pub(crate) const META: i64 = 4;
pub(crate) const SHIFT: i64 = 8;

/// A key that changes what others mean while it is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modifier {
    /// Alt, on a Mac Option.
    Alt,
    /// Control.
    Control,
    /// Meta, on a Mac Command.
    Meta,
    /// Shift.
    Shift,
}

impl Modifier {
    /// The protocol's bits of several.
    pub fn bits(held: impl IntoIterator<Item = Self>) -> i64 {
        held.into_iter().fold(0, |bits, modifier| {
            bits | match modifier {
                Modifier::Alt => ALT,
                Modifier::Control => CONTROL,
                Modifier::Meta => META,
                Modifier::Shift => SHIFT,
            }
        })
    }
}

/// One key, as an event tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// `a`, `Enter`, `ArrowLeft` …
    pub key: String,
    /// `KeyA`, `Enter`, `ArrowLeft` …
    pub code: String,
    /// Windows' virtual key code, which old scripts read as `keyCode`.
    pub virtual_code: i64,
    /// What it types.
    pub text: Option<String>,
    /// 1 left, 2 right, 3 on the number pad.
    pub location: i64,
}

impl Key {
    /// The bit that holding this key sets; zero for keys that are no modifiers.
    pub fn modifier_bit(&self) -> i64 {
        match self.key.as_str() {
            "Alt" => ALT,
            "Control" => CONTROL,
            "Meta" => META,
            "Shift" => SHIFT,
            _ => 0,
        }
    }
}

/// A key with the modifiers that are held: `Control+Shift+a`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChord {
    pub(crate) modifiers: Vec<Key>,
    pub(crate) key: Key,
}

impl KeyChord {
    /// Reads a chord. `+` itself is a key too: `Control++`.
    pub fn parse(text: &str) -> Result<Self> {
        let (held, last) = match text.strip_suffix('+') {
            Some("") => (None, "+"),
            Some(held) => (Some(held.strip_suffix('+').ok_or_else(|| unknown(text))?), "+"),
            None => text.rsplit_once('+').map_or((None, text), |(held, last)| (Some(held), last)),
        };
        let mut modifiers = Vec::new();
        for name in held.into_iter().flat_map(|held| held.split('+')) {
            let key = named(name).filter(|key| key.modifier_bit() != 0);
            // Nothing before a `+` is no key: the chord as a whole makes no sense.
            modifiers.push(key.ok_or_else(|| unknown(if name.is_empty() { text } else { name }))?);
        }
        let shifted = modifiers.iter().any(|key| key.modifier_bit() == SHIFT);
        let key = named(last).ok_or_else(|| unknown(last))?;
        Ok(Self { modifiers, key: if shifted { with_shift(key) } else { key } })
    }

    /// The character that it types where a text is entered, if it does.
    pub fn types(&self) -> Option<&str> {
        let is_command = |key: &Key| matches!(key.modifier_bit(), ALT | CONTROL | META);
        let text = self.key.text.as_deref().filter(|text| *text != "\r");
        text.filter(|_| !self.modifiers.iter().any(is_command))
    }

    pub(crate) fn delete() -> Self {
        Self { modifiers: Vec::new(), key: plain("Delete", "Delete", 46) }
    }
}

fn unknown(name: &str) -> Error {
    Error::UnknownKey { name: name.to_owned(), nearest: nearest(name) }
}

/// The key of a character, and whether Shift must be held for it.
pub(crate) fn for_character(character: char) -> Option<(Key, bool)> {
    match character {
        '\n' | '\r' => named("Enter").map(|key| (key, false)),
        '\t' => named("Tab").map(|key| (key, false)),
        _ => printable(character),
    }
}

/// What people write for some of them.
const ALIASES: [(&str, &str); 20] = [
    ("Return", "Enter"),
    ("Esc", "Escape"),
    ("Del", "Delete"),
    ("Ins", "Insert"),
    ("Space", " "),
    ("Spacebar", " "),
    ("Left", "ArrowLeft"),
    ("Up", "ArrowUp"),
    ("Right", "ArrowRight"),
    ("Down", "ArrowDown"),
    ("PgUp", "PageUp"),
    ("PgDn", "PageDown"),
    ("Ctrl", "Control"),
    ("Option", "Alt"),
    ("Cmd", "Meta"),
    ("Command", "Meta"),
    ("Win", "Meta"),
    ("Super", "Meta"),
    ("Plus", "+"),
    ("Minus", "-"),
];

/// Punctuation of the US layout: plain, shifted, code, virtual code.
const PUNCTUATION: [(char, char, &str, i64); 11] = [
    ('`', '~', "Backquote", 192),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
];

/// What Shift makes of the digits.
const SHIFTED_DIGITS: [char; 10] = [')', '!', '@', '#', '$', '%', '^', '&', '*', '('];

fn named(name: &str) -> Option<Key> {
    let mut characters = name.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return printable(only).map(|(key, _)| key).or_else(|| Some(any_character(only)));
    }
    if name == "ControlOrMeta" {
        return named(if cfg!(target_os = "macos") { "Meta" } else { "Control" });
    }
    if let Some((_, meant)) = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)) {
        return named(meant);
    }
    if let Some((key, code, virtual_code)) = NAMED.iter().find(|(key, ..)| key.eq_ignore_ascii_case(name)) {
        return Some(plain(key, code, *virtual_code));
    }
    if let Some(key) = WITHOUT_CODE.iter().find(|key| key.eq_ignore_ascii_case(name)) {
        return Some(plain(key, "", 0));
    }
    by_code(name)
}

/// `KeyA`, `Digit1`, `Numpad1`, `ShiftRight`, `Comma` …: a key by its place on the keyboard.
fn by_code(code: &str) -> Option<Key> {
    if let Some(side) =
        ["Shift", "Control", "Alt", "Meta"].into_iter().find(|name| code.strip_prefix(name) == Some("Right"))
    {
        return named(side).map(|key| Key { code: code.to_owned(), location: 2, ..key });
    }
    if let Some(side) =
        code.strip_suffix("Left").filter(|name| matches!(*name, "Shift" | "Control" | "Alt" | "Meta"))
    {
        return named(side);
    }
    if let Some(letter) = single(code.strip_prefix("Key")).filter(char::is_ascii_uppercase) {
        return printable(letter.to_ascii_lowercase()).map(|(key, _)| key);
    }
    if let Some(digit) = single(code.strip_prefix("Digit")).filter(char::is_ascii_digit) {
        return printable(digit).map(|(key, _)| key);
    }
    if let Some(digit) = single(code.strip_prefix("Numpad")).filter(char::is_ascii_digit) {
        let virtual_code = 96 + i64::from(u32::from(digit) - u32::from('0'));
        let text = Some(digit.to_string());
        return Some(Key { key: digit.into(), code: code.to_owned(), virtual_code, text, location: 3 });
    }
    if let Some((_, key, virtual_code)) = NUMBER_PAD.iter().find(|(name, ..)| *name == code) {
        return Some(Key { code: code.to_owned(), location: 3, ..typing(key, *virtual_code) });
    }
    if let Some((_, key, virtual_code)) = INTERNATIONAL.iter().find(|(name, ..)| *name == code) {
        return Some(Key { code: code.to_owned(), ..typing(key, *virtual_code) });
    }
    let is_there = |name: &str| !name.is_empty() && name == code;
    if let Some((key, code, virtual_code)) = NAMED.iter().find(|(_, name, _)| is_there(name)) {
        return Some(plain(key, code, *virtual_code));
    }
    let (character, ..) = PUNCTUATION.iter().find(|(_, _, name, _)| *name == code)?;
    printable(*character).map(|(key, _)| key)
}

/// A key that types what it is called; Enter types a line break.
fn typing(key: &str, virtual_code: i64) -> Key {
    let text = if key == "Enter" { "\r" } else { key };
    Key { key: key.to_owned(), code: String::new(), virtual_code, text: Some(text.to_owned()), location: 0 }
}

fn single(text: Option<&str>) -> Option<char> {
    let mut characters = text?.chars();
    characters.next().filter(|_| characters.next().is_none())
}

fn plain(key: &str, code: &str, virtual_code: i64) -> Key {
    let text = (key == "Enter").then(|| "\r".to_owned());
    let location = match key {
        "Shift" | "Control" | "Alt" | "Meta" => 1,
        "AltGraph" => 2,
        "Clear" => 3,
        _ => 0,
    };
    Key { key: key.to_owned(), code: code.to_owned(), virtual_code, text, location }
}

/// The key of a character on the US layout, and whether Shift is needed.
fn printable(character: char) -> Option<(Key, bool)> {
    let key = |code: String, virtual_code: i64| Key {
        key: character.into(),
        code,
        virtual_code,
        text: Some(character.into()),
        location: 0,
    };
    if character == ' ' {
        return Some((key("Space".to_owned(), 32), false));
    }
    if character.is_ascii_alphabetic() {
        let upper = character.to_ascii_uppercase();
        return Some((
            key(format!("Key{upper}"), i64::from(u32::from(upper))),
            character.is_ascii_uppercase(),
        ));
    }
    if character.is_ascii_digit() {
        return Some((key(format!("Digit{character}"), i64::from(u32::from(character))), false));
    }
    if let Some(digit) = SHIFTED_DIGITS.iter().position(|shifted| *shifted == character) {
        return Some((key(format!("Digit{digit}"), 48 + digit as i64), true));
    }
    let (_, shifted, code, virtual_code) =
        PUNCTUATION.iter().find(|(plain, shifted, ..)| *plain == character || *shifted == character)?;
    Some((key((*code).to_owned(), *virtual_code), *shifted == character))
}

/// A character that has no key on this layout still makes a key event with its text, as other layouts do.
fn any_character(character: char) -> Key {
    Key {
        key: character.into(),
        code: String::new(),
        virtual_code: 0,
        text: Some(character.into()),
        location: 0,
    }
}

/// `Shift+a` types `A`, `Shift+1` types `!`.
fn with_shift(key: Key) -> Key {
    if key.location == 3 {
        return key;
    }
    let Some(character) = key.text.as_deref().and_then(|text| single(Some(text))) else { return key };
    let shifted = match character {
        c if c.is_ascii_lowercase() => c.to_ascii_uppercase(),
        c if c.is_ascii_digit() => SHIFTED_DIGITS[(u32::from(c) - u32::from('0')) as usize],
        c => PUNCTUATION.iter().find(|(plain, ..)| *plain == c).map_or(c, |(_, shifted, ..)| *shifted),
    };
    Key { key: shifted.into(), text: Some(shifted.into()), ..key }
}

fn nearest(name: &str) -> Option<String> {
    let named = NAMED.iter().map(|(key, ..)| *key).chain(WITHOUT_CODE.iter().copied());
    let known =
        named.chain(NUMBER_PAD.iter().map(|(code, ..)| *code)).chain(ALIASES.iter().map(|(alias, _)| *alias));
    known
        .map(|known| (strsim::jaro_winkler(&known.to_lowercase(), &name.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_read() {
        let chord = KeyChord::parse("Control+Shift+a").unwrap();
        assert_eq!(
            chord.modifiers.iter().map(|key| key.key.as_str()).collect::<Vec<_>>(),
            ["Control", "Shift"]
        );
        assert_eq!((chord.key.key.as_str(), chord.key.code.as_str()), ("A", "KeyA"));
        assert_eq!(KeyChord::parse("Control++").unwrap().key.key, "+");
        assert_eq!(KeyChord::parse("+").unwrap().key.key, "+");
        assert_eq!(KeyChord::parse("Shift+1").unwrap().key.text.as_deref(), Some("!"));
        assert_eq!(KeyChord::parse("esc").unwrap().key.key, "Escape");
        assert_eq!(KeyChord::parse("Enter").unwrap().key.text.as_deref(), Some("\r"));
        assert_eq!(KeyChord::parse("é").unwrap().key.text.as_deref(), Some("é"));
    }

    #[test]
    fn keys_that_type_are_told_from_those_that_do() {
        let types = |chord: &str| KeyChord::parse(chord).unwrap().types().map(str::to_owned);
        for (chord, text) in [("x", "x"), ("Shift+x", "X"), ("é", "é"), ("Space", " "), ("Numpad1", "1")] {
            assert_eq!(types(chord).as_deref(), Some(text), "{chord}");
        }
        for chord in ["Enter", "Tab", "Backspace", "ArrowLeft", "F5", "Control+a", "Alt+x", "Meta+v", "Shift"]
        {
            assert_eq!(types(chord), None, "{chord}");
        }
    }

    #[test]
    fn an_unknown_key_suggests_the_nearest() {
        let error = KeyChord::parse("Entr").unwrap_err();
        assert!(matches!(&error, Error::UnknownKey { nearest: Some(n), .. } if n == "Enter"), "{error}");
        assert!(KeyChord::parse("Hyper+a").is_err());
        assert!(KeyChord::parse("").is_err());
        assert!(KeyChord::parse("Control+").is_err());
        for nothing_held in ["+a", "++a", "++", "Control++a", "+Control+a"] {
            assert!(KeyChord::parse(nothing_held).is_err(), "{nothing_held}");
        }
    }

    #[test]
    fn every_key_is_found_by_its_name_and_by_its_place() {
        for (name, key, code, virtual_code, location) in [
            ("NumpadEnter", "Enter", "NumpadEnter", 13, 3),
            ("NumpadAdd", "+", "NumpadAdd", 107, 3),
            ("Shift+NumpadSubtract", "-", "NumpadSubtract", 109, 3),
            ("AltGraph", "AltGraph", "AltRight", 225, 2),
            ("IntlBackslash", "\\", "IntlBackslash", 226, 0),
            ("Clear", "Clear", "Numpad5", 12, 3),
            ("MediaPlayPause", "MediaPlayPause", "MediaPlayPause", 179, 0),
            ("audiovolumeup", "AudioVolumeUp", "AudioVolumeUp", 175, 0),
            ("LaunchApp2", "LaunchApplication2", "LaunchApp2", 183, 0),
            ("Paste", "Paste", "Paste", 0, 0),
            ("ZoomIn", "ZoomIn", "", 0, 0),
        ] {
            let found = KeyChord::parse(name).unwrap().key;
            assert_eq!(
                (found.key.as_str(), found.code.as_str(), found.virtual_code, found.location),
                (key, code, virtual_code, location),
                "{name}"
            );
        }
    }

    #[test]
    fn every_ascii_character_has_a_key() {
        for character in ' '..='~' {
            let (key, _) = for_character(character).unwrap();
            assert_eq!(key.text.unwrap(), character.to_string());
        }
        assert!(for_character('ü').is_none());
    }
}
