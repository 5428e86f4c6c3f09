//! Lists, gives and removes consents: `palazzo trust`.

use std::path::Path;

use crate::maintain::memory_consents::untrusted_memories;
use crate::{Keeper, Refusal};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::Consent;
use palazzo_store as store;

/// Lists the consents that the home and its palaces need and the user has not given.
pub fn missing_consents(keeper: &Keeper) -> Result<Vec<Consent>, Refusal> {
    let mut needed: Vec<_> = store::needed_repository_consent(&keeper.home)?.into_iter().collect();
    for workspace in keeper.workspaces()? {
        let store = keeper.store_of(&workspace);
        needed.extend(store::needed_repository_consent(store.palace_folder())?);
        let text = store.read_file(PalacePath::SETTINGS_FILE).ok().flatten().unwrap_or_default();
        let allowed_tools =
            format::parse_settings(&text).map(|it| it.allowed_tools).unwrap_or_default();
        needed.extend(store.needed_tools_consent(&allowed_tools)?);
        needed.extend(untrusted_memories(&store)?.into_iter().map(|it| it.consent));
    }
    needed.sort();
    needed.dedup();
    let mut missing = Vec::new();
    for consent in needed {
        if !keeper.consents.is_allowed(&consent)? {
            missing.push(consent);
        }
    }
    Ok(missing)
}

/// Lists the consents that the user has given on this machine.
pub fn list_consents(keeper: &Keeper) -> Result<Vec<Consent>, Refusal> {
    Ok(keeper.consents.list()?)
}

/// Stores a consent of the user.
pub fn give_consent(keeper: &Keeper, consent: &Consent) -> Result<(), Refusal> {
    Ok(keeper.consents.add(consent)?)
}

/// Removes every consent for `folder` and the folders below it, and returns them.
pub fn remove_consents(keeper: &Keeper, folder: &Path) -> Result<Vec<Consent>, Refusal> {
    Ok(keeper.consents.remove_at_or_below(folder)?)
}
