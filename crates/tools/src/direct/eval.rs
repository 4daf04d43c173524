//! `browser_eval`

use schemars::JsonSchema;
use serde::Deserialize;
use surehand_guard::{SecretPlaces, Writing};
use surehand_page::{Error, Evaluated};
use surehand_session::{Fault, Kind};

use super::{dialogs, failure};
use crate::{Answer, Hints, Tool, ToolContext};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Eval {
    /// Debugging address of the browser, e.g. http://127.0.0.1:9222
    browser_url: String,
    /// Id from browser_list; without it the first page target
    #[serde(default)]
    target_id: Option<String>,
    /// JavaScript; promises are awaited
    expression: String,
}

impl Tool for Eval {
    const NAME: &'static str = "browser_eval";
    const DESCRIPTION: &'static str =
        "Run JavaScript in the page and return its result: a string as it is, everything else as JSON.";
    const HINTS: Hints = Hints::ACTS;
    const SECRETS: SecretPlaces = &[(&["expression"], Writing::JavaScript)];

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        failure::told(self.run(cx).await, self.target_id.as_deref())
    }
}

impl Eval {
    async fn run(&self, cx: &ToolContext) -> Result<Answer, Fault> {
        let tab = cx.borrowed.tab(&self.browser_url, self.target_id.as_deref()).await?;
        dialogs::refuse_if_asked(&tab.page)?;
        match tab.page.evaluate(&self.expression, &cx.verbs.navigation_deadline()).await {
            Ok(evaluated) => Ok(Answer::text(shown(&evaluated))),
            Err(Error::DialogOpen(dialog)) => {
                let told = dialogs::dismiss(&tab.page).await;
                let told = told.unwrap_or_else(|| Error::DialogOpen(dialog).to_string());
                Err(Fault::new(Kind::ScriptError, told))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn shown(evaluated: &Evaluated) -> String {
    if evaluated.is_undefined {
        return "undefined".to_owned();
    }
    let raw = evaluated.result.get();
    serde_json::from_str::<String>(raw).unwrap_or_else(|_| pretty(raw))
}

/// JSON with line breaks. Members stay in their order and numbers as they are, which a parser would not promise.
fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let (mut is_text, mut is_escaped) = (false, false);
    let mut characters = json.chars().filter(|c| *c != '\n').peekable();
    let break_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(character) = characters.next() {
        if is_text {
            out.push(character);
            is_text = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            continue;
        }
        match character {
            '{' | '[' => {
                out.push(character);
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            ' ' => {}
            other => {
                is_text = other == '"';
                out.push(other);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_broken_into_lines_and_keeps_its_order() {
        assert_eq!(pretty(r#"{"b":1,"a":[]}"#), "{\n  \"b\": 1,\n  \"a\": []\n}");
        assert_eq!(
            pretty(r#"[{"x":{}},"a,{:\"]\\"]"#),
            "[\n  {\n    \"x\": {}\n  },\n  \"a,{:\\\"]\\\\\"\n]"
        );
        assert_eq!(pretty("1e+21"), "1e+21");
        assert_eq!(pretty("null"), "null");
    }
}
