//! The repositories of a home.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Refusal;
use crate::palace::findings::other_format_finding;
use palazzo_core::format;
use palazzo_core::format::PalacePath;
use palazzo_core::model::{
    CommitId, CommitMode, Consent, Diagnostic, NoteFolders, Settings, path_text,
};
use palazzo_store::{self as store, ConsentStore, Store, SyncRecord, Upstream};

/// A repository with its palaces of the home.
pub struct RepositoryWithPalaces {
    /// The working directory.
    working_directory: PathBuf,
    /// The store of the whole repository.
    store: Store,
    palaces: Vec<Store>,
    consents: ConsentStore,
}

/// Returns the repository of the palace at `folder`, if the user allows to synchronize it.
pub(super) fn find_synced_repository(
    home: &Path,
    consents: &ConsentStore,
    folder: &Path,
) -> Result<Option<RepositoryWithPalaces>, Refusal> {
    let palace = Store::new(folder.to_owned(), home.to_owned()).with_consents(consents.clone());
    let Some(store) = palace.for_whole_repository()? else { return Ok(None) };
    let Ok(upstream) = store.upstream() else { return Ok(None) };
    if !store.is_sync_allowed(&upstream)? {
        return Ok(None);
    }
    RepositoryWithPalaces::around(home, consents, folder).map(Some)
}

/// Returns the repositories of the palaces of the home, by working directory.
pub(super) fn repositories_of_home(
    home: &Path,
    consents: &ConsentStore,
) -> Result<BTreeMap<PathBuf, RepositoryWithPalaces>, Refusal> {
    let mut found: BTreeMap<PathBuf, RepositoryWithPalaces> = BTreeMap::new();
    for folder in store::list_palaces(home)? {
        let palace = Store::new(folder, home.to_owned()).with_consents(consents.clone());
        let Some(store) = palace.for_whole_repository()? else { continue };
        let working_directory = store.palace_folder().to_owned();
        let consents = consents.clone();
        let repository = found.entry(working_directory.clone()).or_insert_with(|| {
            RepositoryWithPalaces { working_directory, store, palaces: Vec::new(), consents }
        });
        repository.palaces.push(palace);
    }
    Ok(found)
}

impl RepositoryWithPalaces {
    /// Returns the repository of the palace at `folder`.
    pub(super) fn around(
        home: &Path,
        consents: &ConsentStore,
        folder: &Path,
    ) -> Result<Self, Refusal> {
        let mut all = repositories_of_home(home, consents)?.into_values();
        all.find(|it| it.has_palace(folder)).ok_or_else(|| {
            Refusal::Invalid(format!("{} is in no git repository yet", path_text(folder)))
        })
    }

    /// Returns whether the palace at `folder` is in the repository.
    pub(super) fn has_palace(&self, folder: &Path) -> bool {
        self.palaces.iter().any(|it| it.palace_folder() == folder)
    }

    /// Yields the palaces.
    pub(crate) fn palaces(&self) -> impl Iterator<Item = &Store> {
        self.palaces.iter()
    }

    /// Returns the working directory.
    pub fn working_directory(&self) -> &Path {
        &self.working_directory
    }

    /// Returns another store of the whole repository.
    pub(super) fn store(&self) -> Store {
        let mut store = self.store.clone_for_thread();
        store.set_synced_notes(&self.note_folders());
        store
    }

    /// Returns the folders of notes of each palace, with its folder in the repository, which is empty or
    /// ends in `/`.
    pub(super) fn note_folders(&self) -> Vec<(String, NoteFolders)> {
        let prefix = |folder: &Path| {
            let below = folder.strip_prefix(&self.working_directory).ok()?;
            let names = below.iter().map(|it| Some(format!("{}/", it.to_str()?)));
            names.collect::<Option<String>>()
        };
        let all = self.settings();
        all.filter_map(|(folder, it)| Some((prefix(folder)?, it.note_folders))).collect()
    }

    /// Returns another store of the whole repository, which signs commits as the palaces want.
    pub(super) fn store_for_commits(&self) -> Store {
        let mut store = self.store();
        let modes = self.settings().map(|(_, it)| it.sign);
        store.set_signing_mode(modes.max().unwrap_or_default());
        store
    }

    /// Returns the newest commit; `None`: there is none, or it cannot be read.
    pub(super) fn newest_commit(&self) -> Option<CommitId> {
        self.store().head().ok().flatten()
    }

    /// Returns what is known of the last synchronizations.
    pub(super) fn sync_record(&self) -> SyncRecord {
        self.store.sync_record()
    }

    /// Returns whether the remote has all commits, as last fetched.
    pub(super) fn has_nothing_to_push(&self) -> bool {
        self.store().sync_status().is_ok_and(|it| it.ahead == Some(0))
    }

    /// Returns whether the user allows to synchronize with the upstream.
    pub(super) fn is_allowed(&self, upstream: &Upstream) -> Result<bool, Refusal> {
        Ok(self.store.is_sync_allowed(upstream)?)
    }

    /// Stores the user's consent. What the repository brought as a record of synchronizations is not
    /// this machine's.
    pub(super) fn allow(&self, upstream: &Upstream) -> Result<(), Refusal> {
        if !self.is_allowed(upstream)? {
            self.store.clear_sync_record()?;
        }
        Ok(self.consents.add(&Consent::for_sync(&upstream.work, &upstream.url))?)
    }

    /// Counts the conflicts that are recorded in the palaces.
    pub(super) fn count_conflicts(&self) -> usize {
        self.palaces.iter().map(Store::count_conflicts).sum()
    }

    /// Returns the longest time between two pushes of a machine that a palace asks for.
    pub(super) fn push_interval(&self) -> Option<Duration> {
        let asked = self.settings().filter_map(|(_, it)| it.push_interval);
        asked.max().map(|it| Duration::from_secs(it.into()))
    }

    /// Returns the findings about palaces with files of another format than this program reads;
    /// paths are relative to the working directory.
    pub(super) fn other_format_findings(&self) -> impl Iterator<Item = Diagnostic> {
        self.palaces.iter().filter_map(|palace| {
            let diagnostic = other_format_finding(palace)?.diagnostic;
            let folder = palace
                .palace_folder()
                .strip_prefix(&self.working_directory)
                .unwrap_or(Path::new(""));
            // Paths of git have slashes.
            let folders = folder.iter().map(|it| it.to_string_lossy());
            let file =
                folders.chain([diagnostic.file.as_str().into()]).collect::<Vec<_>>().join("/");
            Some(Diagnostic { file, ..diagnostic })
        })
    }

    /// Returns a palace whose settings leave commits to the user.
    pub(super) fn palace_with_manual_commits(&self) -> Option<&Path> {
        let mut all = self.settings();
        all.find(|(_, it)| it.commit == CommitMode::Manual).map(|(folder, _)| folder)
    }

    /// Reads the settings of the palaces that have readable ones.
    fn settings(&self) -> impl Iterator<Item = (&Path, Settings)> {
        self.palaces.iter().filter_map(|palace| {
            let text = palace.read_file(PalacePath::SETTINGS_FILE).ok().flatten()?;
            Some((palace.palace_folder(), format::parse_settings(&text)?))
        })
    }
}
