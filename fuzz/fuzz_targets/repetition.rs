//! Something short, over and over, up to 64 KB: whatever it is, nothing takes longer than a second. Many a quadratic time is
//! found that way.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use surehand_guard::{Secrets, redact};
use surehand_playbook::vars::references;
use surehand_playbook::{NoSecrets, Overrides, OwnCatalog, Problem, Source, open_source};
use surehand_verbs::{join_words, split_words};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    before: &'a str,
    unit: &'a str,
    between: &'a str,
    other: &'a str,
    after: &'a str,
}

const LONGEST: usize = 64 * 1024;

struct Nothing;

impl surehand_playbook::Loader for Nothing {
    fn load(&self, path: &str, _: &Source) -> Result<Source, Problem> {
        Err(Problem::of_file(path, "not here"))
    }
}

static SECRETS: LazyLock<Secrets> = LazyLock::new(|| {
    Secrets::parse("A=aaaa\nB='a\"b\\c%d &e'\nC='väl  ue'\nD=\"1\\n2\\n3\"\nE=0123456789").expect("secrets")
});

fuzz_target!(|input: Input| {
    let Input { before, unit, between, other, after } = input;
    let half = |unit: &str| unit.repeat(LONGEST / 2 / unit.len().max(1));
    let text = format!("{before}{}{between}{}{after}", half(unit), half(other));
    for name in ["fuzz.yaml", "fuzz.json"] {
        timed(name, || {
            let source = Source::from_bytes(Path::new(name), text.clone().into()).expect("text");
            let opened = open_source(source, &OwnCatalog, &Nothing, &Overrides::default(), &NoSecrets);
            let _ = opened.problems.to_string();
        });
    }
    timed("mask", || drop(SECRETS.mask_document(&text)));
    timed("mask_queries", || drop(redact::mask_queries(&text)));
    timed("mask_members", || drop(redact::mask_members(&text, redact::is_sensitive_name)));
    timed("references", || assert!(references(&text).count() <= text.len()));
    timed("words", || drop(split_words(&text).map(|words| join_words(&words))));
});

fn timed(what: &str, run: impl FnOnce()) {
    let begin = busy();
    run();
    let took = busy().saturating_sub(begin);
    assert!(took < Duration::from_secs(1), "{what} took {took:?}");
}

/// How long this thread has run, without the time in which others did. Nothing where the system does not tell.
fn busy() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(told.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default())
}
