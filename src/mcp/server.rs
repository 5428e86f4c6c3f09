//! A server for one client, over standard input and output.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, ErrorData};
use rmcp::service::{Peer, RequestContext, ServerInitializeError};
use rmcp::transport::stdio_pipes;
use rmcp::{RoleServer, ServiceExt};
use tokio::sync::{Mutex, Notify, watch};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::keeper::{Caller, Keeper};
use crate::mcp::call_queue::CallAccess;
use crate::mcp::call_runner::CallRunner;
use crate::mcp::handler::PanicSafeServer;
use crate::mcp::reply::shorten_long_lines;
use crate::mcp::stdio_transport::StdioTransport;
use crate::mcp::subscribers::{BaselineDigests, Subscribers};
use crate::mcp::{ToolReply, ToolSet, Toolbox};

/// How long changes are collected before anybody is told of them.
const NOTIFICATION_DELAY: Duration = Duration::from_millis(50);

/// Answers one client. Calls take effect in the order they arrive: handlers begin on
/// one thread, and take their turn before they await anything.
#[derive(Clone)]
pub struct Server {
    pub(super) toolbox: Arc<Toolbox>,
    pub(super) calls: CallRunner,
    clock: fn() -> DateTime<Utc>,
    pub(super) subscribers: Arc<Mutex<Subscribers>>,
    pub(super) baselines: BaselineDigests,
    pub(super) change_signal: Arc<Notify>,
    pub(super) input_closed: watch::Receiver<bool>,
}

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
    server.input_closed = gone;
    let calls = server.calls.clone();
    let stop = async move {
        stop.await;
        calls.close();
    };
    let connection = StdioTransport::new(input, output, stop, tell);
    let served = match PanicSafeServer(server.clone()).serve(connection).await {
        Ok(running) => {
            tokio::spawn(server.clone().open_in_background());
            tokio::spawn(server.clone().send_notifications(running.peer().clone()));
            running.waiting().await.map(drop).map_err(Into::into)
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(err) => Err(err.into()),
    };
    server.calls.shut_down().await;
    served
}

impl Server {
    /// Makes a server that asks `keeper` with the tools of `toolbox`; `clock`
    /// says what time it is.
    pub fn new(toolbox: Toolbox, keeper: Keeper, clock: fn() -> DateTime<Utc>) -> Self {
        let mut keeper = match toolbox.offers(ToolSet::Palace) {
            true => keeper,
            false => keeper.without_workspace_choice(),
        };
        let stirred = Arc::new(Notify::new());
        let wake = stirred.clone();
        keeper.set_wake_callback(Arc::new(move || wake.notify_one()));
        let promises = BaselineDigests::default();
        Self {
            toolbox: Arc::new(toolbox),
            calls: CallRunner::new(keeper),
            clock,
            subscribers: Arc::new(Mutex::new(Subscribers::new(promises.clone()))),
            baselines: promises,
            change_signal: stirred,
            input_closed: watch::channel(false).1,
        }
    }

    pub(super) async fn run_tool(
        &self,
        context: &RequestContext<RoleServer>,
        request: CallToolRequestParams,
    ) -> Result<CallToolResult, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        let (tools, tool) = (self.toolbox.clone(), name.clone());
        let need = tools.access_for(&name);
        let call = move |keeper: &mut Keeper, by: &Caller| {
            Ok(tools.call_tool(keeper, by, &tool, arguments.clone().unwrap_or_default()))
        };
        let by = self.caller(&client_name(context));
        let answer = self.calls.run(by, need, Some(context), call).await?;
        // Others may want to know what it has changed.
        self.change_signal.notify_one();
        match answer {
            Some(Ok(ToolReply { text, structured })) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = structured;
                Ok(result)
            }
            Some(Err(refusal)) => Ok(CallToolResult::error(vec![ContentBlock::text(refusal)])),
            None => {
                let message = self.toolbox.explain_missing_tool(&name);
                Err(ErrorData::invalid_params(shorten_long_lines(&message), None))
            }
        }
    }

    /// Asks the keeper something that only reads, in the turn of the caller.
    pub(super) async fn run_read<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        question: impl Fn(&Self, &mut Keeper, &Caller) -> Result<T, ErrorData> + Send + Sync + 'static,
    ) -> Result<T, ErrorData> {
        let (server, by) = (self.clone(), self.caller(&client_name(context)));
        let question = move |keeper: &mut Keeper, by: &Caller| question(&server, keeper, by);
        self.calls.run(by, CallAccess::Read, Some(context), question).await
    }

    /// Begins to read the palace that is probably asked for first.
    async fn open_in_background(self) {
        let begin = |keeper: &mut Keeper, _: &Caller| {
            keeper.start_background_open();
            Ok(())
        };
        drop(self.calls.run(self.server_caller(), CallAccess::Exclusive, None, begin).await);
    }

    /// Tells whoever wants to know what has changed, until the process ends.
    async fn send_notifications(self, peer: Peer<RoleServer>) {
        let mut wait = None;
        loop {
            let stirred = self.change_signal.notified();
            match wait {
                Some(wait) => timeout(wait, stirred).await.unwrap_or_default(),
                None => stirred.await,
            }
            sleep(NOTIFICATION_DELAY).await;
            // The answer to a call is on its way before anybody hears what it has changed.
            yield_now().await;
            let greeted = peer.peer_info().is_some().then_some(&peer);
            if greeted.is_none() && self.subscribers.lock().await.has_no_listeners() {
                wait = None;
                continue;
            }
            let subscribers = self.subscribers.clone();
            let gather = move |keeper: &mut Keeper, _: &Caller| {
                let wait = keeper.catch_up();
                Ok((wait, subscribers.blocking_lock().collect_notifications(keeper)))
            };
            let gathered =
                self.calls.run(self.server_caller(), CallAccess::Exclusive, None, gather).await;
            // After a fault everything is read anew, and compared at the next occasion.
            let Ok((next, news)) = gathered else { continue };
            wait = next;
            news.send(greeted).await;
        }
    }

    /// The server itself, which has no visit.
    fn server_caller(&self) -> Caller {
        Caller { name: String::new(), ..self.caller("") }
    }

    pub(super) fn caller(&self, client: &str) -> Caller {
        Caller::for_client(client, (self.clock)())
    }
}

/// Returns what a client calls itself.
pub(super) fn client_name(context: &RequestContext<RoleServer>) -> String {
    context.client_info().map(|it| it.name).unwrap_or_default()
}
