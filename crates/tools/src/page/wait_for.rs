//! `wait_for`: wait for a condition. A timeout is a failure, always.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use surehand_page::{ElementState, LoadState, UrlPattern};
use surehand_session::{Fault, Kind};
use surehand_verbs::Flaw;

use super::TIMEOUT;
use crate::{Answer, Hints, Misfit, Tool, ToolContext};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitFor {
    #[serde(alias = "type")]
    condition: Condition,
    /// Selector, text, address pattern, expression, or milliseconds
    value: Option<Value>,
    tab_id: Option<String>,
    /// Milliseconds, default 30000
    timeout: Option<u64>,
    /// For selector: must be visible, default true
    visible: Option<bool>,
}

/// What to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Condition {
    Navigation,
    Load,
    Domcontentloaded,
    Networkidle,
    Selector,
    SelectorHidden,
    Text,
    #[serde(alias = "url_match")]
    Url,
    Function,
    Request,
    Timeout,
}

/// Nobody means to sleep longer in a tool call.
const LONGEST_SLEEP: u64 = 60_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Waited {
    tab_id: String,
    condition: Condition,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<serde_json::value::RawValue>>,
}

impl Tool for WaitFor {
    const NAME: &'static str = "wait_for";
    const DESCRIPTION: &'static str = "Wait for a condition; running out of time is a failure that says what the page looked like. navigation is met by one since the last action.";
    // A function is code that runs in the page.
    const HINTS: Hints = Hints::ACTS;
    const STRUCTURED: bool = true;

    fn misfits(&self) -> Vec<Misfit> {
        let mut misfits = Vec::new();
        let name = self.condition.name();
        match (self.condition.takes_value(), &self.value) {
            (false, Some(_)) => misfits.push(Misfit::idle("value", &format!("{name} takes none"))),
            (true, None) if self.condition != Condition::Timeout => {
                misfits.push(Misfit::value("/value".to_owned(), format!("is missing; {name} needs one")));
            }
            _ => {}
        }
        if self.visible.is_some() && self.condition != Condition::Selector {
            misfits.push(Misfit::idle("visible", "it is for selector"));
        }
        if self.timeout.is_some() && self.condition == Condition::Timeout {
            misfits.push(Misfit::idle("timeout", "value is the time to wait"));
        }
        misfits
    }

    fn doubts(&self) -> Vec<Misfit> {
        let selector = |text: String| Flaw::of_selector("/value", &text).map(Misfit::from);
        let doubt = match self.condition {
            // Those are misfits already.
            _ if !self.condition.takes_value() || self.value.is_none() => None,
            Condition::Selector | Condition::SelectorHidden => match self.text() {
                Ok(text) => selector(text),
                Err(fault) => Misfit::fault("/value", Err::<(), _>(fault)),
            },
            Condition::Url | Condition::Request => Misfit::fault("/value", self.pattern()),
            Condition::Timeout => Misfit::fault("/value", self.pause()),
            _ => Misfit::fault("/value", self.text()),
        };
        doubt.into_iter().collect()
    }

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        let deadline = cx.deadline(self.timeout, TIMEOUT);
        let (session, tab) = cx.tab(self.tab_id.as_deref()).await?;
        let page = &tab.page;
        let mut result = None;
        match self.condition {
            Condition::Navigation => {
                page.wait_for_navigation(&deadline).await?;
                page.wait_for_load(LoadState::DomContentLoaded, &deadline).await?;
            }
            Condition::Load => page.wait_for_load(LoadState::Load, &deadline).await?,
            Condition::Domcontentloaded => page.wait_for_load(LoadState::DomContentLoaded, &deadline).await?,
            Condition::Networkidle => page.wait_for_load(LoadState::NetworkIdle, &deadline).await?,
            Condition::Selector | Condition::SelectorHidden => {
                let locator = session.locator(&self.text()?, &tab)?;
                page.wait_for_element(&locator, self.state(), &deadline).await?;
            }
            Condition::Text => page.wait_for_text(&self.text()?, &deadline).await?,
            Condition::Url => drop(page.wait_for_url(&self.pattern()?, &deadline).await?),
            Condition::Request => drop(page.wait_for_request(&self.pattern()?, &deadline).await?),
            Condition::Function => {
                result = Some(page.wait_for_function(&self.text()?, &deadline).await?.result);
            }
            Condition::Timeout => tokio::time::sleep(self.pause()?).await,
        }
        Answer::json(&Waited { tab_id: tab.id(), condition: self.condition, url: page.url(), result })
    }
}

impl Condition {
    fn takes_value(self) -> bool {
        !matches!(self, Self::Navigation | Self::Load | Self::Domcontentloaded | Self::Networkidle)
    }

    fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

impl WaitFor {
    fn state(&self) -> ElementState {
        match (self.condition, self.visible.unwrap_or(true)) {
            (Condition::SelectorHidden, _) => ElementState::Hidden,
            (_, true) => ElementState::Visible,
            (_, false) => ElementState::Attached,
        }
    }

    fn text(&self) -> Result<String, Fault> {
        match &self.value {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            _ => {
                Err(Fault::new(Kind::Usage, "this condition needs a value").hint("give it as value, a text"))
            }
        }
    }

    fn pattern(&self) -> Result<UrlPattern, Fault> {
        let text = self.text()?;
        UrlPattern::parse(&text).map_err(|why| {
            Fault::new(Kind::Usage, format!("{text:?} is no address pattern: {why}"))
                .hint("use a glob such as **/done, a part of the address, or /a regex/")
        })
    }

    fn pause(&self) -> Result<Duration, Fault> {
        let wanted = match &self.value {
            None => Some(1000),
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_u64(),
        };
        wanted.filter(|ms| *ms <= LONGEST_SLEEP).map(Duration::from_millis).ok_or_else(|| {
            Fault::new(Kind::BadNumber, "value is no time to wait")
                .hint(format!("give milliseconds, 0 to {LONGEST_SLEEP}"))
        })
    }
}
