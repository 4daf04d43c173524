//! The tabs of a session: short ids that are never used again, labels, and which one commands go to.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use surehand_page::{Deadline, Page, SharedSurroundings};
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
    /// What all of them see of the world around them.
    surroundings: SharedSurroundings,
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
    /// Origins of tabs that were closed.
    origins: BTreeSet<String>,
}

impl Tabs {
    /// No tabs yet.
    pub(crate) fn new(surroundings: SharedSurroundings) -> Self {
        Self { surroundings, state: Mutex::default(), changes: watch::channel(0).0 }
    }

    pub(crate) fn surroundings(&self) -> &SharedSurroundings {
        &self.surroundings
    }

    /// A tab appeared: opened by us, or by a page.
    pub(crate) fn add(&self, page: Page) {
        let mut state = self.lock();
        state.opened += 1;
        let number = state.opened;
        state.tabs.push(Tab { number, label: None, page });
        if state.visited.is_empty() {
            state.visited.push(number);
        }
        let active = state.visited.last().copied();
        let active =
            state.tabs.iter().find(|tab| Some(tab.number) == active && tab.number != number).cloned();
        drop(state);
        // A tab that opens comes to the front, and what is behind gets hardly a frame: commands still go to the other one.
        if let Some(active) = active {
            active.page.bring_to_front();
        }
        self.changes.send_modify(|count| *count += 1);
    }

    /// Takes a tab out of the list; its number is free again if it was the last one.
    pub(crate) fn withdraw(&self, number: u32) {
        let mut state = self.lock();
        state.tabs.retain(|tab| tab.number != number);
        state.visited.retain(|visited| *visited != number);
        if state.opened == number {
            state.opened -= 1;
            state.told = state.told.min(state.opened);
        }
    }

    /// The origins of all pages that were open in any tab.
    pub(crate) fn origins(&self) -> BTreeSet<String> {
        let state = self.lock();
        let open = state.tabs.iter().flat_map(|tab| tab.page.origins());
        state.origins.iter().cloned().chain(open).collect()
    }

    /// Notes an origin that keeps something although no page of it was open.
    pub(crate) fn note_origin(&self, origin: &str) {
        self.lock().origins.insert(origin.to_owned());
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
        let was_active = state.visited.last() == Some(&tab.number);
        state.visited.retain(|number| *number != tab.number);
        state.visited.push(tab.number);
        drop(state);
        if !was_active {
            tab.page.bring_to_front();
        }
    }

    /// Tabs that a page opened and that nobody was told of yet.
    pub fn take_untold(&self) -> Vec<String> {
        let mut state = self.lock();
        let opened = state.opened;
        let told = std::mem::replace(&mut state.told, opened);
        // One that closed again at once is not there any more.
        let is_open = |tab: &&Tab| tab.number > told && tab.page.closed().is_none();
        state.tabs.iter().filter(is_open).map(Tab::id).collect()
    }

    /// Waits until there is a tab that nobody was told of yet, or the deadline passes.
    pub async fn wait_untold(&self, deadline: &Deadline) {
        let mut changes = self.changes.subscribe();
        let opened = async {
            loop {
                let is_there = {
                    let state = self.lock();
                    state.tabs.iter().any(|tab| tab.number > state.told)
                };
                if is_there {
                    return;
                }
                // The sender lives as long as this list.
                let _ = changes.changed().await;
            }
        };
        // Who asked for one tells that it did not come.
        let _ = deadline.run("a tab", opened).await;
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
        let (open, closed): (Vec<Tab>, Vec<Tab>) =
            std::mem::take(&mut self.tabs).into_iter().partition(|tab| tab.page.closed().is_none());
        self.tabs = open;
        self.origins.extend(closed.iter().flat_map(|tab| tab.page.origins()));
        self.visited.retain(|number| self.tabs.iter().any(|tab| tab.number == *number));
        if let (true, Some(last)) = (self.visited.is_empty(), self.tabs.last()) {
            self.visited.push(last.number);
        }
    }
}
