//! The sessions of clients of the older protocol generation, of which there are not too many.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

/// How long a session lives without a request: as long as a visit.
const IDLE_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum number of sessions; the one without a request for the longest time ends first. Its
/// client begins another one, as the protocol demands.
const MAX_SESSIONS: usize = 1_000;

/// Sessions in memory. Some clients begin a session for each call, and never end it.
pub(super) struct LimitedSessions {
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
    pub(super) fn new() -> Self {
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
