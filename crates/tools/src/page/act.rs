//! `act`: a sentence, by rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_guard::{SecretPlaces, Writing};
use surehand_page::{ClickOptions, Deadline, ElementState, KeyChord, LoadState, Locator, Typed};
use surehand_session::{Fault, Kind, Session, Tab};
use surehand_verbs::{Followed, Hit};

use super::{ACTION_TIMEOUT, TIMEOUT, fill_form, web_address};
use crate::check::cut;
use crate::sentence::{Scroll, Step, Wait, parse};
use crate::{Answer, Hints, Misfit, Tool, ToolContext, label};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Act {
    /// E.g. "type hello into Search, then press Enter"
    #[serde(alias = "instruction")]
    action: String,
    tab_id: Option<String>,
    /// Milliseconds for the whole, default 30000
    timeout: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Acted {
    tab_id: String,
    url: String,
    steps: Vec<Done>,
}

#[derive(Serialize)]
struct Done {
    step: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    hit: Option<Hit>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    followed: Option<Followed>,
}

impl Tool for Act {
    const NAME: &'static str = "act";
    const DESCRIPTION: &'static str = "Do what a plain sentence says: click, double-click, hover, press a key, type X into Y, fill Y with X, select X from Y, check, uncheck, scroll, wait for, go to, accept/dismiss the dialog, answer the dialog with X; several joined by then. Stops at the first that fails.";
    const HINTS: Hints = Hints::ACTS;
    const SECRETS: SecretPlaces = &[(&["action"], Writing::Sentence), (&["instruction"], Writing::Sentence)];
    const STRUCTURED: bool = true;

    fn doubts(&self) -> Vec<Misfit> {
        let wrong = match understood(&self.action) {
            Ok(steps) => steps.iter().find_map(|step| check(step).err()),
            Err(fault) => Some(fault),
        };
        wrong.and_then(|fault| Misfit::fault("/action", Err::<(), _>(fault))).into_iter().collect()
    }

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        let steps = understood(&self.action)?;
        let (session, tab) = cx.tab(self.tab_id.as_deref()).await?;
        if !matches!(steps.first(), Some(Step::Answer { .. })) {
            cx.refuse_dialog(&tab)?;
        }
        tab.page.begin_action();
        let whole = cx.deadline(self.timeout, TIMEOUT);
        // Who says how long it may take means all of it; else no step waits for long.
        let is_said = self.timeout.or(cx.verbs.settings.timeout).is_some();
        let mut done = Vec::new();
        for step in &steps {
            let each = if is_said { whole.clone() } else { whole.at_most(ACTION_TIMEOUT) };
            match perform(cx, &session, &tab, step, &each, &whole).await {
                Ok(one) => done.push(one),
                Err(fault) => return Err(after(fault, &done)),
            }
        }
        Answer::json(&Acted { tab_id: tab.id(), url: tab.page.url(), steps: done })
    }
}

fn understood(sentence: &str) -> Result<Vec<Step>, Fault> {
    parse(sentence).map_err(|clause| {
        Fault::new(Kind::Usage, format!("{:?} is not understood", cut(&clause)))
            .hint("say it like: click Save; type hello into Search; select Green from Color; scroll down; wait for Results to appear")
    })
}

/// What is wrong with a step of a sentence, before anything is done.
fn check(step: &Step) -> Result<(), Fault> {
    match step {
        Step::Press(key) => KeyChord::parse(key).map(drop).map_err(Fault::from),
        Step::Go(place) if !matches!(place.as_str(), "back" | "forward" | "reload") => {
            web_address(place).map(drop)
        }
        _ => Ok(()),
    }
}

/// A failure says what was done before it.
fn after(mut fault: Fault, done: &[Done]) -> Fault {
    if !done.is_empty() {
        let steps: Vec<&str> = done.iter().map(|one| one.step.as_str()).collect();
        fault.message = format!("{} (done before: {})", fault.message, steps.join("; "));
    }
    fault
}

async fn perform(
    cx: &ToolContext,
    session: &Session,
    tab: &Tab,
    step: &Step,
    deadline: &Deadline,
    whole: &Deadline,
) -> Result<Done, Fault> {
    let page = &tab.page;
    let once = ClickOptions::default();
    let actionable = |name: &str| label::actionable(session, tab, name);
    let hit =
        |words: String, acted| Done { step: words, hit: Some(Hit::new(session, acted)), followed: None };
    let plain = |words: String| Done { step: words, hit: None, followed: None };
    Ok(match step {
        Step::Click(name) => {
            hit(format!("click {name}"), page.click(&actionable(name)?, &once, deadline).await?)
        }
        Step::DoubleClick(name) => {
            let twice = ClickOptions { count: 2, ..once };
            hit(format!("double-click {name}"), page.click(&actionable(name)?, &twice, deadline).await?)
        }
        Step::Hover(name) => {
            hit(format!("hover {name}"), page.hover(&actionable(name)?, &once, deadline).await?)
        }
        Step::Press(key) => {
            let chord = KeyChord::parse(key)?;
            session.hide_typed_key("act", &chord, tab, deadline).await;
            let after = page.press(&chord, deadline).await?;
            Done { followed: Some(Followed::new(session, after)), ..plain(format!("press {key}")) }
        }
        Step::Type { text, field: Some(field) } => {
            let locator = label::field(session, tab, field)?;
            let typed = page.type_into(&locator, text, std::time::Duration::ZERO, deadline).await?;
            hide(session, &typed, text);
            arrived(&typed, field)?;
            hit(format!("type into {field}"), typed.acted)
        }
        Step::Type { text, field: None } => {
            let typed = page.type_into_focused(text, std::time::Duration::ZERO, deadline).await?;
            let typed = typed.ok_or_else(nowhere_to_type)?;
            hide(session, &typed, text);
            arrived(&typed, "the field with the focus")?;
            hit("type".to_owned(), typed.acted)
        }
        Step::Answer { accept, text } => plain(answered(tab, *accept, text.clone()).await?),
        Step::Fill { text, field } => {
            fill_form::enter(cx, session, tab, field, &text.as_str().into(), deadline).await?;
            plain(format!("fill {field}"))
        }
        Step::Select { option, list } => {
            let locator = label::field(session, tab, list)?;
            let (acted, _) = page.select(&locator, std::slice::from_ref(option), deadline).await?;
            hit(format!("select {option} from {list}"), acted)
        }
        Step::Check { name, wanted } => {
            let locator = label::field(session, tab, name)?;
            let acted = page.set_checked(&locator, *wanted, &once, deadline).await?;
            hit(format!("{} {name}", if *wanted { "check" } else { "uncheck" }), acted)
        }
        Step::Scroll(scroll) => plain(scrolled(session, tab, scroll, deadline).await?),
        Step::Wait(wait) => plain(waited(tab, wait, whole).await?),
        Step::Go(place) => plain(went(session, tab, place, whole).await?),
    })
}

/// What went into a field that hides it is not written down.
fn hide(session: &Session, typed: &Typed, text: &str) {
    if let Some(name) = &typed.private {
        session.hide_entered(name, text);
    }
}

fn nowhere_to_type() -> Fault {
    Fault::new(Kind::NotEditable, "no field has the focus, so nothing was typed")
        .hint("say where: type hello into Search; or click the field first")
}

/// Keys that a field does not take are no success. What it shows instead may be a secret, or a part of one.
fn arrived(typed: &Typed, field: &str) -> Result<(), Fault> {
    if typed.holds != Some(false) {
        return Ok(());
    }
    let shown = match &typed.shown {
        Some(shown) if !typed.secret => format!(": it shows {:?}", cut(shown)),
        _ => String::new(),
    };
    Err(Fault::new(Kind::ValueDiffers, format!("{field} did not take all that was typed{shown}"))
        .hint("the page or the field changed the value; check its length and format"))
}

async fn answered(tab: &Tab, accept: bool, text: Option<String>) -> Result<String, Fault> {
    let is_text = text.is_some();
    if is_text && tab.page.dialog().is_some_and(|dialog| dialog.kind != "prompt") {
        return Err(Fault::new(
            Kind::WrongElement,
            "the dialog takes no text: it can be accepted or dismissed",
        )
        .hint("say: accept the dialog; or: dismiss the dialog"));
    }
    let dialog = tab.page.answer_dialog(accept, text).await?.ok_or_else(|| {
        Fault::new(Kind::NoDialog, "no dialog is open in this tab").hint("alerts are accepted by themselves")
    })?;
    let done = if accept { "accept" } else { "dismiss" };
    Ok(format!("{done} the {} dialog {:?}", dialog.kind, cut(&dialog.message)))
}

async fn scrolled(
    session: &Session,
    tab: &Tab,
    scroll: &Scroll,
    deadline: &Deadline,
) -> Result<String, Fault> {
    const FAR: f64 = 10_000_000.0;
    let page = &tab.page;
    match scroll {
        Scroll::By(x, y) => drop(page.scroll(None, (f64::from(*x), f64::from(*y)), deadline).await?),
        Scroll::Top => drop(page.scroll(None, (0.0, -FAR), deadline).await?),
        Scroll::Bottom => drop(page.scroll(None, (0.0, FAR), deadline).await?),
        Scroll::To(name) => {
            let locator = match label::actionable(session, tab, name) {
                Ok(locator) => locator,
                Err(_) => Locator::parse(&format!("text={name}")),
            };
            page.scroll_into_view(&locator, deadline).await?;
        }
    }
    Ok("scroll".to_owned())
}

async fn waited(tab: &Tab, wait: &Wait, whole: &Deadline) -> Result<String, Fault> {
    let page = &tab.page;
    match wait {
        Wait::For(time) => tokio::time::sleep((*time).min(whole.remaining())).await,
        Wait::Appears(name) => page.wait_for_text(name, whole).await?,
        Wait::Disappears(name) => {
            let locator = Locator::parse(&format!("text={name}"));
            page.wait_for_element(&locator, ElementState::Hidden, whole).await?;
        }
        Wait::Load => page.wait_for_load(LoadState::Load, whole).await?,
        Wait::NetworkIdle => page.wait_for_load(LoadState::NetworkIdle, whole).await?,
        Wait::Navigation => drop(page.wait_for_navigation(whole).await?),
    }
    Ok("wait".to_owned())
}

async fn went(session: &Session, tab: &Tab, place: &str, whole: &Deadline) -> Result<String, Fault> {
    let page = &tab.page;
    let mut going = session.going();
    let opened = match place {
        "back" => page.go(-1, LoadState::Load, whole).await,
        "forward" => page.go(1, LoadState::Load, whole).await,
        "reload" => page.reload(LoadState::Load, whole).await,
        address => {
            let address = web_address(address)?;
            going = session.going_to(&address)?;
            page.open(&address, LoadState::Load, whole).await
        }
    };
    let navigated = going.arrived(tab, opened.map_err(Fault::from))?;
    Ok(format!("go to {}", navigated.url))
}
