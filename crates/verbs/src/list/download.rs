//! `download`: click something and keep the file that comes of it.

use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page as page;
use surehand_session::{Fault, Session};

use crate::context::unwritable;
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

/// What was downloaded.
#[derive(Debug, Serialize)]
pub struct Downloaded {
    #[serde(flatten)]
    file: Kept,
    #[serde(flatten)]
    hit: Hit,
}

/// A file that was downloaded and is kept.
#[derive(Debug, Serialize)]
pub struct Kept {
    path: PathBuf,
    url: String,
    bytes: u64,
}

impl Kept {
    /// Where it is and how large.
    pub(crate) fn text(&self) -> String {
        format!("{} ({} bytes)", self.path.display(), self.bytes)
    }
}

impl Report for Downloaded {
    fn text(&self) -> String {
        self.file.text()
    }
}

impl Verb for Download {
    const EFFECT: Effect = Effect::Acts;
    const PATHS: &'static [&'static str] = &["/path"];
    type Output = Downloaded;

    async fn run(self, cx: &Context) -> Result<Downloaded, Fault> {
        let (session, tab) = cx.tab().await?;
        let locator = session.locator(&self.selector, &tab)?;
        session.direct_downloads(true);
        let downloaded = tab.page.download(&locator, &cx.deadline()).await;
        session.direct_downloads(false);
        let (acted, download) = downloaded?;
        let file = keep(cx, &session, &tab.page, download, &self.path)?;
        Ok(Downloaded { file, hit: Hit::new(&session, acted) })
    }
}

/// Moves a complete download to where the user wants it; a folder gets it under the server's name.
pub(crate) fn keep(
    cx: &Context,
    session: &Session,
    page: &page::Page,
    download: page::Download,
    to: &Path,
) -> Result<Kept, Fault> {
    let mut path = cx.path(to)?;
    if path.is_dir() || to.as_os_str().to_string_lossy().ends_with('/') {
        // Only its last part: a server must not choose the folder.
        let name = Path::new(&download.suggested_name).file_name();
        path = path.join(name.unwrap_or("download".as_ref()));
    }
    let path: PathBuf = path.components().collect();
    let ours = session.downloads().join(&download.guid);
    let theirs = download.file.clone().filter(|file| !file.starts_with(session.downloads()));
    let kept = match theirs {
        // A person's browser put it where they look for it.
        Some(theirs) => copy(&theirs, &path),
        None => copy(&ours, &path).and_then(|bytes| fs_err::remove_file(&ours).map(|()| bytes)),
    };
    let bytes = kept.map_err(|error| {
        page.give_back(&download);
        unwritable(error)
    })?;
    Ok(Kept { path, url: download.url, bytes })
}

/// A rename would not work between file systems.
fn copy(from: &Path, to: &Path) -> std::io::Result<u64> {
    if let Some(folder) = to.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::copy(from, to)
}
