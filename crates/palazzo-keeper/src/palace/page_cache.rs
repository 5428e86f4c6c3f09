//! What the pages of a palace need again and again: planned maps, the newest commits, the order in
//! which the rooms came, the commits of other machines, the number of findings.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::palace::file_states::ChangeCounters;
use palazzo_core::format::PalacePath;
use palazzo_core::model::{CommitDetails, CommitId, RoomArrivals, Slug};
use palazzo_core::view::MapPlan;

/// What the pages of a palace need again and again.
#[derive(Default)]
pub(crate) struct PageCache {
    /// The map that shows a wing in full, by that wing; emptied when a room changes.
    maps: Mutex<BTreeMap<Option<Slug>, Arc<MapPlan>>>,
    /// The last commit, and the newest commits up to it.
    commits: Mutex<(Option<CommitId>, Arc<Vec<CommitDetails>>)>,
    /// The last commit, and when each room came into the palace up to it.
    arrivals: Mutex<(Option<CommitId>, Arc<RoomArrivals>)>,
    /// The last commit, and the commits up to it that came from other machines.
    synced: Mutex<(Option<CommitId>, Arc<HashSet<String>>)>,
    /// The number of findings in the files with these counters.
    findings: Mutex<Option<(ChangeCounters, usize)>>,
}

impl PageCache {
    /// Forgets what depends on a file that changes.
    pub(crate) fn forget_file(&self, path: &str) {
        use PalacePath::{Drawer, Room, Settings};
        if matches!(PalacePath::parse(path), Ok(Room(_) | Drawer(_) | Settings)) {
            lock(&self.maps).clear();
        }
    }

    /// Returns the map that shows a wing in full, made by `plan` unless it is known.
    pub(crate) fn map_of_wing(
        &self,
        wing: Option<&Slug>,
        plan: impl FnOnce() -> MapPlan,
    ) -> Arc<MapPlan> {
        let key = wing.cloned();
        if let Some(known) = lock(&self.maps).get(&key) {
            return known.clone();
        }
        let plan = Arc::new(plan());
        lock(&self.maps).insert(key, plan.clone());
        plan
    }

    /// Returns the last commit whose history is known, and the newest commits up to it.
    pub(crate) fn known_commits(&self) -> (Option<CommitId>, Arc<Vec<CommitDetails>>) {
        lock(&self.commits).clone()
    }

    /// Keeps the newest commits up to `head`.
    pub(crate) fn set_known_commits(&self, head: CommitId, commits: Arc<Vec<CommitDetails>>) {
        *lock(&self.commits) = (Some(head), commits);
    }

    /// Returns the last commit whose rooms are known, and when each of them came into the palace.
    pub(crate) fn known_arrivals(&self) -> (Option<CommitId>, Arc<RoomArrivals>) {
        lock(&self.arrivals).clone()
    }

    /// Keeps when each room up to `head` came into the palace.
    pub(crate) fn set_known_arrivals(&self, head: CommitId, arrivals: Arc<RoomArrivals>) {
        *lock(&self.arrivals) = (Some(head), arrivals);
    }

    /// Returns the last commit whose origin is known, and the commits up to it that came from other
    /// machines.
    pub(crate) fn known_synced_commits(&self) -> (Option<CommitId>, Arc<HashSet<String>>) {
        lock(&self.synced).clone()
    }

    /// Keeps the commits up to `head` that came from other machines.
    pub(crate) fn set_known_synced_commits(&self, head: CommitId, synced: Arc<HashSet<String>>) {
        *lock(&self.synced) = (Some(head), synced);
    }

    /// Returns the number of findings, if it is known for the present files.
    pub(crate) fn finding_count(&self, files: ChangeCounters) -> Option<usize> {
        lock(&self.findings).filter(|(of, _)| *of == files).map(|(_, count)| count)
    }

    /// Keeps the number of findings in the present files.
    pub(crate) fn set_finding_count(&self, files: ChangeCounters, count: usize) {
        *lock(&self.findings) = Some((files, count));
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
