//! The transport below rmcp: lines of standard input and output.
//!
//! It answers by itself what rmcp would drop or answer without an `id`, and ends
//! only when every request has its answer.

pub(crate) mod pending_requests;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, mpsc, watch};

use crate::mcp::json_rpc;
use crate::mcp::json_rpc::{Decoded, Invalid};
use crate::mcp::stdio_transport::pending_requests::Unanswered;

/// How many messages are decoded before rmcp takes them.
const WAITING: usize = 16;

/// A connection to one client.
pub(crate) struct Connection<W> {
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    output: Output<W>,
    unanswered: Arc<Unanswered>,
    begun: bool,
    ended: watch::Sender<bool>,
}

/// The lines for the client.
struct Output<W>(Arc<Mutex<Option<W>>>);

/// The lines of the client, and where invalid ones are answered.
struct Reader<W> {
    messages: mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
    output: Output<W>,
    unanswered: Arc<Unanswered>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Connection<W> {
    /// Connects to the client at `input` and `output`. `ended` is set when nothing
    /// more is read: the input has ended, or `stop` is ready.
    pub(crate) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: W,
        stop: impl Future<Output = ()> + Send + 'static,
        ended: watch::Sender<bool>,
    ) -> Self {
        let (say, messages) = mpsc::channel(WAITING);
        let output = Output(Arc::new(Mutex::new(Some(output))));
        let unanswered = Arc::<Unanswered>::default();
        let (shared, open) = (Output(output.0.clone()), unanswered.clone());
        let reader = Reader { messages: say, output: shared, unanswered: open };
        tokio::spawn(async move {
            tokio::select! {
                () = reader.read(input) => {}
                () = stop => {}
            }
        });
        Self { messages, output, unanswered, begun: false, ended }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Reader<W> {
    /// Reads lines until the input ends or nobody listens.
    async fn read(&self, input: impl AsyncRead + Send + Unpin) {
        let mut input = BufReader::new(input);
        while let Ok(Some(decoded)) = json_rpc::next(&mut input).await {
            for it in decoded {
                let passed = match self.admit(it) {
                    Ok(None) => Ok(()),
                    Ok(Some(message)) => {
                        self.messages.send(message).await.map_err(io::Error::other)
                    }
                    Err(invalid) => self.output.write(&invalid.line()).await,
                };
                if passed.is_err() {
                    return;
                }
            }
            self.unanswered.wait_for_space().await;
        }
    }

    /// Notes a message; refuses a request whose `id` is taken.
    fn admit(&self, decoded: Decoded) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Invalid> {
        let message = *decoded?;
        match &message {
            JsonRpcMessage::Request(it) => {
                let lasts = matches!(it.request, ClientRequest::SubscriptionsListenRequest(_));
                if !self.unanswered.add(&it.id, lasts) {
                    let why = "another request with this `id` was not answered yet, or cancelled";
                    return Err(Invalid::request(json!(it.id), why));
                }
            }
            JsonRpcMessage::Notification(it) => {
                if let ClientNotification::CancelledNotification(it) = &it.notification
                    && let Some(id) = &it.params.request_id
                {
                    self.unanswered.cancel(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => return Ok(None),
        }
        Ok(Some(message))
    }
}

impl<W: AsyncWrite + Unpin> Output<W> {
    async fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut output = self.0.lock().await;
        let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        output.write_all(line).await?;
        output.flush().await
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Connection<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, unanswered) = (Output(self.output.0.clone()), self.unanswered.clone());
        async move {
            let id = match &item {
                JsonRpcMessage::Response(it) => Some(it.id.clone()),
                JsonRpcMessage::Error(it) => Some(it.id.clone()).flatten(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            if id.is_none() && matches!(item, JsonRpcMessage::Error(_)) {
                // Nobody could tell what it answers.
                return Ok(());
            }
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let _writing = id.map(|id| unanswered.begin_answer(&id));
            output.write(&line).await
        }
    }

    /// Passes over what is no request until the conversation has begun.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.messages.recv().await else {
                self.ended.send_replace(true);
                self.unanswered.wait_for_all().await;
                return None;
            };
            match &message {
                JsonRpcMessage::Request(it) => self.begun |= begins(&it.request),
                _ if self.begun => {}
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

/// Tells whether a conversation begins with a request: not with a probe, and not
/// with one that lacks what the stateless era demands.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let version = meta.protocol_version();
            let known = version.is_some_and(|it| ProtocolVersion::KNOWN_VERSIONS.contains(&it));
            known && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
        }
    }
}
