//! Packs: whole errands in one call, for programs that do not want to drive a browser step by step.
//!
//! What lives here: one file per pack and the one list of them; what they share. What must not: HTTP, tokens, the vault
//! itself, the audit; a front lends them through [`PackContext`].

mod browser_interact;
mod hands;
mod login_and_fetch;
mod pack;
mod scrape;
mod scrape_spa;
mod screenshot_url;
mod tool;

pub use hands::Blocked;
pub use pack::{
    Artifact, Artifacts, Credentials, Pack, PackContext, PackEntry, PackFailure, Prepared, Witness, Witnessed,
};
pub(crate) use tool::answer;
pub use tool::{ACTION_TIME, CALL_TIME, Lender, run, shown};

use crate::tool::Entry;

/// Packs are named once.
macro_rules! packs {
    ($($pack:path),* $(,)?) => {
        /// Every pack.
        pub const PACKS: &[PackEntry] = &[$(PackEntry::of::<$pack>()),*];

        /// Every pack as a tool.
        pub(crate) const TOOLS: &[Entry] = &[$(Entry::of_pack::<$pack>()),*];
    };
}

packs! {
    browser_interact::BrowserInteract,
    screenshot_url::ScreenshotUrl,
    scrape_spa::ScrapeSpa,
    scrape::Scrape,
    login_and_fetch::LoginAndFetch,
}

/// The pack of that name.
pub fn find(name: &str) -> Option<&'static PackEntry> {
    PACKS.iter().find(|pack| pack.name == name)
}
