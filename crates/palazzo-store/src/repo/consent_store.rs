//! Stores what the user of this machine has allowed, outside of every palace.
//!
//! A consent counts only if it is identical to what is needed now: another list of tools, or
//! another repository, needs a new consent. An unreadable file allows nothing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use palazzo_core::model::{Consent, ConsentScope, path_text};

use crate::Error;
use crate::repo::memory_consents;
use crate::repo::state_file;
use crate::repo::{paths, regular_file};

/// The name of the file.
const FILE: &str = "trust.json";
/// The format version of the file.
const FORMAT_VERSION: u32 = 1;

/// The user's consents, stored in the state folder.
#[derive(Clone, Debug, Default)]
pub struct ConsentStore {
    /// The state folder; `None`: unknown, so nothing is allowed and nothing can be stored.
    folder: Option<PathBuf>,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConsentFileContent {
    format: u32,
    consents: Vec<StoredConsent>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredConsent {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sync: Option<String>,
}

impl ConsentStore {
    /// Uses the file in `folder`, which need not exist yet.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Returns true if exactly `consent` was given. Fails if the consents cannot be read.
    pub fn is_allowed(&self, consent: &Consent) -> Result<bool, Error> {
        match self.require_safe_state_folder(consent) {
            Ok(folder) => match (consent.path(), &consent.scope) {
                (None, _) => Ok(false),
                (Some(palace), ConsentScope::Memory(memory)) => {
                    Ok(memory_consents::is_stored(&folder, palace, memory))
                }
                (Some(_), _) => Ok(read_consents(&folder)?.contains(consent)),
            },
            // Without a folder, no consent was ever stored.
            Err(_) if self.folder.is_none() => Ok(false),
            Err(err) => Err(err),
        }
    }

    /// Lists all consents, by path.
    pub fn list(&self) -> Result<Vec<Consent>, Error> {
        let Some(folder) = self.folder.as_deref() else { return Ok(Vec::new()) };
        let mut consents = read_consents(folder)?;
        consents.extend(memory_consents::list(folder));
        consents.sort();
        Ok(consents)
    }

    /// Stores `consent`, replacing an older one for the same subject.
    pub fn add(&self, consent: &Consent) -> Result<(), Error> {
        let folder = self.require_safe_state_folder(consent)?;
        let Some(palace) = consent.path() else {
            return Err(unusable_error("the path is not Unicode"));
        };
        if let ConsentScope::Memory(memory) = &consent.scope {
            return memory_consents::store(&folder, palace, memory);
        }
        change_consents(&folder, |consents| {
            consents.retain(|it| !consent.has_same_folder_and_scope_kind(it));
            consents.push(consent.clone());
        })
    }

    /// Removes the consents for the folder at `path` and those below it, and returns them.
    pub fn remove_at_or_below(&self, path: &Path) -> Result<Vec<Consent>, Error> {
        let path = paths::resolve_links(path)?;
        let folder = self.folder.as_deref().ok_or_else(no_folder_error)?;
        let mut removed = Vec::new();
        change_consents(folder, |consents| {
            let is_inside =
                |it: &Consent| it.path().is_some_and(|it| Path::new(it).starts_with(&path));
            removed = consents.iter().filter(|it| is_inside(it)).cloned().collect();
            consents.retain(|it| !is_inside(it));
        })?;
        removed.extend(memory_consents::remove_at_or_below(folder, &path)?);
        Ok(removed)
    }

    /// Returns the path of the file; `None`: no folder is known.
    pub(crate) fn file_path(&self) -> Option<PathBuf> {
        self.folder.as_deref().map(consent_file)
    }

    /// Returns the state folder; fails if the palace or its repository could write to it.
    fn require_safe_state_folder(&self, consent: &Consent) -> Result<PathBuf, Error> {
        let folder = self.folder.as_deref().ok_or_else(no_folder_error)?;
        let real = paths::resolve_links(folder)?;
        let elsewhere = match &consent.scope {
            ConsentScope::Tools(_) | ConsentScope::Sync(_) | ConsentScope::Memory(_) => {
                [].as_slice()
            }
            ConsentScope::Repository(folders) => folders,
        };
        let untrusted = consent.path().into_iter().chain(elsewhere.iter().map(String::as_str));
        match untrusted.into_iter().find(|it| real.starts_with(it)) {
            None => Ok(folder.to_owned()),
            Some(it) => Err(unusable_error(&format!(
                "`{}` is below `{it}`, which could then allow itself anything; set XDG_STATE_HOME \
                 to a folder outside",
                path_text(&real)
            ))),
        }
    }
}

/// Reads the consents in `folder`; none if there is no file yet.
fn read_consents(folder: &Path) -> Result<Vec<Consent>, Error> {
    let file = consent_file(folder);
    let Some(bytes) = regular_file::read_regular_file(&file)? else { return Ok(Vec::new()) };
    let stored: ConsentFileContent = serde_json::from_slice(&bytes).map_err(|err| {
        let file = path_text(&file);
        unusable_error(&format!("`{file}` is damaged ({err}); remove it and consent again"))
    })?;
    if stored.format != FORMAT_VERSION {
        let file = path_text(&file);
        return Err(unusable_error(&format!("`{file}` is of another version of Palazzo")));
    }
    Ok(stored.consents.into_iter().flat_map(StoredConsent::into_consents).collect())
}

/// Changes the consents in `folder` under a lock.
fn change_consents(folder: &Path, change: impl FnOnce(&mut Vec<Consent>)) -> Result<(), Error> {
    state_file::change_file(folder, FILE, || {
        let mut consents = read_consents(folder)?;
        change(&mut consents);
        consents.sort();
        let consents = consents.iter().filter_map(StoredConsent::from_consent).collect();
        let content = ConsentFileContent { format: FORMAT_VERSION, consents };
        let mut text =
            serde_json::to_vec_pretty(&content).map_err(|err| unusable_error(&err.to_string()))?;
        text.push(b'\n');
        Ok(text)
    })
}

fn consent_file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

fn no_folder_error() -> Error {
    unusable_error("no folder for them is known; set XDG_STATE_HOME or HOME")
}

fn unusable_error(why: &str) -> Error {
    Error::ConsentsUnusable { why: why.to_owned() }
}

impl StoredConsent {
    fn from_consent(consent: &Consent) -> Option<Self> {
        let path = consent.path()?.to_owned();
        let mut stored = Self { path, tools: None, repository: None, sync: None };
        match consent.scope.clone() {
            ConsentScope::Tools(tools) => stored.tools = Some(tools),
            ConsentScope::Repository(folders) => stored.repository = Some(folders),
            ConsentScope::Sync(url) => stored.sync = Some(url),
            // These are in files of their own.
            ConsentScope::Memory(_) => return None,
        }
        Some(stored)
    }

    fn into_consents(self) -> Vec<Consent> {
        let tools = self.tools.map(ConsentScope::Tools);
        let repository = self.repository.map(ConsentScope::Repository);
        let allowed = tools.into_iter().chain(repository).chain(self.sync.map(ConsentScope::Sync));
        allowed.map(|it| Consent::from_stored(self.path.clone(), it)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tools_consent(palace: &str, names: &[&str]) -> Consent {
        let names: Vec<_> = names.iter().map(|it| (*it).to_owned()).collect();
        // On Windows, an absolute path begins with a drive.
        Consent::for_tools(&std::path::absolute(palace).unwrap(), &names)
    }

    #[test]
    fn a_consent_covers_only_the_same_tools_and_place() {
        let folder = tempfile::tempdir().unwrap();
        let consents = ConsentStore::new(Some(folder.path().join("state/palazzo")));
        let consent = tools_consent("/keep", &["palazzo:update_entity", "write_scroll"]);
        assert!(!consents.is_allowed(&consent).unwrap());
        consents.add(&consent).unwrap();
        assert!(consents.is_allowed(&consent).unwrap());
        assert!(
            consents
                .is_allowed(&tools_consent("/keep", &["write_scroll", "update_entity"]))
                .unwrap()
        );
        for other in [
            tools_consent("/keep", &["write_scroll"]),
            tools_consent("/keep", &["write_scroll", "update_entity", "delete_entities"]),
            tools_consent("/other", &["update_entity", "write_scroll"]),
            Consent::for_repository(Path::new("/keep"), [Path::new("/a"); 2]),
            Consent::for_sync(Path::new("/keep"), &"https://example.org/keep".parse().unwrap()),
        ] {
            assert!(!consents.is_allowed(&other).unwrap(), "{other:?}");
        }
        consents.add(&tools_consent("/keep", &["write_scroll"])).unwrap();
        assert!(!consents.is_allowed(&consent).unwrap());
        assert_eq!(consents.list().unwrap(), [tools_consent("/keep", &["write_scroll"])]);
        assert_eq!(consents.remove_at_or_below(Path::new("/keep")).unwrap().len(), 1);
        assert_eq!(consents.list().unwrap(), []);
    }

    #[test]
    fn a_consent_to_sync_covers_one_url() {
        let folder = tempfile::tempdir().unwrap();
        let consents = ConsentStore::new(Some(folder.path().to_owned()));
        let consent = |url: &str| Consent::for_sync(Path::new("/keep"), &url.parse().unwrap());
        consents.add(&consent("https://example.org/a")).unwrap();
        consents.add(&tools_consent("/keep", &["write_scroll"])).unwrap();
        assert!(consents.is_allowed(&consent("https://example.org/a")).unwrap());
        assert!(!consents.is_allowed(&consent("https://example.org/b")).unwrap());
        consents.add(&consent("https://example.org/b")).unwrap();
        assert!(!consents.is_allowed(&consent("https://example.org/a")).unwrap());
        assert_eq!(consents.list().unwrap().len(), 2);
    }

    #[test]
    fn a_palace_or_its_repository_cannot_store_consents() {
        let folder = tempfile::tempdir().unwrap();
        let palace = dunce::canonicalize(folder.path()).unwrap();
        let consents = ConsentStore::new(Some(palace.join("state")));
        let in_palace = tools_consent(palace.to_str().unwrap(), &["write_scroll"]);
        let in_git = Consent::for_repository(Path::new("/keep"), [&palace, &palace]);
        for consent in [in_palace, in_git] {
            let refused = consents.add(&consent).unwrap_err().to_string();
            assert!(refused.contains("could then allow itself anything"), "{refused}");
            assert!(consents.is_allowed(&consent).is_err());
        }
        assert!(!palace.join("state").exists());
    }

    #[test]
    fn a_damaged_file_allows_nothing_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let consents = ConsentStore::new(Some(folder.path().to_owned()));
        let consent = tools_consent("/keep", &["write_scroll"]);
        for damaged in ["", "{", "{\"format\": 2, \"consents\": []}", "{\"consents\": []}"] {
            fs::write(folder.path().join("trust.json"), damaged).unwrap();
            assert!(consents.is_allowed(&consent).is_err(), "{damaged}");
            assert!(consents.add(&consent).is_err(), "{damaged}");
            assert_eq!(fs::read_to_string(folder.path().join("trust.json")).unwrap(), damaged);
        }
    }

    #[test]
    #[cfg(unix)]
    fn only_the_user_can_read_and_write_the_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("palazzo");
        ConsentStore::new(Some(state.clone()))
            .add(&tools_consent("/keep", &["write_scroll"]))
            .unwrap();
        let mode = |it: &Path| fs::metadata(it).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&state), mode(&state.join("trust.json"))), (0o700, 0o600));
        fs::rename(state.join("trust.json"), state.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", state.join("trust.json")).unwrap();
        assert!(ConsentStore::new(Some(state)).list().is_err());
    }
}
