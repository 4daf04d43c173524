//! What all packs do to a page: one tab, one action at a time, each with a deadline of its own.
//!
//! Nobody is there to answer a page's questions, so they are answered with no, as a person who looks away would do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use surehand_guard::egress;
use surehand_guard::vault::SecretText;
use surehand_page::{ClickOptions, Deadline, Dialog, Error, LoadState, Locator, ScreenshotOptions};
use surehand_session::{Fault, Kind, Tab};
use url::Url;

use super::pack::PackContext;

/// A page may take this long to load, if the call has the time.
const NAVIGATION: Duration = Duration::from_secs(30);

/// A page that is well answers sooner, also on a busy machine.
const ANSWER: Duration = Duration::from_secs(5);

/// Reading selectors takes no time, unless the page that is there takes all of it.
const CHECK: Duration = Duration::from_secs(2);

/// An answer with more bytes is not made: others need the memory, too.
const HEAVIEST: usize = 32 << 20;

/// A page that asks more often than this in a row is not going to stop.
const MOST_QUESTIONS: usize = 50;

/// These take keys in an order of their own: they are given the value as a whole.
const PICKED: [&str; 7] = ["date", "time", "month", "week", "datetime-local", "color", "range"];

/// See the module.
pub(super) struct Hands<'a> {
    pub cx: &'a PackContext<'a>,
    pub tab: Tab,
    dismissed: Mutex<Vec<String>>,
    /// How many bytes the answer holds so far.
    weight: AtomicUsize,
    /// A session may serve several calls: what was refused before this one is not its own.
    refused_before: egress::Mark,
}

/// A request that the egress guard refused.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Blocked {
    /// What was asked for
    pub url: String,
    /// Why it was refused
    pub reason: String,
    /// How often during this call
    pub count: u64,
}

impl<'a> Hands<'a> {
    pub async fn new(cx: &'a PackContext<'a>) -> Result<Self, Fault> {
        let mut hands = Self::in_tab(cx, cx.session.some_tab().await?);
        if !hands.page_answers().await {
            let left = hands.tab;
            hands = Self::in_tab(cx, cx.session.new_tab(false).await?);
            // One that hangs may not even close; it goes with the session.
            let _ = cx.session.close_tab(&left).await;
        }
        // What an earlier page asked is no concern of this call.
        hands.dismissed();
        Ok(hands)
    }

    fn in_tab(cx: &'a PackContext<'a>, tab: Tab) -> Self {
        Self {
            cx,
            tab,
            dismissed: Mutex::default(),
            weight: AtomicUsize::new(0),
            refused_before: cx.session.refusals(),
        }
    }

    /// Can something be done with the page that an earlier call left there? One that hangs, crashed or never stops asking is
    /// not gone on with.
    async fn page_answers(&self) -> bool {
        if self.tab.page.url() == "about:blank" {
            return true;
        }
        let deadline = self.cx.deadline.at_most(ANSWER);
        self.acting(|| self.tab.page.check_locators(&[], &deadline)).await.is_ok()
    }

    /// Goes to an address. One that leads to a place where nobody may go is a failure, however it was led there.
    /// Says the HTTP status, where there is one.
    pub async fn open(&self, url: &str) -> Result<Option<i64>, Fault> {
        let address = web_address(url)?;
        let deadline = self.cx.deadline.at_most(NAVIGATION);
        let going = self.cx.session.going_to(&address)?;
        let opened = self.acting(|| self.tab.page.open(&address, LoadState::Load, &deadline)).await;
        Ok(going.arrived(&self.tab, opened)?.status)
    }

    pub async fn click(&self, selector: &str) -> Result<(), Fault> {
        let (locator, deadline) = (locator(selector), self.cx.action_deadline());
        let options = ClickOptions::default();
        self.acting(|| self.tab.page.click(&locator, &options, &deadline)).await.map(drop)
    }

    /// Replaces what is in a field, with real keys.
    pub async fn type_over(&self, selector: &str, text: &SecretText) -> Result<(), Fault> {
        // However a line ends, it is one end.
        let text = &text.reveal().replace("\r\n", "\n");
        let (locator, deadline) = (locator(selector), self.cx.action_deadline());
        let page = &self.tab.page;
        let sort = self.acting(|| page.read(&locator, "attr", Some("type"), &deadline)).await?.text();
        // As a key, a tab would lead to the next field and take the rest with it.
        if PICKED.contains(&sort.as_str()) || text.contains('\t') {
            return self.acting(|| page.fill(&locator, text, &deadline)).await.map(drop);
        }
        if self.acting(|| page.field_kind(&locator, &deadline)).await? == "select" {
            let chosen = [text.to_owned()];
            return self.acting(|| page.select(&locator, &chosen, &deadline)).await.map(drop);
        }
        let cleared = self.acting(|| page.fill(&locator, "", &deadline)).await?;
        if let Some(name) = &cleared.private {
            self.cx.session.hide_entered(name, text);
        }
        if text.is_empty() {
            return Ok(());
        }
        // Typing takes the time that it takes, but no more than the call has.
        let typing = Box::pin(self.acting(|| page.type_into(&locator, text, Duration::ZERO, &deadline)));
        let typed = self.cx.deadline.run("all keys to be typed", typing).await??;
        match typed.holds {
            Some(false) => Err(Fault::new(
                Kind::ValueDiffers,
                format!("`{selector}` took the keys, but does not hold what was typed"),
            )),
            _ => Ok(()),
        }
    }

    /// Does nothing for a while, as long as the call has the time.
    pub async fn wait(&self, time: Duration) -> Result<(), Fault> {
        let deadline = &self.cx.deadline;
        let waiting = deadline.run("the wait to end", tokio::time::sleep(time));
        // Nobody waits for a page that is gone.
        let limit = Deadline::after(time);
        let waited = tokio::select! {
            biased;
            waited = waiting => waited,
            lost = self.tab.page.wait_lost(&limit) => match lost {
                Error::Timeout { .. } => Ok(()),
                lost => return Err(lost.into()),
            },
        };
        self.dismiss().await?;
        Ok(waited?)
    }

    pub async fn picture(&self, options: &ScreenshotOptions) -> Result<Vec<u8>, Fault> {
        let deadline = self.cx.action_deadline();
        self.settled().await;
        let picture = self.acting(|| self.tab.page.screenshot(options, &deadline)).await?;
        self.weigh(picture.len())?;
        Ok(picture)
    }

    /// The text or the HTML of an element, once it is there.
    pub async fn read(&self, selector: &str, what: &str) -> Result<String, Fault> {
        let (locator, deadline) = (locator(selector), self.cx.action_deadline());
        self.settled().await;
        let text = self.acting(|| self.tab.page.read(&locator, what, None, &deadline)).await?.text();
        self.weigh(text.len())?;
        Ok(text)
    }

    /// The same of what is there now; `None` where nothing matches.
    pub async fn read_if_present(&self, selector: &str, what: &str) -> Result<Option<String>, Fault> {
        let (locator, deadline) = (locator(selector), self.cx.action_deadline());
        let reading = self.acting(|| self.tab.page.read_if_present(&locator, what, &deadline)).await?;
        Ok(reading.map(|reading| reading.text()))
    }

    /// Counts what the answer of the call will hold.
    pub fn weigh(&self, bytes: usize) -> Result<(), Fault> {
        let weight = self.weight.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if weight <= HEAVIEST {
            return Ok(());
        }
        let message =
            format!("the answer would be larger than {} MiB; ask for less in one call", HEAVIEST >> 20);
        Err(Fault::new(Kind::TooLarge, message))
    }

    /// Is the text on the page now, in its frames and shadow roots too? How it is broken into lines does not count.
    pub async fn has_text(&self, text: &str) -> Result<bool, Fault> {
        self.settled().await;
        let mut shown = vec![self.read_if_present("body", "text").await?.unwrap_or_default()];
        let deadline = self.cx.action_deadline();
        shown.extend(self.acting(|| self.tab.page.shown_texts(&deadline)).await?);
        // Who may not see a credential may not guess it piece by piece either; who knows all of it, such as the name of a
        // user, finds it.
        let lent = self.cx.session.lent();
        let text = lent.mask_whole(text);
        Ok(shown
            .iter()
            .map(|shown| lent.mask(shown))
            .any(|shown| shown.contains(&*text) || in_one_line(&shown).contains(&in_one_line(&text))))
    }

    /// Waits until the text is on the page.
    pub async fn wait_for_text(&self, text: &str) -> Result<(), Fault> {
        let deadline = self.cx.action_deadline();
        self.acting(|| self.tab.page.wait_for_text(text, &deadline)).await
    }

    /// A page that is on its way gets the time to arrive; one that never does is looked at as it is.
    pub async fn settled(&self) {
        let deadline = self.cx.action_deadline();
        let _ = self.acting(|| self.tab.page.wait_for_load(LoadState::Load, &deadline)).await;
    }

    /// What the browser cannot read as a selector, before anything is done with them: its number, and why. Where a page does
    /// not answer, whoever does something with it finds out.
    pub async fn unreadable(&self, selectors: &[&str]) -> Option<(usize, Fault)> {
        if selectors.is_empty() {
            return None;
        }
        let locators: Vec<Locator> = selectors.iter().map(|selector| locator(selector)).collect();
        let deadline = self.cx.deadline.at_most(CHECK);
        let wrong = self.acting(|| self.tab.page.check_locators(&locators, &deadline)).await;
        wrong.ok().flatten().map(|(number, error)| (number, error.into()))
    }

    /// Requests that were refused during this call.
    pub fn blocked(&self) -> Vec<Blocked> {
        blocked_since(self.cx, &self.refused_before)
    }

    /// What the page asked.
    pub fn dismissed(&self) -> Vec<String> {
        std::mem::take(&mut self.dismissed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does something to the page. A question that stands in the way is answered, and it is done again.
    async fn acting<T, F>(&self, action: impl Fn() -> F) -> Result<T, Fault>
    where
        F: Future<Output = surehand_page::Result<T>>,
    {
        for _ in 0..MOST_QUESTIONS {
            self.dismiss().await?;
            match action().await {
                Err(Error::DialogOpen(_)) => {}
                Err(error) => return Err(Fault::from(error).with_matches()),
                Ok(done) => {
                    self.dismiss().await?;
                    return Ok(done);
                }
            }
        }
        Err(Fault::new(Kind::DialogOpen, "the page does not stop asking"))
    }

    async fn dismiss(&self) -> Result<(), Fault> {
        for _ in 0..MOST_QUESTIONS {
            let Some(Dialog { kind, message, .. }) = self.tab.page.answer_dialog(false, None).await? else {
                return Ok(());
            };
            let told = crate::check::cut(&format!("{kind}: {message}"));
            self.dismissed.lock().unwrap_or_else(PoisonError::into_inner).push(told);
        }
        Err(Fault::new(Kind::DialogOpen, "the page does not stop asking"))
    }
}

/// Packs see no snapshots, so nothing is a reference to what stood in one.
fn locator(selector: &str) -> Locator {
    Locator::parse(selector)
}

/// Requests that were refused since then.
pub(super) fn blocked_since(cx: &PackContext<'_>, before: &egress::Mark) -> Vec<Blocked> {
    let told = |refused: egress::Blocked| Blocked {
        url: refused.url,
        reason: refused.denied.to_string(),
        count: refused.count,
    };
    cx.session.refused_since(before).into_iter().map(told).collect()
}

/// Packs go to web pages only, and there is no page that an address could be relative to.
pub(super) fn web_address(text: &str) -> Result<String, Fault> {
    let address = text.trim();
    match Url::parse(address) {
        // Browsers also read `http:example.com`; who writes that means something else.
        Ok(url) if matches!(url.scheme(), "http" | "https") && address.contains("://") => {
            Ok(address.to_owned())
        }
        parsed => {
            let why = parsed.err().map(|error| format!(": {error}")).unwrap_or_default();
            let address = crate::check::cut(address);
            let message = format!("{address:?} is no absolute http or https address{why}");
            Err(Fault::new(Kind::BadUrl, message).hint("write it like https://example.com/page"))
        }
    }
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
