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
use crate::mcp::call_queue::Need;
use crate::mcp::call_runner::Calls;
use crate::mcp::handler::Guarded;
use crate::mcp::reply::shortened;
use crate::mcp::stdio_transport::Connection;
use crate::mcp::subscribers::{Promises, Subscribers};
use crate::mcp::{Reply, ToolSet, Toolbox};

/// How long changes are collected before anybody is told of them.
const COLLECTING: Duration = Duration::from_millis(50);

/// Answers one client. Calls take effect in the order they arrive: handlers begin on
/// one thread, and take their turn before they await anything.
#[derive(Clone)]
pub struct Server {
    pub(super) toolbox: Arc<Toolbox>,
    pub(super) calls: Calls,
    clock: fn() -> DateTime<Utc>,
    pub(super) subscribers: Arc<Mutex<Subscribers>>,
    pub(super) promises: Promises,
    pub(super) stirred: Arc<Notify>,
    pub(super) gone: watch::Receiver<bool>,
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
            false => keeper.without_workspace_choice(),
        };
        let stirred = Arc::new(Notify::new());
        let wake = stirred.clone();
        keeper.set_wake_callback(Arc::new(move || wake.notify_one()));
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

    pub(super) async fn call(
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
    pub(super) async fn read<T: Send + 'static>(
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
            keeper.start_background_open();
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

    pub(super) fn caller(&self, client: &str) -> Caller {
        Caller::for_client(client, (self.clock)())
    }
}

/// Returns what a client calls itself.
pub(super) fn name_of_client(context: &RequestContext<RoleServer>) -> String {
    context.client_info().map(|it| it.name).unwrap_or_default()
}
