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
    /// The newest commits up to a commit.
    pub(crate) newest_commits: Memo<CommitId, Arc<Vec<CommitDetails>>>,
    /// When each room came into the palace, up to a commit.
    pub(crate) room_arrivals: Memo<CommitId, Arc<RoomArrivals>>,
    /// The commits up to a commit that came from other machines.
    pub(crate) synced_commits: Memo<CommitId, Arc<HashSet<String>>>,
    /// The number of findings in the files with these counters.
    pub(crate) finding_count: Memo<ChangeCounters, usize>,
}

/// The last value that was computed, with the key that it was computed for.
pub(crate) struct Memo<K, V>(Mutex<Option<(K, V)>>);

impl<K: Clone, V: Clone> Memo<K, V> {
    /// Returns the value, with its key.
    pub(crate) fn get(&self) -> Option<(K, V)> {
        lock(&self.0).clone()
    }

    /// Keeps a value.
    pub(crate) fn set(&self, key: K, value: V) {
        *lock(&self.0) = Some((key, value));
    }
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
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
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
