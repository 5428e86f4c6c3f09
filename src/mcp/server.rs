//! The protocol: both eras of MCP over standard input and output.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, ContentBlock, CustomRequest, CustomResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, PromptMessage, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, Role, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{Peer, RequestContext, ServerInitializeError, SubscriptionContext};
use rmcp::transport::stdio_pipes;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::sync::{Notify, watch};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::keeper::{Caller, Keeper};
use crate::mcp::connection::Connection;
use crate::mcp::prompts;
use crate::mcp::reply::shortened;
use crate::mcp::resources;
use crate::mcp::subscribers::Subscribers;
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

/// Answers one client. What changes things takes effect in the order it
/// arrives: handlers run on one thread and await nothing before they act.
#[derive(Clone)]
pub struct Server {
    toolbox: Arc<Toolbox>,
    keeper: Arc<Mutex<Keeper>>,
    clock: fn() -> DateTime<Utc>,
    subscribers: Arc<Mutex<Subscribers>>,
    stirred: Arc<Notify>,
    gone: watch::Receiver<bool>,
}

/// Serves a client over standard input and output until its input ends.
///
/// A client that only probes, or says nothing at all, is no error.
pub async fn serve(mut server: Server) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (input, output) = stdio_pipes();
    let (tell, gone) = watch::channel(false);
    server.gone = gone;
    let transport = Connection::new(input, output, std::future::pending(), tell);
    match server.clone().serve(transport).await {
        Ok(running) => {
            server.keeper().begin_opening();
            tokio::spawn(server.spread_news(running.peer().clone()));
            running.waiting().await.map(drop).map_err(Into::into)
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(err) => Err(err.into()),
    }
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
        Self {
            toolbox: Arc::new(toolbox),
            keeper: Arc::new(Mutex::new(keeper)),
            clock,
            subscribers: Arc::default(),
            stirred,
            gone: watch::channel(false).1,
        }
    }

    fn call(
        &self,
        client: &str,
        request: CallToolRequestParams,
    ) -> Result<CallToolResult, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        let (by, arguments) = (self.caller(client), arguments.unwrap_or_default());
        let answer = self.toolbox.call(&mut self.keeper(), &by, &name, arguments);
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

    /// Asks the keeper something; a fault is an answer too, and leaves nothing
    /// half done in memory.
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut Keeper) -> Result<T, ErrorData>,
    ) -> Result<T, ErrorData> {
        let mut keeper = self.keeper();
        let answer = catch_unwind(AssertUnwindSafe(|| question(&mut keeper)));
        answer.unwrap_or_else(|_| {
            keeper.forget();
            let message = "Palazzo itself met a fault; other requests work";
            Err(ErrorData::internal_error(message, None))
        })
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
            if greeted.is_none() && self.subscribers().no_listeners() {
                wait = None;
                continue;
            }
            let gathered = self.ask(|keeper| {
                let wait = keeper.catch_up();
                Ok((wait, self.subscribers().gather(keeper)))
            });
            // After a fault everything is read anew, and compared at the next occasion.
            let Ok((next, news)) = gathered else { continue };
            wait = next;
            news.tell(greeted).await;
        }
    }

    fn caller(&self, client: &str) -> Caller {
        Caller::client(client, (self.clock)())
    }

    fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscribers(&self) -> MutexGuard<'_, Subscribers> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to a result who gave it, as the stateless era wants it.
    fn sign(&self, meta: &mut Option<MetaObject>, context: &RequestContext<RoleServer>) {
        if is_stateless(context) {
            let about = serde_json::json!(self.get_info().server_info);
            let meta = meta.get_or_insert_default();
            meta.insert("io.modelcontextprotocol/serverInfo".into(), about);
        }
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
        let by = self.caller(&name_of_client(&context));
        let GetPromptRequestParams { name, arguments, .. } = request;
        let arguments = arguments.unwrap_or_default();
        let told = self.ask(|keeper| Ok(self.toolbox.prompt(keeper, &by, &name, &arguments)))?;
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
        let mut result = self.call(&name_of_client(&context), request)?;
        self.sign(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let by = self.caller(&name_of_client(&context));
        let cursor = request.and_then(|it| it.cursor);
        let mut list = self.ask(|keeper| {
            let list = resources::list(&self.toolbox, keeper, &by, cursor.as_deref());
            self.subscribers().acquaint(keeper);
            list
        })?;
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
        let by = self.caller(&name_of_client(&context));
        let read = |keeper: &mut _| resources::read(&self.toolbox, keeper, &by, &request.uri);
        let mut result = self.ask(read)?;
        self.sign(&mut result.meta, &context);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let mut result = self.ask(|keeper| resources::complete(keeper, &request))?;
        self.sign(&mut result.meta, &context);
        Ok(result)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let by = self.caller(&name_of_client(&context));
        self.ask(|keeper| {
            let mut subscribers = self.subscribers();
            resources::follow(&self.toolbox, keeper, &by, &mut subscribers, &request.uri)
        })
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribers().unfollow(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        wish: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // Whose wish it is will be known when they listen.
        let by = self.caller("");
        self.ask(|keeper| Ok(self.subscribers().promise(&self.toolbox, keeper, &by, wish))).ok()
    }

    /// Lasts until the client no longer listens, or says no more at all.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let by = self.caller(&name_of_client(context.request_context()));
        self.ask(|keeper| {
            self.subscribers().listen(&self.toolbox, keeper, &by, context.sink());
            Ok(())
        })?;
        self.stirred.notify_one();
        let mut gone = self.gone.clone();
        tokio::select! {
            () = context.cancelled() => {}
            _ = gone.wait_for(|gone| *gone) => {}
        }
        self.subscribers().leave(context.sink());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::ToolSet;

    #[test]
    fn a_request_that_meets_a_fault_has_an_answer_and_others_work() {
        let keeper = Keeper::new("nowhere".into(), None);
        let clock = || DateTime::UNIX_EPOCH;
        let server = Server::new(Toolbox::new(ToolSet::ALL.to_vec()), keeper, clock);
        for _ in 0..2 {
            let fault = server.ask(|_| -> Result<(), ErrorData> { panic!("over a loose stone") });
            let fault = fault.unwrap_err();
            assert_eq!(fault.code, ErrorCode::INTERNAL_ERROR);
            assert_eq!(fault.message, "Palazzo itself met a fault; other requests work");
            assert_eq!(server.ask(|_| Ok(7)), Ok(7));
        }
    }
}
