//! The methods of MCP, in both eras.

use std::borrow::Cow;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, PromptMessage, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, Role, ServerCapabilities, ServerConfig, ServerResult,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, Service, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};

use crate::keeper::{Caller, Keeper};
use crate::mcp::call_queue::CallAccess;
use crate::mcp::call_runner::panic_error;
use crate::mcp::prompts;
use crate::mcp::reply::shorten_long_lines;
use crate::mcp::resources;
use crate::mcp::server::{Server, client_name};
use crate::mcp::subscribers::{accepted_filter, accepted_targets, target_digests};

/// The list of tools is the same for as long as the process lives; an hour.
const LIST_TTL_MS: u64 = 3_600_000;

/// The methods that have parameters one can get wrong.
const METHODS_WITH_PARAMS: [&str; 10] = [
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

/// A server whose requests are answered even if their handlers panic.
pub(super) struct PanicSafeServer(pub(super) Server);

impl Service<RoleServer> for PanicSafeServer {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let mut answer = Box::pin(self.0.handle_request(request, context));
        poll_fn(|cx| {
            let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx)));
            polled.unwrap_or_else(|_| Poll::Ready(Err(panic_error())))
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
        self.add_server_info(&mut list.meta, &context);
        Ok(list)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list = ListPromptsResult::with_all_items(prompts::all_prompts());
        let mut list = match is_stateless(&context) {
            true => list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Public),
            false => list,
        };
        self.add_server_info(&mut list.meta, &context);
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
            Ok(server.toolbox.render_prompt(keeper, by, &prompt, &arguments))
        };
        let told = self.run_read(&context, tell).await?;
        let unknown = || Err(format!("there is no prompt `{}`", name.escape_debug()));
        let text = told.unwrap_or_else(unknown);
        let text = text.map_err(|it| ErrorData::invalid_params(shorten_long_lines(&it), None))?;
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        self.add_server_info(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut result = self.run_tool(&context, request).await?;
        self.add_server_info(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|it| it.cursor);
        let list = move |server: &Self, keeper: &mut Keeper, by: &Caller| {
            let list = resources::list_resources(&server.toolbox, keeper, by, cursor.as_deref());
            server.subscribers.blocking_lock().record_generations(keeper.generations());
            list
        };
        let mut list = self.run_read(&context, list).await?;
        self.add_server_info(&mut list.meta, &context);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = resources::list_templates(is_stateless(&context));
        self.add_server_info(&mut list.meta, &context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = move |server: &Self, keeper: &mut Keeper, by: &Caller| {
            resources::read_resource(&server.toolbox, keeper, by, &request.uri)
        };
        let mut result = self.run_read(&context, read).await?;
        self.add_server_info(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let complete = move |_: &Self, keeper: &mut Keeper, _: &Caller| {
            resources::complete_argument(keeper, &request)
        };
        let mut result = self.run_read(&context, complete).await?;
        self.add_server_info(&mut result.meta, &context);
        Ok(result)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let follow = move |server: &Self, keeper: &mut Keeper, by: &Caller| {
            let mut subscribers = server.subscribers.blocking_lock();
            resources::subscribe(&server.toolbox, keeper, by, &mut subscribers, &request.uri)
        };
        self.run_read(&context, follow).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribers.lock().await.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        wish: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // Whose wish it is will be known when they listen.
        let by = self.caller("");
        let followed = accepted_targets(&self.toolbox, &by, wish);
        let known = self.calls.try_run_now(&by, |keeper| {
            let digests = target_digests(keeper, &followed);
            (digests, keeper.generations())
        });
        let editions = self.baselines.record(&followed, known);
        if let (Some(editions), Ok(mut subscribers)) = (editions, self.subscribers.try_lock()) {
            subscribers.record_generations(editions);
        }
        Some(accepted_filter(wish, &followed))
    }

    /// Lasts until the client no longer listens, or says no more at all.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (server, sink) = (self.clone(), context.sink().clone());
        let listen = move |keeper: &mut Keeper, by: &Caller| {
            server.subscribers.blocking_lock().add_listener(&server.toolbox, keeper, by, &sink);
            Ok(())
        };
        let request = context.request_context();
        let by = self.caller(&client_name(request));
        self.calls.run(by, CallAccess::Exclusive, Some(request), listen).await?;
        self.change_signal.notify_one();
        let mut gone = self.input_closed.clone();
        tokio::select! {
            () = context.cancelled() => {}
            _ = gone.wait_for(|gone| *gone) => {}
        }
        self.subscribers.lock().await.remove_listener(context.sink());
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
        if METHODS_WITH_PARAMS.contains(&request.method.as_str()) {
            let message = format!("the parameters of {} are not what it needs", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("there is no method `{}`", request.method.escape_debug());
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, shorten_long_lines(&message), None))
    }
}

/// Says whether a request belongs to the era without handshakes.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|it| it >= ProtocolVersion::V_2026_07_28)
}

impl Server {
    /// Adds to a result who gave it, as the stateless era wants it.
    fn add_server_info(&self, meta: &mut Option<MetaObject>, context: &RequestContext<RoleServer>) {
        if is_stateless(context) {
            let about = serde_json::json!(ServerHandler::get_info(self).server_info);
            let meta = meta.get_or_insert_default();
            meta.insert("io.modelcontextprotocol/serverInfo".into(), about);
        }
    }
}
