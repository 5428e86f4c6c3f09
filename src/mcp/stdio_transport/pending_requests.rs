//! Requests that are not answered yet.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// Reading pauses while this many requests are open.
const MAX_OPEN_REQUESTS: usize = 10_000;

/// The requests that are not answered yet.
#[derive(Default)]
pub(crate) struct PendingRequests {
    ids: Mutex<RequestIds>,
    changed: Notify,
}

#[derive(Default)]
struct RequestIds {
    /// The open requests; true for a subscription, which lasts as long as the
    /// connection.
    open: HashMap<RequestId, bool>,
    /// Cancelled ids stay in use: MCP allows no client to reuse an id, and rmcp may
    /// still drop an answer to it.
    cancelled: HashSet<RequestId>,
    /// How many answers are being written.
    writing: usize,
}

/// Marks an answer as being written until it is dropped.
pub(crate) struct ResponseGuard(Arc<PendingRequests>);

impl PendingRequests {
    /// Adds a request; returns false if its id is in use. Nothing waits for the end of
    /// a subscription.
    pub(crate) fn try_add(&self, id: &RequestId, is_subscription: bool) -> bool {
        let mut ids = self.lock_ids();
        if ids.open.contains_key(id) || ids.cancelled.contains(id) {
            return false;
        }
        ids.open.insert(id.clone(), is_subscription);
        true
    }

    /// Marks a request as cancelled; it needs no answer.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let mut ids = self.lock_ids();
        if ids.open.remove(id).is_some() {
            ids.cancelled.insert(id.clone());
        }
        drop(ids);
        self.changed.notify_waiters();
    }

    /// Marks a request as answered; the answer counts as being written until the guard
    /// is dropped.
    pub(crate) fn begin_response(self: &Arc<Self>, id: &RequestId) -> ResponseGuard {
        let mut ids = self.lock_ids();
        ids.open.remove(id);
        ids.cancelled.remove(id);
        ids.writing += 1;
        ResponseGuard(self.clone())
    }

    /// Waits until there is room for further requests.
    pub(crate) async fn wait_for_space(&self) {
        self.wait_until(|it| it.open.len() < MAX_OPEN_REQUESTS).await;
    }

    /// Waits until every request has its answer, except subscriptions.
    pub(crate) async fn wait_for_all_responses(&self) {
        let is_done = |it: &RequestIds| it.writing == 0 && it.open.values().all(|lasts| *lasts);
        self.wait_until(is_done).await;
    }

    async fn wait_until(&self, condition: impl Fn(&RequestIds) -> bool) {
        loop {
            let changed = self.changed.notified();
            if condition(&self.lock_ids()) {
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
