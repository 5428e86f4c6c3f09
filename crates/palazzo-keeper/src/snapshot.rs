//! Snapshots of open palaces, for readers while a call waits.
//!
//! While a call waits for a lock, a disk or a model, it has the keeper to itself. Before it
//! waits, the open palaces are published as they are in memory. A snapshot shares that memory,
//! so it costs nothing; it is withdrawn, after its readers are done, before the palace changes.
//!
//! A reader of a snapshot changes nothing, opens nothing, and does not look for changes by
//! others: a call that needs one of these goes to the keeper.

use std::path::PathBuf;
use std::sync::Arc;

use crate::palace::OpenPalace;
use crate::palace::loaded_palace::LoadedPalace;
use crate::palace::open_palace::{
    PublishedSnapshots, SnapshotMissFlag, SnapshotSlot, WaitCallback, WaitGuard,
};
use crate::semantic::ModelCache;
use crate::visit_store::VisitStore;
use crate::{Caller, Keeper, Refusal};
use palazzo_store::ServedProposal;

/// Answers calls from the published snapshots while the keeper is busy.
#[derive(Clone)]
pub struct SnapshotReader {
    home: PathBuf,
    preferred_workspace: Option<String>,
    can_choose_workspace: bool,
    proposal: Option<Arc<ServedProposal>>,
    models: ModelCache,
    visits: VisitStore,
    published: PublishedSnapshots,
}

impl Keeper {
    /// Sets the callback for the begin and the end of a wait.
    pub fn set_wait_callback(&mut self, on_wait: WaitCallback) {
        self.published.set_wait_callback(on_wait);
    }

    /// Returns a reader of snapshots for the time while this keeper is busy.
    pub fn snapshot_reader(&self) -> SnapshotReader {
        SnapshotReader {
            home: self.home.clone(),
            preferred_workspace: self.preferred_workspace.clone(),
            can_choose_workspace: self.can_choose_workspace,
            proposal: self.proposal.clone(),
            models: self.models.clone(),
            visits: self.shared_visits.clone(),
            published: self.published.clone(),
        }
    }

    /// Publishes every open palace, because the next call may have to wait.
    pub fn publish_snapshots(&self) {
        for (key, palace) in &self.open_palaces {
            self.published.publish(key, palace.clone_for_reading());
        }
    }

    /// Starts a call, whose visits are shared with readers of snapshots, and whose progress goes
    /// to `by`.
    pub fn start_call(&mut self, by: &Caller) {
        self.visits.clear();
        self.progress.clone_from(&by.progress);
    }

    /// Ends a call, and stores the visit of its caller.
    pub fn share_visit_after_call(&mut self, by: &Caller) {
        if let Some(visit) = self.visits.remove(&by.visit) {
            self.shared_visits.store(by, visit);
        }
    }

    /// Publishes every open palace, and reports that a call waits.
    pub(crate) fn publish_and_begin_wait(&self) -> WaitGuard {
        self.publish_snapshots();
        self.published.begin_reported_wait()
    }

    /// Refuses a call that a snapshot cannot answer.
    pub(crate) fn check_not_snapshot(&self) -> Result<(), Refusal> {
        self.snapshot_miss_flag.as_ref().map_or(Ok(()), |it| Err(it.set_and_refuse()))
    }

    /// Returns the slot in which the palace with the directory name `key` is published.
    pub(crate) fn snapshot_slot(&self, key: &str) -> SnapshotSlot {
        SnapshotSlot { key: key.to_owned(), snapshots: self.published.clone() }
    }
}

impl SnapshotReader {
    /// Answers a call from the published snapshots; `None`: only the keeper can answer it, and
    /// nothing was done.
    pub fn try_answer_from_snapshots<T>(
        &self,
        by: &Caller,
        question: impl FnOnce(&mut Keeper) -> T,
    ) -> Option<T> {
        // The lock keeps the snapshots published until the answer is complete.
        let palaces = self.published.lock_for_reading();
        let limits = SnapshotMissFlag::default();
        let mut keeper = Keeper::new(self.home.clone(), self.preferred_workspace.clone());
        keeper.can_choose_workspace = self.can_choose_workspace;
        keeper.proposal.clone_from(&self.proposal);
        keeper.models = self.models.clone();
        keeper.shared_visits = self.visits.clone();
        keeper.snapshot_miss_flag = Some(limits.clone());
        let open = |it: &LoadedPalace| OpenPalace::from_snapshot(it, limits.clone());
        keeper.open_palaces = palaces.iter().map(|(key, it)| (key.clone(), open(it))).collect();
        let answer = question(&mut keeper);
        let is_answered = !limits.is_set();
        if is_answered {
            keeper.share_visit_after_call(by);
        }
        is_answered.then_some(answer)
    }
}
