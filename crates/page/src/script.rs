//! The injected script: the files in `script/`, joined when this crate is built.
//!
//! It runs in an isolated world, so that the page neither sees it nor can break it. A document that has it already keeps
//! it: its element ids must live as long as the document.

/// What is evaluated once in the world of every document that is worked on.
pub(crate) const SOURCE: &str = concat!(
    "if (!globalThis.surehand) (() => { 'use strict';\n",
    include_str!("script/native.js"),
    "\n",
    include_str!("script/errors.js"),
    "\n",
    include_str!("script/refs.js"),
    "\n",
    include_str!("script/closed.js"),
    "\n",
    include_str!("script/dom.js"),
    "\n",
    include_str!("script/describe.js"),
    "\n",
    include_str!("script/waiting.js"),
    "\n",
    include_str!("script/states.js"),
    "\n",
    include_str!("script/roles.js"),
    "\n",
    include_str!("script/names.js"),
    "\n",
    include_str!("script/css.js"),
    "\n",
    include_str!("script/text.js"),
    "\n",
    include_str!("script/locate.js"),
    "\n",
    include_str!("script/geometry.js"),
    "\n",
    include_str!("script/hits.js"),
    "\n",
    include_str!("script/frames.js"),
    "\n",
    include_str!("script/guard.js"),
    "\n",
    include_str!("script/prepare.js"),
    "\n",
    include_str!("script/fill.js"),
    "\n",
    include_str!("script/typing.js"),
    "\n",
    include_str!("script/read.js"),
    "\n",
    include_str!("script/lasting.js"),
    "\n",
    include_str!("script/choose.js"),
    "\n",
    include_str!("script/annotate.js"),
    "\n",
    include_str!("script/query.js"),
    "\n",
    include_str!("script/storage.js"),
    "\n",
    include_str!("script/conditions.js"),
    "\n",
    include_str!("script/flags.js"),
    "\n",
    include_str!("script/hints.js"),
    "\n",
    include_str!("script/owned.js"),
    "\n",
    include_str!("script/sources.js"),
    "\n",
    include_str!("script/snapshot.js"),
    "\n",
    include_str!("script/markdown.js"),
    "\n",
    include_str!("script/api.js"),
    "\n",
    "})();",
);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::SOURCE;

    /// All files share one scope, where the second function of a name silently replaces the first.
    #[test]
    fn no_name_is_given_twice() {
        let words = |line: &'static str| line.strip_prefix("async ").unwrap_or(line).split_once(' ');
        let declared = SOURCE.lines().filter_map(words).filter_map(|(kind, rest)| {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            matches!(kind, "function" | "const" | "let" | "class").then(|| &rest[..end])
        });
        let mut names = BTreeSet::new();
        let twice: Vec<&str> = declared.filter(|name| !name.is_empty() && !names.insert(*name)).collect();
        assert!(twice.is_empty() && names.len() > 100, "{twice:?} of {}", names.len());
    }
}
