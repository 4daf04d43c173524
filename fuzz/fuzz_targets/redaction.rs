//! Any text: masking never crashes, and a secret that stands in it as it is does not come out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use surehand_guard::{Secrets, redact};

fuzz_target!(|input: (&str, &str)| {
    let (before, after) = input;
    let secrets = Secrets::parse("TOKEN=s3cr3t-value-of-mine").expect("a good file");
    let text = format!("{before}s3cr3t-value-of-mine{after}");
    assert!(!secrets.mask(&text).contains("s3cr3t-value-of-mine"));
    let _ = redact::mask_queries(before);
    let _ = redact::mask_members(before, redact::is_sensitive_name);
});
