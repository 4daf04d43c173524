//! The MCP server: tools for agents, over standard input and output or over HTTP, in one process with the engine.
//!
//! What lives here: the protocol's side of things. What must not: what a tool does.

mod desk;
mod handler;
mod host;
mod http;
mod judge;
pub(crate) mod meta;
mod progress;
mod stdio;

use std::path::PathBuf;
use std::sync::Arc;

use surehand_guard::Secrets;
use surehand_session::Fault;
use surehand_tools::Toolset;
use surehand_verbs::Settings;

pub(crate) use host::{Call, Host, Hosted, Identity};
pub use http::HttpOptions;
pub(crate) use http::router;

use crate::executor::Executor;
use crate::home::Home;
use crate::ipc;

/// How the server is to be.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// Which tools.
    pub toolsets: Vec<Toolset>,
    /// Settings of every call; its session is used only with `shared`.
    pub settings: Settings,
    /// Use the session of that name in the daemon, so that a person shares it, instead of one for each client.
    pub shared: bool,
    /// Where the server keeps its things.
    pub home: Home,
    /// Serve over HTTP instead of standard input and output.
    pub http: Option<HttpOptions>,
    /// What clients may use but not see.
    pub secrets: Option<Arc<Secrets>>,
}

impl McpOptions {
    /// Things of this process only.
    fn scratch(&self) -> PathBuf {
        self.home.root.join(format!("mcp-{}", std::process::id()))
    }
}

/// How many bytes a tool adds to the list that a client reads.
pub fn listed_size(spec: &surehand_tools::Spec) -> usize {
    serde_json::to_string(&handler::tool(spec.clone())).map_or(0, |text| text.len())
}

/// Serves until the client hangs up, or the process is told to end.
pub fn serve(options: McpOptions) -> Result<(), Fault> {
    options.home.create()?;
    ipc::raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(crate::internal)?;
    let scratch = options.scratch();
    let served = runtime.block_on(async {
        let secrets = options.secrets.clone().unwrap_or_default();
        let executor = if options.shared {
            Executor::daemon(&options.home, secrets)
        } else {
            Executor::here(&options.home, &scratch, secrets)?
        };
        let served = match &options.http {
            Some(http) => http::serve(&options, http, &executor).await,
            None => stdio::serve(&options, &executor).await,
        };
        executor.close_all().await;
        served
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    // Made only if something was downloaded.
    let _ = fs_err::remove_dir_all(scratch);
    served
}
