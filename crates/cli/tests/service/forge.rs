//! Tokens that the program itself would not make, signed with its own key: HS256 by hand.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use serde_json::Value;

/// A token with this header and these claims.
pub fn token(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let part = |value: &Value| BASE64.encode(value.to_string());
    let signed = format!("{}.{}", part(header), part(claims));
    format!("{signed}.{}", BASE64.encode(hmac(secret, signed.as_bytes())))
}

fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    assert!(key.len() <= 64, "a longer key would be hashed first");
    let pad = |byte: u8| -> Vec<u8> {
        (0..64).map(|index| key.get(index).copied().unwrap_or_default() ^ byte).collect()
    };
    let inner = sha256(&[&pad(0x36), message].concat());
    sha256(&[&pad(0x5c), &inner[..]].concat())
}

/// The first digits behind the point of roots of primes.
fn roots(count: u64, root: impl Fn(f64) -> f64) -> impl Iterator<Item = u32> {
    let primes = (2u64..).filter(|number| (2..*number).all(|divisor| number % divisor != 0));
    let digits = move |prime: u64| (root(prime as f64).fract() * 4_294_967_296.0) as u32;
    primes.take(count as usize).map(digits)
}

fn sha256(message: &[u8]) -> [u8; 32] {
    let mut state: Vec<u32> = roots(8, f64::sqrt).collect();
    let keys: Vec<u32> = roots(64, f64::cbrt).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut words: Vec<u32> =
            block.chunks(4).map(|four| u32::from_be_bytes(four.try_into().unwrap())).collect();
        for at in 16..64 {
            let (a, b) = (words[at - 15], words[at - 2]);
            let small = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let large = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            words.push(words[at - 16].wrapping_add(small).wrapping_add(words[at - 7]).wrapping_add(large));
        }
        let mut now: [u32; 8] = state.clone().try_into().unwrap();
        for (word, key) in words.iter().zip(&keys) {
            let [a, b, c, _, e, f, g, h] = now;
            let first = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let one = [first, choice, *key, *word].iter().fold(h, |sum, part| sum.wrapping_add(*part));
            let second = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let two = second.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            now.rotate_right(1);
            now[0] = one.wrapping_add(two);
            now[4] = now[4].wrapping_add(one);
        }
        for (part, worked) in state.iter_mut().zip(now) {
            *part = part.wrapping_add(worked);
        }
    }
    let bytes: Vec<u8> = state.iter().flat_map(|part| part.to_be_bytes()).collect();
    bytes.try_into().unwrap()
}

#[test]
fn the_hash_is_the_hash() {
    let hex: String = sha256(b"abc").iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
