//! The sentences of `act`: by rules, without a model. What the rules do not understand is an error, never a guess.

use std::time::Duration;

use surehand_page::KeyChord;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Click(String),
    DoubleClick(String),
    Hover(String),
    Press(String),
    Type { text: String, field: Option<String> },
    Fill { text: String, field: String },
    Select { option: String, list: String },
    Check { name: String, wanted: bool },
    Scroll(Scroll),
    Wait(Wait),
    Go(String),
    Answer { accept: bool, text: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scroll {
    By(i32, i32),
    To(String),
    Top,
    Bottom,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wait {
    For(Duration),
    Appears(String),
    Disappears(String),
    Load,
    NetworkIdle,
    Navigation,
}

/// How far a scroll goes that does not say.
const SCROLL: i32 = 500;

/// What a clause may begin with.
const VERBS: [&str; 28] = [
    "click",
    "tap",
    "press",
    "hit",
    "double-click",
    "double click",
    "doubleclick",
    "hover",
    "type",
    "enter",
    "write",
    "input",
    "fill",
    "select",
    "choose",
    "pick",
    "check",
    "tick",
    "uncheck",
    "untick",
    "scroll",
    "wait",
    "navigate",
    "go",
    "open",
    "visit",
    "reload",
    "refresh",
];

/// Reads a sentence; the error is the clause that makes no sense.
pub(crate) fn parse(sentence: &str) -> Result<Vec<Step>, String> {
    let steps: Vec<Step> = clauses(sentence).iter().map(|clause| step(clause)).collect::<Result<_, _>>()?;
    if steps.is_empty() { Err(sentence.to_owned()) } else { Ok(steps) }
}

/// Cuts at "then", "and", commas and the like, where a verb follows and outside of quotes.
fn clauses(sentence: &str) -> Vec<String> {
    // The longest first: what is left of a joint must not stand before the verb.
    const JOINTS: [&str; 10] =
        [", and then ", ", and ", ", then ", " and then ", " then ", " and ", "; and ", "; then ", ",", ";"];
    let mut found = Vec::new();
    let mut rest = sentence.trim();
    let mut from = 0;
    while let Some(at) = next_joint(rest, from, &JOINTS) {
        let (joint_start, joint_length) = at;
        let after = &rest[joint_start + joint_length..];
        if begins_with_verb(after) {
            found.push(rest[..joint_start].to_owned());
            (rest, from) = (after, 0);
        } else {
            from = joint_start + joint_length;
        }
    }
    found.push(rest.to_owned());
    found.iter().map(|clause| tidy(clause)).filter(|clause| !clause.is_empty()).collect()
}

/// The next joint at or after a place that is not inside quotes: where it is and how long.
fn next_joint(text: &str, from: usize, joints: &[&str]) -> Option<(usize, usize)> {
    let lower = text.to_ascii_lowercase();
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (None, '"' | '“') => quote = Some(if character == '“' { '”' } else { '"' }),
            // An apostrophe inside a word is none.
            (None, '\'') if !text[..at].ends_with(char::is_alphanumeric) => quote = Some('\''),
            (Some(end), character) if character == end => quote = None,
            _ => {}
        }
        if quote.is_none()
            && at >= from
            && let Some(joint) = joints.iter().find(|joint| lower[at..].starts_with(**joint))
        {
            return Some((at, joint.len()));
        }
    }
    None
}

fn begins_with_verb(text: &str) -> bool {
    let lower = text.trim_start().to_ascii_lowercase();
    VERBS
        .iter()
        .any(|verb| lower.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
        || speaks_of_dialog(&lower)
}

/// "accept" and the like are verbs only in front of a dialog: elsewhere they are on buttons.
fn speaks_of_dialog(lower: &str) -> bool {
    answering(lower).is_some()
}

/// How a dialog is answered: whether with yes, and what follows the word for it.
fn answering(lower: &str) -> Option<(bool, &str)> {
    const ANSWERS: [(&str, bool); 7] = [
        ("accept ", true),
        ("confirm ", true),
        ("ok ", true),
        ("answer ", true),
        ("dismiss ", false),
        ("cancel ", false),
        ("close ", false),
    ];
    const DIALOGS: [&str; 4] = ["dialog", "prompt", "confirm", "alert"];
    let (word, accept) = ANSWERS.iter().find(|(word, _)| lower.starts_with(word))?;
    let rest = lower[word.len()..].trim_start();
    let rest = rest.strip_prefix("the ").unwrap_or(rest).trim_start();
    let kind = DIALOGS.iter().find(|kind| rest.starts_with(**kind))?;
    let behind = &rest[kind.len()..];
    let is_word = behind.starts_with(|c: char| c.is_whitespace() || ",;.!".contains(c));
    (behind.is_empty() || is_word).then_some((*accept, behind))
}

/// "answer the dialog with X" has a text, the others have none.
fn dialog(clause: &str, lower: &str) -> Option<Step> {
    let (accept, behind) = answering(lower)?;
    let text = clause[clause.len() - behind.len()..].trim_start();
    let with = text.get(..5).filter(|with| with.eq_ignore_ascii_case("with "));
    let is_answer = lower.starts_with("answer ");
    match with {
        Some(_) if accept => Some(Step::Answer { accept, text: Some(unquoted(text[5..].trim())) }),
        None if text.is_empty() && !is_answer => Some(Step::Answer { accept, text: None }),
        _ => None,
    }
}

fn tidy(clause: &str) -> String {
    let clause = clause.trim().trim_end_matches(['.', ';', '!']).trim();
    let lower = clause.to_ascii_lowercase();
    let skip = ["please ", "now "].iter().find(|word| lower.starts_with(**word)).map_or(0, |word| word.len());
    clause[skip..].trim().to_owned()
}

fn step(clause: &str) -> Result<Step, String> {
    understood(clause).ok_or_else(|| clause.to_owned())
}

fn understood(clause: &str) -> Option<Step> {
    let lower = clause.to_ascii_lowercase();
    let after = |words: &[&str]| {
        words.iter().find_map(|word| {
            let rest = lower.strip_prefix(word)?;
            (rest.is_empty() || rest.starts_with(' ')).then(|| clause[word.len()..].trim())
        })
    };
    if let Some(rest) =
        after(&["double-click on", "double click on", "double-click", "double click", "doubleclick"])
    {
        return target(rest).map(Step::DoubleClick);
    }
    if let Some(rest) = after(&["click on", "click", "tap on", "tap"]) {
        return target(rest).map(Step::Click);
    }
    if let Some(rest) = after(&["press on", "press", "hit"]) {
        return key(rest).map(Step::Press).or_else(|| target(rest).map(Step::Click));
    }
    if let Some(rest) = after(&["hover over", "hover on", "hover"]) {
        return target(rest).map(Step::Hover);
    }
    if let Some(rest) = after(&["type", "enter", "write", "input"]) {
        return typing(rest);
    }
    if let Some(rest) = after(&["fill in", "fill out", "fill"]) {
        return filling(rest);
    }
    if let Some(rest) = after(&["select", "choose", "pick"]) {
        return selecting(rest);
    }
    if let Some(rest) = after(&["uncheck", "untick"]) {
        return target(rest).map(|name| Step::Check { name, wanted: false });
    }
    if let Some(rest) = after(&["check", "tick"]) {
        return target(rest).map(|name| Step::Check { name, wanted: true });
    }
    if let Some(rest) = after(&["scroll"]) {
        return scrolling(rest).map(Step::Scroll);
    }
    if let Some(rest) = after(&["wait for", "wait until", "wait"]) {
        return waiting(rest).map(Step::Wait);
    }
    if let Some(rest) = after(&["navigate to", "go to", "visit"]) {
        return address(rest).map(Step::Go);
    }
    if let Some(rest) = after(&["open"]) {
        let is_address = rest.contains("://") || (rest.contains('.') && !rest.contains(' '));
        return if is_address { address(rest).map(Step::Go) } else { target(rest).map(Step::Click) };
    }
    if speaks_of_dialog(&lower) {
        return dialog(clause, &lower);
    }
    match lower.as_str() {
        "go back" => Some(Step::Go("back".to_owned())),
        "go forward" => Some(Step::Go("forward".to_owned())),
        "reload" | "refresh" | "reload the page" | "refresh the page" => Some(Step::Go("reload".to_owned())),
        _ => None,
    }
}

/// What an element is called: without quotes and articles.
fn target(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let skip = ["the ", "a ", "an ", "on the "]
        .iter()
        .find(|word| lower.starts_with(**word))
        .map_or(0, |word| word.len());
    let name = unquoted(text[skip..].trim());
    (!name.is_empty()).then_some(name)
}

/// In quotes it is meant to the letter; a kind behind the quotes ("Save" button) stays.
fn unquoted(text: &str) -> String {
    for (open, close) in [('"', '"'), ('\'', '\''), ('“', '”')] {
        if let Some(rest) = text.strip_prefix(open)
            && let Some((inner, behind)) = rest.split_once(close)
        {
            return format!("{inner}{behind}").trim().to_owned();
        }
    }
    text.to_owned()
}

fn key(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let name = lower.strip_prefix("the ").map_or(text, |_| &text["the ".len()..]);
    let name = name.strip_suffix(" key").unwrap_or(name).trim();
    let is_long = name.len() > 1;
    (is_long && KeyChord::parse(name).is_ok()).then(|| name.to_owned())
}

/// The two sides of the last of some words that stands outside of quotes.
fn split_at_last<'a>(text: &'a str, words: &[&str]) -> Option<(&'a str, &'a str)> {
    let lower = text.to_ascii_lowercase();
    let places = words
        .iter()
        .flat_map(|word| lower.match_indices(word).map(|(at, word)| (at, word.len())).collect::<Vec<_>>());
    let (at, length) =
        places.filter(|(at, _)| !is_quoted(text, *at)).max_by_key(|(at, length)| (*at, *length))?;
    Some((text[..at].trim(), text[at + length..].trim()))
}

fn is_quoted(text: &str, at: usize) -> bool {
    let before = &text[..at];
    before.matches('"').count() % 2 == 1 || before.matches('“').count() > before.matches('”').count()
}

fn typing(rest: &str) -> Option<Step> {
    let names_no_text = ["in ", "into ", "in to "]
        .iter()
        .any(|word| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)));
    if names_no_text {
        return None;
    }
    match split_at_last(rest, &[" into ", " in to ", " in "]) {
        Some((text, field)) => Some(Step::Type { text: unquoted(text), field: Some(target(field)?) }),
        None if rest.is_empty() => None,
        None => Some(Step::Type { text: unquoted(rest), field: None }),
    }
}

fn filling(rest: &str) -> Option<Step> {
    if let Some((field, text)) = split_at_last(rest, &[" with "]) {
        return Some(Step::Fill { text: unquoted(text), field: target(field)? });
    }
    let (text, field) = split_at_last(rest, &[" into ", " in "])?;
    Some(Step::Fill { text: unquoted(text), field: target(field)? })
}

fn selecting(rest: &str) -> Option<Step> {
    match split_at_last(rest, &[" from ", " in "]) {
        Some((option, list)) => Some(Step::Select { option: target(option)?, list: target(list)? }),
        None => target(rest).map(Step::Click),
    }
}

fn scrolling(rest: &str) -> Option<Scroll> {
    let lower = rest.to_ascii_lowercase();
    if let Some(place) = lower.strip_prefix("to ") {
        return match place.trim_start_matches("the ") {
            "top" | "top of the page" => Some(Scroll::Top),
            "bottom" | "bottom of the page" | "end" => Some(Scroll::Bottom),
            _ => target(&rest["to ".len()..]).map(Scroll::To),
        };
    }
    let mut words = lower.split_whitespace().filter(|word| *word != "by");
    let direction = words.next().unwrap_or("down");
    let far = match words.next() {
        Some(number) => number.trim_end_matches("px").parse().ok()?,
        None => SCROLL,
    };
    match direction {
        "down" => Some(Scroll::By(0, far)),
        "up" => Some(Scroll::By(0, -far)),
        "right" => Some(Scroll::By(far, 0)),
        "left" => Some(Scroll::By(-far, 0)),
        _ => None,
    }
}

fn waiting(rest: &str) -> Option<Wait> {
    let lower = rest.to_ascii_lowercase();
    if let Some(time) = duration(&lower) {
        return Some(Wait::For(time));
    }
    match lower.trim_start_matches("the ") {
        "page" | "page to load" | "page is loaded" | "load" => return Some(Wait::Load),
        "network" | "network to be idle" | "network idle" | "networkidle" => return Some(Wait::NetworkIdle),
        "navigation" => return Some(Wait::Navigation),
        _ => {}
    }
    for (ending, gone) in [
        (" to appear", false),
        (" to be visible", false),
        (" to load", false),
        (" appears", false),
        (" is visible", false),
        (" to disappear", true),
        (" to be hidden", true),
        (" to be gone", true),
        (" disappears", true),
        (" is gone", true),
    ] {
        if lower.ends_with(ending) {
            let name = target(&rest[..rest.len() - ending.len()])?;
            return Some(if gone { Wait::Disappears(name) } else { Wait::Appears(name) });
        }
    }
    target(rest).map(Wait::Appears)
}

fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text.get(..digits)?.parse().ok()?;
    match text.get(digits..)?.trim() {
        "ms" | "milliseconds" | "millisecond" => Some(Duration::from_millis(number)),
        "" | "s" | "sec" | "second" | "seconds" => Some(Duration::from_secs(number)),
        _ => None,
    }
}

fn address(text: &str) -> Option<String> {
    let url = unquoted(text);
    (!url.is_empty()).then_some(url)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(sentence: &str) -> Step {
        let steps = parse(sentence).unwrap();
        assert_eq!(steps.len(), 1, "{sentence}: {steps:?}");
        steps[0].clone()
    }

    #[test]
    fn single_clauses_are_understood() {
        let text = |text: &str| text.to_owned();
        assert_eq!(one("click the Save button"), Step::Click(text("Save button")));
        assert_eq!(one("Click on \"Save and close\"."), Step::Click(text("Save and close")));
        assert_eq!(one("click \"Save\" button"), Step::Click(text("Save button")));
        assert_eq!(one("press Enter"), Step::Press(text("Enter")));
        assert_eq!(one("press the Tab key"), Step::Press(text("Tab")));
        assert_eq!(one("press Submit"), Step::Click(text("Submit")));
        assert_eq!(one("double-click Row 3"), Step::DoubleClick(text("Row 3")));
        let typed = Step::Type { text: text("hello in there"), field: Some(text("Search")) };
        assert_eq!(one("type \"hello in there\" into the Search"), typed);
        assert_eq!(one("type hello"), Step::Type { text: text("hello"), field: None });
        let filled = Step::Fill { text: text("a@b.c"), field: text("email field") };
        assert_eq!(one("fill in the email field with a@b.c"), filled);
        let chosen = Step::Select { option: text("Green"), list: text("Color") };
        assert_eq!(one("select Green from the Color"), chosen);
        assert_eq!(one("uncheck Newsletter"), Step::Check { name: text("Newsletter"), wanted: false });
        assert_eq!(one("scroll down"), Step::Scroll(Scroll::By(0, 500)));
        assert_eq!(one("scroll up by 200px"), Step::Scroll(Scroll::By(0, -200)));
        assert_eq!(one("scroll to the bottom"), Step::Scroll(Scroll::Bottom));
        assert_eq!(one("scroll to Comments"), Step::Scroll(Scroll::To(text("Comments"))));
        assert_eq!(one("wait for the spinner to disappear"), Step::Wait(Wait::Disappears(text("spinner"))));
        assert_eq!(one("wait 2 seconds"), Step::Wait(Wait::For(Duration::from_secs(2))));
        assert_eq!(one("go to http://a/b, c"), Step::Go(text("http://a/b, c")));
        assert_eq!(one("go back"), Step::Go(text("back")));
        assert_eq!(one("open example.com"), Step::Go(text("example.com")));
        assert_eq!(one("open the File menu"), Step::Click(text("File menu")));
    }

    #[test]
    fn clauses_are_split_only_where_a_verb_follows() {
        let steps =
            parse("type \"Smith, then Co\" into Name and then click Save and Close, then scroll down")
                .unwrap();
        let field = Some("Name".to_owned());
        let expected = [
            Step::Type { text: "Smith, then Co".to_owned(), field },
            Step::Click("Save and Close".to_owned()),
            Step::Scroll(Scroll::By(0, 500)),
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn joints_may_be_written_in_any_way() {
        let two = [Step::Click("Check out".to_owned()), Step::Click("Go to cart".to_owned())];
        for joint in [", and ", ",", ", ", ";", "; ", " and ", " then ", ", and then ", ", then ", "; then "]
        {
            let sentence = format!("click Check out{joint}click Go to cart");
            assert_eq!(parse(&sentence).as_deref(), Ok(two.as_slice()), "{sentence}");
        }
        assert_eq!(one("click Terms,conditions"), Step::Click("Terms,conditions".to_owned()));
    }

    #[test]
    fn dialogs_are_answered_and_buttons_that_say_so_are_not() {
        let answer = |accept, text: Option<&str>| Step::Answer { accept, text: text.map(str::to_owned) };
        assert_eq!(one("accept the dialog"), answer(true, None));
        assert_eq!(one("Accept dialog."), answer(true, None));
        assert_eq!(one("dismiss the confirm"), answer(false, None));
        assert_eq!(one("cancel the prompt"), answer(false, None));
        assert_eq!(one("answer the dialog with \"Ada L\""), answer(true, Some("Ada L")));
        assert_eq!(one("accept the prompt with Ada"), answer(true, Some("Ada")));
        assert!(parse("answer the dialog").is_err());
        assert!(parse("dismiss the dialog with x").is_err());
        let steps = parse("click Delete, then accept the dialog").unwrap();
        assert_eq!(steps, [Step::Click("Delete".to_owned()), answer(true, None)]);
        assert_eq!(one("click Save and accept terms"), Step::Click("Save and accept terms".to_owned()));
        assert_eq!(one("click Read and close dialogue"), Step::Click("Read and close dialogue".to_owned()));
    }

    #[test]
    fn typing_names_a_text() {
        for nothing in ["type in Name", "type into Name", "type in to Name", "type"] {
            assert!(parse(nothing).is_err(), "{nothing}");
        }
    }

    #[test]
    fn nonsense_is_an_error_that_names_the_clause() {
        assert_eq!(parse("dance a little").unwrap_err(), "dance a little");
        assert_eq!(parse("click Save, then scroll sideways").unwrap_err(), "scroll sideways");
        assert!(parse("").is_err());
        assert!(parse("click").is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(sentence in "\\PC{0,60}") {
            let _ = parse(&sentence);
        }

        #[test]
        fn nothing_panics_near_the_grammar(words in proptest::collection::vec(
            prop_oneof!["click|type|fill|select|wait|scroll|go", "in|into|from|with|to|the|and|then", "\"|'|“|”|,|é|x"], 0..8)) {
            let _ = parse(&words.join(" "));
        }
    }
}
