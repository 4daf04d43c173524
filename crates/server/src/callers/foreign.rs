//! Calls tools of any MCP server: one that is started as a child and ends with the caller, or one that runs somewhere.

use std::error::Error;
use std::process::Stdio;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use process_wrap::tokio::CommandWrap;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ContentBlock, Implementation,
    RequestMetaObject,
};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use rmcp::transport::common::client_side_sse::FixedInterval;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use surehand_guard::Secrets;
use surehand_outbound::{distrust, innermost};
use surehand_session::{Fault, Kind};
use surehand_tools::{Answer, Caller, Image, Pending};
use tokio::sync::Mutex;

use super::http;
use super::own::milliseconds;
use crate::mcp::meta;
use crate::secrets::{self, Keeper};

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

impl Server {
    fn named(&self) -> String {
        match self {
            Self::Child(words) => surehand_verbs::join_words(words),
            Self::At { url, .. } => url.clone(),
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Foreign {
    server: Server,
    keeper: Arc<Keeper>,
    /// What a server of this program is told with each call, so that its journal holds none of them.
    told: std::sync::Mutex<Arc<Secrets>>,
    /// Taken when it is closed.
    client: Mutex<Option<Connected>>,
}

type Connected = Arc<RunningService<RoleClient, ClientConfig>>;

/// A server that has not introduced itself by then does not work.
const INTRODUCTION: Duration = Duration::from_secs(30);

/// One that is silent for longer, and was not asked to wait, is out of reach.
const SILENCE: Duration = Duration::from_secs(30);

/// One that does not end in time is left to itself; a child is killed.
const CLOSING: Duration = Duration::from_secs(5);

/// A stream that broke off is taken up again so often; then the server is gone.
const RECONNECTS: usize = 3;
const RECONNECT: Duration = Duration::from_millis(300);

impl Foreign {
    /// Starts or reaches the server, and says who we are.
    pub async fn connect(server: Server, keeper: Arc<Keeper>) -> Result<Self, Fault> {
        let introduced = match &server {
            Server::Child(words) => {
                let child = spawn(words).map_err(|why| unreachable(&server, &why.to_string()))?;
                tokio::time::timeout(INTRODUCTION, introduction().serve(child)).await
            }
            Server::At { url, token } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                let mut retries = FixedInterval::default();
                (retries.max_times, retries.duration) = (Some(RECONNECTS), RECONNECT);
                config.retry_config = Arc::new(retries);
                let config = match token {
                    Some(token) => config.auth_header(token),
                    None => config,
                };
                let http = http::client().map_err(|why| unreachable(&server, &why))?;
                let transport = StreamableHttpClientTransport::with_client(http, config);
                tokio::time::timeout(INTRODUCTION, introduction().serve(transport)).await
            }
        };
        let client = match introduced {
            Ok(Ok(client)) => client,
            Ok(Err(ClientInitializeError::TransportError { error, .. })) => {
                return Err(not_reached(&server, error.error.as_ref()));
            }
            Ok(Err(error)) => return Err(unreachable(&server, &in_words(&error))),
            Err(_) => return Err(unreachable(&server, "it does not introduce itself")),
        };
        let client = Mutex::new(Some(Arc::new(client)));
        // It is told only of those that it gets anyway.
        Ok(Self { server, keeper, told: std::sync::Mutex::default(), client })
    }

    /// Is it one of this program?
    pub async fn is_surehand(&self) -> bool {
        self.client().await.is_ok_and(|client| is_surehand(&client))
    }

    /// What a server of this program is told with a call: that we take all of a structure, how long the tool may take, and
    /// which of the values that it gets are secrets, from now on.
    fn tell(&self, used: &Secrets, limit: Option<Duration>) -> RequestMetaObject {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(more) = used.used().and_then(|used| told.and(&used)) {
            *told = Arc::new(more);
        }
        let mut said = RequestMetaObject::new();
        said.insert(meta::WHOLE.to_owned(), true.into());
        if let Some(limit) = limit {
            said.insert(meta::TIMEOUT.to_owned(), milliseconds(limit).into());
        }
        if let Some(told) = secrets::told(&told) {
            said.insert(secrets::META.to_owned(), told);
        }
        said
    }

    async fn client(&self) -> Result<Connected, Fault> {
        self.client.lock().await.clone().ok_or_else(|| unreachable(&self.server, "it was closed"))
    }

    async fn call_now(&self, name: &str, arguments: Value, limit: Option<Duration>) -> Result<Answer, Fault> {
        let (secrets, arguments) = match self.keeper.resolve_aside(name, arguments).await {
            Ok(resolved) => resolved,
            Err(fault) => return self.keeper.mask_all(Ok(Answer::failure(&fault))),
        };
        let client = self.client().await?;
        let mut params = CallToolRequestParams::new(name.to_owned());
        if let Value::Object(members) = arguments {
            params.arguments = Some(members);
        }
        if is_surehand(&client) {
            params.meta = Some(self.tell(&secrets, limit));
        }
        let called = match client.call_tool_once(params).await {
            Ok(CallToolResponse::Complete(result)) => Ok(answer(result)),
            Ok(_) => Ok(refusal("the server wants to ask something before it answers")),
            // The server refuses this call; it may do others.
            Err(ServiceError::McpError(error)) => Ok(refusal(&error.message)),
            Err(error) => Err(unreachable(&self.server, &broken(&error))),
        };
        self.keeper.mask(&secrets, called)
    }
}

/// Who we are.
fn introduction() -> ClientConfig {
    let mut info = ClientConfig::default();
    info.client_info = Implementation::new("surehand", env!("CARGO_PKG_VERSION"));
    info
}

fn is_surehand(client: &Connected) -> bool {
    let info = client.peer_info().and_then(|info| info.server_info.clone());
    info.is_some_and(|server| server.name == "surehand")
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
    // Joined they are no JSON any more.
    let first = || read_object(text.first().filter(|_| text.len() > 1)?);
    Answer {
        tab: text.iter().find_map(|text| read_object(text)?.get("tabId").cloned()),
        structured: result.structured_content.or_else(first),
        text: text.join("\n"),
        image: result.content.iter().find_map(image_of),
        is_error: result.is_error.unwrap_or_default(),
    }
}

fn read_object(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
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

fn not_reached(server: &Server, error: &(dyn Error + 'static)) -> Fault {
    let error = http::said_by_client(error);
    match distrust(error) {
        Some(why) => Fault::new(Kind::ServerUnreachable, format!("the MCP server {}: {why}", server.named()))
            .hint("if the certificate is your own, name a PEM file with it, or with who signed it, in SSL_CERT_FILE"),
        None => unreachable(server, &innermost(error)),
    }
}

/// Why a call could not be made or got no answer.
fn broken(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => innermost(error.error.as_ref()),
        ServiceError::TransportClosed => "it closed the connection before it answered".to_owned(),
        ServiceError::UnexpectedResponse => "it gave an answer to something else".to_owned(),
        other => other.to_string(),
    }
}

/// Why a server could not be greeted.
fn in_words(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it introduced itself".to_owned(),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        _ => "it does not introduce itself as an MCP server".to_owned(),
    }
}

fn unreachable(server: &Server, why: &str) -> Fault {
    let hint = match server {
        Server::Child(_) => "try the command by itself: it must speak MCP on its standard input and output",
        Server::At { .. } => "check that it runs, and the address: it usually ends in /mcp",
    };
    Fault::new(Kind::ServerUnreachable, format!("the MCP server {}: {why}", server.named())).hint(hint)
}

impl Caller for Foreign {
    fn tools(&self) -> Pending<'_, Result<Vec<String>, Fault>> {
        Box::pin(async move {
            let client = self.client().await?;
            let listed = tokio::time::timeout(SILENCE, client.list_all_tools()).await;
            let listed = listed.map_err(|_| unreachable(&self.server, "it does not list its tools"))?;
            let listed = listed.map_err(|error| unreachable(&self.server, &broken(&error)))?;
            Ok(listed.into_iter().map(|tool| tool.name.into_owned()).collect())
        })
    }

    fn call_within<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        limit: Option<Duration>,
    ) -> Pending<'a, Result<Answer, Fault>> {
        Box::pin(self.call_now(name, arguments, limit))
    }

    fn patience(&self) -> Option<Duration> {
        Some(SILENCE)
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
                // However it ended, it is gone; dropping it kills a child.
                let _ = tokio::time::timeout(CLOSING, client.cancel()).await;
            }
        })
    }
}
