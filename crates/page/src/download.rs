//! Downloads: what a tab is fetching to disk. The browser tells about them itself, not in the tab's session; whoever
//! hears the browser hands the events in.

use std::path::PathBuf;

use surehand_cdp::protocol::browser as cdp;
use surehand_guard::redact;

use crate::page::Page;
use crate::pointer::{Acted, ClickOptions};
use crate::state::State;
use crate::{Deadline, Error, Locator, Result};

/// One download.
#[derive(Debug, Clone)]
pub struct Download {
    /// The browser's id, and the name of the file while it is being written.
    pub guid: String,
    /// Where from.
    pub url: String,
    /// What the server calls the file.
    pub suggested_name: String,
    /// Where the browser wrote it, if it said so.
    pub file: Option<PathBuf>,
    state: Stage,
    /// Has somebody waited for it?
    taken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    UnderWay,
    Complete,
    Canceled,
}

impl Page {
    /// Is this frame one of the tab's?
    pub fn has_frame(&self, frame_id: &str) -> bool {
        self.lock().frames.get(frame_id).is_some()
    }

    /// A download of this tab began.
    pub fn download_began(&self, event: cdp::DownloadWillBegin) {
        let cdp::DownloadWillBegin { guid, url, suggested_filename, .. } = event;
        let download = Download {
            guid,
            url,
            suggested_name: suggested_filename,
            file: None,
            state: Stage::UnderWay,
            taken: false,
        };
        self.0.change(|state| state.downloads.push(download));
    }

    /// A download, perhaps of this tab, went on.
    pub fn download_went_on(&self, event: &cdp::DownloadProgress) {
        self.0.change(|state| {
            let mine = state.downloads.iter_mut().find(|download| download.guid == event.guid);
            if let Some(download) = mine {
                download.file = event.file_path.as_ref().map(PathBuf::from).or(download.file.take());
                download.state = match event.state.as_str() {
                    "completed" => Stage::Complete,
                    "canceled" => Stage::Canceled,
                    _ => Stage::UnderWay,
                };
            }
        });
    }

    /// Clicks an element and waits until the download that follows is complete on disk.
    pub async fn download(&self, locator: &Locator, deadline: &Deadline) -> Result<(Acted, Download)> {
        let acted = self.click(locator, &ClickOptions::default(), deadline).await?;
        let what = format!("{BEGINS} after the click on {locator}");
        Ok((acted, self.complete_download(&what, deadline).await?))
    }

    /// Waits until a download that began since the last command that acts is complete on disk.
    pub async fn wait_for_download(&self, deadline: &Deadline) -> Result<Download> {
        self.complete_download(BEGINS, deadline).await
    }

    async fn complete_download(&self, what: &str, deadline: &Deadline) -> Result<Download> {
        let guid = match self.until(deadline, what, next_download).await {
            Err(Error::Timeout { .. }) => {
                deadline.note(format_args!("the page is {}", self.url()));
                return Err(deadline.timeout(what));
            }
            begun => begun?,
        };
        let ended = |state: &State| {
            let download = state.downloads.iter().find(|download| download.guid == guid)?;
            (download.state != Stage::UnderWay).then(|| download.clone())
        };
        // A large file takes its time; a connection that stalls is ended by the browser.
        let download = self.until(&Deadline::after(LONGEST), "the download to end", ended).await?;
        self.lock().downloads.iter_mut().filter(|one| one.guid == guid).for_each(|one| one.taken = true);
        if download.state == Stage::Canceled {
            return Err(Error::DownloadFailed { url: redact::mask_logins(&download.url).into_owned() });
        }
        Ok(download)
    }
}

impl Page {
    /// The file of a download could not be used after all: the next wait may have it.
    pub fn give_back(&self, download: &Download) {
        self.lock()
            .downloads
            .iter_mut()
            .filter(|one| one.guid == download.guid)
            .for_each(|one| one.taken = false);
    }
}

const BEGINS: &str = "a download to begin";

fn next_download(state: &State) -> Option<String> {
    state.downloads.since(state.acted_at.downloads).find(|one| !one.taken).map(|one| one.guid.clone())
}

/// Nobody waits longer for a file.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(3600);
