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

use crate::keeper::palace::Held;
use crate::keeper::palace::entity_faults::Health;
use crate::keeper::palace::file_states::Ledger;
use crate::keeper::semantic::indexer::Sense;
use crate::keeper::semantic::models::Models;
use crate::keeper::semantic::vectors::{Mind, Understood};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Arrangement, CommitId, Diagnostic, Palace};
use crate::search::Index;
use crate::session::Visit;
use crate::store::{Known, Store};

/// Is called with true when a call begins to wait, and with false when it goes on.
pub type OnWait = Arc<dyn Fn(bool) + Send + Sync>;

/// The visits of all callers, by name. Whoever acts for a caller takes the visit from
/// here, and puts it back.
pub(crate) type Visits = Arc<Mutex<BTreeMap<String, Visit>>>;

/// The palaces that can be read while a call waits.
#[derive(Clone, Default)]
pub(crate) struct Published {
    palaces: Arc<RwLock<BTreeMap<String, Snapshot>>>,
    on_wait: Arc<OnceLock<OnWait>>,
}

/// Where a palace is published.
#[derive(Clone)]
pub(crate) struct Publication {
    pub(crate) key: String,
    pub(crate) published: Published,
}

/// A call waits for as long as this lives.
pub(crate) struct Wait(Option<Published>);

/// A palace as it was when it was published.
pub(crate) struct Snapshot {
    pub(crate) palace: Arc<Palace>,
    pub(crate) index: Arc<OnceLock<Index>>,
    pub(crate) health: Arc<OnceLock<Health>>,
    pub(crate) sense: Option<Arc<Sense>>,
    pub(crate) store: Store,
    pub(crate) findings: Arc<BTreeMap<String, Vec<Diagnostic>>>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) head: Option<CommitId>,
    pub(crate) known: Arc<Known>,
    pub(crate) repository_fault: Option<Diagnostic>,
}

/// Marks whether more was asked of a snapshot than it has.
#[derive(Clone, Default)]
pub(crate) struct Limits(Arc<AtomicBool>);

/// Reads what is published, while the keeper is busy.
#[derive(Clone)]
pub struct Readers {
    home: PathBuf,
    preferred: Option<String>,
    choose: bool,
    models: Models,
    visits: Visits,
    published: Published,
}

impl Published {
    fn begin_wait(&self) -> Wait {
        self.tell(true);
        Wait(Some(self.clone()))
    }

    fn put(&self, key: &str, snapshot: Snapshot) {
        let mut palaces = self.palaces.write().unwrap_or_else(PoisonError::into_inner);
        palaces.insert(key.to_owned(), snapshot);
    }

    /// Waits until nobody reads.
    fn remove(&self, key: &str) {
        let is_there = |it: &RwLock<BTreeMap<String, _>>| {
            it.read().unwrap_or_else(PoisonError::into_inner).contains_key(key)
        };
        if is_there(&self.palaces) {
            self.palaces.write().unwrap_or_else(PoisonError::into_inner).remove(key);
        }
    }

    fn tell(&self, is_waiting: bool) {
        if let Some(on_wait) = self.on_wait.get() {
            on_wait(is_waiting);
        }
    }
}

impl Publication {
    /// Publishes a palace, and tells that a call waits.
    pub(crate) fn begin_wait(&self, snapshot: Snapshot) -> Wait {
        self.published.put(&self.key, snapshot);
        self.published.begin_wait()
    }

    /// Withdraws what is published, before the palace changes in memory.
    pub(crate) fn withdraw(&self) {
        self.published.remove(&self.key);
    }
}

impl Wait {
    /// Nobody needs to know of it.
    pub(crate) fn untold() -> Self {
        Self(None)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(published) = &self.0 {
            published.tell(false);
        }
    }
}

impl Limits {
    /// Refuses what a snapshot does not have.
    pub(crate) fn refuse(&self) -> Refusal {
        self.0.store(true, Ordering::Relaxed);
        Refusal::Contended
    }

    fn were_met(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Keeper {
    /// Has `on_wait` called whenever a call begins to wait, and when it goes on.
    pub fn tell_waits(&mut self, on_wait: OnWait) {
        // The first is told.
        drop(self.published.on_wait.set(on_wait));
    }

    /// Returns who can read while this keeper is busy.
    pub fn readers(&self) -> Readers {
        Readers {
            home: self.home.clone(),
            preferred: self.preferred.clone(),
            choose: self.choose,
            models: self.models.clone(),
            visits: self.shared_visits.clone(),
            published: self.published.clone(),
        }
    }

    /// Publishes every open palace: the call that begins may have to wait.
    pub fn publish(&self) {
        for (key, held) in &self.held {
            self.published.put(key, held.snapshot());
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
    pub(crate) fn begin_wait(&self) -> Wait {
        self.publish();
        self.published.begin_wait()
    }

    /// Refuses to do what only the keeper can do, not who reads a snapshot.
    pub(crate) fn check_is_no_snapshot(&self) -> Result<(), Refusal> {
        self.limits.as_ref().map_or(Ok(()), |it| Err(it.refuse()))
    }

    /// Returns where a palace with the directory name `key` is published.
    pub(crate) fn publication(&self, key: &str) -> Publication {
        Publication { key: key.to_owned(), published: self.published.clone() }
    }
}

impl Readers {
    /// Asks the palaces that are published, for a caller; `None`: only the keeper can
    /// answer, and nothing was done.
    pub fn ask<T>(&self, by: &Caller, question: impl FnOnce(&mut Keeper) -> T) -> Option<T> {
        // Nothing is withdrawn until this is done.
        let palaces = self.published.palaces.read().unwrap_or_else(PoisonError::into_inner);
        let limits = Limits::default();
        let mut keeper = Keeper::new(self.home.clone(), self.preferred.clone());
        keeper.choose = self.choose;
        keeper.models = self.models.clone();
        keeper.shared_visits = self.visits.clone();
        keeper.limits = Some(limits.clone());
        let held = |it: &Snapshot| Held::of_snapshot(it, limits.clone());
        keeper.held = palaces.iter().map(|(key, it)| (key.clone(), held(it))).collect();
        let answer = question(&mut keeper);
        let is_answered = !limits.were_met();
        if is_answered {
            keeper.end_call(by);
        }
        is_answered.then_some(answer)
    }
}

impl Held {
    /// Understands a question with a model; others can read while that is being read.
    pub(crate) fn understand<'a>(&self, mind: &'a Mind, question: &str) -> Understood<'a> {
        let _wait = mind.is_being_read().then(|| self.begin_wait());
        mind.understand(question)
    }

    /// Keeps an arrangement in order from now on.
    pub(crate) fn keep_in_order(&mut self, arrangement: &Arrangement) {
        if !self.is_snapshot() && !self.palace.graph.keeps(arrangement) {
            self.withdraw();
            Arc::make_mut(&mut self.palace).graph.keep(arrangement);
        }
    }

    /// Returns what shares all that can be read in memory.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            palace: self.palace.clone(),
            index: self.index.clone(),
            health: self.health.clone(),
            sense: self.sense.clone(),
            store: self.store.for_reading(),
            findings: self.findings.clone(),
            ledger: self.ledger.clone(),
            head: self.head.clone(),
            known: self.known.clone(),
            repository_fault: self.repository_fault.clone(),
        }
    }

    /// Makes of a snapshot what can be asked as if it was a palace.
    pub(crate) fn of_snapshot(snapshot: &Snapshot, limits: Limits) -> Self {
        Self {
            palace: snapshot.palace.clone(),
            index: snapshot.index.clone(),
            health: snapshot.health.clone(),
            sense: snapshot.sense.clone(),
            store: snapshot.store.for_reading(),
            findings: snapshot.findings.clone(),
            ledger: snapshot.ledger.clone(),
            watch: None,
            shaken: false,
            leftovers: Vec::new(),
            is_worth_remembering: false,
            head: snapshot.head.clone(),
            known: snapshot.known.clone(),
            publication: None,
            limits: Some(limits),
            repository_fault: snapshot.repository_fault.clone(),
            done: Vec::new(),
            say: |_| {},
        }
    }

    /// Tells whether this is a snapshot, which never changes.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.limits.is_some()
    }

    /// Lets others read the palace as it is in memory while this call waits.
    pub(crate) fn begin_wait(&self) -> Wait {
        match &self.publication {
            Some(publication) => publication.begin_wait(self.snapshot()),
            None => Wait::untold(),
        }
    }

    /// Lets nobody read any more what is about to change in memory.
    pub(crate) fn withdraw(&self) {
        if let Some(publication) = &self.publication {
            publication.withdraw();
        }
    }

    pub(crate) fn check_can_change(&self, by: &Caller) -> Result<(), Refusal> {
        match &self.limits {
            Some(limits) => Err(limits.refuse()),
            None => check_clock(by.now),
        }
    }
}

/// Refuses to write by a clock whose dates files and git cannot hold.
fn check_clock(now: DateTime<Utc>) -> Result<(), Refusal> {
    match now.year() {
        1970..=9999 => Ok(()),
        _ => Err(Refusal::Clock(now)),
    }
}
