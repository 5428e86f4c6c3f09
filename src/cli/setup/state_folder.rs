//! Removes the folder for the state of this program if `palazzo setup` has created it.

use std::path::{Path, PathBuf};

use crate::cli::client::config_file::remove_empty_folders;
use crate::cli::home;
use crate::cli::user_folders::state_dir;
use palazzo_core::model::ClientSetup;
use palazzo_keeper as keeper;

/// Divides folders into those that contain the folder of the state, which is removed last, and the
/// others.
pub(super) fn partition_state_ancestors(
    state: &Path,
    folders: &[PathBuf],
) -> (Vec<PathBuf>, Vec<PathBuf>) {
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
pub(super) fn created_state_folders<'a>(
    records: impl Iterator<Item = &'a ClientSetup>,
) -> Vec<PathBuf> {
    let Some(state) = state_dir() else { return Vec::new() };
    let folders: Vec<_> = records.flat_map(|it| &it.created_folders).cloned().collect();
    let mut folders = partition_state_ancestors(&state, &folders).0;
    folders.sort();
    folders.dedup();
    folders
}

/// Removes what is of no use any more, then the folder of the state, and those that were `created`
/// around it, if they are empty.
pub(super) fn remove_unused_state(created: &[PathBuf]) {
    let Some(state) = state_dir() else { return };
    let removed = keeper::remove_unused_setup_state(&state, |home| !home::has_palaces(home));
    if let Err(refusal) = removed {
        anstream::eprintln!("palazzo: the records of set-ups stay: {refusal}");
    }
    remove_empty_folders(std::slice::from_ref(&state));
    let around: Vec<_> = created.iter().filter(|it| **it != state).cloned().collect();
    remove_empty_folders(&around);
}
