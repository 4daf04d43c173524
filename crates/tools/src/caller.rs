//! Somewhere that tools can be called: this process, the daemon, or an MCP server of somebody else's.
//!
//! Whoever runs a series of calls (a playbook) holds one of these and does not know which it is.

use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;
use surehand_session::Fault;

use crate::Answer;

/// Something under way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// See the module. One caller has one session of a browser: its calls see the tabs of the calls before.
pub trait Caller: Send + Sync + std::fmt::Debug {
    /// The names of the tools that there are.
    fn tools(&self) -> Pending<'_, Result<Vec<String>, Fault>>;

    /// Calls a tool. A failure of the tool is an answer; a fault means that it could not be called, and that calling
    /// another will not work either. Dropping the future stops the work. What the tool does has as long as the limit says, or
    /// as usual without one; where nobody can be told, the limit is only that of whoever waits.
    fn call_within<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        limit: Option<Duration>,
    ) -> Pending<'a, Result<Answer, Fault>>;

    /// The same, for as long as usual.
    fn call<'a>(&'a self, name: &'a str, arguments: Value) -> Pending<'a, Result<Answer, Fault>> {
        self.call_within(name, arguments, None)
    }

    /// How long a call may be silent, beyond what its arguments ask for, before the other side counts as out of reach.
    /// `None` where an answer always comes.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Another caller of the same kind with a session of its own, which sees nothing of this one.
    fn apart(&self) -> Pending<'_, Result<Box<dyn Caller>, Fault>>;

    /// Ends the session and what else belongs to this caller.
    fn close(&self) -> Pending<'_, ()>;
}
