//! How large a picture is, read off the first bytes of its file.

use serde::Serialize;

/// In pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Dimensions {
    pub width: u32,
    pub height: u32,
}

impl Dimensions {
    /// Of a PNG, JPEG or WebP file, as the browser writes them.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        png(bytes).or_else(|| jpeg(bytes)).or_else(|| webp(bytes))
    }
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(bytes.get(at..at + length)?.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn number_le(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(bytes.get(at..at + length)?.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn png(bytes: &[u8]) -> Option<Dimensions> {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n").then_some(())?;
    Some(Dimensions { width: number(bytes, 16, 4)?, height: number(bytes, 20, 4)? })
}

/// Segments, each with its length, up to the one that begins a frame.
fn jpeg(bytes: &[u8]) -> Option<Dimensions> {
    bytes.starts_with(b"\xff\xd8").then_some(())?;
    let mut at = 2;
    loop {
        let marker = number(bytes, at, 2)?;
        let begins_frame = (0xffc0..=0xffcf).contains(&marker) && !matches!(marker, 0xffc4 | 0xffc8 | 0xffcc);
        if begins_frame {
            return Some(Dimensions { height: number(bytes, at + 5, 2)?, width: number(bytes, at + 7, 2)? });
        }
        at += 2 + usize::try_from(number(bytes, at + 2, 2)?).ok()?;
    }
}

/// Three kinds of chunks may come first, each with the size at another place.
fn webp(bytes: &[u8]) -> Option<Dimensions> {
    (bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP").then_some(())?;
    match bytes.get(12..16)? {
        b"VP8 " => Some(Dimensions {
            width: number_le(bytes, 26, 2)? & 0x3fff,
            height: number_le(bytes, 28, 2)? & 0x3fff,
        }),
        b"VP8L" => {
            let bits = number_le(bytes, 21, 4)?;
            Some(Dimensions { width: (bits & 0x3fff) + 1, height: (bits >> 14 & 0x3fff) + 1 })
        }
        b"VP8X" => {
            Some(Dimensions { width: number_le(bytes, 24, 3)? + 1, height: number_le(bytes, 27, 3)? + 1 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_picture_has_no_size() {
        for bytes in [&b""[..], b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF....WEBPVP8 ", b"GIF89a"] {
            assert_eq!(Dimensions::of(bytes), None);
        }
        let jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x07\x00\x09";
        assert_eq!(Dimensions::of(jpeg), Some(Dimensions { width: 9, height: 7 }));
    }
}
