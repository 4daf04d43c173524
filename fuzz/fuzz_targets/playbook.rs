//! Any bytes as a playbook: understood, or refused with problems that have places; never a crash.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use surehand_playbook::{NoSecrets, Overrides, OwnCatalog, Problem, Source, open_source};

/// Other files are not read.
struct Nothing;

impl surehand_playbook::Loader for Nothing {
    fn load(&self, path: &str, _: &Source) -> Result<Source, Problem> {
        Err(Problem::of_file(path, "not here"))
    }
}

fuzz_target!(|input: (bool, Vec<u8>)| {
    let (is_json, bytes) = input;
    let name = if is_json { "fuzz.json" } else { "fuzz.yaml" };
    let Ok(source) = Source::from_bytes(Path::new(name), bytes) else { return };
    let opened = open_source(source, &OwnCatalog, &Nothing, &Overrides::default(), &NoSecrets);
    for problem in opened.problems.iter() {
        assert!(!problem.message.is_empty());
    }
    let _ = opened.problems.to_string();
});
