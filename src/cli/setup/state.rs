//! What `palazzo setup` leaves in the folder for the state of this program, and its removal.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::cli::client::config_file::remove_empty_folders;
use crate::cli::home;
use crate::keeper;
use crate::model::ClientSetup;

/// The files: the records of what was added, and the home that was given last.
const RECORDS: &str = "client-setups.json";
const LAST_HOME: &str = "last-home";

/// Returns those of the folders that the folder of the state is in, which is removed last, and the
/// others.
pub(super) fn divide_folders(state: &Path, folders: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    folders.iter().cloned().partition(|it| state.starts_with(it))
}

/// Returns the folders that must be created for the state, the outermost first.
pub(super) fn missing_folders(state: &Path) -> Vec<PathBuf> {
    let missing = state.ancestors().take_while(|it| !it.exists()).map(Path::to_owned);
    let mut missing: Vec<_> = missing.collect();
    missing.reverse();
    missing
}

/// Returns the folders that were created for the state with these records.
pub(super) fn created_folders<'a>(records: impl Iterator<Item = &'a ClientSetup>) -> Vec<PathBuf> {
    let Some(state) = home::state_dir() else { return Vec::new() };
    let folders: Vec<_> = records.flat_map(|it| &it.created_folders).cloned().collect();
    let mut folders = divide_folders(&state, &folders).0;
    folders.sort();
    folders.dedup();
    folders
}

/// Removes the file of the records, if none is left, and the home that was given last, if it has no
/// palaces; then the folder of the state, and those that were `created` around it, if they are empty.
pub(super) fn remove_unused_state(created: &[PathBuf]) {
    let Some(state) = home::state_dir() else { return };
    let has_no_record = || keeper::client_setups(&state).is_ok_and(|it| it.is_empty());
    remove_with_lock(&state.join(RECORDS), has_no_record);
    let has_no_palace = || keeper::last_home(&state).is_some_and(|it| !home::has_palaces(&it));
    remove_with_lock(&state.join(LAST_HOME), has_no_palace);
    remove_empty_folders(std::slice::from_ref(&state));
    let around: Vec<_> = created.iter().filter(|it| **it != state).cloned().collect();
    remove_empty_folders(&around);
}

/// Removes a file and its lock, unless another process has the lock, or the file is used.
fn remove_with_lock(file: &Path, is_unused: impl Fn() -> bool) {
    let lock = file.with_extension("lock");
    let Ok(lock_file) = File::options().write(true).open(&lock) else { return };
    if lock_file.try_lock().is_ok() && is_unused() && fs::remove_file(file).is_ok() {
        // If it stays, the folder does too, and the next set-up uses it.
        fs::remove_file(lock).unwrap_or_default();
    }
}
