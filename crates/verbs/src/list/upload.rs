//! `upload`: give files to a file field, or to the chooser that an element opens.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::{Fault, Kind};

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Give files to a file field, or to the chooser that an element opens
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand upload @e5 report.pdf")]
pub struct Upload {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// The files
    #[arg(required = true)]
    pub files: Vec<std::path::PathBuf>,
}

/// What was uploaded.
#[derive(Debug, Serialize)]
pub struct Uploaded {
    uploaded: usize,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Uploaded {
    fn text(&self) -> String {
        self.hit.text_with("uploaded to", &format!(": {}", crate::output::plural(self.uploaded, "file")))
    }
}

impl Verb for Upload {
    const EFFECT: Effect = Effect::Acts;
    const PATHS: &'static [&'static str] = &["/files"];
    type Output = Uploaded;

    async fn run(self, cx: &Context) -> Result<Uploaded, Fault> {
        let files = self.files.iter().map(|file| readable(cx, file)).collect::<Result<Vec<_>, _>>()?;
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        let acted = tab.page.upload(&locator, &files, &cx.deadline()).await?;
        Ok(Uploaded { uploaded: files.len(), hit: Hit::new(&session, acted) })
    }
}

/// The browser takes a path that does not exist without a word.
fn readable(cx: &Context, file: &std::path::Path) -> Result<std::path::PathBuf, Fault> {
    let path = cx.path(file)?;
    let missing = |error: std::io::Error| {
        Fault::new(Kind::MissingFile, error.to_string()).hint("check the path; it is relative to the current folder")
    };
    fs_err::File::open(&path).map_err(missing)?;
    Ok(path)
}
