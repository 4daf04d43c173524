//! Any line: its words joined and split again are the same words. And so are any words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use surehand_verbs::{join_words, split_words};

fuzz_target!(|input: (&str, Vec<String>)| {
    let (line, words) = input;
    let split = split_words(line);
    for words in split.into_iter().chain([words]) {
        let joined = join_words(&words);
        assert_eq!(split_words(&joined).as_ref(), Some(&words), "{joined:?}");
        // Nothing in there is for a shell to expand.
        assert_eq!(joined.replace("'\\''", "").matches('\'').count() % 2, 0);
    }
});
