//! One character of a value in a text, in each form in which it may stand there.

/// More backslashes than this are no escape.
pub(super) const MOST_BACKSLASHES: usize = 64;

/// Adds where a character ends that begins here, in each of its forms. Those that begin before are added already.
pub(super) fn ends(text: &[u8], at: usize, character: char, base64: bool, out: &mut Vec<usize>) {
    let Some(byte) = text.get(at).copied() else { return };
    let mut buffer = [0; 4];
    let utf8 = character.encode_utf8(&mut buffer).as_bytes();
    // A backslash is found below with all others that follow it.
    if byte != b'\\' && text[at..].starts_with(utf8) {
        out.push(at + utf8.len());
    }
    match byte {
        b'+' if character == ' ' => out.push(at + 1),
        b'-' if base64 && character == '+' => out.push(at + 1),
        b'_' if base64 && character == '/' => out.push(at + 1),
        b'%' => {
            percent_encoded(text, at, utf8, out);
            escaped_by_script(text, at, character, out);
        }
        b'&' => html_escaped(text, at, character, out),
        b'\\' => backslashed(text, at, character, out),
        _ => {}
    }
    // An editable part of a page keeps blanks apart by making some of them unbreakable.
    if character == ' ' {
        ends(text, at, '\u{a0}', base64, out);
    }
}

/// `%C3%a9`, also encoded again and again: `%25C3`.
fn percent_encoded(text: &[u8], mut at: usize, utf8: &[u8], out: &mut Vec<usize>) {
    for byte in utf8 {
        if text.get(at) != Some(&b'%') {
            return;
        }
        at += 1;
        while hexadecimal(text, at, 2) != Some(u32::from(*byte)) {
            if !text[at..].starts_with(b"25") {
                return;
            }
            at += 2;
        }
        at += 2;
    }
    out.push(at);
    // A `%` that was encoded again is `%2525`: how often it was is not known here.
    while utf8 == b"%" && text[at..].starts_with(b"25") {
        at += 2;
        out.push(at);
    }
}

/// As `escape()` does it: `%E9`, and `%u20AC` for what does not fit into a byte. Also encoded again: `%25E9`.
fn escaped_by_script(text: &[u8], at: usize, character: char, out: &mut Vec<usize>) {
    if let Ok(byte @ 0x80..) = u8::try_from(character) {
        return percent_encoded(text, at, &[byte], out);
    }
    let mut at = at;
    for unit in character.encode_utf16(&mut [0; 2]) {
        if text.get(at) != Some(&b'%') {
            return;
        }
        at += 1;
        while text[at..].starts_with(b"25") {
            at += 2;
        }
        if text.get(at) != Some(&b'u') || hexadecimal(text, at + 1, 4) != Some(u32::from(*unit)) {
            return;
        }
        at += 5;
    }
    out.push(at);
}

/// `&lt;`, `&#39;`, `&#x27;`, also escaped again: `&amp;lt;`.
fn html_escaped(text: &[u8], at: usize, character: char, out: &mut Vec<usize>) {
    let mut at = at + 1;
    loop {
        let rest = &text[at..];
        let Some(length) = rest.iter().take(12).position(|byte| *byte == b';') else { return };
        if entity(&rest[..length]) == Some(character) {
            out.push(at + length + 1);
        }
        if &rest[..length] != b"amp" {
            return;
        }
        at += length + 1;
    }
}

fn entity(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    let code = match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        "nbsp" => return Some('\u{a0}'),
        _ => name.strip_prefix('#')?,
    };
    let code = match code.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => code.parse(),
    };
    char::from_u32(code.ok()?)
}

/// `\"`, `\n`, `\u00e9`, `\u{e9}`, `\xe9`, with any number of backslashes: each time something is quoted again they double.
fn backslashed(text: &[u8], at: usize, character: char, out: &mut Vec<usize>) {
    let run = || text[at..].iter().take(MOST_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
    let after = if character == '\\' { in_run(text, at, out) } else { at + run() };
    let Some(byte) = text.get(after).copied() else { return };
    let letter = match character {
        '\n' => Some(b'n'),
        '\r' => Some(b'r'),
        '\t' => Some(b't'),
        '\u{8}' => Some(b'b'),
        '\u{c}' => Some(b'f'),
        '\0' => Some(b'0'),
        other if other.is_ascii_punctuation() => u8::try_from(other).ok(),
        _ => None,
    };
    if letter == Some(byte) && character != '\\' {
        out.push(after + 1);
    }
    match byte {
        b'u' => out.extend(unicode_escape(text, after + 1, character)),
        b'x' if hexadecimal(text, after + 1, 2) == Some(u32::from(character)) => out.push(after + 3),
        _ => {}
    }
}

/// Any number of backslashes may be one. Says where those that begin here end.
///
/// A place before in the same run has found most of that: without this, many backslashes in a value would take cubic time.
fn in_run(text: &[u8], at: usize, out: &mut Vec<usize>) -> usize {
    let found = out.iter().rev().copied().find(|end| text.get(end.wrapping_sub(1)) == Some(&b'\\'));
    let mut end = found.map_or(at, |found| found.max(at));
    while end < at + MOST_BACKSLASHES && text.get(end) == Some(&b'\\') {
        end += 1;
        out.push(end);
    }
    end
}

/// What follows `\u`: four digits, eight for a surrogate pair, or any number in braces.
fn unicode_escape(text: &[u8], at: usize, character: char) -> Option<usize> {
    if text.get(at) == Some(&b'{') {
        let length = text[at + 1..].iter().take(7).position(|byte| *byte == b'}')?;
        let fits = hexadecimal(text, at + 1, length)? == u32::from(character);
        return fits.then_some(at + length + 2);
    }
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units);
    if hexadecimal(text, at, 4)? != u32::from(units[0]) {
        return None;
    }
    let Some(low) = units.get(1) else { return Some(at + 4) };
    let run = text[at + 4..].iter().take(MOST_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
    let second = at + 4 + run;
    let fits =
        run > 0 && text.get(second) == Some(&b'u') && hexadecimal(text, second + 1, 4)? == u32::from(*low);
    fits.then_some(second + 5)
}

fn hexadecimal(text: &[u8], at: usize, length: usize) -> Option<u32> {
    let digits = text.get(at..at + length)?;
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}

/// Base64 is often broken into lines, and those may be escaped.
pub(super) fn after_line_break(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    loop {
        let run = text[end..].iter().take(MOST_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
        match text.get(end + run) {
            Some(b'\r' | b'\n') if run == 0 => end += 1,
            Some(b'r' | b'n') if run > 0 => end += run + 1,
            _ => break,
        }
    }
    (end > at).then_some(end)
}

pub(super) fn is_ellipsis(text: &[u8], at: usize) -> bool {
    let rest = &text[at.min(text.len())..];
    ["…", "...", "\\u2026"].iter().any(|dots| rest.starts_with(dots.as_bytes()))
}
