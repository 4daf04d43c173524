//! Whoever lets clients in may have a say in their calls: what they may call, where they work, what is written down.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use surehand_browser::Notes;
use surehand_session::Fault;
use surehand_tools::{Answer, Toolset};
use surehand_verbs::Settings;

use crate::executor::Executor;

/// See the module. One is left with each request, as an extension of type [`Hosted`].
pub(crate) trait Host: Send + Sync {
    /// Who the client is. What one began nobody else goes on with.
    fn identity(&self) -> Identity;

    /// Where its calls run, with what is lent to it.
    fn executor(&self) -> Executor;

    /// The session for requests that belong to none.
    fn common_session(&self) -> String;

    /// Makes the call, or says why not.
    fn call<'a>(
        &'a self,
        executor: &'a Executor,
        call: Call,
    ) -> Pin<Box<dyn Future<Output = Result<Answer, Fault>> + Send + 'a>>;
}

/// A subject, and the program that it uses: credentials may be lent to one program and not to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub subject: String,
    pub client: String,
}

/// The host of a request.
#[derive(Clone)]
pub(crate) struct Hosted(pub Arc<dyn Host>);

/// One call of a tool.
pub(crate) struct Call {
    pub toolsets: Vec<Toolset>,
    pub tool: String,
    pub arguments: Value,
    pub settings: Settings,
    pub notes: Arc<dyn Notes>,
}

impl Call {
    pub async fn make(self, executor: &Executor) -> Result<Answer, Fault> {
        executor.call(&self.toolsets, &self.tool, self.arguments, self.settings, self.notes).await
    }
}
