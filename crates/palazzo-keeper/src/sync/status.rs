//! The state of a repository compared with its upstream, as last fetched.

use std::path::{Path, PathBuf};

use crate::sync::repositories::{SyncedRepository, find_synced_repository, repositories_of_home};
use crate::{Keeper, Refusal};
use palazzo_core::model::path_text;
use palazzo_store::{self as store, ConsentStore, SyncRecord, SyncStatus};

/// The state of a repository compared with its upstream, as last fetched.
#[derive(Clone, Debug)]
pub struct SyncState {
    /// Whether the user has set it up on this machine.
    pub is_set_up: bool,
    /// The upstream, and what is known of the last synchronizations.
    pub status: SyncStatus,
    /// The number of recorded conflicts.
    pub conflicts: usize,
}

/// Lists the repositories of the palaces of the home.
pub fn list_synced_repositories(keeper: &Keeper) -> Result<Vec<SyncedRepository>, Refusal> {
    let found = repositories_of_home(&keeper.home, &keeper.consents)?;
    if found.is_empty() {
        let home = path_text(&keeper.home);
        return Err(Refusal::Invalid(format!("no palace in {home} is in a git repository yet")));
    }
    Ok(found.into_values().collect())
}

/// Returns whether the user has set up `palazzo sync` for a palace of the home. Reads consents in
/// `consent_folder`, and opens no palace.
pub fn is_sync_set_up(home: &Path, consent_folder: Option<PathBuf>) -> bool {
    let consents = ConsentStore::new(consent_folder);
    let folders = store::list_palaces(home).unwrap_or_default();
    let mut found = folders.iter().map(|it| find_synced_repository(home, &consents, it));
    found.any(|it| it.is_ok_and(|it| it.is_some()))
}

/// Returns the state of a repository. Reaches no other machine.
pub fn sync_state(repository: &SyncedRepository) -> Result<SyncState, Refusal> {
    let mut status = repository.store().sync_status()?;
    let is_set_up = repository.is_allowed(&status.upstream)?;
    if !is_set_up {
        // The record of a repository that came as an archive is not ours.
        status.record = SyncRecord::default();
    }
    Ok(SyncState { is_set_up, status, conflicts: repository.count_conflicts() })
}
