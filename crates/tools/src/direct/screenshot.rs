//! `browser_screenshot`

use std::io::Write;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Deserialize;
use surehand_page::ScreenshotOptions;
use surehand_session::{Fault, Kind};

use super::{dialogs, failure};
use crate::{Answer, Hints, Tool, ToolContext};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Screenshot {
    /// Debugging address of the browser, e.g. http://127.0.0.1:9222
    browser_url: String,
    /// Id from browser_list; without it the first page target
    #[serde(default)]
    target_id: Option<String>,
}

impl Tool for Screenshot {
    const NAME: &'static str = "browser_screenshot";
    const DESCRIPTION: &'static str = "Take a PNG of what is in view and return the path of the file.";
    // It leaves a new file each time.
    const HINTS: Hints = Hints::NAVIGATES;

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        failure::told(self.take(cx).await, self.target_id.as_deref())
    }
}

impl Screenshot {
    async fn take(&self, cx: &ToolContext) -> Result<Answer, Fault> {
        let tab = cx.borrowed.tab(&self.browser_url, self.target_id.as_deref()).await?;
        dialogs::refuse_if_asked(&tab.page)?;
        let deadline = cx.verbs.navigation_deadline();
        let picture = tab.page.screenshot(&ScreenshotOptions::default(), &deadline).await?;
        let path = keep(&picture)?;
        let kilobytes = picture.len().div_ceil(1024);
        Ok(Answer::text(format!("Screenshot saved to: {} ({kilobytes} KB)", path.display())))
    }
}

/// Writes a file of its own: only its owner reads it, and none that is there is written over.
fn keep(picture: &[u8]) -> Result<PathBuf, Fault> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let write = || {
        let mut file = tempfile::Builder::new()
            .prefix(&format!("browser-screenshot-{now}-"))
            .suffix(".png")
            .tempfile()?;
        file.write_all(picture)?;
        file.keep().map(|(_, path)| path).map_err(|error| error.error)
    };
    write().map_err(|error: std::io::Error| {
        Fault::new(Kind::UnwritablePath, format!("the picture cannot be written: {error}"))
            .hint("There must be room in the folder for temporary files.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pictures_at_the_same_time_are_two_files() {
        let paths: Vec<PathBuf> = (0..50).map(|_| keep(b"x").unwrap()).collect();
        let different: std::collections::HashSet<_> = paths.iter().collect();
        assert_eq!(different.len(), 50);
        for path in paths {
            fs_err::remove_file(path).unwrap();
        }
    }
}
