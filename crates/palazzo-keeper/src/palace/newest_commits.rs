//! The newest commits of a palace, read once and then extended.

use std::sync::Arc;

use crate::Refusal;
use crate::palace::loaded_palace::LoadedPalace;
use palazzo_core::model::{CommitDetails, CommitId};
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
}
