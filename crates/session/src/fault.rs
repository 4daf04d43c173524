//! The one error that leaves the engine: a kind with a stable code, what happened, and what to do next.
//!
//! Exit codes (and later HTTP codes and categories) come from the kind, in one table, never from the words.

use surehand_browser::Error as BrowserError;
use surehand_page::{Error as PageError, NavigationFailure};

/// What went wrong, as programs need to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The command line, a request or an argument makes no sense.
    Usage,
    /// An argument is not text.
    NotUtf8,
    /// A number is out of range.
    BadNumber,
    /// A selector does not parse.
    BadSelector,
    /// No such key.
    UnknownKey,
    /// An address cannot be read.
    BadUrl,
    /// A file that should be read is not there.
    MissingFile,
    /// An option differs from what the session was started with.
    OptionConflict,
    /// No session of that name.
    NoSession,
    /// No tab of that name.
    NoTab,
    /// Nothing matches.
    NotFound,
    /// Several match.
    Ambiguous,
    /// A reference to something that is gone.
    StaleRef,
    /// A reference to something in another tab.
    OtherTab,
    /// Not to be seen.
    NotVisible,
    /// Never comes to rest.
    NotStable,
    /// Something is in the way.
    Covered,
    /// Disabled.
    Disabled,
    /// Cannot be edited now.
    NotEditable,
    /// Not for this kind of element.
    WrongElement,
    /// The list has no such option.
    NoOption,
    /// The field does not take the value.
    BadValue,
    /// The field shows another value.
    ValueDiffers,
    /// The deadline passed.
    Timeout,
    /// The page's script is stuck.
    PageUnresponsive,
    /// A dialog waits for an answer.
    DialogOpen,
    /// There is no dialog to answer.
    NoDialog,
    /// A name has no address.
    UnknownHost,
    /// Nobody answers there.
    UnreachableHost,
    /// Certificate or handshake.
    TlsError,
    /// The load was stopped.
    NavigationAborted,
    /// Another failure of a load.
    NavigationFailed,
    /// A download did not come to its end.
    DownloadFailed,
    /// Nothing to go back or forward to.
    NoHistory,
    /// The page changed meanwhile.
    NavigatedAway,
    /// The frame that was chosen is gone.
    FrameGone,
    /// The page's script threw.
    ScriptError,
    /// A result that JSON cannot hold.
    NotJson,
    /// The tab is closed.
    TabClosed,
    /// The page crashed.
    PageCrashed,
    /// One command of a batch failed.
    BatchFailed,
    /// A check of this machine failed.
    CheckFailed,
    /// No browser on this machine.
    NoBrowser,
    /// The browser does not start.
    BrowserFailed,
    /// The browser is gone.
    BrowserGone,
    /// Nothing listens at an endpoint.
    EndpointUnreachable,
    /// An endpoint is no browser.
    NotABrowser,
    /// A file cannot be written.
    UnwritablePath,
    /// The daemon cannot be reached or started.
    DaemonUnreachable,
    /// The daemon is of another version and has sessions.
    VersionMismatch,
    /// The socket belongs to somebody else.
    ForeignSocket,
    /// What came over the socket is not a request.
    BadRequest,
    /// The command was cancelled.
    Cancelled,
    /// The browser refused or a promise of ours does not hold.
    Internal,
}

impl Kind {
    /// Code and exit code: 1 it ran and failed, 2 usage or bad input, 3 daemon, browser or file system out of reach.
    fn facts(self) -> (&'static str, u8) {
        match self {
            Kind::Usage => ("usage", 2),
            Kind::NotUtf8 => ("not-utf8", 2),
            Kind::BadNumber => ("bad-number", 2),
            Kind::BadSelector => ("bad-selector", 2),
            Kind::UnknownKey => ("unknown-key", 2),
            Kind::BadUrl => ("bad-url", 2),
            Kind::MissingFile => ("missing-file", 2),
            Kind::OptionConflict => ("option-conflict", 2),
            Kind::NoSession => ("no-session", 1),
            Kind::NoTab => ("no-tab", 1),
            Kind::NotFound => ("not-found", 1),
            Kind::Ambiguous => ("ambiguous", 1),
            Kind::StaleRef => ("stale-ref", 1),
            Kind::OtherTab => ("other-tab", 1),
            Kind::NotVisible => ("not-visible", 1),
            Kind::NotStable => ("not-stable", 1),
            Kind::Covered => ("covered", 1),
            Kind::Disabled => ("disabled", 1),
            Kind::NotEditable => ("not-editable", 1),
            Kind::WrongElement => ("wrong-element", 1),
            Kind::NoOption => ("no-option", 1),
            Kind::BadValue => ("bad-value", 1),
            Kind::ValueDiffers => ("value-differs", 1),
            Kind::Timeout => ("timeout", 1),
            Kind::PageUnresponsive => ("page-unresponsive", 1),
            Kind::DialogOpen => ("dialog-open", 1),
            Kind::NoDialog => ("no-dialog", 1),
            Kind::UnknownHost => ("unknown-host", 1),
            Kind::UnreachableHost => ("unreachable-host", 1),
            Kind::TlsError => ("tls-error", 1),
            Kind::NavigationAborted => ("navigation-aborted", 1),
            Kind::NavigationFailed => ("navigation-failed", 1),
            Kind::DownloadFailed => ("download-failed", 1),
            Kind::NoHistory => ("no-history", 1),
            Kind::NavigatedAway => ("navigated-away", 1),
            Kind::FrameGone => ("frame-gone", 1),
            Kind::ScriptError => ("script-error", 1),
            Kind::NotJson => ("not-json", 1),
            Kind::TabClosed => ("tab-closed", 1),
            Kind::PageCrashed => ("page-crashed", 1),
            Kind::BatchFailed => ("batch-failed", 1),
            Kind::CheckFailed => ("check-failed", 1),
            Kind::NoBrowser => ("no-browser", 3),
            Kind::BrowserFailed => ("browser-failed", 3),
            Kind::BrowserGone => ("browser-gone", 3),
            Kind::EndpointUnreachable => ("endpoint-unreachable", 3),
            Kind::NotABrowser => ("not-a-browser", 3),
            Kind::UnwritablePath => ("unwritable-path", 3),
            Kind::DaemonUnreachable => ("daemon-unreachable", 3),
            Kind::VersionMismatch => ("version-mismatch", 3),
            Kind::ForeignSocket => ("foreign-socket", 3),
            Kind::BadRequest => ("bad-request", 2),
            Kind::Cancelled => ("cancelled", 1),
            Kind::Internal => ("internal", 1),
        }
    }

    /// The stable name of this kind.
    pub fn code(self) -> &'static str {
        self.facts().0
    }

    /// The exit code of a command that failed this way.
    pub fn exit_code(self) -> u8 {
        self.facts().1
    }

    /// The kind with this code; for answers that came over a socket.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Every kind, in the order of the table.
    pub const ALL: [Self; 54] = [
        Kind::Usage,
        Kind::NotUtf8,
        Kind::BadNumber,
        Kind::BadSelector,
        Kind::UnknownKey,
        Kind::BadUrl,
        Kind::MissingFile,
        Kind::OptionConflict,
        Kind::NoSession,
        Kind::NoTab,
        Kind::NotFound,
        Kind::Ambiguous,
        Kind::StaleRef,
        Kind::OtherTab,
        Kind::NotVisible,
        Kind::NotStable,
        Kind::Covered,
        Kind::Disabled,
        Kind::NotEditable,
        Kind::WrongElement,
        Kind::NoOption,
        Kind::BadValue,
        Kind::ValueDiffers,
        Kind::Timeout,
        Kind::PageUnresponsive,
        Kind::DialogOpen,
        Kind::NoDialog,
        Kind::UnknownHost,
        Kind::UnreachableHost,
        Kind::TlsError,
        Kind::NavigationAborted,
        Kind::NavigationFailed,
        Kind::DownloadFailed,
        Kind::NoHistory,
        Kind::NavigatedAway,
        Kind::FrameGone,
        Kind::ScriptError,
        Kind::NotJson,
        Kind::TabClosed,
        Kind::PageCrashed,
        Kind::BatchFailed,
        Kind::CheckFailed,
        Kind::NoBrowser,
        Kind::BrowserFailed,
        Kind::BrowserGone,
        Kind::EndpointUnreachable,
        Kind::NotABrowser,
        Kind::UnwritablePath,
        Kind::DaemonUnreachable,
        Kind::VersionMismatch,
        Kind::ForeignSocket,
        Kind::BadRequest,
        Kind::Cancelled,
        Kind::Internal,
    ];
}

/// See the module.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What kind of failure.
    pub kind: Kind,
    /// What happened, to what.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl Fault {
    /// A failure without a hint.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// The same with a hint more.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<PageError> for Fault {
    fn from(error: PageError) -> Self {
        let (kind, hint) = classify_page(&error);
        let fault = Fault::new(kind, error.to_string());
        if hint.is_empty() { fault } else { fault.hint(hint) }
    }
}

fn classify_page(error: &PageError) -> (Kind, &'static str) {
    use PageError as E;
    match error {
        E::NotFound { .. } => (Kind::NotFound, "look at the page with `surehand snapshot -i`"),
        E::Ambiguous { .. } => {
            (Kind::Ambiguous, "use one of the selectors listed, or a reference from `surehand snapshot -i`")
        }
        E::Stale { .. } => (Kind::StaleRef, "take a new `surehand snapshot -i` and use its references"),
        E::BadSelector { .. } => (
            Kind::BadSelector,
            "selectors are @eN, CSS, xpath=…, text=…, role=…, label=… …; quote them for the shell",
        ),
        E::NotVisible { .. } => (
            Kind::NotVisible,
            "make it visible first (open its menu, scroll, wait), or choose another element",
        ),
        E::NotStable { .. } => {
            (Kind::NotStable, "wait until the animation is over, or give more time with --timeout")
        }
        E::Covered { .. } => (Kind::Covered, "close or wait for what is in the way, then try again"),
        E::NoPointer { .. } => (Kind::Covered, "click the element that handles the pointer instead"),
        E::Disabled { .. } => (Kind::Disabled, "do first what enables it, or wait with --timeout"),
        E::NotEditable { .. } => {
            (Kind::NotEditable, "do first what makes it editable, or choose another field")
        }
        E::WrongType { .. } => (
            Kind::WrongElement,
            "look at what it is with `surehand snapshot -i`, and choose the verb or the element that fits",
        ),
        E::NoOption { .. } => (Kind::NoOption, "use one of the options listed, by value or label"),
        E::BadValue { .. } => (Kind::BadValue, "give a value that the field takes"),
        E::ValueDiffers { .. } => {
            (Kind::ValueDiffers, "the page or the field changed the value; check its length and format")
        }
        E::UnknownKey { .. } => {
            (Kind::UnknownKey, "keys are characters or names such as Enter, ArrowLeft, Control+a")
        }
        E::Timeout { .. } => (
            Kind::Timeout,
            "look at the page with `surehand snapshot -i`, or give more time with --timeout MS",
        ),
        E::Unresponsive { .. } => (
            Kind::PageUnresponsive,
            "close the tab with `surehand tab close`, or open another page with `surehand open URL`",
        ),
        E::DialogOpen(_) => {
            (Kind::DialogOpen, "answer it: `surehand dialog accept` or `surehand dialog dismiss`")
        }
        E::Navigation { failure, .. } => classify_navigation(*failure),
        E::DownloadFailed { .. } => {
            (Kind::DownloadFailed, "try it again; `surehand network requests` shows what the server said")
        }
        E::BadUrl { .. } => (Kind::BadUrl, "write it like http://127.0.0.1:8000/page"),
        E::NoHistory { .. } => (Kind::NoHistory, "open an address with `surehand open URL`"),
        E::NavigatedAway { .. } => (Kind::NavigatedAway, "look at the new page with `surehand snapshot -i`"),
        E::FrameGone => (Kind::FrameGone, "go back to the whole page with `surehand frame main`"),
        E::Script { .. } => (
            Kind::ScriptError,
            "the script runs in the page: check it there, e.g. with `surehand get html body`",
        ),
        E::NotJson { .. } => {
            (Kind::NotJson, "return plain data, e.g. with JSON.stringify or by picking fields")
        }
        E::TabClosed => (Kind::TabClosed, "see the open tabs with `surehand tab list`"),
        E::Crashed => (Kind::PageCrashed, "load it again with `surehand reload`, or open another page"),
        E::BrowserGone(_) => (Kind::BrowserGone, "start again with `surehand open URL`"),
        E::Protocol(_) => (Kind::Internal, "see the protocol with SUREHAND_LOG=cdp=trace"),
        _ => (Kind::Internal, ""),
    }
}

fn classify_navigation(failure: NavigationFailure) -> (Kind, &'static str) {
    match failure {
        NavigationFailure::Dns => (Kind::UnknownHost, "check the spelling of the host and the network"),
        NavigationFailure::Unreachable => (Kind::UnreachableHost, "check that the server runs, and its port"),
        NavigationFailure::Tls => (
            Kind::TlsError,
            "if the server speaks plain HTTP write http://…; if you trust its certificate start the session with --ignore-https-errors",
        ),
        NavigationFailure::Aborted => {
            (Kind::NavigationAborted, "the address may be a download or answer nothing")
        }
        NavigationFailure::Other => {
            (Kind::NavigationFailed, "see what the browser asked for with `surehand network requests`")
        }
    }
}

/// What helps when an endpoint is not a browser's.
pub(crate) const START_A_BROWSER: &str =
    "start a browser with --remote-debugging-port=9222, then `surehand connect 9222`";

impl From<BrowserError> for Fault {
    fn from(error: BrowserError) -> Self {
        use BrowserError as E;
        let kind = match &error {
            E::NotFound { .. } | E::Install { .. } | E::NamedBrowser { .. } => Kind::NoBrowser,
            E::BadEndpoint { .. } => Kind::Usage,
            E::UnknownHost { .. } | E::Refused { .. } | E::AttachTimeout { .. } | E::Attach { .. } => {
                Kind::EndpointUnreachable
            }
            E::NotHttp { .. } | E::NotDevTools { .. } => Kind::NotABrowser,
            _ => Kind::BrowserFailed,
        };
        let fault = Fault::new(kind, error.to_string());
        match kind {
            Kind::NoBrowser => fault.hint("`surehand doctor` shows what is missing and how to mend it"),
            Kind::BrowserFailed => fault.hint("`surehand doctor` checks what a browser needs"),
            Kind::EndpointUnreachable | Kind::NotABrowser => fault.hint(START_A_BROWSER),
            Kind::Usage => fault.hint("give a port, host:port, http://host:port or a ws:// address"),
            _ => fault,
        }
    }
}

impl From<surehand_cdp::Error> for Fault {
    fn from(error: surehand_cdp::Error) -> Self {
        PageError::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_code_and_is_found_by_it() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_code(kind.code()), Some(kind), "{}", kind.code());
            assert!((1..=3).contains(&kind.exit_code()));
        }
        assert_eq!(Kind::from_code("no-such-code"), None);
    }
}
