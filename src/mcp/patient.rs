//! A transport that bears with clients, and tells when they are gone.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;

/// A transport that bears with clients who speak before they ask: what is no
/// request is passed over until the conversation has begun.
pub(super) struct Patient<T> {
    inner: T,
    begun: bool,
    gone: watch::Sender<bool>,
}

impl<T> Patient<T> {
    /// Wraps `inner`; `gone` is told when the client says no more.
    pub(super) fn new(inner: T, gone: watch::Sender<bool>) -> Self {
        Self { inner, begun: false, gone }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.gone.send_replace(true);
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

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

/// Says whether a conversation begins with a request: not with a probe, and not
/// with one that is refused for not saying what the stateless era must say.
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
