//! MCP over streamable HTTP, for both generations of the protocol.
//!
//! A client of the older generation begins a session; a request of the newer one stands alone.
//! Not too many sessions are kept. Each of them, and each request that stands alone, has a [`Server`] of its own; all share the
//! keeper and the queue of its calls. Addresses and tokens are checked before a request comes here.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;
use ulid::Ulid;

use crate::mcp::call_queue::CallAccess;
use crate::mcp::call_visit::VISIT_ARGUMENT;
use crate::mcp::server::{ClientSession, Server};
use crate::mcp::toolbox::{ToolSet, Toolbox};
use palazzo_core::model::Tool;
use palazzo_keeper::{Caller, Keeper, VisitHandle};

/// Maximum size of a request, in bytes.
const MAX_REQUEST_BYTES: usize = 4 << 20;

/// How often a server that is stopped looks whether its calls are finished.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long the last answers may take to the sockets.
const FLUSH_TIME: Duration = Duration::from_millis(100);

/// What an answer may be, as the specification of the transport wants it in each request.
const ALL_ANSWERS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// How long a session lives without a request: as long as a visit.
const IDLE_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum number of sessions; the one without a request for the longest time ends first. Its
/// client begins another one, as the protocol demands.
const MAX_SESSIONS: usize = 1_000;

/// Sessions in memory. Some clients begin a session for each call, and never end it.
struct LimitedSessions {
    sessions: LocalSessionManager,
    last_requests: Mutex<LastRequests>,
}

/// The number of the last request of each session.
#[derive(Default)]
struct LastRequests {
    numbers: HashMap<SessionId, u64>,
    count: u64,
}

impl LimitedSessions {
    /// Starts without sessions.
    fn new() -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE_LIFETIME);
        Self { sessions, last_requests: Mutex::default() }
    }

    /// Records a request of a session. Returns the session that must end, if there are too many.
    fn record_request(&self, id: &SessionId) -> Option<SessionId> {
        let mut last = self.last_requests.lock().unwrap_or_else(PoisonError::into_inner);
        last.count += 1;
        let number = last.count;
        last.numbers.insert(id.clone(), number);
        if last.numbers.len() <= MAX_SESSIONS {
            return None;
        }
        let oldest = last.numbers.iter().min_by_key(|(_, number)| **number)?.0.clone();
        last.numbers.remove(&oldest);
        Some(oldest)
    }

    fn forget(&self, id: &SessionId) {
        let mut last = self.last_requests.lock().unwrap_or_else(PoisonError::into_inner);
        last.numbers.remove(id);
    }
}

impl SessionManager for LimitedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let created = self.sessions.create_session().await?;
        if let Some(oldest) = self.record_request(&created.0) {
            self.sessions.close_session(&oldest).await?;
        }
        Ok(created)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.sessions.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        let has = self.sessions.has_session(id).await?;
        if has {
            self.record_request(id);
        }
        Ok(has)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.forget(id);
        self.sessions.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.sessions.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.sessions.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.sessions.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.sessions.resume(id, last_event_id).await
    }
}

/// Returns the routes `/mcp` and `/mcp/`, and a function that ends its streams and sessions.
pub fn http_route(server: Server) -> (Router, impl FnOnce() + Send + 'static) {
    // The addresses are checked for all routes at once.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_REQUEST_BYTES);
    let stop = config.cancellation_token.clone();
    let sessions = Arc::new(LimitedSessions::new());
    let service = StreamableHttpService::new(move || server.for_session(), sessions, config);
    let routes = Router::new().route_service("/mcp", service.clone());
    let routes = routes.route_service("/mcp/", service).layer(from_fn(name_accepted_answers));
    (routes, move || stop.cancel())
}

/// Replaces an `Accept` that allows any answer by the two kinds that MCP has.
async fn name_accepted_answers(mut request: Request, next: Next) -> Response {
    if accepts_any_answer(request.headers()) {
        request.headers_mut().insert(header::ACCEPT, ALL_ANSWERS);
    }
    next.run(request).await
}

/// Returns whether a request has no `Accept`, or one with `*/*` (RFC 9110, section 12.5.1).
fn accepts_any_answer(headers: &HeaderMap) -> bool {
    let mut ranges = headers.get_all(header::ACCEPT).iter().peekable();
    let is_any = |range: &str| {
        let (range, weight) = range.split_once(';').unwrap_or((range, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|it| it.parse() == Ok(0.0));
        range.trim() == "*/*" && !is_refused
    };
    ranges.peek().is_none()
        || ranges.any(|it| it.to_str().is_ok_and(|it| it.split(',').any(is_any)))
}

impl Server {
    /// Prepares the server for many sessions over HTTP.
    #[must_use]
    pub fn over_http(mut self) -> Self {
        let toolbox = Arc::into_inner(self.toolbox).map(|it| Arc::new(it.with_visit_handles()));
        self.toolbox = toolbox.unwrap_or_default();
        self
    }

    /// Starts the background work, and the notifications to all clients.
    pub fn start(&self) {
        tokio::spawn(self.clone().start_background_sync_and_open());
        tokio::spawn(self.clone().send_notifications());
    }

    /// Runs a question of a reader who is no client of MCP, in its turn. The question also gets
    /// the tools that room actions may call.
    pub async fn read<T: Send + 'static>(
        &self,
        reader: Caller,
        question: impl Fn(&mut Keeper, &Caller, &[Tool]) -> T + Send + Sync + 'static,
    ) -> Result<T, String> {
        let toolbox = self.toolbox.clone();
        let ask = move |keeper: &mut Keeper, by: &Caller| {
            Ok(question(keeper, by, &toolbox.action_tools()))
        };
        let answer = self.calls.run_in_turn(reader, CallAccess::Read, None, ask).await;
        answer.map_err(|err| err.message.into_owned())
    }

    /// Returns a receiver that changes whenever somebody may have changed a palace.
    pub fn change_signal(&self) -> watch::Receiver<()> {
        self.change_signal.subscribe()
    }

    /// Starts no more calls, and waits until those that run are answered.
    pub async fn finish_calls(&self) {
        self.calls.close_queue();
        while !self.calls.is_idle() {
            sleep(POLL_INTERVAL).await;
        }
        // The last answers are on their way through the streams of their sessions.
        sleep(FLUSH_TIME).await;
    }

    /// Waits for the call that runs, closes the palaces, and pushes what waits to be pushed.
    pub async fn shut_down(&self) {
        self.calls.shut_down().await;
    }

    /// Returns a server for a new session.
    fn for_session(&self) -> io::Result<Self> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).map_err(io::Error::other)?;
        let handle = VisitHandle::from_random(u128::from_ne_bytes(bits));
        let id = Ulid::from_datetime((self.clock)().into());
        let mut server = self.clone();
        server.session = ClientSession { id, handle: Some(handle) };
        Ok(server)
    }
}

impl Toolbox {
    /// Lets the tools of Palazzo accept the handle of a visit, as `visit`. The other tool sets
    /// have the parameters of the servers that they replace.
    #[must_use]
    fn with_visit_handles(mut self) -> Self {
        let about = json!({ "type": "string", "description": "The handle from set_workspace." });
        let own = [ToolSet::Palace, ToolSet::Graph, ToolSet::Sync];
        for tool in self.tools.iter_mut().filter(|it| own.contains(&it.set)) {
            let schema = Arc::make_mut(&mut tool.definition.input_schema);
            let properties = schema.entry("properties").or_insert_with(|| json!({}));
            if let Value::Object(properties) = properties {
                properties.insert(VISIT_ARGUMENT.to_owned(), about.clone());
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_session_without_a_request_for_the_longest_time_makes_room() {
        let sessions = LimitedSessions::new();
        let mut ids = Vec::new();
        for _ in 0..MAX_SESSIONS {
            ids.push(sessions.create_session().await.unwrap().0);
        }
        assert!(sessions.has_session(&ids[0]).await.unwrap());
        sessions.create_session().await.unwrap();
        assert!(sessions.has_session(&ids[0]).await.unwrap());
        assert!(!sessions.has_session(&ids[1]).await.unwrap());
    }
}
