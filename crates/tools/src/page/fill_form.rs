//! `fill_form`: several fields at once, by their labels. All of them, or a failure that says which.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use surehand_guard::{SecretPlaces, Writing};
use surehand_page::{ClickOptions, Deadline};
use surehand_session::{Fault, Kind, Session, Tab};
use surehand_verbs::Hit;

use super::ACTION_TIMEOUT;
use crate::{Answer, Hints, Misfit, Tool, ToolContext, label};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FillForm {
    /// Field label, placeholder or name → text, number, true/false, option, or list of options
    #[schemars(with = "BTreeMap<String, Value>")]
    fields: Map<String, Value>,
    /// Label of a button to click afterwards
    submit: Option<String>,
    tab_id: Option<String>,
    /// Milliseconds per field, default 5000
    #[serde(alias = "waitForMs")]
    timeout: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Filled {
    tab_id: String,
    filled: Vec<String>,
    /// The files that fields were given, by their whole paths.
    #[serde(skip_serializing_if = "Map::is_empty")]
    uploaded: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    submitted: Option<Hit>,
}

impl Tool for FillForm {
    const NAME: &'static str = "fill_form";
    const DESCRIPTION: &'static str = "Fill several fields by label, then optionally click a button. Fails if a field is missing or does not keep its value, and says which were filled.";
    const HINTS: Hints = Hints::ACTS;
    const SECRETS: SecretPlaces = &[(&["fields", "*"], Writing::Plain)];
    const STRUCTURED: bool = true;

    fn doubts(&self) -> Vec<Misfit> {
        if self.fields.is_empty() {
            return vec![Misfit::value("/fields".to_owned(), "is empty; give at least one field".to_owned())];
        }
        let pointer = |name: &str| format!("/fields/{}", name.replace('~', "~0").replace('/', "~1"));
        let fields = self.fields.keys().filter_map(|name| label::doubt(&pointer(name), name));
        fields.chain(self.submit.iter().filter_map(|button| label::doubt("/submit", button))).collect()
    }

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        if self.fields.is_empty() {
            return Err(Fault::new(Kind::Usage, "fields is empty").hint("give at least one field"));
        }
        let (session, tab) = cx.tab(self.tab_id.as_deref()).await?;
        cx.refuse_dialog(&tab)?;
        tab.page.begin_action();
        let mut filled = Vec::new();
        let mut uploaded = Map::new();
        for (name, value) in &self.fields {
            let deadline = cx.deadline(self.timeout, ACTION_TIMEOUT);
            match enter(cx, &session, &tab, name, value, &deadline).await {
                Ok(files) => {
                    filled.push(name.clone());
                    uploaded.extend(files.map(|files| (name.clone(), files)));
                }
                Err(fault) => return Err(with_filled(fault, name, &filled)),
            }
        }
        let submitted = match &self.submit {
            Some(button) => Some(
                press(cx, &session, &tab, button, self.timeout)
                    .await
                    .map_err(|fault| with_filled(fault, button, &filled))?,
            ),
            None => None,
        };
        Answer::json(&Filled { tab_id: tab.id(), filled, uploaded, submitted })
    }
}

async fn press(
    cx: &ToolContext,
    session: &Session,
    tab: &Tab,
    button: &str,
    timeout: Option<u64>,
) -> Result<Hit, Fault> {
    let locator = label::actionable(session, tab, button)?;
    let deadline = cx.deadline(timeout, ACTION_TIMEOUT);
    let acted = tab.page.click(&locator, &ClickOptions::default(), &deadline).await?;
    Ok(Hit::new(session, acted))
}

/// Enters a value in the way that fits the field. Returns the files that it was given, if it takes files.
pub(crate) async fn enter(
    cx: &ToolContext,
    session: &Session,
    tab: &Tab,
    name: &str,
    value: &Value,
    deadline: &Deadline,
) -> Result<Option<Value>, Fault> {
    let locator = label::field(session, tab, name)?;
    let page = &tab.page;
    match page.field_kind(&locator, deadline).await?.as_str() {
        "check" => {
            let wanted = as_switch(value).ok_or_else(|| wrong_value(name, "true or false"))?;
            page.set_checked(&locator, wanted, &ClickOptions::default(), deadline).await?;
        }
        "select" => {
            page.select(&locator, &as_texts(value).ok_or_else(|| wrong_value(name, "an option"))?, deadline)
                .await?;
        }
        "upload" => {
            let files = as_texts(value).ok_or_else(|| wrong_value(name, "a file"))?;
            let files =
                files.iter().map(|file| cx.verbs.path(file.as_ref())).collect::<Result<Vec<_>, _>>()?;
            if let Some(missing) = files.iter().find(|file| !file.exists()) {
                return Err(Fault::new(Kind::MissingFile, format!("{} is not there", missing.display()))
                    .hint("give a path on the machine of the server"));
            }
            page.upload(&locator, &files, deadline).await?;
            return Ok(Some(files.iter().map(|file| file.to_string_lossy()).collect()));
        }
        _ => {
            let text = as_text(value).ok_or_else(|| wrong_value(name, "a text"))?;
            let filled = page.fill(&locator, &text, deadline).await?;
            if let Some(name) = &filled.private {
                session.hide_entered(name, &text);
            }
        }
    }
    Ok(None)
}

fn wrong_value(field: &str, takes: &str) -> Fault {
    Fault::new(Kind::BadValue, format!("the field {field:?} takes {takes}")).hint(format!("give {takes}"))
}

fn with_filled(mut fault: Fault, name: &str, filled: &[String]) -> Fault {
    let done = if filled.is_empty() { "nothing".to_owned() } else { filled.join(", ") };
    fault.message = format!("{name}: {} (filled so far: {done})", fault.message);
    fault
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        _ => None,
    }
}

fn as_texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(values) => values.iter().map(as_text).collect(),
        one => as_text(one).map(|text| vec![text]),
    }
}

fn as_switch(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "on" | "yes" | "checked" => Some(true),
            "false" | "off" | "no" | "unchecked" => Some(false),
            _ => None,
        },
        _ => None,
    }
}
