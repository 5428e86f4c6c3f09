//! A change of the configuration of a client, and the record by which it can be reverted.

use std::path::PathBuf;

use crate::cli::client::config_file::{create_folders, remove_empty_folders, replace_config};
use crate::cli::home;
use crate::keeper;
use crate::model::ClientSetup;

/// A change of a file.
pub(super) struct Change {
    /// The file, with links resolved.
    pub(super) target: PathBuf,
    /// What the file contains; `None`: there is none.
    pub(super) was: Option<String>,
    /// What it shall contain; `None`: it is deleted.
    pub(super) new: Option<String>,
    pub(super) record: RecordChange,
    /// What the user should know.
    pub(super) note: Option<String>,
}

/// What happens to the records.
pub(super) enum RecordChange {
    Keep,
    Add(ClientSetup),
    Remove(Vec<ClientSetup>),
}

/// Writes a change, and its record. The error says why nothing is written.
pub(super) fn apply_change(change: Change) -> Result<(), String> {
    let Change { target, was, new, record, .. } = change;
    let folder =
        home::state_dir().ok_or("no folder for the record is known; set XDG_STATE_HOME")?;
    let write = || match was == new {
        true => Ok(()),
        false => replace_config(&target, was.as_deref(), new.as_deref()),
    };
    match record {
        RecordChange::Keep => write(),
        RecordChange::Add(mut setup) => {
            setup.created_folders = create_folders(&target).map_err(|it| it.to_string())?;
            // With the record first, an entry never stays without it.
            let recorded = keeper::add_client_setup(&folder, &setup).map_err(|it| it.to_string());
            let written = recorded.and_then(|()| write());
            if written.is_err() {
                remove_empty_folders(&setup.created_folders);
                keeper::remove_client_setup(&folder, &setup.file, &setup.name)
                    .map_err(|it| it.to_string())?;
            }
            written
        }
        RecordChange::Remove(setups) => {
            write()?;
            for setup in &setups {
                if new.is_none() {
                    remove_empty_folders(&setup.created_folders);
                }
                keeper::remove_client_setup(&folder, &setup.file, &setup.name)
                    .map_err(|it| it.to_string())?;
            }
            Ok(())
        }
    }
}
