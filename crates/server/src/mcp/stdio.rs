//! One client over standard input and output.

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;
use surehand_session::{Fault, Kind};

use super::McpOptions;
use super::desk::Desk;
use super::handler::Handler;
use crate::executor::Executor;
use crate::ipc;

pub(super) async fn serve(options: &McpOptions, executor: &Executor) -> Result<(), Fault> {
    let handler = Handler::new(&Arc::new(options.clone()), executor);
    let serving = async {
        let (from, to) = stdio_pipes();
        let running = match Box::pin(handler.serve(Desk::new(from, to))).await {
            Ok(running) => running,
            // A client that hangs up before it said who it is has done nothing wrong.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => {
                return Err(Fault::new(Kind::Usage, format!("the client does not speak MCP: {error}")).hint(
                    "`surehand mcp` is started by an MCP client; `surehand mcp install CLIENT` sets one up",
                ));
            }
        };
        running.waiting().await.map(drop).map_err(crate::internal)
    };
    tokio::select! {
        served = serving => served,
        ended = ipc::asked_to_end() => ended.map_err(crate::internal),
    }
}
