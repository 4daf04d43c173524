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
    let scored = known.into_iter().filter(|name| is_short(name)).map(|name| (likeness(word, name), name));
    scored.filter(|(score, _)| *score >= 0.7).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// How alike two words are. Letters that changed places are one slip, also in a short word.
fn likeness(word: &str, name: &str) -> f64 {
    let is_slip = word.chars().count() > 2 && strsim::osa_distance(word, name) == 1;
    strsim::jaro_winkler(word, name).max(if is_slip { 0.9 } else { 0.0 })
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
        assert_eq!(did_you_mean("ulr", ["label", "url"]), "; did you mean \"url\"?");
        assert_eq!(did_you_mean("zzz", ["fill", "click"]), "");
        assert_eq!(did_you_mean(&"c".repeat(1000), ["c"]), "");
        assert_eq!(did_you_mean("cccccccc", ["c".repeat(1000).as_str()]), "");
    }
}
