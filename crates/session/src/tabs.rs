//! The tabs of a session: short ids that are never used again, labels, and which one commands go to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use surehand_page::{Deadline, Page};
use tokio::sync::watch;

use crate::{Fault, Kind};

/// One tab.
#[derive(Debug, Clone)]
pub struct Tab {
    /// `t1`, `t2` … without the letter.
    pub number: u32,
    /// The user's own name for it.
    pub label: Option<String>,
    /// The page in it.
    pub page: Page,
}

impl Tab {
    /// `t1`, `t2` …
    pub fn id(&self) -> String {
        format!("t{}", self.number)
    }
}

/// A tab, as a listing shows it.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabInfo {
    /// `t1`, `t2` …
    pub tab_id: String,
    /// The user's own name for it.
    pub label: Option<String>,
    /// The document's title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// `page`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Do commands go here?
    pub active: bool,
}

/// All tabs of a session.
#[derive(Debug)]
pub struct Tabs {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    tabs: Vec<Tab>,
    /// Tabs that commands went to, the latest last.
    visited: Vec<u32>,
    opened: u32,
    /// Tabs up to this number were opened by the user, or their opening has been told.
    told: u32,
}

impl Default for Tabs {
    fn default() -> Self {
        Self { state: Mutex::default(), changes: watch::channel(0).0 }
    }
}

impl Tabs {
    /// A tab appeared: opened by us, or by a page.
    pub(crate) fn add(&self, page: Page) {
        let mut state = self.lock();
        state.opened += 1;
        let number = state.opened;
        state.tabs.push(Tab { number, label: None, page });
        if state.visited.is_empty() {
            state.visited.push(number);
        }
        drop(state);
        self.changes.send_modify(|count| *count += 1);
    }

    /// The tab that commands go to.
    pub fn active(&self) -> Option<Tab> {
        let mut state = self.lock();
        state.forget_closed();
        let number = *state.visited.last()?;
        state.tabs.iter().find(|tab| tab.number == number).cloned()
    }

    /// Open tabs in the order they were opened.
    pub fn all(&self) -> Vec<Tab> {
        let mut state = self.lock();
        state.forget_closed();
        state.tabs.clone()
    }

    /// The tab of an id or a label.
    pub fn find(&self, name: &str) -> Result<Tab, Fault> {
        let tabs = self.all();
        let by_id = |tab: &&Tab| tab.id() == name || tab.page.target_id() == name;
        let by_label = |tab: &&Tab| tab.label.as_deref() == Some(name);
        if let Some(tab) = tabs.iter().find(by_id).or_else(|| tabs.iter().find(by_label)) {
            return Ok(tab.clone());
        }
        let known: Vec<String> = tabs.iter().map(Tab::id).collect();
        let fault =
            Fault::new(Kind::NoTab, format!("there is no tab {name:?}; open are {}", known.join(", ")));
        Err(match name.parse::<u32>() {
            Ok(number) => fault.hint(format!("tab ids have a letter: t{number}")),
            Err(_) => fault.hint("see them with `surehand tab list`"),
        })
    }

    /// Commands go to this tab from now on.
    pub fn switch_to(&self, tab: &Tab) {
        let mut state = self.lock();
        state.visited.retain(|number| *number != tab.number);
        state.visited.push(tab.number);
    }

    /// Tabs that a page opened and that nobody was told of yet.
    pub fn take_untold(&self) -> Vec<String> {
        let mut state = self.lock();
        let opened = state.opened;
        let told = std::mem::replace(&mut state.told, opened);
        state.tabs.iter().filter(|tab| tab.number > told).map(Tab::id).collect()
    }

    /// Names a tab.
    pub fn label(&self, number: u32, label: &str) {
        if let Some(tab) = self.lock().tabs.iter_mut().find(|tab| tab.number == number) {
            tab.label = Some(label.to_owned());
        }
    }

    /// The tab that has this label.
    pub fn labelled(&self, label: &str) -> Option<Tab> {
        self.all().into_iter().find(|tab| tab.label.as_deref() == Some(label))
    }

    /// Waits until the browser has shown us the tab with this target id.
    pub(crate) async fn wait_for_target(&self, target_id: &str, deadline: &Deadline) -> Result<Tab, Fault> {
        let mut changes = self.changes.subscribe();
        let appeared = async {
            loop {
                let found = self.lock().tabs.iter().find(|tab| tab.page.target_id() == target_id).cloned();
                if let Some(tab) = found {
                    // Who asked for a tab need not be told of it.
                    let mut state = self.lock();
                    state.told = state.told.max(tab.number);
                    return tab;
                }
                // The sender lives as long as this list.
                let _ = changes.changed().await;
            }
        };
        Ok(deadline.run("the new tab", appeared).await?)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn forget_closed(&mut self) {
        self.tabs.retain(|tab| tab.page.closed().is_none());
        self.visited.retain(|number| self.tabs.iter().any(|tab| tab.number == *number));
        if let (true, Some(last)) = (self.visited.is_empty(), self.tabs.last()) {
            self.visited.push(last.number);
        }
    }
}
