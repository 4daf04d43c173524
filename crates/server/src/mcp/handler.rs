//! One client of the MCP server: lists tools, calls them in a session of its own, and cleans up behind it.

use std::borrow::Cow;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use axum::http::request::Parts;
use base64::Engine;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use surehand_session::{Fault, Kind};
use surehand_tools::{Answer, Spec, Tool as _, Toolset, Toolsets, specs};
use surehand_verbs::Settings;

use super::McpOptions;
use super::host::{Call, Host, Hosted, Identity};
use super::judge::misfit;
use super::meta;
use super::progress::progress;
use crate::executor::Executor;
use crate::secrets::META;

/// See the module.
#[derive(Debug)]
pub(crate) struct Handler {
    options: Arc<McpOptions>,
    executor: Executor,
    settings: Settings,
    /// What this client is offered; it may choose again.
    offered: RwLock<Vec<Toolset>>,
    /// Who the client is, and where its calls run, if a host has a say in that.
    guest: OnceLock<(Identity, Executor)>,
}

/// A structure larger than this is not sent a second time beside the text.
const LARGEST_STRUCTURE: usize = 4096;

const INSTRUCTIONS: &str = "Sure hands on a web browser. Start with navigate, look with read_page (mode ax gives references like e5), act with interact, fill_form or act by label or reference. A call succeeds only if its effect was observed; an error says what stood in the way and what to do next.";

impl Handler {
    pub fn new(options: &Arc<McpOptions>, executor: &Executor) -> Self {
        static CLIENTS: AtomicU64 = AtomicU64::new(1);
        let number = CLIENTS.fetch_add(1, Ordering::Relaxed);
        let mut settings = options.settings.clone();
        if !options.shared {
            settings.session = format!("client-{number}");
        }
        let offered = RwLock::new(options.toolsets.clone());
        let (options, executor) = (options.clone(), executor.clone());
        Self { options, executor, settings, offered, guest: OnceLock::new() }
    }

    async fn run(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answer, Fault> {
        let host = host_of(context);
        let executor = self.executor_for(host)?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let token = context.meta.get_progress_token();
        let (notes, mut teller) = progress(context.peer.clone(), token);
        let notes = Arc::new(notes);
        let settings = self.settings_for(context);
        let toolsets = self.offered();
        let call = async {
            if request.name == Toolsets::NAME && toolsets.contains(&Toolset::Dynamic) {
                return self.choose(arguments, context).await;
            }
            let executor = match context.meta.get(META) {
                Some(secrets) => &executor.told(secrets)?,
                None => executor,
            };
            let tool = request.name.into_owned();
            let call = Call { toolsets, tool, arguments, settings, notes: notes.clone() };
            match host {
                Some(host) => host.call(executor, call).await,
                None => call.make(executor).await,
            }
        };
        let answer = tokio::select! {
            answer = call => answer,
            never = teller.keep_telling() => match never {},
            // Dropping the call stops its work.
            () = context.ct.cancelled() => Err(Fault::new(Kind::Cancelled, "the call was cancelled")),
        };
        teller.tell_rest().await;
        answer
    }
}

impl Handler {
    /// Where calls of this client run. A client that another one began is not gone on with.
    fn executor_for(&self, host: Option<&dyn Host>) -> Result<&Executor, Fault> {
        let Some(host) = host else { return Ok(&self.executor) };
        let (owner, executor) = self.guest.get_or_init(|| (host.identity(), host.executor()));
        match *owner == host.identity() {
            true => Ok(executor),
            false => Err(Fault::new(Kind::Usage, "this session of MCP is somebody else's")
                .hint("begin one of your own with `initialize`")),
        }
    }

    fn offered(&self) -> Vec<Toolset> {
        self.offered.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The client chooses its sets of tools, and is told that its list changed.
    async fn choose(&self, arguments: Value, context: &RequestContext<RoleServer>) -> Result<Answer, Fault> {
        let before = self.offered();
        let chosen = match Toolsets::read(arguments).and_then(|wanted| wanted.choose(&before)) {
            Ok(chosen) => chosen,
            Err(fault) => return Ok(Answer::failure(&fault)),
        };
        if chosen != before {
            if self.lives_for_one_request(context) {
                let fault = Fault::new(Kind::Usage, "a client without a session has no list of its own")
                    .hint("start the server with the sets that you need: --toolsets page,verbs");
                return Ok(Answer::failure(&fault));
            }
            self.offered.write().unwrap_or_else(PoisonError::into_inner).clone_from(&chosen);
            // A client that went away needs no new list.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        let names = |sets: &[Toolset]| sets.iter().map(|set| set.name()).collect::<Vec<_>>();
        Answer::json(&json!({ "offered": names(&chosen), "available": names(Toolset::ALL) }))
    }

    /// Over HTTP the newest revision knows no sessions: a handler lives for one request. All its clients share one session
    /// of the browser, and tell their tabs apart by `tabId`.
    fn settings_for(&self, context: &RequestContext<RoleServer>) -> Settings {
        let mut settings = self.settings.clone();
        if self.lives_for_one_request(context) && !self.options.shared {
            settings.session = host_of(context).map_or_else(|| STATELESS.to_owned(), Host::common_session);
        }
        settings.timeout = context.meta.get(meta::TIMEOUT).and_then(Value::as_u64).or(settings.timeout);
        settings
    }

    fn lives_for_one_request(&self, context: &RequestContext<RoleServer>) -> bool {
        let over_http = self.options.http.is_some() || host_of(context).is_some();
        over_http && context.meta.protocol_version().is_some()
    }
}

fn host_of(context: &RequestContext<RoleServer>) -> Option<&dyn Host> {
    let Hosted(host) = context.extensions.get::<Parts>()?.extensions.get()?;
    Some(&**host)
}

/// The session of clients that have none of their own.
const STATELESS: &str = "stateless";

impl Drop for Handler {
    /// What the client owned goes with it.
    fn drop(&mut self) {
        // A session of the daemon belongs to the person who named it.
        if self.options.shared {
            return;
        }
        let (executor, settings) = (self.executor.clone(), self.settings.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { executor.close(&settings).await });
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let mut info = ServerConfig::new(match self.options.toolsets.contains(&Toolset::Dynamic) {
            true => capabilities.enable_tool_list_changed().build(),
            false => capabilities.build(),
        });
        info.server_info = Implementation::new("surehand", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        let tools = specs(&self.offered()).into_iter().map(tool).collect();
        std::future::ready(Ok(ListToolsResult::with_all_items(tools)))
    }

    /// What the SDK does not know; it takes params that do not fit for that.
    fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CustomResult, ErrorData>> + Send + '_ {
        let error = misfit(&request.method, request.params.as_ref())
            .unwrap_or_else(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        std::future::ready(Err(error))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.run(request, &context).await {
            Ok(answer) => Ok(result(answer, largest_structure(&context)).into()),
            Err(fault) if fault.kind == Kind::UnknownTool => {
                Err(ErrorData::invalid_params(Cow::Owned(fault.message), None))
            }
            Err(fault) => Ok(result(Answer::failure(&fault), LARGEST_STRUCTURE).into()),
        }
    }
}

pub(crate) fn tool(spec: Spec) -> Tool {
    let hints = spec.hints;
    let annotations = ToolAnnotations::new().read_only(hints.read_only).open_world(true);
    let annotations = if hints.read_only {
        annotations
    } else {
        annotations.destructive(hints.destructive).idempotent(hints.idempotent)
    };
    let tool = Tool::new(spec.name, spec.description, spec.input_schema).with_annotations(annotations);
    match spec.output_schema {
        Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
        None => tool,
    }
}

/// A model reads everything twice that is sent twice; a program asks for it.
fn largest_structure(context: &RequestContext<RoleServer>) -> usize {
    if context.meta.get(meta::WHOLE) == Some(&Value::Bool(true)) { usize::MAX } else { LARGEST_STRUCTURE }
}

fn result(answer: Answer, largest: usize) -> CallToolResult {
    let mut content = vec![ContentBlock::text(answer.text)];
    if let Some(image) = answer.image {
        let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
        content.push(ContentBlock::image(data, image.mime_type));
    }
    let mut result =
        if answer.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = answer.structured.filter(|structure| structure.to_string().len() <= largest);
    result
}
