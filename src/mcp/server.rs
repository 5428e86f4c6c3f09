//! A server for one conversation: the process over standard input and output, or a session over
//! HTTP, whose servers share the keeper and the queue of its calls.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, ErrorData};
use rmcp::service::RequestContext;
use tokio::sync::{Mutex, watch};
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::{sleep, timeout};
use ulid::Ulid;

use crate::mcp::call_queue::CallAccess;
use crate::mcp::call_runner::{CallRunner, panic_error};
use crate::mcp::call_visit::find_visit;
use crate::mcp::reply::{ToolResult, WorkWithoutKeeper, make_printable, shorten_long_lines};
use crate::mcp::subscribers::{BaselineDigests, Subscribers};
use crate::mcp::{ToolReply, ToolSet, Toolbox};
use palazzo_core::model::TimeZone;
use palazzo_keeper::{BackgroundSyncSettings, Caller, Keeper, VisitHandle, VisitKey, VisitStore};

/// How long changes are collected before clients are notified.
const NOTIFICATION_DELAY: Duration = Duration::from_millis(50);

/// How long work without the keeper may continue after the input has ended.
const DETACHED_WORK_LIMIT: Duration = Duration::from_secs(4);

/// Serves one client. Calls take effect in the order they arrive: handlers start on one
/// thread, and are queued before they await anything.
#[derive(Clone)]
pub struct Server {
    pub(super) toolbox: Arc<Toolbox>,
    pub(super) calls: CallRunner,
    pub(super) clock: fn() -> DateTime<Utc>,
    zone: fn() -> TimeZone,
    background_sync: Option<BackgroundSyncSettings>,
    pub(super) session: ClientSession,
    pub(super) visits: VisitStore,
    pub(super) subscribers: Arc<Mutex<Subscribers>>,
    pub(super) baselines: BaselineDigests,
    /// Changes whenever somebody may have changed a palace.
    pub(super) change_signal: watch::Sender<()>,
    pub(super) input_closed: watch::Receiver<bool>,
}

/// The result of the part of a call that runs on the keeper.
enum AnswerOrWork {
    Answer(Option<ToolResult>),
    Continue(Result<WorkWithoutKeeper, String>),
}

/// A conversation with a client.
#[derive(Clone)]
pub(super) struct ClientSession {
    /// The id of its visit, for commit messages.
    pub(super) id: Ulid,
    /// The handle of its visit; `None` where a process serves one conversation.
    pub(super) handle: Option<VisitHandle>,
}

impl Server {
    /// Makes a server for `keeper` and the tools of `toolbox`; `clock` returns the current time,
    /// and `zone` the time zone of the callers.
    pub fn new(
        toolbox: Toolbox,
        keeper: Keeper,
        clock: fn() -> DateTime<Utc>,
        zone: fn() -> TimeZone,
    ) -> Self {
        let mut keeper = match toolbox.offers(ToolSet::Palace) {
            true => keeper,
            false => keeper.without_workspace_choice(),
        };
        let change_signal = watch::Sender::new(());
        let wake = change_signal.clone();
        keeper.set_wake_callback(Arc::new(move || wake.send_replace(())));
        let baselines = BaselineDigests::default();
        Self {
            toolbox: Arc::new(toolbox),
            visits: keeper.visit_store(),
            calls: CallRunner::new(keeper),
            clock,
            zone,
            background_sync: None,
            session: ClientSession { id: Ulid::from_datetime(clock().into()), handle: None },
            subscribers: Arc::new(Mutex::new(Subscribers::new(baselines.clone()))),
            baselines,
            change_signal,
            input_closed: watch::channel(false).1,
        }
    }

    /// Synchronizes palaces while a client is connected, where the user has set that up.
    #[must_use]
    pub fn with_background_sync(self, settings: BackgroundSyncSettings) -> Self {
        Self { background_sync: Some(settings), ..self }
    }

    pub(super) async fn run_tool(
        &self,
        context: &RequestContext<RoleServer>,
        request: CallToolRequestParams,
    ) -> Result<CallToolResult, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        let mut arguments = arguments.unwrap_or_default();
        let caller = self.caller(&client_name(context));
        let found = find_visit(&self.visits, &self.toolbox, caller, &name, &mut arguments);
        let (caller, note) = match found {
            Ok(found) => found,
            Err(refusal) => return Ok(CallToolResult::error(vec![ContentBlock::text(refusal)])),
        };
        let (tools, tool) = (self.toolbox.clone(), name.clone());
        let access = tools.required_access(&name);
        let call = move |keeper: &mut Keeper, caller: &Caller| {
            let step = match tools.begin_call_without_keeper(keeper, caller, &tool, &arguments) {
                Some(begun) => AnswerOrWork::Continue(begun),
                None => {
                    AnswerOrWork::Answer(tools.call_tool(keeper, caller, &tool, arguments.clone()))
                }
            };
            Ok((step, note.render(keeper, caller)))
        };
        let (step, note) = self.calls.run_in_turn(caller, access, Some(context), call).await?;
        let answer = match step {
            AnswerOrWork::Answer(answer) => answer,
            AnswerOrWork::Continue(Err(refusal)) => Some(Err(refusal)),
            AnswerOrWork::Continue(Ok(work)) => {
                Some(make_printable(self.run_without_keeper(work).await?))
            }
        };
        // Subscribers may need a notification about its changes.
        self.change_signal.send_replace(());
        let message = match answer {
            Some(answer) => return Ok(to_call_result(answer, note)),
            None => self.toolbox.explain_missing_tool(&name),
        };
        Err(ErrorData::invalid_params(shorten_long_lines(&message), None))
    }

    /// Runs the part of a call that does not need the keeper. After the input has ended it is
    /// cancelled soon.
    async fn run_without_keeper(&self, work: WorkWithoutKeeper) -> Result<ToolResult, ErrorData> {
        let mut work = spawn_blocking(work);
        let mut closed = self.input_closed.clone();
        let end = async {
            // The server also ends if the sender is gone.
            drop(closed.wait_for(|is_closed| *is_closed).await);
            sleep(DETACHED_WORK_LIMIT).await;
        };
        let done = tokio::select! {
            done = &mut work => done,
            () = end => {
                if let Some(settings) = &self.background_sync {
                    settings.cancelled.store(true, Ordering::Relaxed);
                }
                work.await
            }
        };
        done.map_err(|_| panic_error())
    }

    /// Runs a read-only query on the keeper, in the caller's turn.
    pub(super) async fn run_read_call<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        question: impl Fn(&Self, &mut Keeper, &Caller) -> Result<T, ErrorData> + Send + Sync + 'static,
    ) -> Result<T, ErrorData> {
        let (server, caller) = (self.clone(), self.caller(&client_name(context)));
        let question = move |keeper: &mut Keeper, by: &Caller| question(&server, keeper, by);
        self.calls.run_in_turn(caller, CallAccess::Read, Some(context), question).await
    }

    /// Starts the background synchronization, and opening the palace that will probably be used
    /// first.
    pub(super) async fn start_background_sync_and_open(self) {
        let sync = self.background_sync.clone();
        let begin = move |keeper: &mut Keeper, _: &Caller| {
            if let Some(settings) = sync.clone() {
                keeper.start_background_sync(settings);
            }
            keeper.start_background_open();
            Ok(())
        };
        drop(
            self.calls.run_in_turn(self.server_caller(), CallAccess::Exclusive, None, begin).await,
        );
    }

    /// Notifies clients about changes, until the process ends.
    pub(super) async fn send_notifications(self) {
        let (mut wait, mut changes) = (None, self.change_signal.subscribe());
        loop {
            let changed = async { changes.changed().await.unwrap_or_default() };
            match wait {
                Some(wait) => timeout(wait, changed).await.unwrap_or_default(),
                None => changed.await,
            }
            sleep(NOTIFICATION_DELAY).await;
            // The answer to a call is sent before the notification about its changes.
            yield_now().await;
            changes.borrow_and_update();
            if self.subscribers.lock().await.are_none() {
                wait = None;
                continue;
            }
            let (subscribers, tools) = (self.subscribers.clone(), self.toolbox.clone());
            let collect = move |keeper: &mut Keeper, _: &Caller| {
                let wait = keeper.catch_up();
                Ok((wait, subscribers.blocking_lock().collect_notifications(&tools, keeper)))
            };
            let collected = self
                .calls
                .run_in_turn(self.server_caller(), CallAccess::Exclusive, None, collect)
                .await;
            // After a panic everything is read again, and compared next time.
            let Ok((next, notifications)) = collected else { continue };
            wait = next;
            notifications.send().await;
        }
    }

    /// The server itself as a caller, without a visit.
    fn server_caller(&self) -> Caller {
        let visit = VisitKey::Client(String::new());
        Caller { name: String::new(), visit, ..self.caller("") }
    }

    /// Returns a client as the caller of a request of this session.
    pub(super) fn caller(&self, client: &str) -> Caller {
        let caller = Caller::for_client(client, (self.clock)());
        let handle = self.session.handle.clone().map(VisitKey::Handle);
        let visit = handle.unwrap_or_else(|| caller.visit.clone());
        Caller { visit, visit_id: self.session.id, zone: (self.zone)(), ..caller }
    }
}

/// Converts the answer of a tool; `note` is its second text.
fn to_call_result(answer: ToolResult, note: Option<String>) -> CallToolResult {
    let content = |text| {
        let texts = std::iter::once(text).chain(note);
        texts.map(ContentBlock::text).collect()
    };
    match answer {
        Ok(ToolReply { text, structured }) => {
            let mut result = CallToolResult::success(content(text));
            result.structured_content = structured;
            result
        }
        Err(refusal) => CallToolResult::error(content(refusal)),
    }
}

/// Returns the name that a client gives for itself.
pub(super) fn client_name(context: &RequestContext<RoleServer>) -> String {
    context.client_info().map(|it| it.name).unwrap_or_default()
}
