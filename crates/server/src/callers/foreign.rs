//! Calls tools of any MCP server: one that is started as a child and ends with the caller, or one that runs somewhere.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::CommandWrap;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use surehand_session::{Fault, Kind};
use surehand_tools::{Answer, Caller, Image, Pending};
use tokio::sync::Mutex;

use crate::secrets::Keeper;

/// Which server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// This program with these arguments, started as a child.
    Child(Vec<String>),
    /// The one at this address.
    At {
        /// Where.
        url: String,
        /// What to show at its door.
        token: Option<String>,
    },
}

/// See the module.
#[derive(Debug)]
pub struct Foreign {
    server: Server,
    keeper: Arc<Keeper>,
    /// Taken when it is closed.
    client: Mutex<Option<Connected>>,
}

type Connected = Arc<RunningService<RoleClient, ()>>;

/// A server that has not introduced itself by then does not work.
const INTRODUCTION: Duration = Duration::from_secs(30);

impl Foreign {
    /// Starts or reaches the server, and says who we are.
    pub async fn connect(server: Server, keeper: Arc<Keeper>) -> Result<Self, Fault> {
        let introduced = match &server {
            Server::Child(words) => {
                let child = spawn(words).map_err(|why| unreachable(&server, &why.to_string()))?;
                tokio::time::timeout(INTRODUCTION, ().serve(child)).await
            }
            Server::At { url, token } => {
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                let config = match token {
                    Some(token) => config.auth_header(token),
                    None => config,
                };
                let transport = StreamableHttpClientTransport::from_config(config);
                tokio::time::timeout(INTRODUCTION, ().serve(transport)).await
            }
        };
        let client = match introduced {
            Ok(Ok(client)) => client,
            Ok(Err(ClientInitializeError::TransportError { error, .. })) => {
                return Err(unreachable(&server, &innermost(error.error.as_ref())));
            }
            Ok(Err(error)) => return Err(unreachable(&server, &error.to_string())),
            Err(_) => return Err(unreachable(&server, "it does not introduce itself")),
        };
        Ok(Self { server, keeper, client: Mutex::new(Some(Arc::new(client))) })
    }

    /// Is it one of this program?
    pub async fn is_surehand(&self) -> bool {
        let Ok(client) = self.client().await else { return false };
        let info = client.peer_info().and_then(|info| info.server_info.clone());
        info.is_some_and(|server| server.name == "surehand")
    }

    async fn client(&self) -> Result<Connected, Fault> {
        self.client.lock().await.clone().ok_or_else(|| unreachable(&self.server, "it was closed"))
    }

    async fn call_now(&self, name: &str, arguments: Value) -> Result<Answer, Fault> {
        let (secrets, arguments) = match self.keeper.resolve_aside(name, arguments).await {
            Ok(resolved) => resolved,
            Err(fault) => return self.keeper.mask_all(Ok(Answer::failure(&fault))),
        };
        let client = self.client().await?;
        let mut params = CallToolRequestParams::new(name.to_owned());
        if let Value::Object(members) = arguments {
            params.arguments = Some(members);
        }
        let called = match client.call_tool_once(params).await {
            Ok(CallToolResponse::Complete(result)) => Ok(answer(result)),
            Ok(_) => Ok(refusal("the server wants to ask something before it answers")),
            // The server refuses this call; it may do others.
            Err(ServiceError::McpError(error)) => Ok(refusal(&error.message)),
            Err(error) => Err(unreachable(&self.server, &error.to_string())),
        };
        self.keeper.mask(&secrets, called)
    }
}

/// The child leads a group of its own, so that what it starts ends with it.
fn spawn(words: &[String]) -> std::io::Result<TokioChildProcess> {
    let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut command = CommandWrap::with_new(program, |command| {
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    });
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    command.wrap(process_wrap::tokio::KillOnDrop);
    TokioChildProcess::new(command)
}

fn answer(result: CallToolResult) -> Answer {
    let text: Vec<String> = result.content.iter().filter_map(text_of).collect();
    Answer {
        text: text.join("\n"),
        structured: result.structured_content,
        image: result.content.iter().find_map(image_of),
        is_error: result.is_error.unwrap_or_default(),
    }
}

fn text_of(block: &ContentBlock) -> Option<String> {
    block.as_text().map(|text| text.text.clone())
}

fn image_of(block: &ContentBlock) -> Option<Image> {
    use base64::Engine;
    let image = block.as_image()?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(&image.data).ok()?;
    Some(Image { bytes, mime_type: image.mime_type.clone().into() })
}

fn refusal(message: &str) -> Answer {
    Answer::failure(&Fault::new(Kind::ToolFailed, message))
}

/// What went wrong at the bottom of it: the layers above only say that something below did.
fn innermost(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error).to_string()
}

fn unreachable(server: &Server, why: &str) -> Fault {
    let (named, hint) = match server {
        Server::Child(words) => (
            surehand_verbs::join_words(words),
            "try the command by itself: it must speak MCP on its standard input and output",
        ),
        Server::At { url, .. } => {
            (url.clone(), "check that it runs, and the address: it usually ends in /mcp")
        }
    };
    Fault::new(Kind::ServerUnreachable, format!("the MCP server {named}: {why}")).hint(hint)
}

impl Caller for Foreign {
    fn tools(&self) -> Pending<'_, Result<Vec<String>, Fault>> {
        Box::pin(async move {
            let listed = self.client().await?.list_all_tools().await;
            let listed = listed.map_err(|error| unreachable(&self.server, &error.to_string()))?;
            Ok(listed.into_iter().map(|tool| tool.name.into_owned()).collect())
        })
    }

    fn call<'a>(&'a self, name: &'a str, arguments: Value) -> Pending<'a, Result<Answer, Fault>> {
        Box::pin(self.call_now(name, arguments))
    }

    fn apart(&self) -> Pending<'_, Result<Box<dyn Caller>, Fault>> {
        Box::pin(async move {
            let apart = Self::connect(self.server.clone(), self.keeper.clone()).await?;
            Ok(Box::new(apart) as Box<dyn Caller>)
        })
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            let client = self.client.lock().await.take();
            // A call that is still under way holds the client; it ends with that one then.
            if let Some(client) = client.and_then(Arc::into_inner) {
                // However it ended, it is gone.
                let _ = client.cancel().await;
            }
        })
    }
}
