//! The repositories of a home.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::format;
use crate::format::PalacePath;
use crate::keeper::{Keeper, Refusal};
use crate::model::{CommitMode, Consent};
use crate::store::{ConsentStore, Store, Upstream};

/// A repository with its palaces of the home.
pub struct SyncedRepository {
    /// The working directory.
    work: PathBuf,
    /// The store of the whole repository.
    store: Store,
    palaces: Vec<Store>,
    consents: ConsentStore,
}

/// Lists the repositories of the palaces of the home.
pub fn list_synced_repositories(keeper: &Keeper) -> Result<Vec<SyncedRepository>, Refusal> {
    let mut found: BTreeMap<PathBuf, SyncedRepository> = BTreeMap::new();
    for workspace in keeper.workspaces()? {
        let palace = keeper.store_of(&workspace);
        let Some(store) = palace.for_whole_repository()? else { continue };
        let work = store.palace_folder().to_owned();
        let consents = keeper.consents.clone();
        let repository = found.entry(work.clone()).or_insert_with(|| SyncedRepository {
            work,
            store,
            palaces: Vec::new(),
            consents,
        });
        repository.palaces.push(palace);
    }
    if found.is_empty() {
        let home = keeper.home.display();
        return Err(Refusal::Invalid(format!("no palace in {home} is in a git repository yet")));
    }
    Ok(found.into_values().collect())
}

impl SyncedRepository {
    /// Returns the working directory.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Returns another store of the whole repository.
    pub(super) fn store(&self) -> Store {
        self.store.clone_for_thread()
    }

    /// Returns whether the user allows to synchronize with the upstream.
    pub(super) fn is_allowed(&self, upstream: &Upstream) -> Result<bool, Refusal> {
        Ok(self.consents.is_allowed(&needed_consent(upstream))?)
    }

    /// Stores the user's consent.
    pub(super) fn allow(&self, upstream: &Upstream) -> Result<(), Refusal> {
        Ok(self.consents.add(&needed_consent(upstream))?)
    }

    /// Counts the conflicts that are recorded in the palaces.
    pub(super) fn count_conflicts(&self) -> usize {
        self.palaces.iter().map(Store::count_conflicts).sum()
    }

    /// Returns a palace whose settings leave commits to the user.
    pub(super) fn palace_with_manual_commits(&self) -> Option<&Path> {
        let is_manual = |palace: &&Store| {
            let text = palace.read_file(PalacePath::SETTINGS_FILE).ok().flatten();
            let settings = text.and_then(|it| format::parse_settings(&it));
            settings.is_some_and(|it| it.commit == CommitMode::Manual)
        };
        self.palaces.iter().find(is_manual).map(Store::palace_folder)
    }
}

fn needed_consent(upstream: &Upstream) -> Consent {
    Consent::for_sync(&upstream.work, &upstream.url)
}
