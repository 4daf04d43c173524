//! Patterns of contracts: regular expressions, parts of a text, or whichever of both fits.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

/// A longer pattern is a mistake.
const LONGEST: usize = 512;

/// A regular expression that needs more memory than this is refused.
const LARGEST: usize = 4 << 20;

/// See the module.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    is_substring: bool,
    /// Made when it is first needed: a part of a text mostly fits without, and building one takes longer than all the
    /// rest of checking a step. `None` where the pattern is no regular expression.
    regex: OnceLock<Option<Regex>>,
}

/// How a pattern fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The text contains it.
    Substring,
    /// It fits as a regular expression.
    Regex,
}

impl Fit {
    /// As evidence says it.
    pub fn name(self) -> &'static str {
        match self {
            Fit::Substring => "substring",
            Fit::Regex => "regex",
        }
    }
}

impl Pattern {
    /// Only a regular expression.
    pub fn regex(source: &str) -> Result<Self, String> {
        checked(source)?;
        let regex =
            compile(source).map_err(|error| format!("is no regular expression: {}", last_line(&error)))?;
        Ok(Self { source: source.to_owned(), is_substring: false, regex: OnceLock::from(Some(regex)) })
    }

    /// A part of the text; if the text does not contain it and it is a regular expression, it may fit as one.
    pub fn either(source: &str) -> Result<Self, String> {
        checked(source)?;
        Ok(Self { source: source.to_owned(), is_substring: true, regex: OnceLock::new() })
    }

    /// Only a part of the text.
    pub fn substring(source: &str) -> Result<Self, String> {
        if source.is_empty() {
            return Err("is empty: every text contains that".to_owned());
        }
        Ok(Self { source: source.to_owned(), is_substring: true, regex: OnceLock::from(None) })
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Does the text fit, and how?
    pub fn fit(&self, text: &str) -> Option<Fit> {
        if self.is_substring && text.contains(&self.source) {
            return Some(Fit::Substring);
        }
        let regex = self.regex.get_or_init(|| compile(&self.source).ok());
        regex.as_ref().filter(|regex| regex.is_match(text)).map(|_| Fit::Regex)
    }

    /// Does the text fit?
    pub fn fits(&self, text: &str) -> bool {
        self.fit(text).is_some()
    }
}

fn checked(source: &str) -> Result<(), String> {
    let length = source.chars().count();
    if source.is_empty() {
        return Err("is empty: everything would fit".to_owned());
    }
    if length > LONGEST {
        return Err(format!("has {length} characters; {LONGEST} are allowed"));
    }
    Ok(())
}

fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).size_limit(LARGEST).dfa_size_limit(LARGEST).build()
}

/// A syntax error draws the pattern first; the last line says what is wrong.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next_back().unwrap_or_default();
    line.trim().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_text_goes_before_a_regular_expression() {
        let pattern = Pattern::either("1+1=2").unwrap();
        assert_eq!(pattern.fit("so 1+1=2."), Some(Fit::Substring));
        assert_eq!(pattern.fit("111=2"), Some(Fit::Regex));
        assert_eq!(pattern.fit("2"), None);
    }

    #[test]
    fn what_is_no_regular_expression_is_still_a_part_of_a_text() {
        let pattern = Pattern::either("total (EUR").unwrap();
        assert!(pattern.fits("the total (EUR)"));
        assert!(!pattern.fits("the total"));
    }

    #[test]
    fn a_regular_expression_is_not_anchored_and_no_part_of_a_text() {
        let pattern = Pattern::regex(r"/orders/\d+$").unwrap();
        assert!(pattern.fits("http://h/orders/42"));
        assert!(!pattern.fits(r"/orders/\d+$ is the pattern"));
    }

    #[test]
    fn contains_is_never_a_regular_expression() {
        let pattern = Pattern::substring("a.c").unwrap();
        assert!(pattern.fits("xa.cx") && !pattern.fits("abc"));
    }

    #[test]
    fn bad_patterns_say_what_is_wrong() {
        let unclosed = Pattern::regex("(").unwrap_err();
        assert_eq!(unclosed, "is no regular expression: unclosed group");
        assert!(Pattern::regex(&"a".repeat(512)).is_ok());
        assert_eq!(Pattern::either(&"a".repeat(513)).unwrap_err(), "has 513 characters; 512 are allowed");
        assert!(Pattern::either("").is_err() && Pattern::substring("").is_err());
    }

    #[test]
    fn a_pattern_that_backtracks_elsewhere_is_harmless() {
        let effort = surehand_testkit::Effort::begin();
        assert!(!Pattern::regex("^(a+)+$").unwrap().fits(&format!("{}b", "a".repeat(50_000))));
        assert!(effort.spent().as_secs() < 5, "{:?}", effort.spent());
    }
}
