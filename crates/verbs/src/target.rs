//! What an action reports about the element it hit: few bytes, the same for all actions.

use serde::Serialize;
use surehand_page::{Acted, Dialog};
use surehand_session::Session;

/// What was hit and what followed.
#[derive(Debug, Serialize)]
pub(crate) struct Hit {
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    role: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    /// The new address, if the action led to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    navigated: Option<String>,
    /// A dialog that now waits for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<Dialog>,
    /// Tabs that opened; commands still go to this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    opened: Vec<String>,
    /// Did the tab close?
    #[serde(rename = "tabClosed", skip_serializing_if = "std::ops::Not::not")]
    tab_closed: bool,
}

impl Hit {
    pub fn new(session: &Session, acted: Acted) -> Self {
        Self {
            reference: session.reference(&acted),
            role: acted.role,
            name: acted.name,
            navigated: acted.navigated,
            dialog: acted.dialog,
            opened: session.tabs().take_untold(),
            tab_closed: acted.closed,
        }
    }

    /// `clicked button "Go" @e7 → http://…`
    pub fn text(&self, done: &str) -> String {
        let mut out = format!("{done} {}", self.role);
        if !self.name.is_empty() {
            out.push_str(&format!(" {:?}", self.name));
        }
        if let Some(reference) = &self.reference {
            out.push_str(&format!(" {reference}"));
        }
        if let Some(url) = &self.navigated {
            out.push_str(&format!(" → {url}"));
        }
        if let Some(dialog) = &self.dialog {
            out.push_str(&format!("\na {} asks: {:?}", dialog.kind, dialog.message));
        }
        if !self.opened.is_empty() {
            out.push_str(&format!("\nopened {}", self.opened.join(", ")));
        }
        if self.tab_closed {
            out.push_str("\nthe tab closed");
        }
        out
    }
}
