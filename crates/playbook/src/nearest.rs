//! What somebody may have meant.

/// Nobody misspells a longer word.
const LONGEST: usize = 64;

/// The name that is nearest to a word, if one is near at all.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<(f64, &'a str)> {
    // Very long words are near to nothing, and comparing them costs.
    let is_short = |word: &str| word.chars().take(LONGEST + 1).count() <= LONGEST;
    if !is_short(word) {
        return None;
    }
    let scored =
        known.into_iter().filter(|name| is_short(name)).map(|name| (strsim::jaro_winkler(word, name), name));
    scored.filter(|(score, _)| *score >= 0.7).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The end of a sentence that asks for it.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map(|(_, name)| format!("; did you mean {name:?}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        assert_eq!(did_you_mean("clik", ["fill", "click"]), "; did you mean \"click\"?");
        assert_eq!(did_you_mean("zzz", ["fill", "click"]), "");
        assert_eq!(did_you_mean(&"c".repeat(1000), ["c"]), "");
        assert_eq!(did_you_mean("cccccccc", ["c".repeat(1000).as_str()]), "");
    }
}
