//! The protocol: both eras of MCP over standard input and output.

use std::borrow::Cow;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ClientNotification,
    ClientRequest, CompleteRequestParams, CompleteResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, MetaObject, PaginatedRequestParams, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, Role, ServerCapabilities, ServerConfig,
    ServerResult, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{
    NotificationContext, Peer, RequestContext, ServerInitializeError, Service, SubscriptionContext,
};
use rmcp::transport::stdio_pipes;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::sync::{Mutex, Notify, watch};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::keeper::{Caller, Keeper};
use crate::mcp::calls::{Calls, fault};
use crate::mcp::connection::Connection;
use crate::mcp::prompts;
use crate::mcp::queue::Need;
use crate::mcp::reply::shortened;
use crate::mcp::resources;
use crate::mcp::subscribers::{Promises, Subscribers, digests, followed, promise};
use crate::mcp::{Reply, ToolSet, Toolbox};

/// The list of tools is the same for as long as the process lives; an hour.
const LIST_TTL_MS: u64 = 3_600_000;

/// The methods that have parameters one can get wrong.
const METHODS: [&str; 10] = [
    "completion/complete",
    "initialize",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "tools/list",
];

/// How long changes are collected before anybody is told of them.
const COLLECTING: Duration = Duration::from_millis(50);

/// Answers one client. Calls take effect in the order they arrive: handlers begin on
/// one thread, and take their turn before they await anything.
#[derive(Clone)]
pub struct Server {
    toolbox: Arc<Toolbox>,
    calls: Calls,
    clock: fn() -> DateTime<Utc>,
    subscribers: Arc<Mutex<Subscribers>>,
    promises: Promises,
    stirred: Arc<Notify>,
    gone: watch::Receiver<bool>,
}

/// A server whose requests are answered even if their handlers panic.
struct Guarded(Server);

/// Serves a client over standard input and output until its input ends, or `stop` is
/// ready. What has begun then is finished.
///
/// A client that only probes, or says nothing at all, is no error.
pub async fn serve(
    mut server: Server,
    stop: impl Future<Output: Send> + Send + 'static,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (input, output) = stdio_pipes();
    let (tell, gone) = watch::channel(false);
    server.gone = gone;
    let calls = server.calls.clone();
    let stop = async move {
        stop.await;
        calls.close();
    };
    let connection = Connection::new(input, output, stop, tell);
    let served = match Guarded(server.clone()).serve(connection).await {
        Ok(running) => {
            tokio::spawn(server.clone().begin_opening());
            tokio::spawn(server.clone().spread_news(running.peer().clone()));
            running.waiting().await.map(drop).map_err(Into::into)
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(err) => Err(err.into()),
    };
    server.calls.finish().await;
    served
}

impl Server {
    /// Makes a server that asks `keeper` with the tools of `toolbox`; `clock`
    /// says what time it is.
    pub fn new(toolbox: Toolbox, keeper: Keeper, clock: fn() -> DateTime<Utc>) -> Self {
        let mut keeper = match toolbox.offers(ToolSet::Palace) {
            true => keeper,
            false => keeper.without_choice(),
        };
        let stirred = Arc::new(Notify::new());
        let wake = stirred.clone();
        keeper.wake_with(Arc::new(move || wake.notify_one()));
        let promises = Promises::default();
        Self {
            toolbox: Arc::new(toolbox),
            calls: Calls::new(keeper),
            clock,
            subscribers: Arc::new(Mutex::new(Subscribers::new(promises.clone()))),
            promises,
            stirred,
            gone: watch::channel(false).1,
        }
    }

    async fn call(
        &self,
        context: &RequestContext<RoleServer>,
        request: CallToolRequestParams,
    ) -> Result<CallToolResult, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        let (tools, tool) = (self.toolbox.clone(), name.clone());
        let need = tools.need(&name);
        let call = move |keeper: &mut Keeper, by: &Caller| {
            Ok(tools.call(keeper, by, &tool, arguments.clone().unwrap_or_default()))
        };
        let by = self.caller(&name_of_client(context));
        let answer = self.calls.ask(by, need, Some(context), call).await?;
        // Others may want to know what it has changed.
        self.stirred.notify_one();
        match answer {
            Some(Ok(Reply { text, structured })) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = structured;
                Ok(result)
            }
            Some(Err(refusal)) => Ok(CallToolResult::error(vec![ContentBlock::text(refusal)])),
            None => {
                let message = self.toolbox.absent(&name);
                Err(ErrorData::invalid_params(shortened(&message), None))
            }
        }
    }

    /// Asks the keeper something that only reads, in the turn of the caller.
    async fn read<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        question: impl Fn(&Self, &mut Keeper, &Caller) -> Result<T, ErrorData> + Send + Sync + 'static,
    ) -> Result<T, ErrorData> {
        let (server, by) = (self.clone(), self.caller(&name_of_client(context)));
        let question = move |keeper: &mut Keeper, by: &Caller| question(&server, keeper, by);
        self.calls.ask(by, Need::Read, Some(context), question).await
    }

    /// Begins to read the palace that is probably asked for first.
    async fn begin_opening(self) {
        let begin = |keeper: &mut Keeper, _: &Caller| {
            keeper.begin_opening();
            Ok(())
        };
        drop(self.calls.ask(self.nobody(), Need::Keeper, None, begin).await);
    }

    /// Tells whoever wants to know what has changed, until the process ends.
    async fn spread_news(self, peer: Peer<RoleServer>) {
        let mut wait = None;
        loop {
            let stirred = self.stirred.notified();
            match wait {
                Some(wait) => timeout(wait, stirred).await.unwrap_or_default(),
                None => stirred.await,
            }
            sleep(COLLECTING).await;
            // The answer to a call is on its way before anybody hears what it has changed.
            yield_now().await;
            let greeted = peer.peer_info().is_some().then_some(&peer);
            if greeted.is_none() && self.subscribers.lock().await.no_listeners() {
                wait = None;
                continue;
            }
            let subscribers = self.subscribers.clone();
            let gather = move |keeper: &mut Keeper, _: &Caller| {
                let wait = keeper.catch_up();
                Ok((wait, subscribers.blocking_lock().gather(keeper)))
            };
            let gathered = self.calls.ask(self.nobody(), Need::Keeper, None, gather).await;
            // After a fault everything is read anew, and compared at the next occasion.
            let Ok((next, news)) = gathered else { continue };
            wait = next;
            news.tell(greeted).await;
        }
    }

    /// The server itself, which has no visit.
    fn nobody(&self) -> Caller {
        Caller { name: String::new(), ..self.caller("") }
    }

    fn caller(&self, client: &str) -> Caller {
        Caller::client(client, (self.clock)())
    }

    /// Adds to a result who gave it, as the stateless era wants it.
    fn sign(&self, meta: &mut Option<MetaObject>, context: &RequestContext<RoleServer>) {
        if is_stateless(context) {
            let about = serde_json::json!(ServerHandler::get_info(self).server_info);
            let meta = meta.get_or_insert_default();
            meta.insert("io.modelcontextprotocol/serverInfo".into(), about);
        }
    }
}

impl Service<RoleServer> for Guarded {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let mut answer = Box::pin(self.0.handle_request(request, context));
        poll_fn(|cx| {
            let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx)));
            polled.unwrap_or_else(|_| Poll::Ready(Err(fault())))
        })
        .await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("palazzo", env!("CARGO_PKG_VERSION"))
            .with_title("Palazzo")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(self.toolbox.instructions())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let list = ListToolsResult::with_all_items(self.toolbox.list());
        let mut list = match is_stateless(&context) {
            true => list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Public),
            false => list,
        };
        self.sign(&mut list.meta, &context);
        Ok(list)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list = ListPromptsResult::with_all_items(prompts::all());
        let mut list = match is_stateless(&context) {
            true => list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Public),
            false => list,
        };
        self.sign(&mut list.meta, &context);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let GetPromptRequestParams { name, arguments, .. } = request;
        let (prompt, arguments) = (name.clone(), arguments.unwrap_or_default());
        let tell = move |server: &Self, keeper: &mut Keeper, by: &Caller| {
            Ok(server.toolbox.prompt(keeper, by, &prompt, &arguments))
        };
        let told = self.read(&context, tell).await?;
        let unknown = || Err(format!("there is no prompt `{}`", name.escape_debug()));
        let text = told.unwrap_or_else(unknown);
        let text = text.map_err(|it| ErrorData::invalid_params(shortened(&it), None))?;
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        self.sign(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut result = self.call(&context, request).await?;
        self.sign(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|it| it.cursor);
        let list = move |server: &Self, keeper: &mut Keeper, by: &Caller| {
            let list = resources::list(&server.toolbox, keeper, by, cursor.as_deref());
            server.subscribers.blocking_lock().acquaint(keeper.editions());
            list
        };
        let mut list = self.read(&context, list).await?;
        self.sign(&mut list.meta, &context);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = resources::templates(is_stateless(&context));
        self.sign(&mut list.meta, &context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = move |server: &Self, keeper: &mut Keeper, by: &Caller| {
            resources::read(&server.toolbox, keeper, by, &request.uri)
        };
        let mut result = self.read(&context, read).await?;
        self.sign(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let complete =
            move |_: &Self, keeper: &mut Keeper, _: &Caller| resources::complete(keeper, &request);
        let mut result = self.read(&context, complete).await?;
        self.sign(&mut result.meta, &context);
        Ok(result)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let follow = move |server: &Self, keeper: &mut Keeper, by: &Caller| {
            let mut subscribers = server.subscribers.blocking_lock();
            resources::follow(&server.toolbox, keeper, by, &mut subscribers, &request.uri)
        };
        self.read(&context, follow).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribers.lock().await.unfollow(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        wish: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // Whose wish it is will be known when they listen.
        let by = self.caller("");
        let followed = followed(&self.toolbox, &by, wish);
        let known = self.calls.ask_now(&by, |keeper| {
            let digests = digests(keeper, &followed);
            (digests, keeper.editions())
        });
        let editions = self.promises.keep(&followed, known);
        if let (Some(editions), Ok(mut subscribers)) = (editions, self.subscribers.try_lock()) {
            subscribers.acquaint(editions);
        }
        Some(promise(wish, &followed))
    }

    /// Lasts until the client no longer listens, or says no more at all.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (server, sink) = (self.clone(), context.sink().clone());
        let listen = move |keeper: &mut Keeper, by: &Caller| {
            server.subscribers.blocking_lock().listen(&server.toolbox, keeper, by, &sink);
            Ok(())
        };
        let request = context.request_context();
        let by = self.caller(&name_of_client(request));
        self.calls.ask(by, Need::Keeper, Some(request), listen).await?;
        self.stirred.notify_one();
        let mut gone = self.gone.clone();
        tokio::select! {
            () = context.cancelled() => {}
            _ = gone.wait_for(|gone| *gone) => {}
        }
        self.subscribers.lock().await.leave(context.sink());
        Ok(())
    }

    /// A request that is not what its method needs ends up here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == "tools/call" {
            let message =
                "tools/call needs the `name` of a tool, a text, and `arguments`, an object";
            return Err(ErrorData::invalid_params(message, None));
        }
        if METHODS.contains(&request.method.as_str()) {
            let message = format!("the parameters of {} are not what it needs", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("there is no method `{}`", request.method.escape_debug());
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, shortened(&message), None))
    }
}

fn name_of_client(context: &RequestContext<RoleServer>) -> String {
    context.client_info().map(|it| it.name).unwrap_or_default()
}

/// Says whether a request belongs to the era without handshakes.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|it| it >= ProtocolVersion::V_2026_07_28)
}
