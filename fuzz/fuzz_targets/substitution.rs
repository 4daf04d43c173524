//! Any text and values: what is not a reference stays, and what a value brings in is not looked through again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use surehand_playbook::vars::{Piece, pieces, references};

fuzz_target!(|text: &str| {
    let again: String = pieces(text)
        .map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Escape => "$${".to_owned(),
            Piece::Reference(reference) => format!("${{{}}}", reference.key()),
        })
        .collect();
    assert_eq!(again, text);
    if !text.contains("${") {
        assert_eq!(references(text).count(), 0);
    }
});
