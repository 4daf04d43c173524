//! One line of a row: a command, and what must come of it.

use serde_json::Value;
use surehand_verbs::split_words;

/// `[!code[(part)]|?code[(part)]] COMMAND [=> JSON]`
///
/// A plain command must succeed. With `!code` it must fail with that code, and the page must have seen nothing of it;
/// with `?code` it must fail, too, but only after it did something. `(part)` must be in the message. After `=>` stands what
/// the answer must hold: objects may have more fields than told.
///
/// Words are quoted as in a shell. `{files}` is a folder with `a.txt` and `b.txt` and nothing else, `{saved}` one for what
/// rows save, `{origin}` and `{cross}` are the two origins of the site, and `@{part}` is the reference of the first line with
/// that part in the last snapshot of the row.
pub struct Step<'a> {
    /// The code of the failure; empty for a success.
    pub code: &'a str,
    /// What the failure must say.
    pub says: &'a str,
    /// May the page have seen something of a failed command?
    pub may_act: bool,
    /// The command line.
    pub command: &'a str,
    /// What the answer must hold, as JSON.
    pub answer: Option<&'a str>,
}

impl<'a> Step<'a> {
    pub fn parse(line: &'a str) -> Self {
        let (line, answer) = match line.rsplit_once(" => ") {
            Some((line, json)) => (line, Some(json)),
            None => (line, None),
        };
        let Some(rest) = line.strip_prefix(['!', '?']) else {
            return Self { code: "", says: "", may_act: true, command: line, answer };
        };
        let end = rest.find([' ', '(']).expect("a command after the code");
        let (code, rest) = rest.split_at(end);
        let (says, command) = match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(") ").expect("a closed bracket"),
            None => ("", &rest[1..]),
        };
        Self { code, says, may_act: line.starts_with('?'), command, answer }
    }

    /// The words of the command; `fill_in` replaces what stands in braces.
    pub fn words(&self, fill_in: impl Fn(&str) -> String) -> Vec<String> {
        let words = split_words(self.command).expect("quotes are closed");
        words.iter().map(|word| fill_in(word)).collect()
    }

    /// Does the command leave traces in the session that the next page would meet?
    pub fn soils(&self) -> bool {
        ["set ", "keydown ", "mouse down", "tab ", "dialog "]
            .iter()
            .any(|start| self.command.starts_with(start))
    }
}

/// Does `whole` hold everything that `part` tells?
pub fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|found| holds(found, value)))
        }
        _ => whole == part,
    }
}

#[test]
fn lines_are_read() {
    let step = Step::parse("!covered(<div id) click '#a b' => {\"x\":1}");
    assert_eq!((step.code, step.says, step.may_act), ("covered", "<div id", false));
    assert_eq!(step.words(str::to_owned), ["click", "#a b"]);
    assert_eq!(step.answer, Some("{\"x\":1}"));
    let step = Step::parse("?not-changed check #a");
    assert_eq!((step.code, step.may_act, step.command), ("not-changed", true, "check #a"));
    assert!(holds(
        &serde_json::json!({ "a": 1, "b": { "c": 2, "d": 3 } }),
        &serde_json::json!({ "b": { "c": 2 } })
    ));
    assert!(!holds(&serde_json::json!({ "a": [1, 2] }), &serde_json::json!({ "a": [1] })));
}
