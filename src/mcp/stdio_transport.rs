//! Serves one client, with a transport for rmcp: lines on standard input and output.
//!
//! It answers requests that rmcp would drop or answer without an `id`, and closes only
//! after every request has its answer.

pub(crate) mod pending_requests;

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::{Transport, stdio_pipes};
use rmcp::{RoleServer, ServiceExt as _};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, mpsc, watch};

use crate::mcp::handler::PanicSafeServer;
use crate::mcp::json_rpc;
use crate::mcp::json_rpc::{DecodeResult, InvalidMessageError};
use crate::mcp::server::Server;
use crate::mcp::stdio_transport::pending_requests::PendingRequests;

/// How many decoded messages are buffered for rmcp.
const MESSAGE_BUFFER: usize = 16;

/// A connection to one client.
struct StdioTransport<W> {
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    output: SharedOutput<W>,
    pending_requests: Arc<PendingRequests>,
    session_started: bool,
    input_closed: watch::Sender<bool>,
}

/// The output, shared; `None` after it is closed.
struct SharedOutput<W>(Arc<Mutex<Option<W>>>);

/// Reads the input, and answers invalid messages.
struct InputReader<W> {
    messages: mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
    output: SharedOutput<W>,
    pending_requests: Arc<PendingRequests>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> StdioTransport<W> {
    /// Connects to the client at `input` and `output`. Sets `ended` when it stops
    /// reading: at the end of the input, or when `stop` is ready.
    fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: W,
        stop: impl Future<Output = ()> + Send + 'static,
        ended: watch::Sender<bool>,
    ) -> Self {
        let (sender, messages) = mpsc::channel(MESSAGE_BUFFER);
        let output = SharedOutput(Arc::new(Mutex::new(Some(output))));
        let unanswered = Arc::<PendingRequests>::default();
        let (shared, open) = (SharedOutput(output.0.clone()), unanswered.clone());
        let reader = InputReader { messages: sender, output: shared, pending_requests: open };
        tokio::spawn(async move {
            tokio::select! {
                () = reader.read_input(input) => {}
                () = stop => {}
            }
        });
        Self {
            messages,
            output,
            pending_requests: unanswered,
            session_started: false,
            input_closed: ended,
        }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> InputReader<W> {
    /// Reads lines until the input ends or rmcp stops receiving.
    async fn read_input(&self, input: impl AsyncRead + Send + Unpin) {
        let mut input = BufReader::new(input);
        while let Ok(Some(decoded)) = json_rpc::read_messages(&mut input).await {
            for it in decoded {
                let passed = match self.register_message(it) {
                    Ok(None) => Ok(()),
                    Ok(Some(message)) => {
                        self.messages.send(message).await.map_err(io::Error::other)
                    }
                    Err(invalid) => self.output.write_line(&invalid.error_line()).await,
                };
                if passed.is_err() {
                    return;
                }
            }
            self.pending_requests.wait_for_space().await;
        }
    }

    /// Registers a request or its cancellation; rejects a request whose `id` is in use.
    fn register_message(
        &self,
        decoded: DecodeResult,
    ) -> Result<Option<RxJsonRpcMessage<RoleServer>>, InvalidMessageError> {
        let message = *decoded?;
        match &message {
            JsonRpcMessage::Request(it) => {
                let is_subscription =
                    matches!(it.request, ClientRequest::SubscriptionsListenRequest(_));
                if !self.pending_requests.try_add(&it.id, is_subscription) {
                    let why = "a request with this `id` is open or was cancelled: use a new one";
                    return Err(InvalidMessageError::invalid_request(json!(it.id), why));
                }
            }
            JsonRpcMessage::Notification(it) => {
                if let ClientNotification::CancelledNotification(it) = &it.notification
                    && let Some(id) = &it.params.request_id
                {
                    self.pending_requests.cancel(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => return Ok(None),
        }
        Ok(Some(message))
    }
}

impl<W: AsyncWrite + Unpin> SharedOutput<W> {
    async fn write_line(&self, line: &[u8]) -> io::Result<()> {
        let mut output = self.0.lock().await;
        let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        output.write_all(line).await?;
        output.flush().await
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for StdioTransport<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, unanswered) =
            (SharedOutput(self.output.0.clone()), self.pending_requests.clone());
        async move {
            let id = match &item {
                JsonRpcMessage::Response(it) => Some(it.id.clone()),
                JsonRpcMessage::Error(it) => Some(it.id.clone()).flatten(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            if id.is_none() && matches!(item, JsonRpcMessage::Error(_)) {
                // The client could not match it to a request.
                return Ok(());
            }
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let _writing = id.map(|id| unanswered.begin_response(&id));
            output.write_line(&line).await
        }
    }

    /// Skips notifications until the session has started.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.messages.recv().await else {
                self.input_closed.send_replace(true);
                self.pending_requests.wait_for_all_responses().await;
                return None;
            };
            match &message {
                JsonRpcMessage::Request(it) => {
                    self.session_started |= is_session_start(&it.request);
                }
                _ if self.session_started => {}
                _ => continue,
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.0.lock().await.take());
        Ok(())
    }
}

/// Serves a client over standard input and output until its input ends, or `stop` is
/// ready. Calls that have started by then are finished.
///
/// It is no error if a client only probes or sends nothing.
pub async fn serve(
    mut server: Server,
    stop: impl Future<Output: Send> + Send + 'static,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (input, output) = stdio_pipes();
    let (closed_sender, input_closed) = watch::channel(false);
    server.input_closed = input_closed;
    let calls = server.calls.clone();
    let stop = async move {
        stop.await;
        calls.close_queue();
    };
    let connection = StdioTransport::new(input, output, stop, closed_sender);
    let served = match PanicSafeServer(server.clone()).serve(connection).await {
        Ok(running) => {
            tokio::spawn(server.clone().start_background_sync_and_open());
            tokio::spawn(server.clone().send_notifications());
            running.waiting().await.map(drop).map_err(Into::into)
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(err) => Err(err.into()),
    };
    server.calls.shut_down().await;
    served
}

/// Returns true if a request starts a session: not a probe, and not a request without
/// the metadata that the stateless protocol versions require.
fn is_session_start(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let version = meta.protocol_version();
            let is_known = version.is_some_and(|it| ProtocolVersion::KNOWN_VERSIONS.contains(&it));
            is_known && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
        }
    }
}
