//! An open palace: what is in memory of it, and how that is kept up to date and published.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use chrono::{DateTime, Datelike as _, Utc};

use crate::caller::Caller;
use crate::error::Refusal;
use crate::palace::loaded_palace::LoadedPalace;
use crate::semantic::vector_store::{EmbeddedQuery, VectorStore};
use palazzo_core::model::{Grouping, WatchMode};
use palazzo_store::CommitReport;
use palazzo_store::watch::{PalaceWatcher, WakeCallback};

/// An open palace. It is read as a [`LoadedPalace`]; only the modules of this folder change it.
pub(crate) struct OpenPalace {
    pub(in crate::palace) loaded: LoadedPalace,
    pub(crate) watch: Option<PalaceWatcher>,
    /// Whether a file has freed a name that another file may claim.
    pub(crate) name_freed: bool,
    /// The temporary files that were there when the palace was read.
    pub(crate) temporary_files: Vec<PathBuf>,
    /// Whether many entities were parsed that the cache could have supplied.
    pub(crate) should_write_entity_cache: bool,
    /// Where it is published for readers while a call waits.
    pub(crate) publication: Option<SnapshotSlot>,
    /// The limits of a snapshot; `None`: this is not a snapshot.
    pub(crate) snapshot_miss_flag: Option<SnapshotMissFlag>,
    /// The changes that were not taken yet.
    pub(crate) commit_reports: Vec<CommitReport>,
    /// Reports what went wrong after a change was made.
    pub(crate) warn: fn(&str),
}

impl Deref for OpenPalace {
    type Target = LoadedPalace;

    fn deref(&self) -> &LoadedPalace {
        &self.loaded
    }
}

impl OpenPalace {
    /// Makes an open palace of what is in memory; it is neither watched nor published.
    pub(crate) fn from_loaded(loaded: LoadedPalace, warn: fn(&str)) -> Self {
        Self {
            loaded,
            watch: None,
            name_freed: false,
            temporary_files: Vec::new(),
            should_write_entity_cache: false,
            publication: None,
            snapshot_miss_flag: None,
            commit_reports: Vec::new(),
            warn,
        }
    }

    /// Embeds a query; others can read while the model is loaded.
    pub(crate) fn embed_query<'a>(
        &self,
        vectors: &'a VectorStore,
        question: &str,
    ) -> EmbeddedQuery<'a> {
        let _wait = vectors.is_loading_model().then(|| self.publish_while_waiting());
        vectors.embed_query(question)
    }

    /// Keeps a grouping sorted from now on.
    pub(crate) fn keep_grouping_sorted(&mut self, grouping: &Grouping) {
        if !self.is_snapshot() && !self.palace.graph.has_cached_grouping(grouping) {
            self.withdraw_snapshot();
            Arc::make_mut(&mut self.loaded.palace).graph.cache_grouping(grouping);
        }
    }

    /// Returns an open palace that reads from a snapshot.
    pub(crate) fn from_snapshot(snapshot: &LoadedPalace, limits: SnapshotMissFlag) -> Self {
        Self {
            snapshot_miss_flag: Some(limits),
            ..Self::from_loaded(snapshot.clone_for_reading(), |_| {})
        }
    }

    /// Returns whether this is a snapshot, which never changes.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.snapshot_miss_flag.is_some()
    }

    /// Publishes the palace for readers while this call waits.
    pub(crate) fn publish_while_waiting(&self) -> WaitGuard {
        match &self.publication {
            Some(publication) => publication.publish_while_waiting(self.loaded.clone_for_reading()),
            None => WaitGuard::without_callback(),
        }
    }

    /// Withdraws the snapshot before the palace changes in memory.
    pub(crate) fn withdraw_snapshot(&self) {
        if let Some(publication) = &self.publication {
            publication.withdraw();
        }
    }

    /// Refuses a change of a snapshot, where nothing may be changed, or at a time that files and
    /// git cannot hold.
    pub(crate) fn check_writable(&self, by: &Caller) -> Result<(), Refusal> {
        match &self.snapshot_miss_flag {
            Some(limits) => Err(limits.set_and_refuse()),
            None if self.store().is_read_only() => Err(Refusal::ReadOnly),
            None => reject_unstorable_time(by.now),
        }
    }
}

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
    fn without_callback() -> Self {
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

/// How changes made by others are noticed.
#[derive(Clone)]
pub(crate) struct WatchConfig {
    pub(crate) mode: WatchMode,
    pub(crate) wake: WakeCallback,
    pub(crate) warn: fn(&str),
}

/// Nothing is noticed.
impl Default for WatchConfig {
    fn default() -> Self {
        Self { mode: WatchMode::Off, wake: Arc::new(|| {}), warn: |_| {} }
    }
}

/// Refuses to write at a time whose dates files and git cannot hold.
fn reject_unstorable_time(now: DateTime<Utc>) -> Result<(), Refusal> {
    match now.year() {
        1970..=9999 => Ok(()),
        _ => Err(Refusal::InvalidClock(now)),
    }
}
