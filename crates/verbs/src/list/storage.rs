//! `storage`: what the origin of the page keeps in the browser.

use std::collections::BTreeMap;

use clap::{Args, Subcommand, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_guard::{SecretPlaces, Writing};
use surehand_page::StorageArea;
use surehand_session::{Fault, Kind};

use crate::output::plural;
use crate::{Context, Effect, Report, Verb};

/// Show, set and forget what the page's origin keeps in the browser
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(
    after_help = "Example:\n  surehand storage local\n  surehand storage local get theme\n  surehand storage session set step 2\n  surehand storage local clear"
)]
pub struct Storage {
    /// localStorage or sessionStorage
    #[arg(value_enum)]
    pub area: Area,
    /// What to do; without anything, show
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// Which storage.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Area {
    /// Kept for ever
    Local,
    /// Kept as long as the tab
    Session,
}

/// What to do.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Show one item, or all
    Get {
        /// Its key
        key: Option<String>,
    },
    /// Keep an item
    Set {
        /// Its key
        key: String,
        /// Its value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Forget an item
    Remove {
        /// Its key
        key: String,
    },
    /// Forget everything
    Clear,
    /// `storage local KEY` is short for `storage local get KEY`
    #[command(external_subcommand)]
    Key(Vec<String>),
}

/// What is kept, or what was changed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Stored {
    /// All items.
    All {
        /// By key.
        items: BTreeMap<String, String>,
    },
    /// One item.
    One {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
    },
    /// An item was forgotten.
    Removed {
        /// Its key.
        removed: String,
    },
    /// Everything was forgotten.
    Cleared {
        /// How many items.
        cleared: usize,
    },
}

impl Report for Stored {
    fn text(&self) -> String {
        match self {
            Stored::All { items } if items.is_empty() => "(nothing is kept)".to_owned(),
            Stored::All { items } => {
                items.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join("\n")
            }
            Stored::One { value, .. } => value.clone(),
            Stored::Removed { removed } => format!("forgot {removed}"),
            Stored::Cleared { cleared } => format!("forgot {}", plural(*cleared, "item")),
        }
    }
}

impl Verb for Storage {
    const EFFECT: Effect = Effect::Manages;
    const SECRETS: SecretPlaces = &[(&["**", "value"], Writing::Plain)];
    // What a site keeps is a secret more often than not.
    const NOTED: bool = false;
    type Output = Stored;

    async fn run(self, cx: &Context) -> Result<Stored, Fault> {
        let (_, tab) = cx.tab().await?;
        let (page, deadline) = (&tab.page, &cx.deadline());
        let area = match self.area {
            Area::Local => StorageArea::Local,
            Area::Session => StorageArea::Session,
        };
        let none = |key: &str| {
            Fault::new(Kind::NoItem, format!("nothing is kept as {key:?}"))
                .hint("see everything with `surehand storage local` or `surehand storage session`")
        };
        let action = self.action.unwrap_or(Action::Get { key: None });
        match only_key(action)? {
            Action::Get { key: None } => Ok(Stored::All { items: page.stored(area, deadline).await? }),
            Action::Get { key: Some(key) } => {
                let value = page.stored_item(area, &key, deadline).await?.ok_or_else(|| none(&key))?;
                Ok(Stored::One { key, value })
            }
            Action::Set { key, value } => {
                page.store(area, &BTreeMap::from([(key.clone(), value.clone())]), deadline).await?;
                Ok(Stored::One { key, value })
            }
            Action::Remove { key } => {
                let removed = page.forget_stored(area, &key, deadline).await?;
                if removed { Ok(Stored::Removed { removed: key }) } else { Err(none(&key)) }
            }
            Action::Clear | Action::Key(_) => {
                Ok(Stored::Cleared { cleared: page.clear_stored(area, deadline).await? })
            }
        }
    }
}

/// A word that is no action is a key.
fn only_key(action: Action) -> Result<Action, Fault> {
    match action {
        Action::Key(words) => match <[String; 1]>::try_from(words) {
            Ok([key]) => Ok(Action::Get { key: Some(key) }),
            Err(words) => Err(Fault::new(Kind::Usage, format!("{} are too many words", words.join(" ")))
                .hint("surehand storage local set KEY VALUE")),
        },
        action => Ok(action),
    }
}
