//! Snapshots of open palaces, for readers while a call waits.
//!
//! While a call waits for a lock, a disk or a model, it has the keeper to itself. Before it
//! waits, the open palaces are published as they are in memory. A snapshot shares that memory,
//! so it costs nothing; it is withdrawn, after its readers are done, before the palace changes.
//!
//! A reader of a snapshot changes nothing, opens nothing, and does not look for changes by
//! others: a call that needs one of these goes to the keeper.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use chrono::{DateTime, Datelike as _, Utc};

use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::entity_faults::EntityFaults;
use crate::keeper::palace::file_states::FileStates;
use crate::keeper::semantic::indexer::SemanticIndexer;
use crate::keeper::semantic::models::ModelCache;
use crate::keeper::semantic::vectors::{EmbeddedQuery, VectorStore};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{CommitId, Diagnostic, Grouping, Palace};
use crate::search::Index;
use crate::session::Visit;
use crate::store::{HistoryCache, Store};

/// Called with true when a call begins to wait, and with false when it continues.
pub type WaitCallback = Arc<dyn Fn(bool) + Send + Sync>;

/// The visits of all callers, by name. A keeper takes the visit of its caller from here during
/// a call, and puts it back.
pub(crate) type SharedVisits = Arc<Mutex<BTreeMap<String, Visit>>>;

/// The palaces that can be read while a call waits.
#[derive(Clone, Default)]
pub(crate) struct PublishedSnapshots {
    snapshots: Arc<RwLock<BTreeMap<String, Snapshot>>>,
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

/// A palace as it was when published.
pub(crate) struct Snapshot {
    pub(crate) palace: Arc<Palace>,
    pub(crate) index: Arc<OnceLock<Index>>,
    pub(crate) entity_faults: Arc<OnceLock<EntityFaults>>,
    pub(crate) semantic_indexer: Option<Arc<SemanticIndexer>>,
    pub(crate) store: Store,
    pub(crate) findings: Arc<BTreeMap<String, Vec<Diagnostic>>>,
    pub(crate) file_states: Arc<FileStates>,
    pub(crate) head: Option<CommitId>,
    pub(crate) history_cache: Arc<HistoryCache>,
    pub(crate) repository_fault: Option<Diagnostic>,
}

/// Records whether a call needed more than a snapshot has.
#[derive(Clone, Default)]
pub(crate) struct SnapshotLimits(Arc<AtomicBool>);

/// Answers calls from the published snapshots while the keeper is busy.
#[derive(Clone)]
pub struct SnapshotReader {
    home: PathBuf,
    preferred_workspace: Option<String>,
    can_choose_workspace: bool,
    models: ModelCache,
    visits: SharedVisits,
    published: PublishedSnapshots,
}

impl PublishedSnapshots {
    fn begin_wait(&self) -> WaitGuard {
        self.notify_wait(true);
        WaitGuard(Some(self.clone()))
    }

    fn publish(&self, key: &str, snapshot: Snapshot) {
        let mut palaces = self.snapshots.write().unwrap_or_else(PoisonError::into_inner);
        palaces.insert(key.to_owned(), snapshot);
    }

    /// Waits until no reader is left.
    fn remove(&self, key: &str) {
        let is_there = |it: &RwLock<BTreeMap<String, _>>| {
            it.read().unwrap_or_else(PoisonError::into_inner).contains_key(key)
        };
        if is_there(&self.snapshots) {
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
    pub(crate) fn begin_wait(&self, snapshot: Snapshot) -> WaitGuard {
        self.snapshots.publish(&self.key, snapshot);
        self.snapshots.begin_wait()
    }

    /// Withdraws the snapshot before the palace changes in memory.
    pub(crate) fn withdraw(&self) {
        self.snapshots.remove(&self.key);
    }
}

impl WaitGuard {
    /// A wait that is not reported.
    pub(crate) fn without_notice() -> Self {
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

impl SnapshotLimits {
    /// Returns the refusal of a call that a snapshot cannot answer.
    pub(crate) fn refuse(&self) -> Refusal {
        self.0.store(true, Ordering::Relaxed);
        Refusal::Contended
    }

    fn is_exceeded(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Keeper {
    /// Sets the callback for the begin and the end of a wait.
    pub fn set_wait_callback(&mut self, on_wait: WaitCallback) {
        // Only the first callback is kept.
        drop(self.published.on_wait.set(on_wait));
    }

    /// Returns a reader of snapshots for the time while this keeper is busy.
    pub fn snapshot_reader(&self) -> SnapshotReader {
        SnapshotReader {
            home: self.home.clone(),
            preferred_workspace: self.preferred_workspace.clone(),
            can_choose_workspace: self.can_choose_workspace,
            models: self.models.clone(),
            visits: self.shared_visits.clone(),
            published: self.published.clone(),
        }
    }

    /// Publishes every open palace, because the next call may have to wait.
    pub fn publish_snapshots(&self) {
        for (key, held) in &self.open_palaces {
            self.published.publish(key, held.snapshot());
        }
    }

    /// Begins a call, whose visits are shared with readers of snapshots.
    pub fn begin_call(&mut self) {
        self.visits.clear();
    }

    /// Ends a call, and stores the visit of its caller.
    pub fn end_call(&mut self, by: &Caller) {
        if let Some(visit) = self.visits.remove(&by.name) {
            let mut visits = self.shared_visits.lock().unwrap_or_else(PoisonError::into_inner);
            visits.insert(by.name.clone(), visit);
        }
    }

    /// Publishes every open palace, and reports that a call waits.
    pub(crate) fn begin_wait(&self) -> WaitGuard {
        self.publish_snapshots();
        self.published.begin_wait()
    }

    /// Refuses a call that a snapshot cannot answer.
    pub(crate) fn check_not_snapshot(&self) -> Result<(), Refusal> {
        self.snapshot_limits.as_ref().map_or(Ok(()), |it| Err(it.refuse()))
    }

    /// Returns the slot in which the palace with the directory name `key` is published.
    pub(crate) fn snapshot_slot(&self, key: &str) -> SnapshotSlot {
        SnapshotSlot { key: key.to_owned(), snapshots: self.published.clone() }
    }
}

impl SnapshotReader {
    /// Answers a call from the published snapshots; `None`: only the keeper can answer it, and
    /// nothing was done.
    pub fn try_ask<T>(&self, by: &Caller, question: impl FnOnce(&mut Keeper) -> T) -> Option<T> {
        // The lock keeps the snapshots published until the answer is complete.
        let palaces = self.published.snapshots.read().unwrap_or_else(PoisonError::into_inner);
        let limits = SnapshotLimits::default();
        let mut keeper = Keeper::new(self.home.clone(), self.preferred_workspace.clone());
        keeper.can_choose_workspace = self.can_choose_workspace;
        keeper.models = self.models.clone();
        keeper.shared_visits = self.visits.clone();
        keeper.snapshot_limits = Some(limits.clone());
        let held = |it: &Snapshot| OpenPalace::from_snapshot(it, limits.clone());
        keeper.open_palaces = palaces.iter().map(|(key, it)| (key.clone(), held(it))).collect();
        let answer = question(&mut keeper);
        let is_answered = !limits.is_exceeded();
        if is_answered {
            keeper.end_call(by);
        }
        is_answered.then_some(answer)
    }
}

impl OpenPalace {
    /// Embeds a query; others can read while the model is loaded.
    pub(crate) fn embed_query<'a>(
        &self,
        mind: &'a VectorStore,
        question: &str,
    ) -> EmbeddedQuery<'a> {
        let _wait = mind.is_loading_model().then(|| self.begin_wait());
        mind.embed_query(question)
    }

    /// Keeps a grouping sorted from now on.
    pub(crate) fn keep_arrangement_sorted(&mut self, arrangement: &Grouping) {
        if !self.is_snapshot() && !self.palace.graph.has_cached_grouping(arrangement) {
            self.withdraw_snapshot();
            Arc::make_mut(&mut self.palace).graph.cache_grouping(arrangement);
        }
    }

    /// Returns a snapshot that shares the memory of this palace.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            palace: self.palace.clone(),
            index: self.index.clone(),
            entity_faults: self.entity_faults.clone(),
            semantic_indexer: self.semantic_indexer.clone(),
            store: self.store.clone_for_reading(),
            findings: self.findings.clone(),
            file_states: self.file_states.clone(),
            head: self.head.clone(),
            history_cache: self.history_cache.clone(),
            repository_fault: self.repository_fault.clone(),
        }
    }

    /// Returns an open palace that reads from a snapshot.
    pub(crate) fn from_snapshot(snapshot: &Snapshot, limits: SnapshotLimits) -> Self {
        Self {
            palace: snapshot.palace.clone(),
            index: snapshot.index.clone(),
            entity_faults: snapshot.entity_faults.clone(),
            semantic_indexer: snapshot.semantic_indexer.clone(),
            store: snapshot.store.clone_for_reading(),
            findings: snapshot.findings.clone(),
            file_states: snapshot.file_states.clone(),
            watch: None,
            name_freed: false,
            temporary_files: Vec::new(),
            should_write_entity_cache: false,
            head: snapshot.head.clone(),
            history_cache: snapshot.history_cache.clone(),
            publication: None,
            snapshot_limits: Some(limits),
            repository_fault: snapshot.repository_fault.clone(),
            finished_changes: Vec::new(),
            warn: |_| {},
        }
    }

    /// Tells whether this is a snapshot, which never changes.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.snapshot_limits.is_some()
    }

    /// Publishes the palace for readers while this call waits.
    pub(crate) fn begin_wait(&self) -> WaitGuard {
        match &self.publication {
            Some(publication) => publication.begin_wait(self.snapshot()),
            None => WaitGuard::without_notice(),
        }
    }

    /// Withdraws the snapshot before the palace changes in memory.
    pub(crate) fn withdraw_snapshot(&self) {
        if let Some(publication) = &self.publication {
            publication.withdraw();
        }
    }

    pub(crate) fn check_writable(&self, by: &Caller) -> Result<(), Refusal> {
        match &self.snapshot_limits {
            Some(limits) => Err(limits.refuse()),
            None => check_clock(by.now),
        }
    }
}

/// Refuses to write at a time whose dates files and git cannot hold.
fn check_clock(now: DateTime<Utc>) -> Result<(), Refusal> {
    match now.year() {
        1970..=9999 => Ok(()),
        _ => Err(Refusal::InvalidClock(now)),
    }
}
