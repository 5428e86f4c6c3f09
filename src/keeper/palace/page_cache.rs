//! What the pages of a palace need again and again: planned maps, the newest commits, the number of
//! findings.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::format::PalacePath;
use crate::keeper::Refusal;
use crate::keeper::palace::file_states::ChangeCounters;
use crate::keeper::palace::loaded_palace::LoadedPalace;
use crate::model::{CommitDetails, CommitId, Slug};
use crate::store::CommitRange;
use crate::view::MapPlan;

/// How many of the newest commits are kept.
pub(crate) const MAX_COMMITS: usize = 200;

/// What the pages of a palace need again and again.
#[derive(Default)]
pub(crate) struct PageCache {
    /// The map that shows a wing in full, by that wing; emptied when a room changes.
    maps: Mutex<BTreeMap<Option<Slug>, Arc<MapPlan>>>,
    /// The last commit, and the newest commits up to it.
    commits: Mutex<(Option<CommitId>, Arc<Vec<CommitDetails>>)>,
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
    pub(crate) fn map(&self, wing: Option<&Slug>, plan: impl FnOnce() -> MapPlan) -> Arc<MapPlan> {
        let key = wing.cloned();
        if let Some(known) = lock(&self.maps).get(&key) {
            return known.clone();
        }
        let plan = Arc::new(plan());
        lock(&self.maps).insert(key, plan.clone());
        plan
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

impl LoadedPalace {
    /// Returns the newest commits that changed the palace, newest first, with their files.
    pub(crate) fn newest_commits(&self) -> Result<Arc<Vec<CommitDetails>>, Refusal> {
        let as_of = self.store.as_of_commit().map(|it| it.id.clone());
        let Some(head) = as_of.or_else(|| self.head.clone()) else { return Ok(Arc::default()) };
        let (known_head, known) = lock(&self.page_cache.commits).clone();
        if known_head.as_ref() == Some(&head) {
            return Ok(known);
        }
        let is_older = |it: &CommitId| self.store.is_in_history(it).unwrap_or_default();
        let hidden = known_head.filter(is_older);
        let mut commits = Vec::new();
        let range =
            CommitRange { tips: vec![head.clone()], hidden: hidden.iter().cloned().collect() };
        let read = self.store.log_range(&range, &[], |it| {
            commits.push(it);
            commits.len() < MAX_COMMITS
        });
        match read {
            Err(err) if err.is_repository_error() => return Ok(Arc::default()),
            read => read?,
        }
        if hidden.is_some() {
            commits.extend(known.iter().cloned());
            commits.truncate(MAX_COMMITS);
        }
        let commits = Arc::new(commits);
        *lock(&self.page_cache.commits) = (Some(head), commits.clone());
        Ok(commits)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
