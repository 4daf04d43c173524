//! A 64-bit perceptual hash of a picture: pictures that look alike differ in few bits.
//!
//! The picture is reduced to 32 × 32 grey values, and of their cosine transform the 8 × 8 lowest frequencies are compared with
//! their median.

use std::io::Cursor;

/// The side of the reduced picture.
const SIDE: usize = 32;

/// The side of what is kept of its transform.
const KEPT: usize = 8;

/// A decoded picture that needs more than this is refused.
const LARGEST: usize = 256 << 20;

/// Why a picture has no hash.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// Not a PNG file.
    #[error("it is no PNG picture: {0}")]
    NotPng(#[from] png::DecodingError),
    /// Too large to look at.
    #[error("it is too large: {width} x {height} pixels")]
    TooLarge {
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
}

/// How many bits differ.
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// The hash of a PNG file.
pub fn of_png(bytes: &[u8]) -> Result<u64, PictureError> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: LARGEST });
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let (width, height) = (reader.info().width, reader.info().height);
    let too_large = || PictureError::TooLarge { width, height };
    let size = reader.output_buffer_size().filter(|size| *size <= LARGEST).ok_or_else(too_large)?;
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels)?;
    let channels = frame.color_type.samples();
    let grey = reduced(&pixels, frame.width as usize, frame.height as usize, channels);
    Ok(hash(&grey))
}

/// Each of the 32 × 32 fields is the mean of the pixels that fall into it.
fn reduced(pixels: &[u8], width: usize, height: usize, channels: usize) -> [f64; SIDE * SIDE] {
    let mut grey = [0.0; SIDE * SIDE];
    if width == 0 || height == 0 {
        return grey;
    }
    for (field, value) in grey.iter_mut().enumerate() {
        let columns = part(field % SIDE, width);
        let rows = part(field / SIDE, height);
        let area = (columns.len() * rows.len()) as f64;
        let sum: f64 = rows
            .map(|row| {
                let begin = (row * width + columns.start) * channels;
                let line = pixels.get(begin..begin + columns.len() * channels).unwrap_or_default();
                line.chunks_exact(channels).map(brightness).sum::<f64>()
            })
            .sum();
        *value = sum / area;
    }
    grey
}

/// The pixels of one field along one side: at least one, also in pictures that are smaller than the fields are many.
fn part(field: usize, length: usize) -> std::ops::Range<usize> {
    let begin = (field * length / SIDE).min(length - 1);
    let end = ((field + 1) * length / SIDE).clamp(begin + 1, length);
    begin..end
}

/// As the eye sees it, on white where it is transparent.
fn brightness(pixel: &[u8]) -> f64 {
    let (grey, alpha) = match *pixel {
        [grey] => (f64::from(grey), 255),
        [grey, alpha] => (f64::from(grey), alpha),
        [red, green, blue] => (mixed(red, green, blue), 255),
        [red, green, blue, alpha] => (mixed(red, green, blue), alpha),
        _ => (0.0, 255),
    };
    let opaque = f64::from(alpha) / 255.0;
    grey * opaque + 255.0 * (1.0 - opaque)
}

fn mixed(red: u8, green: u8, blue: u8) -> f64 {
    0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue)
}

fn hash(grey: &[f64; SIDE * SIDE]) -> u64 {
    let cosines: Vec<f64> = (0..KEPT)
        .flat_map(|frequency| {
            (0..SIDE).map(move |at| {
                let step = std::f64::consts::PI / SIDE as f64;
                (step * (at as f64 + 0.5) * frequency as f64).cos()
            })
        })
        .collect();
    let wave = |frequency: usize| &cosines[frequency * SIDE..(frequency + 1) * SIDE];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut kept = [0.0; KEPT * KEPT];
    for across in 0..KEPT {
        let rows: Vec<f64> = grey.chunks_exact(SIDE).map(|row| dot(row, wave(across))).collect();
        for down in 0..KEPT {
            // Rounded: in a plain picture nothing but rounding errors would decide.
            kept[down * KEPT + across] = (dot(&rows, wave(down)) * 1000.0).round() / 1000.0;
        }
    }
    let mut sorted = kept;
    sorted.sort_by(f64::total_cmp);
    let median = f64::midpoint(sorted[KEPT * KEPT / 2 - 1], sorted[KEPT * KEPT / 2]);
    kept.iter().fold(0, |bits, value| bits << 1 | u64::from(*value > median))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A PNG file with pixels by their place.
    pub fn picture(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        let pixels: Vec<u8> = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .flat_map(|(x, y)| pixel(x, y))
            .collect();
        writer.write_image_data(&pixels).unwrap();
        writer.finish().unwrap();
        bytes
    }

    fn card(size: u32, shade: u8) -> Vec<u8> {
        picture(size * 2, size, |x, y| {
            let (x, y) = (x * 100 / size, y * 100 / size);
            let inside = (30..90).contains(&x) && (20..70).contains(&y);
            if inside { [shade, 40, 40] } else { [250, 250, (x / 2) as u8] }
        })
    }

    #[test]
    fn alike_is_near_whatever_the_size_and_a_little_colour() {
        let one = of_png(&card(200, 10)).unwrap();
        assert!(distance(one, of_png(&card(317, 10)).unwrap()) <= 4);
        assert!(distance(one, of_png(&card(200, 25)).unwrap()) <= 4);
        assert_eq!(distance(one, of_png(&card(200, 10)).unwrap()), 0);
    }

    #[test]
    fn different_is_far() {
        let one = of_png(&card(200, 10)).unwrap();
        let stripes = picture(400, 200, |x, _| if x / 25 % 2 == 0 { [0; 3] } else { [255; 3] });
        assert!(distance(one, of_png(&stripes).unwrap()) > 16);
    }

    #[test]
    fn plain_and_tiny_pictures_have_a_hash() {
        let white = of_png(&picture(640, 480, |_, _| [255; 3])).unwrap();
        assert_eq!(white, of_png(&picture(3, 1, |_, _| [255; 3])).unwrap());
    }

    #[test]
    fn what_is_no_picture_says_so() {
        assert!(of_png(b"GIF89a").unwrap_err().to_string().starts_with("it is no PNG picture"));
        let whole = card(64, 1);
        assert!(of_png(&whole[..whole.len() / 2]).is_err());
    }
}
