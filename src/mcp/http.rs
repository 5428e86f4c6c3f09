//! MCP over streamable HTTP, for both generations of the protocol.
//!
//! A client of the older generation begins a session; a request of the newer one stands alone.
//! Each session, and each request that stands alone, has a [`Server`] of its own; all share the
//! keeper and the queue of its calls. Addresses and tokens are checked before a request comes here.

mod sessions;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;
use ulid::Ulid;

use crate::mcp::call_queue::CallAccess;
use crate::mcp::call_visit::VISIT_ARGUMENT;
use crate::mcp::http::sessions::LimitedSessions;
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
        tokio::spawn(self.clone().start_background_work());
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
