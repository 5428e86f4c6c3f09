//! The state of a repository compared with its upstream, as last fetched.

use std::path::{Path, PathBuf};

use crate::keeper::sync::repositories::{
    SyncedRepository, find_synced_repository, repositories_of_home,
};
use crate::keeper::{Keeper, Refusal};
use crate::model::path_text;
use crate::store::{self, ConsentStore, SyncRecord};

/// The state of a repository compared with its upstream, as last fetched.
#[derive(Clone, Debug)]
pub struct SyncState {
    /// Whether the user has set it up on this machine.
    pub is_set_up: bool,
    /// The branch and the remote, for a message.
    pub upstream: String,
    /// The URL of the remote, without a password.
    pub url: String,
    /// The number of commits that the remote lacks; `None`: it was never reached.
    pub ahead: Option<usize>,
    /// The number of commits of the remote that are missing here; `None`: it was never reached.
    pub behind: Option<usize>,
    /// What is known of the last synchronizations.
    pub record: SyncRecord,
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
    let status = repository.store().sync_status()?;
    let is_set_up = repository.is_allowed(&status.upstream)?;
    Ok(SyncState {
        is_set_up,
        upstream: status.upstream.description(),
        url: status.upstream.url.to_string(),
        ahead: status.ahead,
        behind: status.behind,
        // The record of a repository that came as an archive is not ours.
        record: if is_set_up { status.record } else { SyncRecord::default() },
        conflicts: repository.count_conflicts(),
    })
}
