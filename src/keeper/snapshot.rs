//! Snapshots of open palaces, for readers while a call waits.
//!
//! A call that waits for a lock, a disk or a model has the keeper for itself. Before
//! it waits, the palaces it has open are published as they are in memory, which is
//! as they were last committed. A snapshot shares that memory, so it costs nothing;
//! it is withdrawn before the palace changes in memory, when its readers are done.
//!
//! What reads a snapshot changes nothing, opens nothing, and looks at no files for
//! what others have changed: whatever needs that is asked of the keeper.

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

/// Is called with true when a call begins to wait, and with false when it goes on.
pub type WaitCallback = Arc<dyn Fn(bool) + Send + Sync>;

/// The visits of all callers, by name. Whoever acts for a caller takes the visit from
/// here, and puts it back.
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

/// A call waits for as long as this lives.
pub(crate) struct WaitGuard(Option<PublishedSnapshots>);

/// A palace as it was when it was published.
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

/// Marks whether more was asked of a snapshot than it has.
#[derive(Clone, Default)]
pub(crate) struct SnapshotLimits(Arc<AtomicBool>);

/// Reads what is published, while the keeper is busy.
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

    /// Waits until nobody reads.
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
    /// Publishes a palace, and tells that a call waits.
    pub(crate) fn begin_wait(&self, snapshot: Snapshot) -> WaitGuard {
        self.snapshots.publish(&self.key, snapshot);
        self.snapshots.begin_wait()
    }

    /// Withdraws what is published, before the palace changes in memory.
    pub(crate) fn withdraw(&self) {
        self.snapshots.remove(&self.key);
    }
}

impl WaitGuard {
    /// Nobody needs to know of it.
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
    /// Refuses what a snapshot does not have.
    pub(crate) fn refuse(&self) -> Refusal {
        self.0.store(true, Ordering::Relaxed);
        Refusal::Contended
    }

    fn is_exceeded(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Keeper {
    /// Has `on_wait` called whenever a call begins to wait, and when it goes on.
    pub fn set_wait_callback(&mut self, on_wait: WaitCallback) {
        // The first is told.
        drop(self.published.on_wait.set(on_wait));
    }

    /// Returns who can read while this keeper is busy.
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

    /// Publishes every open palace: the call that begins may have to wait.
    pub fn publish_snapshots(&self) {
        for (key, held) in &self.open_palaces {
            self.published.publish(key, held.snapshot());
        }
    }

    /// Begins to act for callers whose visits are shared with readers of snapshots.
    pub fn begin_call(&mut self) {
        self.visits.clear();
    }

    /// Keeps where the visit of a caller has led.
    pub fn end_call(&mut self, by: &Caller) {
        if let Some(visit) = self.visits.remove(&by.name) {
            let mut visits = self.shared_visits.lock().unwrap_or_else(PoisonError::into_inner);
            visits.insert(by.name.clone(), visit);
        }
    }

    /// Publishes every open palace, and tells that a call waits.
    pub(crate) fn begin_wait(&self) -> WaitGuard {
        self.publish_snapshots();
        self.published.begin_wait()
    }

    /// Refuses to do what only the keeper can do, not who reads a snapshot.
    pub(crate) fn check_not_snapshot(&self) -> Result<(), Refusal> {
        self.snapshot_limits.as_ref().map_or(Ok(()), |it| Err(it.refuse()))
    }

    /// Returns where a palace with the directory name `key` is published.
    pub(crate) fn snapshot_slot(&self, key: &str) -> SnapshotSlot {
        SnapshotSlot { key: key.to_owned(), snapshots: self.published.clone() }
    }
}

impl SnapshotReader {
    /// Asks the palaces that are published, for a caller; `None`: only the keeper can
    /// answer, and nothing was done.
    pub fn try_ask<T>(&self, by: &Caller, question: impl FnOnce(&mut Keeper) -> T) -> Option<T> {
        // Nothing is withdrawn until this is done.
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
    /// Understands a question with a model; others can read while that is being read.
    pub(crate) fn embed_query<'a>(
        &self,
        mind: &'a VectorStore,
        question: &str,
    ) -> EmbeddedQuery<'a> {
        let _wait = mind.is_loading_model().then(|| self.begin_wait());
        mind.embed_query(question)
    }

    /// Keeps an arrangement in order from now on.
    pub(crate) fn keep_arrangement_sorted(&mut self, arrangement: &Grouping) {
        if !self.is_snapshot() && !self.palace.graph.has_cached_grouping(arrangement) {
            self.withdraw_snapshot();
            Arc::make_mut(&mut self.palace).graph.cache_grouping(arrangement);
        }
    }

    /// Returns what shares all that can be read in memory.
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

    /// Makes of a snapshot what can be asked as if it was a palace.
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

    /// Lets others read the palace as it is in memory while this call waits.
    pub(crate) fn begin_wait(&self) -> WaitGuard {
        match &self.publication {
            Some(publication) => publication.begin_wait(self.snapshot()),
            None => WaitGuard::without_notice(),
        }
    }

    /// Lets nobody read any more what is about to change in memory.
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

/// Refuses to write by a clock whose dates files and git cannot hold.
fn check_clock(now: DateTime<Utc>) -> Result<(), Refusal> {
    match now.year() {
        1970..=9999 => Ok(()),
        _ => Err(Refusal::InvalidClock(now)),
    }
}
