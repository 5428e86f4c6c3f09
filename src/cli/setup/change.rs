//! A change of the configuration of a client, and the record by which it can be reverted.

use std::path::{Path, PathBuf};

use crate::cli::client::config_file::{
    create_folders, read_config, remove_empty_folders, replace_config,
};
use crate::cli::setup::state_folder::{missing_folders, partition_state_ancestors};
use crate::cli::user_folders::state_dir;
use palazzo_core::model::ClientSetup;
use palazzo_keeper as keeper;

/// A change of a file.
pub(in crate::cli) struct Change {
    /// The file, with links resolved.
    pub(in crate::cli) target: PathBuf,
    /// The content of the file; `None`: it does not exist.
    pub(in crate::cli) was: Option<String>,
    /// The new content; `None`: the file is deleted.
    pub(in crate::cli) new: Option<String>,
    pub(in crate::cli) record: RecordChange,
    /// What is changed, in lines for the user.
    pub(in crate::cli) description: String,
}

impl Change {
    /// Returns what is done with the file.
    pub(super) fn done(&self) -> &'static str {
        match &self.new {
            new if *new == self.was => "record removed",
            Some(_) => "written",
            None => "deleted",
        }
    }
}

/// How a change affects the records of entries that `setup` has added.
pub(in crate::cli) enum RecordChange {
    Keep,
    Add(Box<ClientSetup>),
    Remove(Vec<ClientSetup>),
}

impl RecordChange {
    /// Returns the records that are removed.
    pub(super) fn removed(&self) -> &[ClientSetup] {
        match self {
            Self::Remove(setups) => setups,
            Self::Keep | Self::Add(_) => &[],
        }
    }
}

/// Writes a change, and its record. The error says why nothing is written.
pub(in crate::cli) fn apply_change(change: Change) -> Result<(), String> {
    let Change { target, was, new, record, .. } = change;
    let folder = state_dir().ok_or("no folder for the record is known; set XDG_STATE_HOME")?;
    let write = || match was == new {
        true => Ok(()),
        false => replace_config(&target, was.as_deref(), new.as_deref()),
    };
    match record {
        RecordChange::Keep => write(),
        RecordChange::Add(setup) => {
            let undo_record = record_insertion(&folder, &target, *setup)?;
            match write() {
                Ok(()) => Ok(()),
                // Another set-up has added the same entry meanwhile, and needs the record.
                Err(_) if read_config(&target)? == new => Ok(()),
                Err(why) => undo_record().and(Err(why)),
            }
        }
        RecordChange::Remove(setups) => {
            write()?;
            for setup in &setups {
                if new.is_none() {
                    remove_empty_folders(
                        &partition_state_ancestors(&folder, &setup.created_folders).1,
                    );
                }
                let removed = keeper::remove_client_setup(&folder, &setup.file, &setup.name);
                removed.map_err(|it| format!("the entry is removed, but not its record: {it}"))?;
            }
            Ok(())
        }
    }
}

/// Creates the folder of the file and stores the record, so that an entry never stays without it.
/// Returns what takes both back.
fn record_insertion(
    state_folder: &Path,
    target: &Path,
    mut setup: ClientSetup,
) -> Result<impl FnOnce() -> Result<(), String>, String> {
    let earlier = keeper::client_setups(state_folder).map_err(|it| it.to_string())?;
    let earlier = earlier.into_iter().find(|it| (&it.file, &it.name) == (&setup.file, &setup.name));
    let created = create_folders(target).map_err(|it| it.to_string())?;
    setup.created_folders.extend(created.iter().cloned());
    setup.created_folders.extend(missing_folders(state_folder));
    let recorded = keeper::add_client_setup(state_folder, &setup);
    if recorded.is_err() {
        remove_empty_folders(&created);
    }
    recorded.map_err(|it| it.to_string())?;
    let state_folder = state_folder.to_owned();
    Ok(move || {
        remove_empty_folders(&created);
        match earlier {
            Some(it) => keeper::add_client_setup(&state_folder, &it),
            None => keeper::remove_client_setup(&state_folder, &setup.file, &setup.name),
        }
        .map_err(|it| it.to_string())
    })
}
