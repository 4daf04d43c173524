//! What clients of this program say to servers of it in `_meta` of a call, beside the secrets.

/// `true`: structures are wanted whole, also where the text says the same.
pub(crate) const WHOLE: &str = "surehand/whole";

/// How long what the tool does may take, in milliseconds, where its arguments do not say.
pub(crate) const TIMEOUT: &str = "surehand/timeout";
