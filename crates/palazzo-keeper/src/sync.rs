//! Synchronizes palaces with their upstreams: `palazzo sync`. The consent of the user to that, and
//! the state of a repository as last fetched.

pub(crate) mod background;
pub(crate) mod notices;
mod repositories;
mod round;
mod schedule;

pub use background::{BackgroundSyncSettings, SyncAnswer};
pub use repositories::RepositoryWithPalaces;
pub use round::{SyncOptions, SyncReport, revert_last_sync, sync_repository, undo_last_sync};
pub use schedule::SyncTiming;

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::merge::MERGE_RULES_VERSION;
use crate::sync::repositories::{find_synced_repository, repositories_of_home};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::path_text;
use palazzo_store::{self as store, ConsentStore, SyncRecord, SyncSession, SyncStatus};

/// What was set up.
#[derive(Clone, Debug)]
pub struct SyncSetupReport {
    /// The branch and the remote, for a message.
    pub upstream: String,
    /// Whether there was no such upstream before.
    pub is_new_upstream: bool,
    /// The number of commits that the first synchronization pushes, if that is known.
    pub ahead: Option<usize>,
}

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

/// Stores the user's consent to synchronize a repository with the upstream of its branch. `url`
/// gives a branch without an upstream one. A repository with other files must not differ from the
/// upstream in them.
pub fn set_up_sync(
    repository: &RepositoryWithPalaces,
    url: Option<&str>,
    time_limit: Duration,
    lock_timeout: Duration,
) -> Result<SyncSetupReport, Refusal> {
    let store = repository.store();
    let is_new_upstream = url.is_some() && store.upstream().is_err();
    let upstream = match url {
        Some(url) => store.add_upstream(url)?,
        None => store.upstream()?,
    };
    let ahead = if store.has_files_of_no_palace()? {
        let mut session = SyncSession::begin(repository.store(), time_limit, lock_timeout)?;
        session.fetch()?;
        Some(session.compare(MERGE_RULES_VERSION)?.ahead)
    } else {
        store.sync_status().ok().and_then(|it| it.ahead)
    };
    repository.allow(&upstream)?;
    Ok(SyncSetupReport { upstream: upstream.description(), is_new_upstream, ahead })
}

impl Keeper {
    /// Asks to synchronize the repository of the palace that the caller acts on, and returns a
    /// receiver of the answer. It is closed if the server ends before.
    pub fn request_sync(&mut self, caller: &Caller) -> Result<Receiver<SyncAnswer>, Refusal> {
        self.check_not_snapshot()?;
        let key = self.current_workspace(caller)?;
        let folder = self.open_palace(&key)?.store().palace_folder().to_owned();
        let not_running = || Refusal::Invalid("only `palazzo serve` runs this tool".to_owned());
        Ok(self.background_sync.as_ref().ok_or_else(not_running)?.request(&folder))
    }
}

/// Lists the repositories of the palaces of the home.
pub fn list_repositories_with_palaces(
    keeper: &Keeper,
) -> Result<Vec<RepositoryWithPalaces>, Refusal> {
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
pub fn sync_state(repository: &RepositoryWithPalaces) -> Result<SyncState, Refusal> {
    let mut status = repository.store().sync_status()?;
    let is_set_up = repository.is_allowed(&status.upstream)?;
    if !is_set_up {
        // The record of a repository that came as an archive is not ours.
        status.record = SyncRecord::default();
    }
    Ok(SyncState { is_set_up, status, conflicts: repository.count_conflicts() })
}
