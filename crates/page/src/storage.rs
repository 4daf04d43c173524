//! What the origin of a page keeps in the browser: `localStorage` and `sessionStorage`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

use crate::page::Page;
use crate::{Deadline, Result};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageArea {
    /// Kept for ever.
    Local,
    /// Kept as long as the tab.
    Session,
}

#[derive(Deserialize)]
struct All {
    items: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct One {
    value: Option<String>,
}

#[derive(Deserialize)]
struct Removed {
    removed: bool,
}

#[derive(Deserialize)]
struct Cleared {
    cleared: usize,
}

impl Page {
    /// Everything that is kept.
    pub async fn stored(&self, area: StorageArea, deadline: &Deadline) -> Result<BTreeMap<String, String>> {
        Ok(self.storage::<All>(area, "all", json!({}), deadline).await?.items)
    }

    /// One item.
    pub async fn stored_item(
        &self,
        area: StorageArea,
        key: &str,
        deadline: &Deadline,
    ) -> Result<Option<String>> {
        Ok(self.storage::<One>(area, "get", json!({ "key": key }), deadline).await?.value)
    }

    /// Keeps items, and checks that they are kept.
    pub async fn store(
        &self,
        area: StorageArea,
        items: &BTreeMap<String, String>,
        deadline: &Deadline,
    ) -> Result<()> {
        // Pairs: an object would take `__proto__` for more than a key.
        let items: Vec<_> = items.iter().collect();
        self.storage::<IgnoredAny>(area, "set", json!({ "items": items }), deadline).await?;
        Ok(())
    }

    /// Forgets an item; false if there was none.
    pub async fn forget_stored(&self, area: StorageArea, key: &str, deadline: &Deadline) -> Result<bool> {
        Ok(self.storage::<Removed>(area, "remove", json!({ "key": key }), deadline).await?.removed)
    }

    /// Forgets everything; how many items that were.
    pub async fn clear_stored(&self, area: StorageArea, deadline: &Deadline) -> Result<usize> {
        Ok(self.storage::<Cleared>(area, "clear", json!({}), deadline).await?.cleared)
    }

    async fn storage<T: DeserializeOwned>(
        &self,
        area: StorageArea,
        operation: &str,
        mut argument: Value,
        deadline: &Deadline,
    ) -> Result<T> {
        let area = match area {
            StorageArea::Local => "local",
            StorageArea::Session => "session",
        };
        argument["area"] = area.into();
        argument["operation"] = operation.into();
        let frame = self.frame_in_scope()?;
        self.script(&frame, "storage", &argument, deadline).await
    }
}
