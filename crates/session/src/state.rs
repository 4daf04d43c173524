//! The state of a session that can be taken along: its cookies, and what its origins keep in `localStorage`. The file
//! format is the one that Playwright's `storageState` made common.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use surehand_page::{Deadline, LoadState, StorageArea};

use crate::{Cookie, Fault, Session, Tab};

/// What a state file holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedState {
    /// All cookies.
    pub cookies: Vec<Cookie>,
    /// What each origin keeps.
    pub origins: Vec<SavedOrigin>,
}

/// What an origin keeps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedOrigin {
    /// E.g. `https://example.com`.
    pub origin: String,
    /// Its `localStorage`.
    #[serde(default)]
    pub local_storage: Vec<Item>,
}

/// An item of a storage.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Item {
    /// Its key.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// How much it is.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct StateSummary {
    /// Cookies.
    pub cookies: usize,
    /// Origins that keep something.
    pub origins: usize,
}

impl SavedState {
    /// How much it is.
    pub fn summary(&self) -> StateSummary {
        StateSummary { cookies: self.cookies.len(), origins: self.origins.len() }
    }
}

/// An empty page of an origin is there at once.
const VISIT_TIME: Duration = Duration::from_secs(5);

impl Session {
    /// The cookies and what the origins keep that were visited in this session.
    pub async fn saved_state(&self) -> Result<SavedState, Fault> {
        let cookies = self.cookies().await?;
        let mut origins = Vec::new();
        let visited = self.tabs().origins();
        if !visited.is_empty() {
            let tab = self.blank_tab().await?;
            let read = self.read_origins(&tab, visited.into_iter(), &mut origins).await;
            self.close_tab(&tab).await?;
            read?;
        }
        Ok(SavedState { cookies, origins })
    }

    /// Sets the cookies and fills the storages; what is there already under other names stays.
    pub async fn restore_state(&self, state: SavedState) -> Result<(), Fault> {
        // All or nothing: what pages may not reach is found out before the first cookie is set.
        state.origins.iter().try_for_each(|saved| self.going_to(&saved.origin).map(drop))?;
        if !state.cookies.is_empty() {
            self.set_cookies(state.cookies.into_iter().map(Into::into).collect()).await?;
        }
        if !state.origins.is_empty() {
            let tab = self.blank_tab().await?;
            let filled = self.fill_origins(&tab, &state.origins).await;
            self.close_tab(&tab).await?;
            filled?;
        }
        Ok(())
    }

    /// A hidden tab in which every address is an empty page: it has the origin, and nothing is fetched.
    async fn blank_tab(&self) -> Result<Tab, Fault> {
        let tab = self.hidden_tab().await?;
        tab.page.answer_blank(&Deadline::after(VISIT_TIME)).await?;
        Ok(tab)
    }

    async fn read_origins(
        &self,
        tab: &Tab,
        visited: impl Iterator<Item = String>,
        origins: &mut Vec<SavedOrigin>,
    ) -> Result<(), Fault> {
        for origin in visited {
            let deadline = Deadline::after(VISIT_TIME);
            tab.page.open(&origin, LoadState::DomContentLoaded, &deadline).await?;
            let items = tab.page.stored(StorageArea::Local, &deadline).await?;
            if !items.is_empty() {
                let item = |(name, value)| Item { name, value };
                origins.push(SavedOrigin { origin, local_storage: items.into_iter().map(item).collect() });
            }
        }
        Ok(())
    }

    async fn fill_origins(&self, tab: &Tab, origins: &[SavedOrigin]) -> Result<(), Fault> {
        for saved in origins {
            let deadline = Deadline::after(VISIT_TIME);
            tab.page.open(&saved.origin, LoadState::DomContentLoaded, &deadline).await?;
            let items: BTreeMap<String, String> =
                saved.local_storage.iter().map(|item| (item.name.clone(), item.value.clone())).collect();
            tab.page.store(StorageArea::Local, &items, &deadline).await?;
            self.tabs().note_origin(&saved.origin);
        }
        Ok(())
    }
}
