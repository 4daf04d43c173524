//! Any line: its words joined and split again are the same words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use surehand_verbs::{join_words, split_words};

fuzz_target!(|line: &str| {
    let Some(words) = split_words(line) else { return };
    assert_eq!(split_words(&join_words(&words)), Some(words));
});
