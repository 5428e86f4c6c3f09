//! Examines the repositories of palaces and the lock files in them: `palazzo doctor`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::palace::OpenPalace;
use crate::{Keeper, Refusal};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{Code, Diagnostic, Proposal, SigningMode};
use palazzo_store::{self as store, GitLock, RepositoryState, Store};

/// The state of one palace and its repository.
#[derive(Debug)]
pub struct DoctorReport {
    /// The name of the palace.
    pub name: String,
    /// The directory of the palace.
    pub root: PathBuf,
    /// Why this program does not read the palace, if its files have another format.
    pub other_format: Option<Diagnostic>,
    /// The repository; `None` if there is none.
    pub repository: Result<Option<RepositoryState>, Refusal>,
    /// The proposals with changes of the palace.
    pub proposals: Vec<Proposal>,
    /// The lock files in it.
    pub locks: Vec<GitLock>,
    /// Whether the palace had a repository that does not exist any more.
    pub has_lost_history: bool,
    /// The author and the committer of what the person at the terminal changes; `None` without a
    /// repository.
    pub identities: Option<(String, String)>,
    /// Why commits cannot be signed; `None`: the settings of git or of the palace ask for no
    /// signature.
    pub signing: Option<Result<(), String>>,
    /// The name of the file system, if it may not report changes made on other machines.
    pub network_file_system: Option<&'static str>,
    /// The number of folders of the palace, each of which a server watches.
    pub folder_count: usize,
    /// The folder of the model for semantic search, if the settings name one, and why it cannot be
    /// used.
    pub model: Option<(String, Option<String>)>,
}

/// Examines each palace of the home and its repository for the person `user`. Changes nothing.
pub fn examine_palaces(keeper: &Keeper, user: &str) -> Result<Vec<DoctorReport>, Refusal> {
    let palaces = keeper.workspaces()?.into_iter();
    Ok(palaces.map(|it| examine_palace(keeper, &keeper.store_of(&it), it.name, user)).collect())
}

/// Returns how many folders the system watches for each user at most; `None` if it has no such
/// limit, or none that is known.
pub fn max_watched_folders() -> Option<u64> {
    store::watch::max_watched_folders()
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

/// Lists the palaces of a home that a sparse checkout leaves out, with the command that checks them
/// out; `None`: there are none.
pub fn palaces_outside_checkout(home: &Path) -> Option<(Vec<String>, String)> {
    Store::new(home.to_owned(), home.to_owned()).palaces_outside_checkout()
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
            match lock.is_removable() {
                true => {
                    format!("if no git is running here, remove it: `{}`", lock.removal_command())
                }
                false => lock.advice(),
            },
        )
    };
    stale.map(diagnostic).collect()
}

fn examine_palace(keeper: &Keeper, store: &Store, name: String, user: &str) -> DoctorReport {
    let settings = store.read_file(PalacePath::SETTINGS_FILE).ok().flatten().unwrap_or_default();
    let parsed = format::parse_settings(&settings);
    let signs = parsed.as_ref().is_none_or(|it| it.sign != SigningMode::Never);
    let model = parsed.and_then(|it| it.model);
    let files = store.list_files("").map(|(files, _)| files).unwrap_or_default();
    let folders: BTreeSet<_> = files.keys().filter_map(|it| Path::new(it).parent()).collect();
    DoctorReport {
        name,
        other_format: format::find_other_format(&settings),
        identities: store.commit_identities(user).ok().flatten(),
        signing: if signs { store.try_signing() } else { None },
        network_file_system: store.network_file_system(),
        folder_count: folders.len(),
        model: model.map(|folder| {
            let error = keeper.models.load(store.palace_folder(), &folder).err();
            (folder, error)
        }),
        root: store.palace_folder().to_owned(),
        repository: store.repository_state().map_err(Refusal::from),
        proposals: store.list_proposals().unwrap_or_default(),
        locks: store.list_git_locks().unwrap_or_default(),
        has_lost_history: store.error_if_history_lost().is_some(),
    }
}
