//! `tab`: list, open, close and switch tabs.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::LoadState;
use surehand_session::{Fault, Kind, TabInfo};

use super::open::{Said, full_address};
use crate::{Context, Effect, Flaw, Report, Verb};

/// List, open, close and switch tabs
///
/// Tabs have ids (t1, t2 …) that are never used again, and labels of your own.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(
    subcommand_negates_reqs = true,
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  surehand tab new 127.0.0.1:8000 --label docs\n  surehand tab docs\n  surehand tab close t2"
)]
pub struct Tab {
    /// What to do; without anything, list
    #[command(subcommand)]
    pub action: Option<Action>,
    /// Switch to this tab: its id (t2) or label
    #[arg(value_name = "ID|LABEL")]
    pub to: Option<String>,
}

/// What to do.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// List the tabs
    List,
    /// Open a tab and switch to it
    New(NewTab),
    /// Close a tab; without an id or label, the active one
    Close(CloseTab),
}

/// A new tab.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct NewTab {
    /// The address to open in it
    pub url: Option<String>,
    /// A name of your own for it
    #[arg(long)]
    pub label: Option<String>,
}

/// Which tab to close.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct CloseTab {
    /// Its id (t2) or label
    pub tab: Option<String>,
}

/// The tabs, after what was done.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum TabsReport {
    /// A listing.
    List {
        /// All tabs.
        tabs: Vec<TabInfo>,
    },
    /// A tab that is active now.
    #[serde(rename_all = "camelCase")]
    Active {
        /// Its id.
        tab_id: String,
        /// Its label.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// Where it is.
        url: String,
        /// How many tabs there are.
        total: usize,
        /// What its page said while it loaded.
        #[serde(flatten)]
        said: Said,
    },
    /// A tab that was closed.
    #[serde(rename_all = "camelCase")]
    Closed {
        /// Its id.
        closed: String,
        /// The tab that commands go to now.
        #[serde(skip_serializing_if = "Option::is_none")]
        active: Option<String>,
        /// How many tabs there are.
        total: usize,
    },
}

impl Report for TabsReport {
    fn text(&self) -> String {
        match self {
            TabsReport::List { tabs } if tabs.is_empty() => "(no tabs)".to_owned(),
            TabsReport::List { tabs } => tabs.iter().map(line).collect::<Vec<_>>().join("\n"),
            TabsReport::Active { tab_id, url, said, .. } => format!("{tab_id} {url}{}", said.text()),
            TabsReport::Closed { closed, active: Some(active), .. } => format!("closed {closed}; now in {active}"),
            TabsReport::Closed { closed, active: None, .. } => format!("closed {closed}; no tab is left"),
        }
    }
}

fn line(tab: &TabInfo) -> String {
    let mark = if tab.active { "*" } else { " " };
    let label = tab.label.as_ref().map(|label| format!(" [{label}]")).unwrap_or_default();
    format!("{mark} {}{label} {} — {}", tab.tab_id, tab.title, tab.url)
}

impl Verb for Tab {
    const EFFECT: Effect = Effect::Manages;
    type Output = TabsReport;

    /// Listing them is looking.
    fn is_step(&self) -> bool {
        !matches!((&self.action, &self.to), (Some(Action::List), _) | (None, None))
    }

    fn flaws(&self) -> Vec<Flaw> {
        let Some(Action::New(NewTab { url: Some(url), .. })) = &self.action else { return Vec::new() };
        Flaw::of("/action/new/url", super::open::checked_address(url)).into_iter().collect()
    }

    async fn run(self, cx: &Context) -> Result<TabsReport, Fault> {
        match (self.action, self.to) {
            (None, Some(name)) => switch(cx, &name).await,
            (None | Some(Action::List), _) => {
                Ok(TabsReport::List { tabs: cx.session().await?.tab_infos().await })
            }
            (Some(Action::New(new)), _) => open(cx, new, false).await,
            (Some(Action::Close(close)), _) => shut(cx, close.tab.as_deref()).await,
        }
    }
}

async fn switch(cx: &Context, name: &str) -> Result<TabsReport, Fault> {
    let session = cx.session().await?;
    let tab = session.tabs().find(name)?;
    session.tabs().switch_to(&tab);
    tab.page.wait_addressed().await;
    Ok(TabsReport::Active {
        tab_id: tab.id(),
        label: tab.label.clone(),
        url: tab.page.url(),
        total: session.tabs().all().len(),
        said: Said::default(),
    })
}

/// Opens a tab, in the same window or in one of its own.
pub(crate) async fn open(cx: &Context, new: NewTab, in_window: bool) -> Result<TabsReport, Fault> {
    let url = new.url.as_deref().map(|url| full_address(url, cx)).transpose()?;
    if let Some(label) = &new.label {
        check_label(label)?;
    }
    let session = cx.open_session().await?;
    if let Some(taken) = new.label.as_ref().and_then(|label| session.tabs().labelled(label)) {
        return Err(Fault::new(Kind::Usage, format!("{} has that label already", taken.id())).hint("choose another label"));
    }
    let going = session.going_to(url.as_deref().unwrap_or("about:blank"))?;
    let tab = session.new_tab(in_window).await?;
    if let Some(label) = &new.label {
        session.tabs().label(tab.number, label);
    }
    session.tabs().switch_to(&tab);
    let said = match url {
        Some(url) => {
            let opened = tab.page.open(&url, LoadState::Load, &cx.navigation_deadline()).await;
            Said::new(&going.arrived(&tab, opened.map_err(Fault::from))?)
        }
        None => Said::default(),
    };
    let total = session.tabs().all().len();
    Ok(TabsReport::Active { tab_id: tab.id(), label: new.label, url: tab.page.url(), total, said })
}

/// A label that reads like an id or a word of this command could never be used.
fn check_label(label: &str) -> Result<(), Fault> {
    let like_an_id = label.strip_prefix('t').is_some_and(|rest| rest.parse::<u32>().is_ok());
    if label.is_empty() || like_an_id || matches!(label, "list" | "new" | "close" | "help") {
        return Err(Fault::new(Kind::Usage, format!("{label:?} cannot be a label")).hint("choose another word"));
    }
    Ok(())
}

async fn shut(cx: &Context, name: Option<&str>) -> Result<TabsReport, Fault> {
    let session = cx.session().await?;
    let tab = match name {
        Some(name) => session.tabs().find(name)?,
        None => session.active_tab()?,
    };
    session.close_tab(&tab).await?;
    let active = session.tabs().active().map(|tab| tab.id());
    Ok(TabsReport::Closed { closed: tab.id(), active, total: session.tabs().all().len() })
}
