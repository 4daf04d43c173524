//! What can go wrong on the wire.

use std::sync::Arc;

/// Why a session or a whole connection ended; every call that was pending gets a copy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// The browser closed its end, or died.
    #[error("the browser closed the connection")]
    ByBrowser,
    /// The target (tab, frame, worker) of this session is gone.
    #[error("the page was closed")]
    TargetGone,
    /// The renderer process of this target crashed.
    #[error("the page crashed")]
    TargetCrashed,
    /// We closed the connection ourselves.
    #[error("the connection was closed")]
    ByUs,
    /// Reading or writing failed.
    #[error("the connection to the browser failed: {0}")]
    Io(Arc<str>),
}

/// A call that did not get its answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session or the connection ended before the answer came.
    #[error("{reason} (while waiting for {method})")]
    Closed {
        /// The call that was pending.
        method: &'static str,
        /// Why it was rejected.
        reason: Closed,
    },
    /// The browser answered with an error.
    #[error("{method}: {message}")]
    Refused {
        /// The call that was refused.
        method: &'static str,
        /// The protocol's error number.
        code: i64,
        /// The browser's words.
        message: String,
    },
    /// The browser's answer does not have the shape the protocol promises.
    #[error("{method}: unexpected answer: {detail}")]
    Shape {
        /// The call whose answer could not be read.
        method: &'static str,
        /// What the parser said.
        detail: String,
    },
    /// No connection could be made to a WebSocket endpoint.
    #[error("cannot connect to {url}: {detail}")]
    Connect {
        /// The endpoint.
        url: String,
        /// What the network or the handshake said.
        detail: String,
    },
}

impl Error {
    /// The protocol's numbers and words for "that frame, node or context is not there any more":
    /// the caller may look the thing up again.
    pub fn is_gone(&self) -> bool {
        match self {
            Error::Refused { message, .. } => GONE.iter().any(|words| message.contains(words)),
            _ => false,
        }
    }

    /// The reason, when the session or the connection ended.
    pub fn closed(&self) -> Option<&Closed> {
        match self {
            Error::Closed { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// The browser has no error numbers for these; its words are the only interface there is.
const GONE: [&str; 6] = [
    "Cannot find context with specified id",
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "No frame for given id found",
    "Frame with the given id was not found",
    "uniqueContextId not found",
];
