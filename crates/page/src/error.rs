//! What can go wrong with a page, by cause. Each says what happened, to which element, and why.

use std::time::Duration;

use surehand_cdp::Closed;

use crate::{Dialog, Handle};

/// The result of everything in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// One of several elements that a locator matched.
#[derive(Debug, Clone, serde::Deserialize)]
pub struct Match {
    /// A short picture of the element.
    pub preview: String,
    /// A selector that matches only this one of its frame.
    pub selector: String,
    /// The script's id of the element.
    id: u64,
    /// The address of its frame, if that is not the page itself.
    #[serde(skip)]
    pub frame: Option<String>,
    /// The world that knows it.
    #[serde(skip)]
    world: u64,
}

impl Match {
    /// The element.
    pub fn handle(&self) -> Handle {
        Handle { world: self.world, element: self.id }
    }

    pub(crate) fn in_frame(self, frame: Option<String>) -> Self {
        Self { frame, ..self }
    }

    pub(crate) fn in_world(self, world: u64) -> Self {
        Self { world, ..self }
    }
}

/// Why a page could not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavigationFailure {
    /// The name has no address.
    Dns,
    /// Nobody listens there, or the way is blocked.
    Unreachable,
    /// There is no network at all.
    Offline,
    /// The certificate or the handshake failed.
    Tls,
    /// The load was stopped, by the page, by a download or by another navigation.
    Aborted,
    /// The server or the proxy wants a name and a password.
    Login,
    /// Anything else.
    Other,
}

impl NavigationFailure {
    /// From the browser's `net::ERR_…` names, which are a stable interface of Chromium.
    pub fn from_net_error(text: &str) -> Self {
        let name = text.trim_start_matches("net::");
        match name {
            "ERR_NAME_NOT_RESOLVED" | "ERR_NAME_RESOLUTION_FAILED" | "ERR_DNS_TIMED_OUT" => Self::Dns,
            "ERR_CONNECTION_REFUSED"
            | "ERR_CONNECTION_RESET"
            | "ERR_CONNECTION_CLOSED"
            | "ERR_CONNECTION_TIMED_OUT"
            | "ERR_CONNECTION_FAILED"
            | "ERR_ADDRESS_UNREACHABLE"
            | "ERR_ADDRESS_INVALID"
            | "ERR_TIMED_OUT"
            | "ERR_EMPTY_RESPONSE"
            | "ERR_PROXY_CONNECTION_FAILED"
            | "ERR_TUNNEL_CONNECTION_FAILED"
            | "ERR_NETWORK_ACCESS_DENIED" => Self::Unreachable,
            "ERR_INTERNET_DISCONNECTED" => Self::Offline,
            "ERR_ABORTED" => Self::Aborted,
            "ERR_INVALID_AUTH_CREDENTIALS" | "ERR_PROXY_AUTH_REQUESTED" => Self::Login,
            _ if name.starts_with("ERR_CERT") || name.starts_with("ERR_SSL") => Self::Tls,
            _ => Self::Other,
        }
    }
}

/// See the module.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing matches.
    #[error("no element matches {what}")]
    NotFound {
        /// The locator, in words.
        what: String,
    },
    /// Several elements match, and an action needs one.
    #[error("{count} elements match {what}")]
    Ambiguous {
        /// The locator, in words.
        what: String,
        /// How many match.
        count: usize,
        /// The first of them.
        matches: Vec<Match>,
    },
    /// The element, or the page it was on, is gone.
    #[error("{what} is not on the page any more")]
    Stale {
        /// The reference.
        what: String,
    },
    /// The selector does not parse.
    #[error("{selector:?} is not a valid selector: {reason}")]
    BadSelector {
        /// As it was given.
        selector: String,
        /// The browser's words.
        reason: String,
    },
    /// It is there, but a person would not see it.
    #[error("{preview} is not visible: {why}")]
    NotVisible {
        /// The element.
        preview: String,
        /// What hides it.
        why: String,
    },
    /// It never came to rest.
    #[error("{preview} {how}")]
    NotStable {
        /// The element.
        preview: String,
        /// What it does instead of resting.
        how: String,
    },
    /// Something else is on top of it.
    #[error("{blocker} covers {preview} and would get the {what}")]
    Covered {
        /// The element.
        preview: String,
        /// What is in the way.
        blocker: String,
        /// What it would get: the click, the tap or only the pointer.
        what: &'static str,
    },
    /// It slid away between press and release.
    #[error("{preview} moved away while it was pressed, so the page saw no click")]
    Missed {
        /// The element.
        preview: String,
    },
    /// The focus did not stay where it was put.
    #[error("{preview} does not keep the focus: it goes to {to}")]
    FocusMoved {
        /// The field.
        preview: String,
        /// Who has it instead.
        to: String,
    },
    /// It ignores the pointer.
    #[error("{preview} ignores the pointer (pointer-events: none)")]
    NoPointer {
        /// The element.
        preview: String,
    },
    /// A point that is not on the screen.
    #[error("{x}, {y} is outside of what is in view, which is {width} x {height}")]
    OutOfView {
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
        /// Of the view.
        width: f64,
        /// Of the view.
        height: f64,
    },
    /// A point of an element that is not on the screen.
    #[error("the point in {preview} is outside of what is in view and cannot be scrolled into it")]
    OffView {
        /// The element.
        preview: String,
    },
    /// A point that is not in the element.
    #[error("{x}, {y} is outside of {preview}, which is {width} x {height}")]
    OutOfElement {
        /// The element.
        preview: String,
        /// From its left.
        x: f64,
        /// From its top.
        y: f64,
        /// Of its box.
        width: f64,
        /// Of its box.
        height: f64,
    },
    /// It was there, and was taken away while something was done with it.
    #[error("{preview} was removed from the page before the action was done")]
    Detached {
        /// The element.
        preview: String,
    },
    /// What was dragged there was not taken.
    #[error("{preview} does not take what was dragged onto it")]
    NotDropped {
        /// The target.
        preview: String,
    },
    /// More files than the field takes.
    #[error("{preview} takes only one file, not {given}")]
    TooManyFiles {
        /// The field, or what opens the chooser.
        preview: String,
        /// How many were given.
        given: usize,
    },
    /// It is disabled.
    #[error("{preview} is disabled: {why}")]
    Disabled {
        /// The element.
        preview: String,
        /// Which attribute, of which element.
        why: String,
    },
    /// It could be edited, but not now.
    #[error("{preview} cannot be edited: {why}")]
    NotEditable {
        /// The element.
        preview: String,
        /// Why.
        why: String,
    },
    /// This can never be done with that kind of element.
    #[error("{preview}: {why}")]
    WrongType {
        /// The element.
        preview: String,
        /// Why, and which verb would do.
        why: String,
    },
    /// The list has no such option.
    #[error("{preview}: {why}")]
    NoOption {
        /// The list.
        preview: String,
        /// What was asked for and what there is.
        why: String,
    },
    /// The field does not take this value.
    #[error("{preview} does not take that value: {why}")]
    BadValue {
        /// The element.
        preview: String,
        /// What it takes.
        why: String,
    },
    /// The value was entered, but the field shows another one.
    #[error("{preview} shows {shown:?} after filling in {wanted:?}")]
    ValueDiffers {
        /// The element.
        preview: String,
        /// What was to be filled in; masked in password fields.
        wanted: String,
        /// What was read back; masked in password fields.
        shown: String,
    },
    /// It was clicked, but did not change.
    #[error("{preview} is not {wanted} after the click on it")]
    NotChanged {
        /// The box, radio or switch.
        preview: String,
        /// `checked` or `unchecked`.
        wanted: &'static str,
    },
    /// Keys were pressed in it, but it is as it was.
    #[error("{preview} is as it was: nothing came of what was typed")]
    NotTyped {
        /// The field.
        preview: String,
    },
    /// No such key on a keyboard.
    #[error("unknown key {name:?}{}", nearest.as_ref().map(|n| format!(", did you mean {n:?}?")).unwrap_or_default())]
    UnknownKey {
        /// As it was given.
        name: String,
        /// The nearest key that exists.
        nearest: Option<String>,
    },
    /// The deadline passed.
    #[error("timed out after {} waiting for {what}{}", short(.after), log_lines(.log))]
    Timeout {
        /// What did not happen.
        what: String,
        /// How long was waited.
        after: Duration,
        /// What was seen meanwhile.
        log: Vec<String>,
    },
    /// The page's own script does not come back.
    #[error("the page did not respond within {}: its script seems to be stuck", short(.after))]
    Unresponsive {
        /// How long was waited.
        after: Duration,
    },
    /// A dialog is open and blocks the page.
    #[error("a {} dialog is open: {:?}", .0.kind, .0.message)]
    DialogOpen(Dialog),
    /// The page could not be opened.
    #[error("{url} could not be opened: {reason}")]
    Navigation {
        /// Where to.
        url: String,
        /// The class of failure.
        failure: NavigationFailure,
        /// The browser's words.
        reason: String,
    },
    /// The page began to come, and its end never will.
    #[error("{url} broke off while it was loading: {reason}")]
    BrokenOff {
        /// Where from.
        url: String,
        /// The browser's words.
        reason: String,
    },
    /// A download did not come to its end.
    #[error("the download of {url} was broken off")]
    DownloadFailed {
        /// Where from.
        url: String,
    },
    /// The browser cannot read the address.
    #[error("{url:?} is not an address that the browser can read")]
    BadUrl {
        /// As it was given.
        url: String,
    },
    /// There is nothing to go back or forward to.
    #[error("there is no page to go {direction} to")]
    NoHistory {
        /// `back` or `forward`.
        direction: &'static str,
    },
    /// The page changed while something was being done on it.
    #[error("the page navigated away while {what}")]
    NavigatedAway {
        /// What was being done.
        what: String,
    },
    /// The frame that selectors were narrowed to is gone.
    #[error("the frame that was chosen is gone")]
    FrameGone,
    /// The page's script threw.
    #[error("{message}")]
    Script {
        /// The exception, with its place.
        message: String,
    },
    /// A result that JSON cannot hold.
    #[error("the result cannot be written as JSON: {why}")]
    NotJson {
        /// Why.
        why: String,
    },
    /// The surroundings cannot be like that.
    #[error("the browser does not know that: {why}")]
    BadSetting {
        /// The browser's words.
        why: String,
    },
    /// The page keeps nothing in the browser.
    #[error("the page cannot keep that: {why}")]
    NoStorage {
        /// The browser's words.
        why: String,
    },
    /// The tab was closed.
    #[error("the tab was closed")]
    TabClosed,
    /// The page's process crashed.
    #[error("the page crashed")]
    Crashed,
    /// The browser is gone.
    #[error("the browser is gone: {0}")]
    BrowserGone(Closed),
    /// The browser refused a call, or answered something unexpected.
    #[error("the browser refused: {0}")]
    Protocol(surehand_cdp::Error),
}

impl From<surehand_cdp::Error> for Error {
    fn from(error: surehand_cdp::Error) -> Self {
        match error.closed() {
            Some(Closed::TargetGone) => Error::TabClosed,
            Some(Closed::TargetCrashed) => Error::Crashed,
            Some(reason) => Error::BrowserGone(reason.clone()),
            None => Error::Protocol(error),
        }
    }
}

fn log_lines(log: &[String]) -> String {
    log.iter().map(|line| format!("\n  - {line}")).collect()
}

fn short(duration: &Duration) -> String {
    if duration.as_millis().is_multiple_of(1000) {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn net_errors_have_classes() {
        use NavigationFailure as F;
        for (name, class) in [
            ("net::ERR_NAME_NOT_RESOLVED", F::Dns),
            ("net::ERR_CONNECTION_REFUSED", F::Unreachable),
            ("net::ERR_CERT_AUTHORITY_INVALID", F::Tls),
            ("net::ERR_SSL_PROTOCOL_ERROR", F::Tls),
            ("net::ERR_ABORTED", F::Aborted),
            ("net::ERR_TOO_MANY_REDIRECTS", F::Other),
        ] {
            assert_eq!(F::from_net_error(name), class, "{name}");
        }
    }
}
