//! Downloads: what a tab is fetching to disk. The browser tells about them itself, not in the tab's session; whoever
//! hears the browser hands the events in.

use surehand_cdp::protocol::browser as cdp;

use crate::page::Page;
use crate::pointer::{Acted, ClickOptions};
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
    state: Stage,
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
        let download = Download { guid, url, suggested_name: suggested_filename, state: Stage::UnderWay };
        self.0.change(|state| state.downloads.push(download));
    }

    /// A download, perhaps of this tab, went on.
    pub fn download_went_on(&self, event: &cdp::DownloadProgress) {
        self.0.change(|state| {
            let mine = state.downloads.iter_mut().find(|download| download.guid == event.guid);
            if let Some(download) = mine {
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
        let before = self.lock().downloads.iter().map(|download| download.guid.clone()).collect::<Vec<_>>();
        let acted = self.click(locator, &ClickOptions::default(), deadline).await?;
        let begun = |state: &crate::state::State| {
            state
                .downloads
                .iter()
                .find(|download| !before.contains(&download.guid))
                .map(|download| download.guid.clone())
        };
        let guid = self.until(deadline, "a download to begin", begun).await?;
        let ended = |state: &crate::state::State| {
            let download = state.downloads.iter().find(|download| download.guid == guid)?;
            (download.state != Stage::UnderWay).then(|| download.clone())
        };
        // A large file takes its time; a connection that stalls is ended by the browser.
        let download = self.until(&Deadline::after(LONGEST), "the download to end", ended).await?;
        if download.state == Stage::Canceled {
            return Err(Error::DownloadFailed { url: download.url });
        }
        Ok((acted, download))
    }
}

/// Nobody waits longer for a file.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(3600);
