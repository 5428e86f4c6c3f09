//! Examines the repositories of palaces and the lock files in them: `palazzo doctor`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::keeper::palace::OpenPalace;
use crate::keeper::{Keeper, Refusal};
use crate::model::{Code, Diagnostic};
use crate::store::{self, GitLock, RepositoryState, Store};

/// The state of the repository of one palace.
#[derive(Debug)]
pub struct DoctorReport {
    /// The directory of the palace.
    pub root: PathBuf,
    /// The repository; `None` if there is none.
    pub repository: Result<Option<RepositoryState>, Refusal>,
    /// The lock files in it.
    pub locks: Vec<GitLock>,
    /// Whether the palace had a repository that does not exist any more.
    pub has_lost_history: bool,
}

/// Examines the repository of each palace of the home. Changes nothing.
pub fn examine_repositories(keeper: &Keeper) -> Result<Vec<DoctorReport>, Refusal> {
    let stores = keeper.workspaces()?.into_iter().map(|it| keeper.store_of(&it));
    Ok(stores.map(|it| examine_repository(&it)).collect())
}

/// Returns the lock file at `path`; `None` if it is not a lock file in a repository of the home.
pub fn find_git_lock(keeper: &Keeper, path: &Path) -> Result<Option<GitLock>, Refusal> {
    Ok(find_store_of_lock(keeper, path)?.map(|(_, lock)| lock))
}

/// Removes the lock file at `path`, unless a running process holds it; `false` if it is not a lock
/// file in a repository of the home.
pub fn remove_git_lock(keeper: &Keeper, path: &Path) -> Result<bool, Refusal> {
    match find_store_of_lock(keeper, path)? {
        Some((store, _)) => Ok(store.remove_git_lock(path)?),
        None => Ok(false),
    }
}

/// Finds the palace whose repository contains the lock file at `path`.
fn find_store_of_lock(keeper: &Keeper, path: &Path) -> Result<Option<(Store, GitLock)>, Refusal> {
    for workspace in keeper.workspaces()? {
        let store = keeper.store_of(&workspace);
        if let Some(lock) = store.find_git_lock(path)? {
            return Ok(Some((store, lock)));
        }
    }
    Ok(None)
}

/// Returns the version of the installed git; `None` if there is none.
pub fn git_version() -> Option<String> {
    store::git_version()
}

/// Reports the lock files of git that no running process holds, unless they are `reported` already:
/// several palaces may be in one repository.
pub(crate) fn stale_lock_diagnostics(
    palace: &OpenPalace,
    reported: &mut BTreeSet<PathBuf>,
) -> Vec<Diagnostic> {
    let locks = palace.store().list_git_locks().unwrap_or_default();
    let stale =
        locks.into_iter().filter(|it| !it.is_held_by_process() && reported.insert(it.path.clone()));
    let diagnostic = |lock: GitLock| {
        let path = lock.path.strip_prefix(palace.store().palace_folder()).unwrap_or(&lock.path);
        let message = format!("a lock file of git: {}", lock.description());
        Diagnostic::for_file(Code::GitLock, &path.display().to_string(), message).with_hint(
            format!("if no git is running here, remove it: `{}`", lock.removal_command()),
        )
    };
    stale.map(diagnostic).collect()
}

fn examine_repository(store: &Store) -> DoctorReport {
    DoctorReport {
        root: store.palace_folder().to_owned(),
        repository: store.repository_state().map_err(Refusal::from),
        locks: store.list_git_locks().unwrap_or_default(),
        has_lost_history: store.error_if_history_lost().is_some(),
    }
}
