//! What an action reports: what it hit and what followed, in few bytes, the same for all actions.

use serde::Serialize;
use surehand_guard::redact;
use surehand_page::{Acted, Aftermath, Dialog, FailedLoad};
use surehand_session::Session;

/// What was hit, and what followed.
#[derive(Debug, Serialize)]
pub struct Hit {
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    role: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(flatten)]
    followed: Followed,
}

/// What followed an action.
#[derive(Debug, Serialize)]
pub struct Followed {
    /// The new address, if the action led to one; secrets in it are masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    navigated: Option<String>,
    /// The address that it led to, if that could not be opened.
    #[serde(rename = "failedLoad", skip_serializing_if = "Option::is_none")]
    failed: Option<FailedLoad>,
    /// Where a navigation leads that the server has not answered yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    navigating: Option<String>,
    /// A dialog that now waits for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<Dialog>,
    /// Dialogs that asked nothing and were accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accepted: Vec<Dialog>,
    /// Tabs that opened; commands still go to this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    opened: Vec<String>,
    /// Files that are being downloaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    downloads: Vec<String>,
    /// Did the tab close?
    #[serde(rename = "tabClosed", skip_serializing_if = "std::ops::Not::not")]
    tab_closed: bool,
    /// Did the press arrive, but no click?
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unclicked: bool,
}

impl Hit {
    /// From what a page told.
    pub fn new(session: &Session, acted: Acted) -> Self {
        Self {
            reference: session.reference(&acted),
            role: acted.role,
            name: acted.name,
            followed: Followed::new(session, acted.after),
        }
    }

    /// Tabs that opened.
    pub fn opened(&self) -> &[String] {
        self.followed.opened()
    }

    /// Was it pressed, but not clicked?
    pub fn is_unclicked(&self) -> bool {
        self.followed.unclicked
    }

    /// `clicked button "Go" @e7 → http://…`
    pub fn text(&self, done: &str) -> String {
        self.text_with(done, "")
    }

    /// The same with more words about what was done, before those about what followed.
    pub fn text_with(&self, done: &str, more: &str) -> String {
        let mut out = format!("{done} {}", self.role);
        if !self.name.is_empty() {
            out.push_str(&format!(" {:?}", self.name));
        }
        if let Some(reference) = &self.reference {
            out.push_str(&format!(" {reference}"));
        }
        out + more + &self.followed.text()
    }
}

impl Followed {
    /// From what a page told.
    pub fn new(session: &Session, after: Aftermath) -> Self {
        let Aftermath { navigated, failed, navigating, dialog, accepted, downloads, closed, unclicked } =
            after;
        let opened = session.tabs().take_untold();
        let masked = |url: String| redact::mask_queries(&url).into_owned();
        let (navigated, navigating) = (navigated.map(masked), navigating.map(masked));
        let failed = failed.map(|failed| FailedLoad { url: masked(failed.url), ..failed });
        Self {
            navigated,
            failed,
            navigating,
            dialog,
            accepted,
            opened,
            downloads,
            tab_closed: closed,
            unclicked,
        }
    }

    /// Tabs that opened.
    pub fn opened(&self) -> &[String] {
        &self.opened
    }

    /// To be written after what was done.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if self.unclicked {
            out.push_str("; no click reached it");
        }
        if let Some(url) = &self.navigated {
            out.push_str(&format!(" → {url}"));
        }
        if let Some(url) = &self.navigating {
            out.push_str(&format!(" → {url} (not there yet; `surehand wait --load load` waits for it)"));
        }
        if let Some(failed) = &self.failed {
            out.push_str(&format!(" → {} could not be opened: {}", failed.url, failed.error));
        }
        out.push_str(&dialogs_text(&self.accepted, self.dialog.as_ref()));
        if !self.opened.is_empty() {
            out.push_str(&format!("\nopened {}", self.opened.join(", ")));
        }
        if !self.downloads.is_empty() {
            out.push_str(&format!("\ndownloading {}", self.downloads.join(", ")));
        }
        if self.tab_closed {
            out.push_str("\nthe tab closed");
        }
        out
    }
}

/// What the page said, and what it asks, each on a line of its own.
pub(crate) fn dialogs_text(accepted: &[Dialog], open: Option<&Dialog>) -> String {
    let mut out = String::new();
    for dialog in accepted {
        out.push_str(&format!("\nthe page said ({}): {:?}", dialog.kind, dialog.message));
    }
    if let Some(dialog) = open {
        out.push_str(&format!("\na {} asks: {:?}", dialog.kind, dialog.message));
        out.push_str("\nanswer it: `surehand dialog accept` or `surehand dialog dismiss`");
    }
    out
}
