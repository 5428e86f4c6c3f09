//! Palaces that are published for readers while a call waits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use crate::error::Refusal;
use crate::palace::loaded_palace::LoadedPalace;

/// Called with true when a call begins to wait, and with false when it continues.
pub type WaitCallback = Arc<dyn Fn(bool) + Send + Sync>;

/// The palaces that can be read while a call waits.
#[derive(Clone, Default)]
pub(crate) struct PublishedSnapshots {
    snapshots: Arc<RwLock<BTreeMap<String, LoadedPalace>>>,
    on_wait: Arc<OnceLock<WaitCallback>>,
}

/// Where a palace is published.
#[derive(Clone)]
pub(crate) struct SnapshotSlot {
    pub(crate) key: String,
    pub(crate) snapshots: PublishedSnapshots,
}

/// While this lives, a call waits.
pub(crate) struct WaitGuard(Option<PublishedSnapshots>);

/// Records whether a call needed more than a snapshot has.
#[derive(Clone, Default)]
pub(crate) struct SnapshotMissFlag(Arc<AtomicBool>);

impl PublishedSnapshots {
    /// Sets the callback for the begin and the end of a wait; only the first one is kept.
    pub(crate) fn set_wait_callback(&self, on_wait: WaitCallback) {
        drop(self.on_wait.set(on_wait));
    }

    /// Reports that a call waits, until the guard is dropped.
    pub(crate) fn begin_reported_wait(&self) -> WaitGuard {
        self.notify_wait(true);
        WaitGuard(Some(self.clone()))
    }

    /// Publishes a palace, in the place of its last snapshot.
    pub(crate) fn publish(&self, key: &str, snapshot: LoadedPalace) {
        let mut palaces = self.snapshots.write().unwrap_or_else(PoisonError::into_inner);
        palaces.insert(key.to_owned(), snapshot);
    }

    /// Returns the published palaces, by directory name; they stay published while the guard lives.
    pub(crate) fn lock_for_reading(&self) -> RwLockReadGuard<'_, BTreeMap<String, LoadedPalace>> {
        self.snapshots.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Withdraws a palace; waits until no reader is left.
    pub(crate) fn withdraw(&self, key: &str) {
        let is_published = self.lock_for_reading().contains_key(key);
        if is_published {
            self.snapshots.write().unwrap_or_else(PoisonError::into_inner).remove(key);
        }
    }

    fn notify_wait(&self, is_waiting: bool) {
        if let Some(on_wait) = self.on_wait.get() {
            on_wait(is_waiting);
        }
    }
}

impl SnapshotSlot {
    /// Publishes a palace, and reports that a call waits.
    pub(crate) fn publish_while_waiting(&self, snapshot: LoadedPalace) -> WaitGuard {
        self.snapshots.publish(&self.key, snapshot);
        self.snapshots.begin_reported_wait()
    }

    /// Withdraws the snapshot before the palace changes in memory.
    pub(crate) fn withdraw(&self) {
        self.snapshots.withdraw(&self.key);
    }
}

impl WaitGuard {
    /// A wait that is not reported.
    pub(crate) fn without_callback() -> Self {
        Self(None)
    }
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        if let Some(published) = &self.0 {
            published.notify_wait(false);
        }
    }
}

impl SnapshotMissFlag {
    /// Returns the refusal of a call that a snapshot cannot answer.
    pub(crate) fn set_and_refuse(&self) -> Refusal {
        self.0.store(true, Ordering::Relaxed);
        Refusal::Contended
    }

    /// Returns whether a call was refused.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
