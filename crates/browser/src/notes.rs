//! How long work tells a person what it does and why. Nothing here prints: the front decides where lines go.

/// A listener for what long work (an installation, a launch with a fallback) has to say.
///
/// `()` is the silent listener.
pub trait Notes: Send + Sync {
    /// One whole sentence for a person: what happens now, and why.
    fn note(&self, line: &str);

    /// How far a counted piece of work is; `total` is missing when the other side did not say.
    fn progress(&self, what: &str, done: u64, total: Option<u64>);
}

impl Notes for () {
    fn note(&self, _line: &str) {}

    fn progress(&self, _what: &str, _done: u64, _total: Option<u64>) {}
}
