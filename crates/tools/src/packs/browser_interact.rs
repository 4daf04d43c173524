//! `browser.interact`: actions in the order that the caller wrote them, on a page of the caller's choice.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use surehand_guard::vault::{SecretText, placeholders};
use surehand_page::ScreenshotOptions;
use surehand_session::Fault;

use super::hands::{Blocked, Hands, web_address};
use super::pack::{Pack, PackContext, PackFailure};
use crate::check::{Misfit, read_all};
use crate::schema;

/// Longer errands are several calls.
const MOST_ACTIONS: usize = 1000;

/// Input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrowserInteract {
    /// Absolute address of the first page
    url: String,
    /// What to do there, in this order
    #[schemars(length(min = 1, max = 1000))]
    actions: Vec<Action>,
}

/// One action.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
enum Action {
    /// Open another page
    Navigate { url: String },
    /// Click the element of a CSS selector
    Click { selector: String },
    /// Replace what is in a field, key by key; `${vault:NAME}` stands for a credential
    Type { selector: String, value: String },
    /// Do nothing for a while, 1000 milliseconds if it does not say how long
    Wait { ms: Option<u64> },
    /// A PNG of what is in view
    Screenshot {},
    /// What an element holds
    Extract {
        selector: String,
        #[serde(default)]
        format: Format,
    },
    /// Is this text on the page? If not the actions go on, and `assertions_passed` is false
    AssertText { text: String },
}

/// How content is read.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    #[default]
    Text,
    Html,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Html => "html",
        }
    }
}

/// Output.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Interacted {
    /// As it was given
    url: String,
    /// How many actions were done
    steps_completed: usize,
    /// PNGs in base64, in the order in which they were taken
    screenshots: Vec<String>,
    /// What was read, by selector
    extractions: Map<String, Value>,
    /// Did every `assert_text` find its text?
    assertions_passed: bool,
    /// Requests of the page that the egress guard refused
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked_requests: Vec<Blocked>,
    /// Questions of the page, which are all answered with no
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dismissed_dialogs: Vec<String>,
}

const WAIT: u64 = 1000;

impl Pack for BrowserInteract {
    const NAME: &'static str = "browser.interact";
    const TOOL: &'static str = "browser_interact";
    const DESCRIPTION: &'static str = "Open a page and do actions on it in the given order: navigate, click, type, wait, screenshot, extract, assert_text.";
    type Output = Interacted;
    const FILLED: &'static [&'static str] = &["value"];

    /// Every action is read by itself, so that all that is wrong is told, each with its number.
    fn read(input: Value) -> Result<Self, Vec<Misfit>> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Input {
            url: String,
            actions: Vec<Value>,
        }
        let Input { url, actions } = read_all(input, schema::of::<Self>)?;
        let mut misfits = Misfit::of_address("/url", web_address(&url));
        if actions.is_empty() || actions.len() > MOST_ACTIONS {
            let message = format!("1 to {MOST_ACTIONS} actions are wanted, and there are {}", actions.len());
            misfits.push(Misfit::value("/actions".to_owned(), message));
        }
        let mut read = Vec::new();
        for (index, action) in actions.into_iter().take(MOST_ACTIONS).enumerate() {
            match read_action(action) {
                Ok(action) => read.push(action),
                Err((name, what)) => misfits.push(Misfit {
                    pointer: String::new(),
                    message: format!("action[{index}]{name}: {what}"),
                    is_about_name: false,
                }),
            }
        }
        let interact = Self { url, actions: read };
        match misfits.is_empty() {
            true => Ok(interact),
            false => Err(misfits),
        }
    }

    async fn run(self, cx: &PackContext<'_>) -> Result<Interacted, PackFailure> {
        let hands = Hands::new(cx).await?;
        let mut done = Interacted {
            url: self.url.clone(),
            steps_completed: 0,
            screenshots: Vec::new(),
            extractions: Map::new(),
            assertions_passed: true,
            blocked_requests: Vec::new(),
            dismissed_dialogs: Vec::new(),
        };
        let typed = self.check(&hands).await?;
        cx.witnessed(None, "open", Some(&self.url), hands.open(&self.url))
            .await
            .map_err(|fault| PackFailure::from(fault).after(0))?;
        for (index, action) in self.actions.iter().enumerate() {
            let (name, to) = (action.name(), action.to());
            let work = action.run(&hands, &typed[index], &mut done);
            let acted = cx.witnessed(Some(index), name, to, work).await;
            if let Err(fault) = acted {
                let failure = PackFailure::from(fault);
                let message = format!("action[{index}] {name}: {}", failure.message);
                return Err(PackFailure { message, ..failure }.after(done.steps_completed));
            }
            done.steps_completed += 1;
        }
        done.blocked_requests = hands.blocked();
        done.dismissed_dialogs = hands.dismissed();
        Ok(done)
    }
}

impl BrowserInteract {
    /// What can be known before anything runs: where the guard lets nobody go, as far as the address itself tells it, selectors
    /// that are none, and credentials. Says what is typed by each action.
    async fn check(&self, hands: &Hands<'_>) -> Result<Vec<SecretText>, PackFailure> {
        let cx = hands.cx;
        cx.session.going_to(self.url.trim())?;
        let refused = |index: usize, fault: Fault| {
            let failure = PackFailure::from(fault);
            let message = format!("action[{index}] {}: {}", self.actions[index].name(), failure.message);
            PackFailure { message, ..failure }
        };
        let mut typed = Vec::with_capacity(self.actions.len());
        for (index, action) in self.actions.iter().enumerate() {
            typed.push(action.filled(cx).await.map_err(|fault| refused(index, fault))?);
        }
        let with_selector = self.actions.iter().enumerate();
        let (numbers, selectors): (Vec<usize>, Vec<&str>) =
            with_selector.filter_map(|(index, action)| Some((index, action.selector()?))).unzip();
        match hands.unreadable(&selectors).await {
            Some((number, fault)) => Err(refused(numbers[number], fault)),
            None => Ok(typed),
        }
    }
}

/// An action, or its name as far as it can be read and what is wrong with it.
fn read_action(value: Value) -> Result<Action, (String, String)> {
    let name =
        value.get("action").and_then(Value::as_str).map(|name| format!(" {}", crate::check::cut(name)));
    let name = name.unwrap_or_default();
    let action: Action = serde_json::from_value(value)
        .map_err(|error| (name.clone(), crate::check::cut(&error.to_string())))?;
    match action.flaw() {
        None => Ok(action),
        Some(flaw) => Err((name, flaw)),
    }
}

impl Action {
    fn name(&self) -> &'static str {
        match self {
            Action::Navigate { .. } => "navigate",
            Action::Click { .. } => "click",
            Action::Type { .. } => "type",
            Action::Wait { .. } => "wait",
            Action::Screenshot {} => "screenshot",
            Action::Extract { .. } => "extract",
            Action::AssertText { .. } => "assert_text",
        }
    }

    /// What it is done to, for the audit.
    fn to(&self) -> Option<&str> {
        match self {
            Action::Navigate { url } => Some(url),
            Action::AssertText { text } => Some(text),
            _ => self.selector(),
        }
    }

    fn selector(&self) -> Option<&str> {
        match self {
            Action::Click { selector } | Action::Type { selector, .. } | Action::Extract { selector, .. } => {
                Some(selector)
            }
            _ => None,
        }
    }

    /// What it types, with credentials in it; nothing, if it does not type. Who may not use them, or may not go there, is
    /// refused.
    async fn filled(&self, cx: &PackContext<'_>) -> Result<SecretText, Fault> {
        if let Action::Navigate { url } = self {
            cx.session.going_to(url.trim())?;
        }
        match self {
            Action::Type { value, .. } => cx.filled(value).await,
            _ => Ok(SecretText::new(String::new())),
        }
    }

    fn flaw(&self) -> Option<String> {
        if self.selector().is_some_and(|selector| selector.trim().is_empty()) {
            return Some("selector is empty".to_owned());
        }
        match self {
            Action::AssertText { text } if text.is_empty() => {
                Some("text is empty: every page contains that".to_owned())
            }
            Action::Navigate { url } => web_address(url).err().map(|fault| fault.message),
            // A placeholder that is none would be typed as it is.
            Action::Type { value, .. } => placeholders(value).err().map(|malformed| malformed.to_string()),
            _ => None,
        }
    }

    async fn run(&self, hands: &Hands<'_>, typed: &SecretText, done: &mut Interacted) -> Result<(), Fault> {
        match self {
            Action::Navigate { url } => hands.open(url).await.map(drop)?,
            Action::Click { selector } => hands.click(selector).await?,
            Action::Type { selector, .. } => hands.type_over(selector, typed).await?,
            Action::Wait { ms } => hands.wait(Duration::from_millis(ms.unwrap_or(WAIT))).await?,
            Action::Screenshot {} => {
                let picture = hands.picture(&ScreenshotOptions::default()).await?;
                done.screenshots.push(BASE64_STANDARD.encode(picture));
            }
            Action::Extract { selector, format } => {
                let content = hands.read(selector, format.name()).await?;
                done.extractions.insert(selector.clone(), content.into());
            }
            Action::AssertText { text } => done.assertions_passed &= hands.has_text(text).await?,
        }
        Ok(())
    }
}
