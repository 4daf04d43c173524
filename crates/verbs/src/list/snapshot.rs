//! `snapshot`: the page as a tree of roles and names, with references to act on.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::SnapshotOptions;
use surehand_session::{Fault, RenderedSnapshot, delta};

use crate::{Context, Effect, Report, Verb};

/// Show the page as a tree of roles and names, with references to act on
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand snapshot -i\n  surehand click @e7")]
pub struct Snapshot {
    /// Only what can be acted on, and what tells it apart
    #[arg(short, long)]
    #[serde(default)]
    pub interactive: bool,
    /// Leave out structure that holds nothing
    #[arg(short, long)]
    #[serde(default)]
    pub compact: bool,
    /// Show at most this many levels
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub depth: Option<u32>,
    /// Only this part of the page
    #[arg(short, long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Show where links lead
    #[arg(short, long)]
    #[serde(default)]
    pub urls: bool,
    /// Only what is in view
    #[arg(long)]
    #[serde(default)]
    pub viewport: bool,
    /// Only what changed since the last snapshot of this tab
    #[arg(long)]
    #[serde(default)]
    pub delta: bool,
}

/// A snapshot.
#[derive(Debug, Serialize)]
pub struct Shown {
    origin: String,
    snapshot: String,
    /// What each reference is. Only for programs that show it: the text has the references.
    #[serde(skip_serializing_if = "Option::is_none")]
    refs: Option<surehand_session::Refs>,
}

impl Report for Shown {
    fn text(&self) -> String {
        match self.snapshot.trim_end() {
            "" => "(nothing to show)".to_owned(),
            text => text.to_owned(),
        }
    }
}

impl Verb for Snapshot {
    const EFFECT: Effect = Effect::Reads;
    type Output = Shown;

    async fn run(self, cx: &Context) -> Result<Shown, Fault> {
        let (session, tab) = cx.tab().await?;
        let root = self.selector.as_deref().map(|selector| session.locator(selector, &tab)).transpose()?;
        let options = SnapshotOptions {
            interactive: self.interactive,
            compact: self.compact,
            depth: self.depth,
            root,
            urls: self.urls,
            viewport: self.viewport,
            ..Default::default()
        };
        let kind = format!("{:?}", Snapshot { delta: false, ..self.clone() });
        let snapshot = tab.page.snapshot(&options, &cx.deadline()).await?;
        let with_refs = cx.settings.json;
        let rendered = RenderedSnapshot::new(&snapshot, &mut session.refs(), with_refs);
        let before = session.keep_snapshot(&tab, kind, &rendered.text);
        let text = match before.filter(|_| self.delta) {
            Some(before) => changes(&before, &rendered.text),
            None => rendered.text,
        };
        Ok(Shown { origin: snapshot.url, snapshot: text, refs: with_refs.then_some(rendered.refs) })
    }
}

fn changes(before: &str, after: &str) -> String {
    match delta(before, after) {
        same if same.is_empty() => "(unchanged)".to_owned(),
        changed => changed,
    }
}
