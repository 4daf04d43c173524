//! Who may do what: signing keys in files, tokens that they sign, and the scopes that tokens carry.
//!
//! What must not live here: HTTP. The service asks; the command line mints.

mod keys;
mod scope;
mod token;

pub use keys::{Algorithm, Key, KeyError, KeyInfo, KeyRing};
pub use scope::{Scopes, is_scope};
pub use token::{Claims, Inspected, Mint, TokenError, inspect};

/// Who issues tokens of this program, and for whom they are.
pub const ISSUER: &str = "surehand";
/// See [`ISSUER`].
pub const AUDIENCE: &str = "surehand";

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
