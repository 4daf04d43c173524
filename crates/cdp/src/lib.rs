//! The wire: one connection to a browser, many flattened sessions on it, calls and events.
//!
//! What lives here: the two transports (pipe and WebSocket), the envelope, pending calls and who
//! rejects them, the wire log, and the generated protocol types that somebody uses.
//! What must not: anything that knows what a page, a tab or a verb is.
//!
//! Messages are parsed once, as borrowed envelopes with raw JSON inside; whoever needs a member types
//! it. Unknown members, fields and events therefore never break anything.

mod connection;
mod envelope;
mod error;
pub mod protocol;
mod session;
mod transport;
mod wire_log;

pub use connection::{Connection, WeakConnection};
pub use error::{Closed, Error};
pub use session::{Call, EventSink, Session};
pub use transport::Transport;

/// A protocol command, generated in [`protocol`].
pub trait Command: serde::Serialize {
    /// `Domain.command`, as it goes over the wire.
    const METHOD: &'static str;
    /// What the browser answers.
    type Result: serde::de::DeserializeOwned;
}

/// A protocol event, generated in [`protocol`].
pub trait Event: serde::de::DeserializeOwned {
    /// `Domain.event`, as it comes over the wire.
    const METHOD: &'static str;
}

/// The result of commands that answer `{}`.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize)]
pub struct Empty {}
