//! `browser_fill`

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use surehand_guard::{SecretPlaces, Writing};
use surehand_page::{Acted, Deadline, Error, Page};
use surehand_session::{Fault, Kind};

use super::uids::Meant;
use super::{dialogs, failure};
use crate::{Answer, Hints, Tool, ToolContext};

/// A value this short is in many a word that has nothing to do with it.
const TELLING: usize = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fill {
    /// Debugging address of the browser, e.g. http://127.0.0.1:9222
    browser_url: String,
    /// Id from browser_list; without it the first page target
    #[serde(default)]
    target_id: Option<String>,
    /// UID of the field in the latest snapshot of this target
    uid: u32,
    /// What the field is to hold; for a list, an option's value or label
    #[serde(deserialize_with = "unsaid_text")]
    value: String,
}

/// A text. What else it is must not be told: it may be a secret all the same.
fn unsaid_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => Ok(text),
        _ => Err(serde::de::Error::custom("`value` is not a string")),
    }
}

impl Tool for Fill {
    const NAME: &'static str = "browser_fill";
    const DESCRIPTION: &'static str = "Replace what a field, list or editor holds, by its UID from the latest browser_snapshot of the target. The value \
         is never repeated in the answer.";
    const HINTS: Hints = Hints::REPLACES;
    const SECRETS: SecretPlaces = &[(&["value"], Writing::Plain)];

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        failure::told(self.fill(cx).await, self.target_id.as_deref())
    }
}

impl Fill {
    async fn fill(&self, cx: &ToolContext) -> Result<Answer, Fault> {
        let tab = cx.borrowed.tab(&self.browser_url, self.target_id.as_deref()).await?;
        dialogs::refuse_if_asked(&tab.page)?;
        let deadline = cx.verbs.deadline();
        let meant = tab.uids()?.meant(self.uid, &tab.page, &deadline).await?;
        let acted = enter(&tab.page, &meant, &self.value, &deadline).await;
        let acted = acted.map_err(|error| without_value(error, &meant.words, &self.value))?;
        let first = format!("Filled {}", meant.words);
        Ok(Answer::text(dialogs::told(first, &acted.after, &tab.page).await))
    }
}

/// A list takes one of its options, everything else a text.
async fn enter(page: &Page, meant: &Meant, value: &str, deadline: &Deadline) -> Result<Acted, Error> {
    let error = match page.fill(&meant.locator, value, deadline).await {
        Ok(filled) => return Ok(filled.acted),
        Err(error @ Error::WrongType { .. }) => error,
        Err(error) => return Err(error),
    };
    match page.select(&meant.locator, &[value.to_owned()], deadline).await {
        Ok((acted, _)) => Ok(acted),
        Err(Error::WrongType { .. }) => Err(error),
        Err(error) => Err(error),
    }
}

/// The same failure, without what was to be filled in and without what the field shows.
fn without_value(error: Error, words: &str, value: &str) -> Fault {
    if let Error::ValueDiffers { .. } = error {
        let message = format!("{words} did not keep the value: the field or its page changed it");
        return Fault::new(Kind::ValueDiffers, message);
    }
    let mut fault = Fault::from(error);
    if let Ok(quoted) = serde_json::to_string(value) {
        fault.message = fault.message.replace(&quoted, "that value");
    }
    if value.chars().count() >= TELLING {
        fault.message = fault.message.replace(value, "•••");
    }
    fault
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_failure_tells_the_value() {
        let preview = || "<input>".to_owned();
        for error in [
            Error::ValueDiffers { preview: preview(), wanted: "s3cret".into(), shown: "s3c".into() },
            Error::BadValue { preview: preview(), why: "\"s3cret\" is not a number".into() },
            Error::NoOption { preview: preview(), why: "there is no option \"s3cret\"".into() },
            Error::NotVisible { preview: "<p>s3cret</p>".into(), why: "it is hidden".into() },
        ] {
            let answer = failure::answer(&without_value(error, "[1] \"Pin\"", "s3cret"));
            assert!(!answer.text.contains("s3c"), "{}", answer.text);
            assert!(!answer.structured.unwrap().to_string().contains("s3c"));
        }
    }

    #[test]
    fn a_value_that_is_no_string_is_not_told_either() {
        let arguments = serde_json::json!({ "browser_url": "9222", "uid": 1, "value": 73571113 });
        let error = serde_json::from_value::<Fill>(arguments).err().unwrap().to_string();
        assert!(error.contains("`value` is not a string") && !error.contains("73571113"), "{error}");
    }
}
