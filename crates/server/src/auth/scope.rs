//! Scopes: `packs:browser.interact`, `packs:*`, `admin`.

use serde::{Deserialize, Serialize};

/// What a token allows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(Vec<String>);

/// Allows everything.
const ADMIN: &str = "admin";

impl Scopes {
    /// These.
    pub fn new(scopes: impl IntoIterator<Item = String>) -> Self {
        Self(scopes.into_iter().collect())
    }

    /// Is this allowed?
    pub fn allow(&self, wanted: &str) -> bool {
        self.0.iter().any(|scope| {
            let family = scope.strip_suffix(":*");
            scope == ADMIN
                || scope == wanted
                || family.is_some_and(|family| wanted.split(':').next() == Some(family))
        })
    }

    /// As they are written.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// Families of scopes.
const FAMILIES: [&str; 5] = ["packs", "sessions", "vault", "audit", "mcp"];

/// Is it a scope that means something? One that is misspelt would allow nothing, silently.
pub fn is_scope(text: &str) -> bool {
    let Some((family, what)) = text.split_once(':') else { return text == ADMIN };
    FAMILIES.contains(&family)
        && !what.is_empty()
        && what.chars().all(|c| c.is_ascii_alphanumeric() || "._-*".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allow(scopes: &[&str], wanted: &str) -> bool {
        Scopes::new(scopes.iter().map(|scope| (*scope).to_owned())).allow(wanted)
    }

    #[test]
    fn a_scope_allows_itself_and_a_star_its_family() {
        assert!(allow(&["packs:browser.interact"], "packs:browser.interact"));
        assert!(allow(&["packs:*"], "packs:web.scrape"));
        assert!(allow(&["admin"], "vault:write"));
        for scopes in
            [&[][..], &["packs:web.scrape"], &["packs"], &["pack:*"], &["*"], &["sessions:*"], &["packs:"]]
        {
            assert!(!allow(scopes, "packs:browser.interact"), "{scopes:?}");
        }
    }

    #[test]
    fn misspelt_scopes_are_none() {
        assert!(
            ["admin", "packs:*", "vault:read", "packs:browser.interact"].iter().all(|text| is_scope(text))
        );
        assert!(!["", "pack:*", "packs", "packs:", "admin:*", "packs:a b"].iter().any(|text| is_scope(text)));
    }
}
