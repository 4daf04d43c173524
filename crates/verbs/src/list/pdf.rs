//! `pdf`: the page as it would be printed.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::Fault;

use crate::{Context, Effect, Hints, Report, Verb};

/// Write the page as a PDF, as it would be printed
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand pdf page.pdf")]
pub struct Pdf {
    /// The file to write
    pub path: PathBuf,
    /// Turned on its side
    #[arg(long)]
    #[serde(default)]
    pub landscape: bool,
    /// With background colours and pictures
    #[arg(long)]
    #[serde(default)]
    pub background: bool,
}

/// Where the file is.
#[derive(Debug, Serialize)]
pub struct Printed {
    path: PathBuf,
    bytes: usize,
}

impl Report for Printed {
    fn text(&self) -> String {
        self.path.display().to_string()
    }
}

impl Verb for Pdf {
    const EFFECT: Effect = Effect::Reads;
    // A file of that name is written over.
    const HINTS: Hints = Hints::REPLACES;
    type Output = Printed;

    async fn run(self, cx: &Context) -> Result<Printed, Fault> {
        let (_, tab) = cx.tab().await?;
        let path = cx.path(&self.path)?;
        // Printing lays the page out anew, which takes as long as opening it.
        let bytes = tab.page.pdf(self.landscape, self.background, &cx.navigation_deadline()).await?;
        cx.write_file(&path, &bytes)?;
        Ok(Printed { path, bytes: bytes.len() })
    }
}
