//! The one error that leaves the engine: a kind with a stable code, what happened, and what to do next.
//!
//! Exit codes (and later HTTP codes and categories) come from the kind, in one table, never from the words.

use surehand_browser::Error as BrowserError;
use surehand_page::{Error as PageError, Match, NavigationFailure};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident => $code:literal, $exit:literal;)*) => {
        /// What went wrong, as programs need to know it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// Every kind, in the order of the table.
            pub const ALL: &[Self] = &[$(Kind::$kind),*];

            /// The stable name of this kind.
            pub fn code(self) -> &'static str {
                match self { $(Kind::$kind => $code,)* }
            }

            /// The exit code of a command that failed this way: 1 it ran and failed, 2 usage or bad input, 3 daemon,
            /// browser or file system out of reach.
            pub fn exit_code(self) -> u8 {
                match self { $(Kind::$kind => $exit,)* }
            }
        }
    };
}

kinds! {
    /// The command line, a request or an argument makes no sense.
    Usage => "usage", 2;
    /// An argument is not text.
    NotUtf8 => "not-utf8", 2;
    /// A number is out of range.
    BadNumber => "bad-number", 2;
    /// A selector does not parse.
    BadSelector => "bad-selector", 2;
    /// No such key.
    UnknownKey => "unknown-key", 2;
    /// An address cannot be read.
    BadUrl => "bad-url", 2;
    /// The surroundings of a page cannot be like that.
    BadSetting => "bad-setting", 2;
    /// A file that should be read is not there.
    MissingFile => "missing-file", 2;
    /// A file that should be read has something else in it.
    BadFile => "bad-file", 2;
    /// No secret of that name.
    MissingSecret => "missing-secret", 2;
    /// An option differs from what the session was started with.
    OptionConflict => "option-conflict", 2;
    /// No session of that name.
    NoSession => "no-session", 1;
    /// No tool of that name.
    UnknownTool => "unknown-tool", 2;
    /// No tab of that name.
    NoTab => "no-tab", 1;
    /// Nothing matches.
    NotFound => "not-found", 1;
    /// No request of that number.
    NoRequest => "no-request", 1;
    /// Nothing is kept under that key.
    NoItem => "no-item", 1;
    /// Several match.
    Ambiguous => "ambiguous", 1;
    /// A reference to something that is gone.
    StaleRef => "stale-ref", 1;
    /// A reference to something in another tab.
    OtherTab => "other-tab", 1;
    /// Not to be seen.
    NotVisible => "not-visible", 1;
    /// Never comes to rest.
    NotStable => "not-stable", 1;
    /// Something is in the way.
    Covered => "covered", 1;
    /// Coordinates that are outside.
    OutOfView => "out-of-view", 1;
    /// Taken away in the middle of an action.
    Detached => "detached", 1;
    /// A target did not take what was dragged there.
    NotDropped => "not-dropped", 1;
    /// More files than a field takes.
    TooManyFiles => "too-many-files", 1;
    /// There is more of it than one answer can hold.
    TooLarge => "too-large", 1;
    /// Disabled.
    Disabled => "disabled", 1;
    /// Cannot be edited now.
    NotEditable => "not-editable", 1;
    /// Not for this kind of element.
    WrongElement => "wrong-element", 1;
    /// The page takes the focus away from a field.
    FocusMoved => "focus-moved", 1;
    /// The list has no such option.
    NoOption => "no-option", 1;
    /// The field does not take the value.
    BadValue => "bad-value", 1;
    /// The field shows another value.
    ValueDiffers => "value-differs", 1;
    /// What should have changed did not: a box, a field, the number of tabs.
    NotChanged => "not-changed", 1;
    /// The deadline passed.
    Timeout => "timeout", 1;
    /// The page's script is stuck.
    PageUnresponsive => "page-unresponsive", 1;
    /// A dialog waits for an answer.
    DialogOpen => "dialog-open", 1;
    /// There is no dialog to answer.
    NoDialog => "no-dialog", 1;
    /// A name has no address.
    UnknownHost => "unknown-host", 1;
    /// Nobody answers there.
    UnreachableHost => "unreachable-host", 1;
    /// Certificate or handshake.
    TlsError => "tls-error", 1;
    /// A server or proxy wants a name and a password.
    LoginNeeded => "login-needed", 1;
    /// The load was stopped.
    NavigationAborted => "navigation-aborted", 1;
    /// Another failure of a load.
    NavigationFailed => "navigation-failed", 1;
    /// A download did not come to its end.
    DownloadFailed => "download-failed", 1;
    /// Nothing to go back or forward to.
    NoHistory => "no-history", 1;
    /// The page changed meanwhile.
    NavigatedAway => "navigated-away", 1;
    /// The frame that was chosen is gone.
    FrameGone => "frame-gone", 1;
    /// The page keeps nothing in the browser.
    NoStorage => "no-storage", 1;
    /// The page's script threw.
    ScriptError => "script-error", 1;
    /// A result that JSON cannot hold.
    NotJson => "not-json", 1;
    /// The tab is closed.
    TabClosed => "tab-closed", 1;
    /// The page crashed.
    PageCrashed => "page-crashed", 1;
    /// One command of a batch failed.
    BatchFailed => "batch-failed", 1;
    /// A check of this machine failed.
    CheckFailed => "check-failed", 1;
    /// A playbook that cannot run.
    BadPlaybook => "bad-playbook", 2;
    /// Told to end in the middle of a run.
    Interrupted => "interrupted", 3;
    /// A tool failed and says only in words why.
    ToolFailed => "tool-failed", 1;
    /// The egress guard does not let it through.
    EgressDenied => "egress-denied", 1;
    /// No credential of that name, or not for this caller.
    CredentialDenied => "credential-denied", 1;
    /// The vault cannot be opened or written: its key, its file, or what is in it.
    VaultUnavailable => "vault-unavailable", 3;
    /// No browser on this machine.
    NoBrowser => "no-browser", 3;
    /// The browser does not start.
    BrowserFailed => "browser-failed", 3;
    /// The browser is gone.
    BrowserGone => "browser-gone", 3;
    /// Nothing listens at an endpoint.
    EndpointUnreachable => "endpoint-unreachable", 3;
    /// An endpoint is no browser.
    NotABrowser => "not-a-browser", 3;
    /// An MCP server cannot be started or reached.
    ServerUnreachable => "server-unreachable", 3;
    /// The browser has no port.
    NoPort => "no-port", 1;
    /// A file cannot be written.
    UnwritablePath => "unwritable-path", 3;
    /// The daemon cannot be reached or started.
    DaemonUnreachable => "daemon-unreachable", 3;
    /// The daemon is of another version and has sessions.
    VersionMismatch => "version-mismatch", 3;
    /// The socket belongs to somebody else.
    ForeignSocket => "foreign-socket", 3;
    /// What came over the socket is not a request.
    BadRequest => "bad-request", 2;
    /// The command was cancelled.
    Cancelled => "cancelled", 1;
    /// The browser refused or a promise of ours does not hold.
    Internal => "internal", 1;
}

impl Kind {
    /// The kind with this code; for answers that came over a socket.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }
}

/// What callers of packs are told, by the same table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PackCode {
    /// The input makes no sense, or asks for what is not allowed.
    InvalidInput,
    /// There is no browser to work with.
    SessionUnavailable,
    /// Something in the middle did not work.
    HandlerFailed,
    /// A file could not be kept.
    ArtifactFailed,
    /// The time of the session was over.
    Timeout,
    /// A promise of ours does not hold.
    Internal,
}

impl PackCode {
    /// As it is told.
    pub fn name(self) -> &'static str {
        match self {
            PackCode::InvalidInput => "invalid_input",
            PackCode::SessionUnavailable => "session_unavailable",
            PackCode::HandlerFailed => "handler_failed",
            PackCode::ArtifactFailed => "artifact_failed",
            PackCode::Timeout => "timeout",
            PackCode::Internal => "internal",
        }
    }

    /// The HTTP status of an answer with it.
    pub fn http_status(self) -> u16 {
        match self {
            PackCode::InvalidInput => 400,
            PackCode::SessionUnavailable => 503,
            PackCode::HandlerFailed | PackCode::ArtifactFailed => 502,
            PackCode::Timeout => 504,
            PackCode::Internal => 500,
        }
    }
}

impl Kind {
    /// What a failure of this kind is to who called a pack.
    pub fn pack_code(self) -> PackCode {
        match self {
            Kind::EgressDenied | Kind::CredentialDenied => PackCode::InvalidInput,
            Kind::NoBrowser | Kind::BrowserFailed | Kind::EndpointUnreachable | Kind::NotABrowser => {
                PackCode::SessionUnavailable
            }
            Kind::UnwritablePath => PackCode::ArtifactFailed,
            Kind::Interrupted | Kind::Cancelled => PackCode::Timeout,
            kind if kind.exit_code() == 2 => PackCode::InvalidInput,
            _ => PackCode::HandlerFailed,
        }
    }
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
    /// Elements to choose from, until [`crate::Session::name_matches`] has written them into the message.
    pub(crate) matches: Vec<Match>,
}

impl Fault {
    /// A failure without a hint.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new(), matches: Vec::new() }
    }

    /// The same with its matches in the message, for who has no references to name them by.
    #[must_use]
    pub fn with_matches(self) -> Self {
        self.listing(|_| String::new())
    }

    /// Writes the elements that it offers into its message, each with what it can be called.
    pub(crate) fn listing(mut self, name: impl Fn(&Match) -> String) -> Self {
        for one in std::mem::take(&mut self.matches) {
            let place = one.frame.as_ref().map(|url| format!(", in the frame {url}")).unwrap_or_default();
            self.message.push_str(&format!("\n  {}{}  ({}{place})", name(&one), one.preview, one.selector));
        }
        self
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
        let mut fault = Fault::new(kind, error.to_string());
        if let PageError::Ambiguous { matches, .. } = error {
            fault.matches = matches;
        }
        if hint.is_empty() { fault } else { fault.hint(hint) }
    }
}

fn classify_page(error: &PageError) -> (Kind, &'static str) {
    use PageError as E;
    match error {
        E::NotFound { .. } => (Kind::NotFound, "look at the page with `surehand snapshot -i`"),
        E::Ambiguous { .. } => (Kind::Ambiguous, "use one of the references listed"),
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
            (Kind::NotStable, "wait until the page is at rest, or give more time with --timeout")
        }
        E::Missed { .. } => {
            (Kind::NotStable, "try it again once the page is at rest, or press with `surehand mouse`")
        }
        E::FocusMoved { .. } => (
            Kind::FocusMoved,
            "the page moves the focus: enter the text where it goes, or do first what it asks for",
        ),
        E::Covered { .. } => (Kind::Covered, "close or wait for what is in the way, then try again"),
        E::NoPointer { .. } => (Kind::Covered, "click the element that handles the pointer instead"),
        E::OutOfView { .. } | E::OffView { .. } | E::OutOfElement { .. } => {
            (Kind::OutOfView, "give a point inside, or scroll first: `surehand scroll`, `surehand get box`")
        }
        E::Detached { .. } => (
            Kind::Detached,
            "the page changed: look at it with `surehand snapshot -i` and choose the element anew",
        ),
        E::NotDropped { .. } => (
            Kind::NotDropped,
            "drag it onto the element that handles the drop, or drag something that it takes",
        ),
        E::TooManyFiles { .. } => (Kind::TooManyFiles, "give one file, or choose a field for several"),
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
        E::NotChanged { .. } => (
            Kind::NotChanged,
            "the page set it back or did not react: do first what it waits for, or look with `surehand snapshot -i`",
        ),
        E::NotTyped { .. } => (
            Kind::NotChanged,
            "the page or the field takes no such keys: use `surehand fill`, or `surehand keyboard type` if the page handles keys itself",
        ),
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
        E::BrokenOff { .. } => (
            Kind::NavigationFailed,
            "try it again with `surehand reload`, or look at what came with `surehand snapshot -i`",
        ),
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
        E::BadSetting { .. } => (
            Kind::BadSetting,
            "the names are the browser's: see `surehand set --help` or `surehand get styles --help`",
        ),
        E::NoStorage { .. } => (
            Kind::NoStorage,
            "open a page of the site first: only pages with an address of their own can keep things",
        ),
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
        NavigationFailure::Offline => (
            Kind::UnreachableHost,
            "there is no network; if you cut it off, `surehand set offline off` brings it back",
        ),
        NavigationFailure::Tls => (
            Kind::TlsError,
            "if the server speaks plain HTTP write http://…; if you trust its certificate start the session with --ignore-https-errors",
        ),
        NavigationFailure::Aborted => {
            (Kind::NavigationAborted, "the address may be a download or answer nothing")
        }
        NavigationFailure::Login => {
            (Kind::LoginNeeded, "give a name and a password with `surehand set credentials USER`")
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
        for kind in Kind::ALL.iter().copied() {
            assert_eq!(Kind::from_code(kind.code()), Some(kind), "{}", kind.code());
            assert!((1..=3).contains(&kind.exit_code()));
        }
        assert_eq!(Kind::from_code("no-such-code"), None);
    }

    #[test]
    fn every_code_is_in_the_readme() {
        let readme = include_str!("../../../README.md");
        let untold: Vec<_> = Kind::ALL
            .iter()
            .map(|kind| kind.code())
            .filter(|code| !readme.contains(&format!("`{code}`")))
            .collect();
        assert!(untold.is_empty(), "{untold:?}");
    }
}
