//! `download`: click something and keep the file that comes of it.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_session::{Fault, Kind};

use crate::target::Hit;
use crate::{Context, Effect, Report, Verb};

/// Click an element and keep the file that is downloaded, once it is complete
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand download @e5 report.pdf")]
pub struct Download {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// Where to keep it: a file, or a folder for the name that the server gives
    pub path: PathBuf,
}

/// Where the file is.
#[derive(Debug, Serialize)]
pub struct Downloaded {
    path: PathBuf,
    url: String,
    bytes: u64,
    #[serde(flatten)]
    hit: Hit,
}

impl Report for Downloaded {
    fn text(&self) -> String {
        format!("{} ({} bytes)", self.path.display(), self.bytes)
    }
}

impl Verb for Download {
    const EFFECT: Effect = Effect::Acts;
    type Output = Downloaded;

    async fn run(self, cx: &Context) -> Result<Downloaded, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        fs_err::create_dir_all(session.downloads()).map_err(unwritable)?;
        let (acted, download) = tab.page.download(&locator, &cx.deadline()).await?;
        let mut path = cx.path(&self.path);
        if path.is_dir() {
            // Only its last part: a server must not choose the folder.
            let name = std::path::Path::new(&download.suggested_name).file_name();
            path = path.join(name.unwrap_or("download".as_ref()));
        }
        let bytes = keep(&session.downloads().join(&download.guid), &path).map_err(unwritable)?;
        Ok(Downloaded { path, url: download.url, bytes, hit: Hit::new(&session, acted) })
    }
}

/// Moves the file; a rename does not work between file systems, so it is copied.
fn keep(from: &std::path::Path, to: &std::path::Path) -> std::io::Result<u64> {
    if let Some(folder) = to.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let bytes = fs_err::copy(from, to)?;
    fs_err::remove_file(from)?;
    Ok(bytes)
}

fn unwritable(error: std::io::Error) -> Fault {
    Fault::new(Kind::UnwritablePath, error.to_string()).hint("choose a path that you may write to")
}
