//! Stores which memories of hosts may be shown at actions: a file for each content, in a folder for each
//! palace.
//!
//! A hook asks for one content at a time, and several hooks store contents at once, so there is no common
//! file, and no lock. That the file exists is the consent. What it contains is only listed.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use palazzo_core::model::{Consent, ConsentScope, MemoryConsent, TriggeredMemory};

use crate::Error;
use crate::repo::{regular_file, state_file};

/// The folder in the state folder.
const FOLDER: &str = "memories";
/// The file with the path of the palace, in the folder of a palace.
const PALACE_FILE: &str = "palace";
/// The largest size of a file in bytes.
const MAX_BYTES: u64 = 1 << 16;

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct StoredConsent {
    name: String,
    triggers: Vec<String>,
    first_line: String,
}

/// Returns the consent to show a memory of the palace whose real path is `palace`.
pub(crate) fn consent(palace: &Path, name: &str, memory: &TriggeredMemory) -> Consent {
    Consent::for_memory(palace, name, memory, state_file::hash(&memory.content()))
}

/// Returns whether the content of a memory was allowed.
pub(crate) fn is_stored(state_folder: &Path, palace: &str, memory: &MemoryConsent) -> bool {
    let file = folder_of(state_folder, palace).join(&memory.content_hash);
    fs::symlink_metadata(file).is_ok_and(|it| it.is_file())
}

/// Stores a consent, unless it is stored.
pub(crate) fn store(
    state_folder: &Path,
    palace: &str,
    memory: &MemoryConsent,
) -> Result<(), Error> {
    let folder = folder_of(state_folder, palace);
    state_file::create_private_folder(&folder)
        .map_err(Error::for_file("create the folder", &folder))?;
    create_file(&folder.join(PALACE_FILE), palace.as_bytes())?;
    let MemoryConsent { name, triggers, first_line, content_hash } = memory.clone();
    let stored = serde_json::to_vec(&StoredConsent { name, triggers, first_line });
    create_file(&folder.join(content_hash), &stored.unwrap_or_default())
}

/// Lists the consents for memories with triggers. A memory without is never shown; that it was written here
/// is only stored for the time when a trigger is added.
pub(crate) fn list(state_folder: &Path) -> Vec<Consent> {
    palaces(state_folder)
        .into_iter()
        .flat_map(|(folder, palace)| list_of(&folder, &palace))
        .collect()
}

/// Removes the consents for palaces at or below `path`, and returns those that are listed.
pub(crate) fn remove_at_or_below(state_folder: &Path, path: &Path) -> Result<Vec<Consent>, Error> {
    let mut removed = Vec::new();
    let known = path.to_str().map(|it| (folder_of(state_folder, it), it.to_owned()));
    let below = palaces(state_folder).into_iter().filter(|(_, it)| Path::new(it).starts_with(path));
    for (folder, palace) in known.into_iter().chain(below) {
        removed.extend(list_of(&folder, &palace));
        match fs::remove_dir_all(&folder) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            done => done.map_err(Error::for_file("remove", &folder))?,
        }
    }
    Ok(removed)
}

/// Lists the folders of palaces, each with the path of its palace.
fn palaces(state_folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(state_folder.join(FOLDER)).into_iter().flatten().flatten();
    let palace = |folder: PathBuf| {
        let palace = read(&folder.join(PALACE_FILE))?;
        Some((folder, palace))
    };
    entries.filter_map(|it| palace(it.path())).collect()
}

fn list_of(folder: &Path, palace: &str) -> Vec<Consent> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let consent = |entry: fs::DirEntry| {
        let content_hash = entry.file_name().into_string().ok()?;
        let stored: StoredConsent = serde_json::from_str(&read(&entry.path())?).ok()?;
        let StoredConsent { name, triggers, first_line } = stored;
        let memory = MemoryConsent { name, triggers, first_line, content_hash };
        let is_shown = !memory.triggers.is_empty();
        is_shown.then(|| Consent::from_stored(palace.to_owned(), ConsentScope::Memory(memory)))
    };
    entries.filter_map(consent).collect()
}

fn read(file: &Path) -> Option<String> {
    String::from_utf8(regular_file::read_regular_file_at_most(file, MAX_BYTES).ok()??).ok()
}

/// Creates a file, unless it exists.
fn create_file(file: &Path, content: &[u8]) -> Result<(), Error> {
    let created = state_file::private_open_options().create_new(true).open(file);
    match created.and_then(|mut it| it.write_all(content)) {
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done.map_err(Error::for_file("write", file)),
    }
}

fn folder_of(state_folder: &Path, palace: &str) -> PathBuf {
    state_folder.join(FOLDER).join(state_file::hash(palace))
}

#[cfg(test)]
mod tests {
    use palazzo_core::model::{Trigger, TriggerKind};

    use super::*;
    use crate::ConsentStore;

    fn memory(pattern: Option<&str>, text: &str) -> TriggeredMemory {
        let trigger = |it: &str| Trigger { kind: TriggerKind::Run, pattern: it.to_owned() };
        let triggers = pattern.map(trigger).into_iter().collect();
        TriggeredMemory { triggers, text: text.to_owned(), modified: None }
    }

    fn absolute(path: &str) -> PathBuf {
        std::path::absolute(path).unwrap()
    }

    #[test]
    fn a_consent_covers_one_content_under_any_name_in_one_palace() {
        let state = tempfile::tempdir().unwrap();
        let consents = ConsentStore::new(Some(state.path().join("palazzo")));
        let allowed = |palace: &str, name: &str, it: &TriggeredMemory| {
            consents.is_allowed(&consent(&absolute(palace), name, it)).unwrap()
        };
        let it = memory(Some("a"), "Text.\nMore.");
        assert!(!allowed("/keep", "m", &it));
        for _ in 0..2 {
            consents.add(&consent(&absolute("/keep"), "m", &it)).unwrap();
        }
        assert!(allowed("/keep", "m", &it) && allowed("/keep", "other", &it));
        assert!(!allowed("/other", "m", &it));
        assert!(!allowed("/keep", "m", &memory(Some("b"), "Text.\nMore.")));
        assert!(!allowed("/keep", "m", &memory(Some("a"), "Text.\nLess.")));
    }

    #[test]
    fn consents_with_triggers_are_listed_and_all_are_removed() {
        let state = tempfile::tempdir().unwrap();
        let consents = ConsentStore::new(Some(state.path().join("palazzo")));
        let (shown, silent) = (memory(Some("a"), "Text.\nMore."), memory(None, "Text."));
        for it in [&shown, &silent] {
            consents.add(&consent(&absolute("/home/keep"), "m", it)).unwrap();
        }
        let expected = [consent(&absolute("/home/keep"), "m", &shown)];
        assert_eq!(consents.list().unwrap(), expected);
        assert_eq!(consents.remove_at_or_below(&absolute("/elsewhere")).unwrap(), []);
        assert_eq!(consents.remove_at_or_below(&absolute("/home")).unwrap(), expected);
        assert_eq!(consents.list().unwrap(), []);
        assert!(!consents.is_allowed(&consent(&absolute("/home/keep"), "m", &silent)).unwrap());
    }

    #[test]
    fn a_palace_cannot_store_consents_for_its_memories() {
        let dir = tempfile::tempdir().unwrap();
        let palace = dunce::canonicalize(dir.path()).unwrap();
        let consents = ConsentStore::new(Some(palace.join("state")));
        let it = consent(&palace, "m", &memory(Some("a"), "Text."));
        assert!(consents.add(&it).is_err() && consents.is_allowed(&it).is_err());
        assert!(!palace.join("state").exists());
    }
}
