//! What is read from the history once and then extended: the newest commits of a palace, and the
//! order in which its rooms came.

use std::collections::BTreeSet;
use std::sync::Arc;

use ulid::Ulid;

use crate::Refusal;
use crate::palace::loaded_palace::LoadedPalace;
use palazzo_core::model::{CommitDetails, CommitId, RoomArrivalOrder};
use palazzo_store::CommitRange;

/// How many of the newest commits are kept.
pub(crate) const MAX_COMMITS: usize = 200;

impl LoadedPalace {
    /// Returns the newest commits that changed the palace, newest first, with their files.
    pub(crate) fn newest_commits(&self) -> Result<Arc<Vec<CommitDetails>>, Refusal> {
        let as_of = self.store.as_of_commit().map(|it| it.id.clone());
        let Some(head) = as_of.or_else(|| self.head.clone()) else { return Ok(Arc::default()) };
        let (known_head, known) = self.page_cache.newest_commits.get().unzip();
        let known = known.unwrap_or_default();
        if known_head.as_ref() == Some(&head) {
            return Ok(known);
        }
        let is_older = |it: &CommitId| self.store.is_in_history(it).unwrap_or_default();
        let hidden = known_head.filter(is_older);
        let range =
            CommitRange { tips: vec![head.clone()], hidden: hidden.iter().cloned().collect() };
        let mut commits = match self.store.newest_of_range(&range, MAX_COMMITS) {
            Err(err) if err.is_repository_error() => return Ok(Arc::default()),
            read => read?,
        };
        if hidden.is_some() {
            commits.extend(known.iter().cloned());
            commits.truncate(MAX_COMMITS);
        }
        let commits = Arc::new(commits);
        self.page_cache.newest_commits.set(head, commits.clone());
        Ok(commits)
    }

    /// Returns when each room came into the palace; empty without a history.
    pub(crate) fn room_arrivals(&self) -> Result<Arc<RoomArrivalOrder>, Refusal> {
        let as_of = self.store.as_of_commit().map(|it| it.id.clone());
        let Some(head) = as_of.or_else(|| self.head.clone()) else { return Ok(Arc::default()) };
        let (known_head, arrivals) = self.page_cache.room_arrivals.get().unzip();
        let mut arrivals = arrivals.unwrap_or_default();
        if known_head.as_ref() == Some(&head) {
            return Ok(arrivals);
        }
        let read = |known| self.store.file_versions("rooms/", &head, known);
        let since_known = known_head.as_ref().map(|it| read(Some(it))).transpose();
        let versions = match since_known.map(Option::flatten) {
            Ok(Some(versions)) => Ok(versions),
            Ok(None) => {
                arrivals = Arc::default();
                read(None).map(Option::unwrap_or_default)
            }
            Err(err) => Err(err),
        };
        let versions = match versions {
            Err(err) if err.is_repository_error() => return Ok(Arc::default()),
            versions => versions?,
        };
        for texts in versions {
            let ids: BTreeSet<_> = texts.iter().filter_map(|it| room_id(it)).collect();
            let arrivals = Arc::make_mut(&mut arrivals);
            for id in ids {
                let number = arrivals.len();
                arrivals.entry(id).or_insert(number);
            }
        }
        self.page_cache.room_arrivals.set(head, arrivals.clone());
        Ok(arrivals)
    }
}

/// Returns the id in the text of a room's file, which need not be valid otherwise.
fn room_id(text: &str) -> Option<Ulid> {
    let id = text.lines().find_map(|it| it.strip_prefix("id:"))?;
    id.split_whitespace().next()?.parse().ok()
}
