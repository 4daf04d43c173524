//! The evidence of a tab, as it is at the moment of each question.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use surehand_guard::Secrets;
use surehand_page::{Deadline, Locator, Page, ScreenshotOptions};
use surehand_session::{Kind, Session, Tab};

use super::evidence::{Entries, Exemplar, Known, Measured, Said, Sent, Text, Unknown};
use super::given::now_ms;
use super::metrics::{self, open_dialog, unknown};
use super::{Classes, Evidence, Since, Unit};

/// A picture that takes longer than this is not coming.
const PICTURE_TIME: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug)]
pub struct Live {
    session: Arc<Session>,
    tab: Tab,
    classes: Classes,
    /// How many requests there were when the contract began to be judged.
    entered: u64,
    deadline: Deadline,
    secrets: Arc<Secrets>,
}

impl Live {
    /// The evidence of a tab. The contract begins to be judged now.
    pub fn enter(session: Arc<Session>, tab: Tab, classes: Classes, deadline: Deadline) -> Self {
        let entered = tab.page.request_mark();
        Self { session, tab, classes, entered, deadline, secrets: Arc::default() }
    }

    /// The same, showing no secrets.
    #[must_use]
    pub fn masking(mut self, secrets: &Arc<Secrets>) -> Self {
        self.secrets = secrets.clone();
        self
    }

    /// Another look at the same tab.
    pub fn again(&mut self, deadline: Deadline) {
        self.deadline = deadline;
    }

    fn page(&self) -> Known<&Page> {
        match self.tab.page.closed() {
            None => Ok(&self.tab.page),
            Some(_) => Err(Unknown::because(format!("tab {} is closed", self.tab.id()))),
        }
    }

    /// The page, if its scripts run.
    fn running(&self) -> Known<&Page> {
        let page = self.page()?;
        match page.dialog() {
            None => Ok(page),
            Some(dialog) => Err(open_dialog(&dialog)),
        }
    }

    fn locator(&self, selector: &str) -> Known<Locator> {
        self.session.locator(selector, &self.tab).map_err(|fault| match fault.kind {
            Kind::BadSelector => Unknown::wrong("selector", fault.message),
            _ => Unknown::because(fault.message),
        })
    }
}

impl Evidence for Live {
    fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.secrets.mask(text)
    }

    async fn url(&self) -> Known<String> {
        Ok(self.page()?.url())
    }

    async fn text(&self, selector: &str) -> Known<Option<Text>> {
        let (page, locator) = (self.running()?, self.locator(selector)?);
        let reading = page.read_if_present(&locator, "text", &self.deadline).await.map_err(unknown)?;
        Ok(reading.map(|reading| Text { text: reading.text(), matches: Some(reading.count) }))
    }

    async fn count(&self, selector: &str) -> Known<u64> {
        let (page, locator) = (self.running()?, self.locator(selector)?);
        let reading = page.read_if_present(&locator, "count", &self.deadline).await.map_err(unknown)?;
        Ok(reading.map_or(0, |reading| reading.count as u64))
    }

    async fn requests(&self, since: Since) -> Known<Entries<Sent>> {
        let page = self.page()?;
        let (requests, dropped) = match since {
            Since::Ever => page.requests(),
            Since::ContractEnter => page.requests_since(self.entered),
            Since::LastToolCall => page.requests_since(page.acted_mark()),
        };
        let entries = requests.into_iter().map(|one| Sent { url: one.url, status: one.status }).collect();
        Ok(Entries { entries, dropped, complete_ms: 0.0 })
    }

    async fn dialog(&self) -> Known<Option<String>> {
        let dialog = self.page()?.dialog();
        Ok(dialog.map(|dialog| format!("{}: {}", dialog.kind, dialog.message)))
    }

    /// Messages and exceptions are kept apart; together they are what a person sees in the console.
    async fn console(&self) -> Known<Entries<Said>> {
        let page = self.page()?;
        let now = now_ms();
        let ((messages, dropped), (errors, more_dropped)) = (page.console(), page.errors());
        let age = |timestamp: f64| Some((now - timestamp).max(0.0));
        // Each of the two forgets its oldest: it is complete since the oldest that it still has.
        let complete = |dropped: u64, oldest: Option<f64>| match dropped {
            0 => f64::INFINITY,
            _ => oldest.and_then(age).unwrap_or(0.0),
        };
        let complete_ms = complete(dropped, messages.first().map(|one| one.timestamp))
            .min(complete(more_dropped, errors.first().map(|one| one.timestamp)));
        let said = messages.into_iter().map(|one| Said {
            kind: one.kind,
            text: one.text,
            uncaught: false,
            age_ms: age(one.timestamp),
        });
        let thrown = errors.into_iter().map(|one| Said {
            kind: "error".to_owned(),
            text: one.text,
            uncaught: true,
            age_ms: age(one.timestamp),
        });
        let mut entries: Vec<Said> = said.chain(thrown).collect();
        entries.sort_by(|a, b| b.age_ms.unwrap_or(0.0).total_cmp(&a.age_ms.unwrap_or(0.0)));
        Ok(Entries { entries, dropped: dropped + more_dropped, complete_ms })
    }

    async fn metric(&self, metric: &str, unit: Unit) -> Known<Measured> {
        metrics::read(self.running()?, metric, unit, &self.deadline).await
    }

    async fn picture(&self) -> Known<Vec<u8>> {
        let deadline = self.deadline.at_most(PICTURE_TIME);
        self.running()?.screenshot(&ScreenshotOptions::default(), &deadline).await.map_err(unknown)
    }

    async fn class(&self, class_id: &str) -> Known<Vec<Exemplar>> {
        self.classes.exemplars(class_id)
    }
}
