//! The files in the folder for the state of this program, outside of every palace.

pub(crate) mod http_access;
pub(crate) mod shown_memories;

use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::TOO_LARGE_REASON;
use crate::repo::{regular_file, state_file};
use palazzo_core::model::{ClientSetup, path_text};

/// The file of the home that the user named last: it contains one path.
const LAST_HOME_FILE: &str = "last-home";

/// The file of what `palazzo setup` has written into the configurations of clients, so that it can
/// be removed exactly.
const CLIENT_SETUPS_FILE: &str = "client-setups.json";

/// Returns the path stored in `folder`; `None`: there is none, or it cannot be read.
pub fn read_last_home(folder: &Path) -> Option<PathBuf> {
    let bytes = regular_file::read_regular_file(&folder.join(LAST_HOME_FILE)).ok()??;
    let path = PathBuf::from(String::from_utf8(bytes).ok()?.strip_suffix('\n')?);
    path.is_absolute().then_some(path)
}

/// Stores `home` in `folder`. A path that is not Unicode is not stored.
pub fn write_last_home(folder: &Path, home: &Path) -> Result<(), Error> {
    match home.to_str() {
        Some(path) if read_last_home(folder).as_deref() != Some(home) => {
            state_file::change_file(folder, LAST_HOME_FILE, || Ok(format!("{path}\n").into_bytes()))
        }
        _ => Ok(()),
    }
}

/// Forgets the stored home if it `is_unused`.
pub fn forget_last_home_if(
    folder: &Path,
    is_unused: impl FnOnce(&Path) -> bool,
) -> Result<(), Error> {
    state_file::remove_file_if(folder, LAST_HOME_FILE, || {
        read_last_home(folder).is_some_and(|home| is_unused(&home))
    })
}

/// Reads the records in `folder`; none if there is no file yet.
pub fn read_client_setups(folder: &Path) -> Result<Vec<ClientSetup>, Error> {
    let path = folder.join(CLIENT_SETUPS_FILE);
    let Some(bytes) = regular_file::read_regular_file(&path)? else { return Ok(Vec::new()) };
    serde_json::from_slice(&bytes).map_err(|err| {
        let why = format!("`{}` is damaged ({err}); remove it", path_text(&path));
        Error::StateUnusable { why }
    })
}

/// Stores a record, in place of an older one for this file and name.
pub fn add_client_setup(folder: &Path, setup: &ClientSetup) -> Result<(), Error> {
    change_setups(folder, |setups| {
        setups.retain(|it| it.file != setup.file || it.name != setup.name);
        setups.push(setup.clone());
    })
}

/// Removes the record for an entry of a file. The folders that were created for it and are still
/// there go to the record of another file in them, so that they are removed with that.
pub fn remove_client_setup(folder: &Path, file: &Path, name: &str) -> Result<(), Error> {
    change_setups(folder, |setups| {
        let is_removed = |it: &mut ClientSetup| it.file == file && it.name == name;
        let removed: Vec<_> = setups.extract_if(.., is_removed).collect();
        let folders = removed.into_iter().flat_map(|it| it.created_folders);
        for created in folders.filter(|it| it.is_dir()) {
            let Some(heir) = setups.iter_mut().find(|it| it.file.starts_with(&created)) else {
                continue;
            };
            heir.created_folders.push(created);
            heir.created_folders.sort();
            heir.created_folders.dedup();
        }
    })
}

/// Removes the file of the records if it has none.
pub fn remove_empty_client_setups(folder: &Path) -> Result<(), Error> {
    let is_empty = || read_client_setups(folder).is_ok_and(|it| it.is_empty());
    state_file::remove_file_if(folder, CLIENT_SETUPS_FILE, is_empty)
}

fn change_setups(folder: &Path, change: impl FnOnce(&mut Vec<ClientSetup>)) -> Result<(), Error> {
    state_file::change_file(folder, CLIENT_SETUPS_FILE, || {
        let mut setups = read_client_setups(folder)?;
        change(&mut setups);
        let mut text = serde_json::to_vec_pretty(&setups)
            .map_err(|err| Error::StateUnusable { why: err.to_string() })?;
        text.push(b'\n');
        // A larger file could not be read again, so no client could be set up or removed.
        if text.len() as u64 > regular_file::MAX_BYTES {
            let why = format!(
                "the records of what `palazzo setup` writes would be {TOO_LARGE_REASON}; shorten the \
                 blank space in the configuration of the client"
            );
            return Err(Error::StateUnusable { why });
        }
        Ok(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use palazzo_core::model::{InsertionTrace, TextChange};

    #[test]
    fn the_last_stored_home_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state/palazzo");
        assert_eq!(read_last_home(&state), None);
        for home in ["/a", "/b c/d"] {
            // On Windows, an absolute path begins with a drive.
            let home = std::path::absolute(home).unwrap();
            write_last_home(&state, &home).unwrap();
            assert_eq!(read_last_home(&state), Some(home));
        }
        for damaged in ["", "relative\n", "/half written"] {
            std::fs::write(state.join(LAST_HOME_FILE), damaged).unwrap();
            assert_eq!(read_last_home(&state), None, "{damaged}");
        }
    }

    fn setup(file: &str, name: &str, before: &str) -> ClientSetup {
        let trace = InsertionTrace { created: 1, before: before.to_owned(), ..Default::default() };
        ClientSetup {
            client: "codex".to_owned(),
            file: file.into(),
            name: name.to_owned(),
            start: vec!["/bin/palazzo".to_owned(), "serve".to_owned()],
            trace,
            text: Some(TextChange { inserted: "b".to_owned(), replaced: before.to_owned() }),
            created_file: true,
            created_folders: vec!["/a".into()],
        }
    }

    #[test]
    fn records_that_could_not_be_read_again_are_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("palazzo");
        add_client_setup(&state, &setup("/a", "palazzo", "")).unwrap();
        // Line breaks take two bytes in JSON.
        let blank = "\n".repeat(9 * 1024 * 1024);
        let refused = add_client_setup(&state, &setup("/b", "palazzo", &blank)).unwrap_err();
        assert!(refused.to_string().contains("larger than 16 MiB"), "{refused}");
        add_client_setup(&state, &setup("/c", "palazzo", "")).unwrap();
        remove_client_setup(&state, Path::new("/a"), "palazzo").unwrap();
        assert_eq!(read_client_setups(&state).unwrap(), [setup("/c", "palazzo", "")]);
    }

    #[test]
    fn a_record_has_the_fields_of_earlier_versions() {
        let record = serde_json::to_string(&setup("/b", "palazzo", "")).unwrap();
        let begin =
            r#"{"client":"codex","file":"/b","name":"palazzo","start":["/bin/palazzo","serve"],"#;
        let trace =
            r#""created_mappings":1,"inserted_before":"","inserted_after":"","replaced":"","#;
        let end = r#""text":{"inserted":"b","replaced":""},"created_file":true,"created_folders":["/a"]}"#;
        assert_eq!(record, [begin, trace, end].concat());
    }

    #[test]
    fn one_record_is_stored_for_each_entry() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("palazzo");
        assert_eq!(read_client_setups(&state).unwrap(), []);
        for it in
            [setup("/a", "palazzo", "\n"), setup("/a", "memory", ""), setup("/a", "palazzo", "")]
        {
            add_client_setup(&state, &it).unwrap();
        }
        let expected = [setup("/a", "memory", ""), setup("/a", "palazzo", "")];
        assert_eq!(read_client_setups(&state).unwrap(), expected);
        remove_client_setup(&state, Path::new("/a"), "memory").unwrap();
        assert_eq!(read_client_setups(&state).unwrap(), expected[1..]);
        std::fs::write(state.join(CLIENT_SETUPS_FILE), "{").unwrap();
        assert!(read_client_setups(&state).is_err());
        assert!(add_client_setup(&state, &expected[0]).is_err());
    }
}
