//! Remembers, outside of palaces, the last home of the user, and what `palazzo setup` has written into
//! the configurations of clients.

use std::path::{Path, PathBuf};

use crate::Refusal;
use palazzo_core::model::ClientSetup;
use palazzo_store as store;

/// Returns the home that the user named last, from the folder for the state of this program.
pub fn last_home(state_folder: &Path) -> Option<PathBuf> {
    store::read_last_home(state_folder)
}

/// Stores the home that the user has named.
pub fn remember_home(state_folder: &Path, home: &Path) -> Result<(), Refusal> {
    Ok(store::write_last_home(state_folder, home)?)
}

/// Removes what `palazzo setup` keeps in the folder for the state of this program, if it is of no use
/// any more: records of nothing, and a last home that `is_unused`.
pub fn remove_unused_setup_state(
    state_folder: &Path,
    is_unused: impl FnOnce(&Path) -> bool,
) -> Result<(), Refusal> {
    store::remove_empty_client_setups(state_folder)?;
    Ok(store::forget_last_home_if(state_folder, is_unused)?)
}

/// Lists what `palazzo setup` has written into the configurations of clients.
pub fn client_setups(state_folder: &Path) -> Result<Vec<ClientSetup>, Refusal> {
    Ok(store::read_client_setups(state_folder)?)
}

/// Stores what `palazzo setup` writes into the configuration of a client, in place of an older
/// record for this file and name.
pub fn add_client_setup(state_folder: &Path, setup: &ClientSetup) -> Result<(), Refusal> {
    Ok(store::add_client_setup(state_folder, setup)?)
}

/// Removes the record for an entry of a file.
pub fn remove_client_setup(state_folder: &Path, file: &Path, name: &str) -> Result<(), Refusal> {
    Ok(store::remove_client_setup(state_folder, file, name)?)
}
