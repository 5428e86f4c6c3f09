//! The methods of MCP, for stateful and stateless protocol versions.

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
use rmcp::service::{NotificationContext, Peer, RequestContext, Service, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};

use crate::mcp::call_queue::CallAccess;
use crate::mcp::call_runner::panic_error;
use crate::mcp::map_app::{offer_map_app, shows_apps};
use crate::mcp::prompts;
use crate::mcp::reply::shorten_long_lines;
use crate::mcp::resources;
use crate::mcp::server::{Server, client_name};
use crate::mcp::subscribers::{accepted_filter, accepted_targets, target_digests};
use palazzo_core::model::quoted;
use palazzo_keeper::{Caller, Keeper};

/// One hour: these lists never change while the process runs.
const LIST_TTL_MS: u64 = 3_600_000;

/// One minute, for a list of tools that changes when the user sets up a remote.
const CHANGING_LIST_TTL_MS: u64 = 60_000;

/// The methods that stateless protocol versions no longer have.
const STATEFUL_METHODS: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

/// The methods whose parameters can be invalid.
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
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(server_info())
            .with_instructions(self.toolbox.instructions())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let toolbox = self.toolbox.clone();
        let ttl_ms = if toolbox.has_changing_list() { CHANGING_LIST_TTL_MS } else { LIST_TTL_MS };
        // It may read the configuration of repositories.
        let listed = tokio::task::spawn_blocking(move || toolbox.offered_tools()).await;
        let mut tools = listed.map_err(|it| ErrorData::internal_error(it.to_string(), None))?;
        // The list depends on what the client declares.
        let scope = match shows_apps(context.client_capabilities().as_ref()) {
            true => CacheScope::Private,
            false => CacheScope::Public,
        };
        if scope == CacheScope::Private {
            offer_map_app(&mut tools);
        }
        let list = ListToolsResult::with_all_items(tools);
        let mut list = match uses_stateless_protocol(&context) {
            true => list.with_ttl_ms(ttl_ms).with_cache_scope(scope),
            false => list,
        };
        add_server_info(&mut list.meta, &context);
        Ok(list)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list = ListPromptsResult::with_all_items(prompts::all_prompts());
        let mut list = match uses_stateless_protocol(&context) {
            true => list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Public),
            false => list,
        };
        add_server_info(&mut list.meta, &context);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let GetPromptRequestParams { name, arguments, .. } = request;
        let (prompt, arguments) = (name.clone(), arguments.unwrap_or_default());
        let render = move |server: &Self, keeper: &mut Keeper, caller: &Caller| {
            Ok(server.toolbox.render_prompt(keeper, caller, &prompt, &arguments))
        };
        let rendered = self.run_read_call(&context, render).await?;
        let unknown = || Err(format!("there is no prompt {}", quoted(&name)));
        let text = rendered.unwrap_or_else(unknown);
        let text = text.map_err(|it| ErrorData::invalid_params(shorten_long_lines(&it), None))?;
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        add_server_info(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut result = self.run_tool(&context, request).await?;
        add_server_info(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|it| it.cursor);
        let peer = peer_with_handshake(&context);
        let list = move |server: &Self, keeper: &mut Keeper, caller: &Caller| {
            let list =
                resources::list_resources(&server.toolbox, keeper, caller, cursor.as_deref());
            let mut subscribers = server.subscribers.blocking_lock();
            subscribers.add_session(caller.visit_id, peer.as_ref());
            subscribers.record_new_change_counters(keeper.change_counters_by_palace());
            list
        };
        let mut list = self.run_read_call(&context, list).await?;
        add_server_info(&mut list.meta, &context);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = resources::list_uri_templates(uses_stateless_protocol(&context));
        add_server_info(&mut list.meta, &context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = move |server: &Self, keeper: &mut Keeper, caller: &Caller| {
            resources::read_resource(&server.toolbox, keeper, caller, &request.uri)
        };
        let mut result = self.run_read_call(&context, read).await?;
        add_server_info(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let complete = move |_: &Self, keeper: &mut Keeper, caller: &Caller| {
            resources::complete_argument(keeper, caller, &request)
        };
        let mut result = self.run_read_call(&context, complete).await?;
        add_server_info(&mut result.meta, &context);
        Ok(result)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let peer = peer_with_handshake(&context);
        if peer.is_none() {
            return Err(unknown_method_error("resources/subscribe"));
        }
        let subscribe = move |server: &Self, keeper: &mut Keeper, caller: &Caller| {
            let mut subscribers = server.subscribers.blocking_lock();
            subscribers.add_session(caller.visit_id, peer.as_ref());
            resources::subscribe(&server.toolbox, keeper, caller, &mut subscribers, &request.uri)
        };
        self.run_read_call(&context, subscribe).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribers.lock().await.unsubscribe(self.session.id, &request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // The caller's name is known only when it listens.
        let caller = self.caller("");
        let followed = accepted_targets(&self.toolbox, &caller, requested);
        let current = self.calls.try_run_now(&caller, |keeper| {
            let digests = target_digests(&self.toolbox, keeper, &followed);
            (digests, keeper.change_counters_by_palace())
        });
        let generations = self.baselines.store_digests(&followed, current);
        if let (Some(generations), Ok(mut subscribers)) = (generations, self.subscribers.try_lock())
        {
            subscribers.record_new_change_counters(generations);
        }
        Some(accepted_filter(requested, &followed))
    }

    /// Runs until the client stops listening or its input ends.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (server, sink) = (self.clone(), context.sink().clone());
        let listen = move |keeper: &mut Keeper, caller: &Caller| {
            server.subscribers.blocking_lock().add_listener(&server.toolbox, keeper, caller, &sink);
            Ok(())
        };
        let request = context.request_context();
        let caller = self.caller(&client_name(request));
        self.calls.run_in_turn(caller, CallAccess::Exclusive, Some(request), listen).await?;
        self.change_signal.send_replace(());
        let mut closed = self.input_closed.clone();
        tokio::select! {
            () = context.cancelled() => {}
            _ = closed.wait_for(|is_closed| *is_closed) => {}
        }
        self.subscribers.lock().await.remove_listener(self.session.id, context.sink());
        Ok(())
    }

    /// Answers unknown methods, and requests whose parameters do not fit their method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let is_removed = STATEFUL_METHODS.contains(&request.method.as_str());
        if is_removed && uses_stateless_protocol(&context) {
            return Err(unknown_method_error(&request.method));
        }
        if request.method == "tools/call" {
            let message = "tools/call needs `name`, a string, and `arguments`, an object";
            return Err(ErrorData::invalid_params(message, None));
        }
        if METHODS_WITH_PARAMS.contains(&request.method.as_str()) {
            let message = format!("invalid parameters for {}", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(unknown_method_error(&request.method))
    }
}

fn unknown_method_error(method: &str) -> ErrorData {
    let message = format!("there is no method {}", quoted(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, shorten_long_lines(&message), None)
}

/// Returns true if a request uses the protocol version 2026-07-28 or later, without a
/// handshake.
fn uses_stateless_protocol(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|it| it >= ProtocolVersion::V_2026_07_28)
}

/// Returns the client of a request if it has completed the handshake.
fn peer_with_handshake(context: &RequestContext<RoleServer>) -> Option<Peer<RoleServer>> {
    (!uses_stateless_protocol(context)).then(|| context.peer.clone())
}

/// Returns the name and the version of this server.
fn server_info() -> Implementation {
    Implementation::new("palazzo", env!("CARGO_PKG_VERSION"))
        .with_title("Palazzo")
        .with_description(env!("CARGO_PKG_DESCRIPTION"))
}

/// Adds the server's name and version to a result, as stateless protocol versions require.
fn add_server_info(meta: &mut Option<MetaObject>, context: &RequestContext<RoleServer>) {
    if uses_stateless_protocol(context) {
        let meta = meta.get_or_insert_default();
        let about = serde_json::json!(server_info());
        meta.insert("io.modelcontextprotocol/serverInfo".into(), about);
    }
}
