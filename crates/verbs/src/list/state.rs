//! `state`: take the cookies and storages of a session along in a file.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use surehand_session::{Fault, Kind, SavedState, StateSummary};

use crate::output::plural;
use crate::{Context, Effect, Report, Verb};

/// Save the cookies and local storages of the session to a file, or load them
///
/// The file holds secrets: only you can read it. Its format is the one of Playwright's storage state.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand state save login.json\n  surehand --session two state load login.json")]
pub struct State {
    /// What to do
    #[command(subcommand)]
    pub action: Action,
}

/// What to do.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Save to a file
    Save {
        /// Which
        path: PathBuf,
    },
    /// Load from a file, before or after a page is open
    Load {
        /// Which
        path: PathBuf,
    },
}

/// What was saved or loaded.
#[derive(Debug, Serialize)]
pub struct Done {
    #[serde(skip)]
    word: &'static str,
    path: PathBuf,
    #[serde(flatten)]
    summary: StateSummary,
}

impl Report for Done {
    fn text(&self) -> String {
        let StateSummary { cookies, origins } = self.summary;
        let (cookies, origins) = (plural(cookies, "cookie"), plural(origins, "origin"));
        format!("{} {cookies} and the storage of {origins}: {}", self.word, self.path.display())
    }
}

impl Verb for State {
    const EFFECT: Effect = Effect::Manages;
    const PATHS: &'static [&'static str] = &["/action/save/path", "/action/load/path"];
    type Output = Done;

    async fn run(self, cx: &Context) -> Result<Done, Fault> {
        match self.action {
            Action::Save { path } => {
                let path = cx.path(&path)?;
                let state = cx.session().await?.saved_state().await?;
                let text = serde_json::to_vec_pretty(&state)
                    .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
                cx.write_secret_file(&path, &text)?;
                Ok(Done { word: "saved", path, summary: state.summary() })
            }
            Action::Load { path } => {
                let path = cx.path(&path)?;
                let state = read(&path)?;
                let summary = state.summary();
                let session = cx.open_session().await?;
                session.restore_state(state).await?;
                Ok(Done { word: "loaded", path, summary })
            }
        }
    }
}

fn read(path: &Path) -> Result<SavedState, Fault> {
    let text = fs_err::read(path).map_err(|error| {
        Fault::new(Kind::MissingFile, error.to_string()).hint("save one with `surehand state save PATH`")
    })?;
    let bad = |why: String| {
        Fault::new(Kind::BadFile, format!("{} is no state file: {why}", path.display()))
            .hint("save one with `surehand state save PATH`")
    };
    let value: Value = serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
    if value.get("cookies").or(value.get("origins")).is_none() {
        return Err(bad("it has neither cookies nor origins".to_owned()));
    }
    let state: SavedState = serde_json::from_value(value).map_err(|error| bad(error.to_string()))?;
    let is_site = |origin: &str| origin.starts_with("http://") || origin.starts_with("https://");
    match state.origins.iter().find(|saved| !is_site(&saved.origin)) {
        Some(saved) => Err(bad(format!("{:?} is no origin that keeps things", saved.origin))),
        None => Ok(state),
    }
}
