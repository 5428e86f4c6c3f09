//! The requests that have no answer yet.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// No more requests are read while so many wait.
const MAX_OPEN_REQUESTS: usize = 10_000;

/// The requests that have no answer yet.
#[derive(Default)]
pub(crate) struct PendingRequests {
    ids: Mutex<RequestIds>,
    changed: Notify,
}

#[derive(Default)]
struct RequestIds {
    /// Whether the request lasts as long as the connection.
    open: HashMap<RequestId, bool>,
    /// MCP lets no client use an id again, and rmcp may still drop an answer under it.
    cancelled: HashSet<RequestId>,
    /// How many answers are being written.
    writing: usize,
}

/// An answer that is being written.
pub(crate) struct ResponseGuard(Arc<PendingRequests>);

impl PendingRequests {
    /// Adds a request; returns false if its id is taken. One that `lasts` is not
    /// waited for.
    pub(crate) fn add(&self, id: &RequestId, lasts: bool) -> bool {
        let mut ids = self.lock_ids();
        if ids.open.contains_key(id) || ids.cancelled.contains(id) {
            return false;
        }
        ids.open.insert(id.clone(), lasts);
        true
    }

    /// Notes that a request was cancelled and needs no answer.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let mut ids = self.lock_ids();
        if ids.open.remove(id).is_some() {
            ids.cancelled.insert(id.clone());
        }
        drop(ids);
        self.changed.notify_waiters();
    }

    /// Notes that a request has its answer, which is written until the result is
    /// dropped.
    pub(crate) fn begin_response(self: &Arc<Self>, id: &RequestId) -> ResponseGuard {
        let mut ids = self.lock_ids();
        ids.open.remove(id);
        ids.cancelled.remove(id);
        ids.writing += 1;
        ResponseGuard(self.clone())
    }

    /// Waits until further requests may come.
    pub(crate) async fn wait_for_space(&self) {
        self.wait_until(|it| it.open.len() < MAX_OPEN_REQUESTS).await;
    }

    /// Waits until every request has its answer, except those that last.
    pub(crate) async fn wait_for_all(&self) {
        self.wait_until(|it| it.writing == 0 && it.open.values().all(|lasts| *lasts)).await;
    }

    async fn wait_until(&self, is_so: impl Fn(&RequestIds) -> bool) {
        loop {
            let changed = self.changed.notified();
            if is_so(&self.lock_ids()) {
                return;
            }
            changed.await;
        }
    }

    fn lock_ids(&self) -> MutexGuard<'_, RequestIds> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        self.0.lock_ids().writing -= 1;
        self.0.changed.notify_waiters();
    }
}
